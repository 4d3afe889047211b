"""``farpoint compare``: what it prints and writes, and what it refuses."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import farpoint as fp
from farpoint.report.figures import METHOD_TITLES
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
    assert list(rows) == ["diffusion", "farpoint", "eigen", "cover", "random", "none"]
    assert rows["diffusion"]["n_options"] == "4"
    assert float(rows["diffusion"]["steps_median"]) < float(rows["none"]["steps_median"])
    for row in rows.values():
        numbers = {name: cell for name, cell in row.items() if name != "method" and not name.endswith("_capped")}
        assert [float(cell) for cell in numbers.values() if cell]
        assert {cell for name, cell in row.items() if name.endswith("_capped")} <= {"True", "False"}
    assert "at most 100 per episode" in run.stdout.replace("\n", " ")
    assert (out / "comparison.png").read_bytes().startswith(b"\x89PNG")
    assert all(METHOD_TITLES[method] in run.stdout for method in rows)


def test_compare_on_tiny_worlds_and_narrow_terminals(tmp_path: Path) -> None:
    run = farpoint("compare", "-", "--methods", "none", "--n-runs", "1", "--n-episodes", "5", text="G.")
    assert (run.returncode, run.stderr) == (0, "")
    assert "1.00 [1.00, 1.00]" in " ".join(run.stdout.split())


def test_environments_by_name(tmp_path: Path) -> None:
    found = farpoint("discover", "gym:MiniGrid-Empty-8x8-v0", "--seed", "3", "--n-options", "4", "--out", str(tmp_path))
    assert (found.returncode, found.stderr) == (0, "")
    assert "score.png" in {file.name for file in tmp_path.iterdir()}
    compared = farpoint("compare", "gym:CliffWalking-v1", "--n-runs", "3", "--out", str(tmp_path / "out"))
    assert compared.returncode == 0, compared.stderr
    assert "near-optimal" in compared.stdout
    assert (tmp_path / "out" / "comparison.png").read_bytes().startswith(b"\x89PNG")
    with (tmp_path / "out" / "comparison.csv").open(encoding="utf-8") as file:
        rows = {row["method"]: row for row in csv.DictReader(file)}
    assert list(rows) == ["diffusion", "farpoint", "eigen", "cover", "random", "none"]
    assert 0 < float(rows["none"]["first_target_low"]) <= float(rows["none"]["first_target"])
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
    assert "over 100 sampled targets (" in run.stdout.replace("\n", " ")
    with (tmp_path / "out" / "comparison.csv").open(encoding="utf-8") as file:
        rows = {row["method"]: row for row in csv.DictReader(file)}
    exact = fp.steps_between_states(world, n_targets=100, seed=0).mean_estimate
    cells = [float(rows["none"][f"steps_mean{end}"]) for end in ("", "_low", "_high")]
    assert cells == [exact.value, exact.low, exact.high]
    assert f"{exact.value:,.0f}" in run.stdout
    assert rows["none"]["cover_time_capped"] == "True"
    assert "≥ 1,000,000" in " ".join(run.stdout.split())


def test_no_more_options_are_asked_for_than_there_are_at_a_t() -> None:
    # At t = 13 the lake has 3 local maxima, at t = 1 more.
    run = farpoint("compare", "gym:FrozenLake-v1", "--t", "13", "--n-runs", "2", "--methods", "diffusion,random")
    assert (run.returncode, run.stderr) == (0, "")
    rows = [line.split() for line in run.stdout.splitlines() if line.strip().startswith(("diffusion", "random"))]
    # The number of options, and t where it matters.
    assert [row[2:4] for row in rows[:2]] == [["3", "13"], ["3", "–"]]


def test_an_episode_is_as_long_as_the_world_needs(tmp_path: Path) -> None:
    # The way through a corridor of 200: five times as many steps are an episode.
    corridor = "S" + "." * 198 + "G"
    run = farpoint("compare", "-", "--methods", "none", "--n-runs", "1", "--n-episodes", "2", text=corridor)
    assert (run.returncode, run.stderr) == (0, "")
    assert "at most 995 per episode" in run.stdout.replace("\n", " ")
    capped = farpoint(
        "compare", "-", "--methods", "none", "--n-runs", "2", "--n-episodes", "2", "--max-steps", "20",
        text=corridor,
    )  # fmt: skip
    assert "≥ 21.0 [21.0, 21.0]" in " ".join(capped.stdout.split())


@pytest.mark.parametrize("columns", [160, 100, 80])
def test_the_table_is_folded_into_the_terminal(columns: int) -> None:
    words = ["--methods", "betweenness,none", "--n-options", "8", "--n-runs", "2", "--n-episodes", "10"]
    run = farpoint("compare", "four_rooms", *words, columns=columns)
    assert (run.returncode, run.stderr) == (0, "")
    lines = run.stdout.splitlines()
    table = lines[: next(number for number, line in enumerate(lines) if line.startswith("steps:"))]
    assert max(map(len, table)) <= columns
    shown = " ".join("\n".join(table).split())
    assert shown.count("[") >= 4, "every interval is there, folded where there is no room for it"
    if columns == 160:
        assert [line.split()[2] for line in table if line.startswith(("betweenness", "primitive"))] == ["8", "0"]


def test_a_narrow_terminal_has_a_list() -> None:
    words = ["--methods", "none", "--n-runs", "2", "--n-episodes", "10"]
    lines = farpoint("compare", "four_rooms", *words, columns=40).stdout.splitlines()
    assert lines[:2] == ["method: primitive actions", "options: 0"]
    assert any(line.startswith("cover time: ") and line.endswith("]") for line in lines)


def test_settings_of_episodes_are_refused_where_a_world_has_its_own(tmp_path: Path) -> None:
    for word, number in (("--n-episodes", "7"), ("--max-steps", "50")):
        run = farpoint("compare", "gym:CliffWalking-v1", word, number, "--out", str(tmp_path / "out"))
        assert run.returncode == 2
        assert "must go with a world without episodes of its own; got CliffWalking-v1" in run.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_length_of_a_run_is_checked_by_the_episodes_that_it_has() -> None:
    # Episodes of a corridor of two have 100 steps, so that 100,001 of them are far from the limit of 10⁹ steps.
    allowed = farpoint("compare", "-", "--methods", "none", "--n-runs", "1", "--n-episodes", "100001", text="SG")
    assert (allowed.returncode, allowed.stderr) == (0, "")
    refused = farpoint(
        "compare", "-", "--methods", "none", "--n-episodes", "100001", "--max-steps", "10000000", text="SG"
    )
    assert refused.returncode == 2
    assert "n_episodes × max_steps must be at most" in refused.stderr
