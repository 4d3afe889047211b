from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import pytest

import farpoint as fp
from tests.unit.cli.test_discover_command import farpoint


def test_one_section_and_its_files(tmp_path: Path) -> None:
    run = farpoint("paper", "--only", "fig1,counts", "--quick", "--out", str(tmp_path))
    assert (run.returncode, run.stderr.strip()) == (0, "")
    assert "holds  At t = 4 and 13 there are 32, 28" in run.stdout
    assert {file.name for file in tmp_path.iterdir()} == {
        "paper-quick-fig1-counts.html", "paper-quick-fig1-counts-claims.csv", "results", "fig1.csv", "counts.csv",
    }  # fmt: skip
    assert "<h2 id='counts'>" in (tmp_path / "paper-quick-fig1-counts.html").read_text(encoding="utf-8")


def test_a_reader_that_leaves_early_does_not_lose_the_page(tmp_path: Path) -> None:
    words = f"paper --only counts --quick --out '{tmp_path}/[odd]'"
    command = f"{sys.executable} -c 'from farpoint.cli import main; main()' {words} | true"
    subprocess.run(["bash", "-c", command], capture_output=True, check=True)
    assert (tmp_path / "[odd]" / "paper-quick-counts.html").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["paper", "--only", "fig9"], "experiment must be one of fig1"),
        (["paper", "--only", ""], "experiment must be one of fig1"),
        (["paper", "--jobs", "0"], "n_jobs must be a whole number but 0"),
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


def test_compare_on_tiny_worlds_and_narrow_terminals(tmp_path: Path) -> None:
    run = farpoint("compare", "-", "--methods", "none", "--runs", "1", "--episodes", "5", text="G.")
    assert (run.returncode, run.stderr) == (0, "")
    assert "1 [1, 1]" in run.stdout.replace("1.0", "1")


def test_environments_by_name(tmp_path: Path) -> None:
    found = farpoint("discover", "gym:MiniGrid-Empty-8x8-v0", "--seed", "3", "--n-options", "4", "--out", str(tmp_path))
    assert (found.returncode, found.stderr) == (0, "")
    assert "score.png" in {file.name for file in tmp_path.iterdir()}
    compared = farpoint("compare", "gym:CliffWalking-v1", "--runs", "3")
    assert compared.returncode == 0, compared.stderr
    assert "near optimal" in compared.stdout
    unknown = farpoint("discover", "gym:Nowhere-v0")
    assert unknown.returncode == 2
    assert "must be one that Gymnasium knows; got 'Nowhere-v0'" in unknown.stderr


def test_the_experiment_on_environments_in_small(tmp_path: Path) -> None:
    run = farpoint("envs", "--quick", "--only", "frozenlake,cliff", "--out", str(tmp_path))
    assert run.returncode == 0, run.stderr
    assert {file.suffix for file in tmp_path.iterdir()} == {"", ".html", ".png", ".csv"}
    with (tmp_path / "envs-quick-frozenlake-cliff.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 5
    assert farpoint("envs", "--only", "mars", "--out", str(tmp_path)).returncode == 2


def test_compare_on_a_large_world_samples_targets(tmp_path: Path) -> None:
    world = fp.random_maze(165, 165, seed=3)
    assert world.n_states > 20_000
    (tmp_path / "large.txt").write_text(world.to_text())
    words = ["--methods", "cover,none", "--n-options", "2", "--runs", "2", "--episodes", "2", "--max-steps", "50"]
    run = farpoint("compare", "large.txt", *words, "--out", str(tmp_path / "out"), cwd=tmp_path)
    assert (run.returncode, run.stderr) == (0, "")
    assert "over 60 sampled targets" in run.stdout.replace("\n", " ")
    with (tmp_path / "out" / "comparison.csv").open(encoding="utf-8") as file:
        rows = {row["method"]: row for row in csv.DictReader(file)}
    exact = fp.steps_between_states(world, n_targets=60, seed=0).mean_estimate
    cell = rows["primitive actions"]["mean [95 %]"]
    assert cell == f"{exact.value:,.0f} [{exact.low:,.0f}, {exact.high:,.0f}]"
    assert rows["primitive actions"]["cover time [95 %]"] == "> 1,000,000"
