"""The runner: resumed, in order, stale where code changed, and nothing lost by a kill."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from farpoint.errors import InvalidInput, UnknownName
from research import runner
from research.runner import Log, Table, column, main, read_table, run
from research.status import status_of

SEEN: list[int] = []


def square(number: int) -> dict[str, Any]:
    SEEN.append(number)
    if number < 0:
        raise KeyboardInterrupt
    return {"square": number**2, "root": None if number == 2 else number**0.5}


def several(name: str) -> list[dict[str, Any]]:
    return [{"run": run, "steps": float("inf") if run else 3.25} for run in range(2)]


def numbers(*values: int) -> Table:
    return Table("numbers", square, lambda quick: [{"number": value} for value in values[: 1 if quick else None]])


TABLES = (numbers(1),)


@pytest.fixture(autouse=True)
def seen() -> None:
    SEEN.clear()


def test_a_table_is_tidy_and_in_the_order_of_its_parts(tmp_path: Path) -> None:
    path = run(numbers(3, 1, 2), n_jobs=1, folder=tmp_path)
    assert path.read_text().splitlines() == ["number,square,root", "3,9,1.732050808", "1,1,1", "2,4,"]
    assert read_table("numbers", tmp_path)[2] == {"number": 2, "square": 4, "root": None}
    record = json.loads(path.with_suffix(".json").read_text())
    assert set(record) == {"command", "commit", "python", "packages", "seconds", "modules", "parts"}
    assert record["modules"]["farpoint.compiling"] == runner.module_digest("farpoint.compiling")
    assert not [name for name in record["modules"] if name.startswith(("farpoint.report", "research.runner"))]
    wide = run(Table("several", several, lambda quick: [{"name": "a"}, {"name": "b"}]), n_jobs=1, folder=tmp_path)
    assert wide.read_text().splitlines()[:3] == ["name,run,steps", "a,0,3.25", "a,1,inf"]
    assert column(read_table("several", tmp_path), "steps")[:2] == [3.25, float("inf")]


def test_a_run_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(numbers(1, 2, -1, 3), n_jobs=1, folder=tmp_path)
    assert SEEN == [1, 2, -1]
    assert not (tmp_path / "numbers.csv").exists()
    # A kill in the middle of a line: what was torn is computed again, and the file is whole afterwards.
    log = tmp_path / "numbers.jsonl"
    whole = log.read_text()
    log.write_text(whole + '{"part": {"number": 3}, "ro')
    run(numbers(1, 2, 3), n_jobs=1, folder=tmp_path)
    assert SEEN == [1, 2, -1, 3]
    assert log.read_text().startswith(whole)
    assert [row["number"] for row in read_table("numbers", tmp_path)] == [1, 2, 3]


def test_the_same_table_from_any_number_of_workers(tmp_path: Path) -> None:
    texts = []
    for n_jobs in (1, 2):
        folder = tmp_path / str(n_jobs)
        texts.append(run(numbers(*range(6)), n_jobs=n_jobs, folder=folder).read_text())
    assert texts[0] == texts[1]


def test_parts_whose_modules_changed_are_computed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(numbers(1, 2), n_jobs=1, folder=tmp_path)
    table = numbers(1, 2)
    assert status_of(table, "run", tmp_path) == "numbers: fresh, 2 parts"
    grown = status_of(numbers(1, 2, 3), "run", tmp_path)
    assert grown == "numbers: 1 of 3 parts are not computed; at least 0.0 minutes of one core: run numbers"
    before = runner.module_digest
    changed = lambda name: "other" if name == "farpoint.compiling" else before(name)  # noqa: E731
    monkeypatch.setattr(runner, "module_digest", changed)
    assert "2 of 2 parts are stale (farpoint.compiling changed); at least 0.0" in status_of(table, "run", tmp_path)
    run(numbers(1, 2, 3), missing=True, n_jobs=1, folder=tmp_path)
    assert SEEN == [1, 2, 3]
    assert [row["number"] for row in read_table("numbers", tmp_path)] == [1, 2, 3]
    SEEN.pop()
    run(numbers(1, 2), n_jobs=1, folder=tmp_path)
    assert SEEN == [1, 2, 1, 2]
    assert status_of(table, "run", tmp_path) == "numbers: fresh, 2 parts"
    assert Log(tmp_path / "numbers.jsonl").changed({"number": 7}) is None


def test_a_module_that_is_gone_makes_its_parts_stale(tmp_path: Path) -> None:
    log = Log(tmp_path / "numbers.jsonl")
    log.digests["0"] = {"farpoint.gone": "abc"}
    log.entries[runner.key_of({"number": 1})] = {"part": {"number": 1}, "modules": "0"}
    assert log.changed({"number": 1}) == ["farpoint.gone"]


def test_timed_tables_never_mix_two_runs(tmp_path: Path) -> None:
    timed = Table("timed", square, lambda quick: [{"number": 1}], timed=True)
    for _ in range(2):
        run(timed, folder=tmp_path)
    assert SEEN == [1, 1]
    # A run that is stopped leaves the last one as it was.
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(KeyboardInterrupt):
        run(Table("timed", square, lambda quick: [{"number": 2}, {"number": -1}], timed=True), folder=tmp_path)
    assert {name: (tmp_path / name).read_bytes() for name in before} == before


def test_a_quick_look_is_kept_apart(tmp_path: Path) -> None:
    run(numbers(1, 2), quick=True, n_jobs=1, folder=tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {f"numbers-quick.{end}" for end in ("csv", "json", "jsonl")}


def test_parts_that_depend_on_others_and_a_choice_of_parts(tmp_path: Path) -> None:
    def largest(quick: bool, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        known = [row["square"] for row in rows]
        return [{"number": max(known) + 1}] if len(known) == 2 else []

    table = Table("numbers", square, numbers(1, 3).parts, then=largest)
    run(table, only=["3"], n_jobs=1, folder=tmp_path)
    assert SEEN == [3]
    assert [row["number"] for row in read_table("numbers", tmp_path)] == [3]
    assert status_of(table, "run", tmp_path).startswith("numbers: 1 of 2 parts are not computed")
    run(table, n_jobs=1, folder=tmp_path)
    assert SEEN == [3, 1, 10]
    assert [row["number"] for row in read_table("numbers", tmp_path)] == [1, 3, 10]
    assert status_of(table, "run", tmp_path) == "numbers: fresh, 3 parts"


def test_bad_input(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="parts of numbers must differ"):
        run(numbers(1, 1), folder=tmp_path)
    with pytest.raises(InvalidInput, match=r"parts of timed must be computed in one run"):
        run(Table("timed", square, numbers(1).parts, timed=True), only=["1"], folder=tmp_path)
    with pytest.raises(InvalidInput, match=r"computed in one run.*missing=True"):
        run(Table("timed", square, numbers(1).parts, timed=True), missing=True, folder=tmp_path)
    with pytest.raises(UnknownName, match=r"--only must be one of 1; got '2'"):
        main(__name__, ["--only", "2"])
    with pytest.raises(UnknownName, match=r"table must be one of numbers; got 'number'\. Did you mean numbers"):
        main(__name__, ["number"])
    with pytest.raises(InvalidInput, match=r"table nothing must have been computed; there is no nothing\.csv"):
        read_table("nothing", tmp_path)
