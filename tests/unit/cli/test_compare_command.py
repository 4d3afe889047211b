"""``farpoint compare``: what it prints and writes, and what it refuses."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import farpoint as fp
from tests.helpers.commands import farpoint


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["compare", "rign"], "Did you mean ring"),
        (["compare", "ring", "--methods", "diffusion,magic"], "method must be one of diffusion"),
        (["compare", "ring", "--n-runs", "0"], "runs must be at least 1"),
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
        "compare",
        "mine.txt",
        "--n-options",
        "4",
        "--n-runs",
        "3",
        "--n-episodes",
        "40",
        "--out",
        str(out),
        cwd=tmp_path,
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


def test_compare_on_tiny_worlds_and_narrow_terminals(tmp_path: Path) -> None:
    run = farpoint("compare", "-", "--methods", "none", "--n-runs", "1", "--n-episodes", "5", text="G.")
    assert (run.returncode, run.stderr) == (0, "")
    assert "1 [1, 1]" in run.stdout.replace("1.0", "1")


def test_environments_by_name(tmp_path: Path) -> None:
    found = farpoint("discover", "gym:MiniGrid-Empty-8x8-v0", "--seed", "3", "--n-options", "4", "--out", str(tmp_path))
    assert (found.returncode, found.stderr) == (0, "")
    assert "score.png" in {file.name for file in tmp_path.iterdir()}
    compared = farpoint("compare", "gym:CliffWalking-v1", "--n-runs", "3")
    assert compared.returncode == 0, compared.stderr
    assert "near-optimal" in compared.stdout
    unknown = farpoint("discover", "gym:Nowhere-v0")
    assert unknown.returncode == 2
    assert "must be registered in Gymnasium; got 'Nowhere-v0'" in unknown.stderr


def test_compare_on_a_large_world_samples_targets(tmp_path: Path) -> None:
    world = fp.random_maze(165, 165, seed=3)
    assert world.n_states > 20_000
    (tmp_path / "large.txt").write_text(world.to_text())
    words = ["--methods", "cover,none", "--n-options", "2", "--n-runs", "2", "--n-episodes", "2", "--max-steps", "50"]
    run = farpoint("compare", "large.txt", *words, "--out", str(tmp_path / "out"), cwd=tmp_path)
    assert (run.returncode, run.stderr) == (0, "")
    assert "over 60 sampled targets" in run.stdout.replace("\n", " ")
    with (tmp_path / "out" / "comparison.csv").open(encoding="utf-8") as file:
        rows = {row["method"]: row for row in csv.DictReader(file)}
    exact = fp.steps_between_states(world, n_targets=60, seed=0).mean_estimate
    cell = rows["primitive actions"]["mean [95 %]"]
    assert cell == f"{exact.value:,.0f} [{exact.low:,.0f}, {exact.high:,.0f}]"
    assert rows["primitive actions"]["cover time [95 %]"] == "> 1,000,000"
