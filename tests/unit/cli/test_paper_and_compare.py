from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.unit.cli.test_discover_command import farpoint


def test_one_section_and_its_files(tmp_path: Path) -> None:
    run = farpoint("paper", "--only", "fig1,counts", "--quick", "--out", str(tmp_path))
    assert (run.returncode, run.stderr) == (0, "")
    assert "holds  At t = 4 and 13 there are 32, 28" in run.stdout
    assert {file.name for file in tmp_path.iterdir()} == {
        "paper.html", "results", "fig1.csv", "counts.csv", "claims.csv",
    }  # fmt: skip
    assert "<h2 id='counts'>" in (tmp_path / "paper.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["paper", "--only", "fig9"], "experiment must be one of fig1"),
        (["compare", "rign"], "Did you mean ring"),
        (["compare", "ring", "--methods", "diffusion,magic"], "method must be one of diffusion"),
        (["compare", "ring", "--runs", "0"], "runs must be at least 1"),
        (["compare", "-", "--n-options", "99"], "at most the number of states"),
    ],
)
def test_bad_input_is_one_line(tmp_path: Path, words: list[str], message: str) -> None:
    run = farpoint(*words, "--out", str(tmp_path / "out"), text="...\n...")
    assert run.returncode == 2
    assert message in run.stderr
    assert len(run.stderr.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_compare_a_map_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("S....#....\n....###...\n..........\n....###...\n.....#....")
    out = tmp_path / "out"
    run = farpoint(
        "compare", "mine.txt", "--n-options", "4", "--runs", "3", "--episodes", "40", "--out", str(out), cwd=tmp_path
    )
    assert (run.returncode, run.stderr) == (0, "")
    with (out / "comparison.csv").open(encoding="utf-8") as file:
        rows = {row["method"]: row for row in csv.DictReader(file)}
    assert list(rows) == [
        "diffusion options", "eigenoptions", "cover options", "random options", "primitive actions",
    ]  # fmt: skip
    assert rows["diffusion options"]["options"] == "4"
    assert float(rows["diffusion options"]["steps, median"]) < float(rows["primitive actions"]["steps, median"])
    assert (out / "comparison.png").read_bytes().startswith(b"\x89PNG")
    assert all(method in run.stdout for method in rows)
