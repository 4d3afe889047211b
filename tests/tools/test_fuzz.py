"""A short run of the fuzzer; the long one is ``make fuzz``."""

from __future__ import annotations

from itertools import chain

import pytest

from tools.fuzz.calls import public_names, targets
from tools.fuzz.campaign import Worker, campaign, cases, describe
from tools.fuzz.cases import CRASH, FOREIGN, HANG, LONG, REFUSED, SILENT, Case
from tools.fuzz.commands import commands
from tools.fuzz.judging import judge

COUNTS = {"call": 300, "command": 12, "file": 100}


@pytest.mark.slow
def test_nothing_fails() -> None:
    tallies = campaign(chain.from_iterable(cases(kind, 0, range(count)) for kind, count in COUNTS.items()))
    assert {kind: tally.counts.total() for kind, tally in tallies.items()} == COUNTS
    failed = [describe(*failure) for tally in tallies.values() for failure in tally.failed]
    assert not failed, "\n".join(failed)


def test_everything_public_is_attacked() -> None:
    called = {target.text for target in targets()}
    functions = {text for text, value in public_names() if not isinstance(value, type)}
    assert functions <= called
    assert {"fp.World", "w.choices", "found(W).save", "fp.OptionSet.load", "fp.spectrum(world=w).powers"} <= called
    assert {"discover", "compare", "explore", "paper", "studio"} == set(commands())


@pytest.mark.parametrize(
    ("target", "given", "end"),
    [
        ("np.full", [("", "2"), ("", "nan")], SILENT),
        ("np.ndarray.sort", [("", "np.array([2, 1])")], SILENT),
        ("[].index", [("", "1")], FOREIGN),
        ("fp.score", [("world", "w"), ("t", "0")], REFUSED),
        ("fp.score", [("wrld", "w")], REFUSED),
    ],
)
def test_the_judge_sees_each_kind_of_failure(
    target: str, given: list[tuple[str, str]], end: str, tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(str(tmp_path))
    assert judge(Case("call", ("ring", target, given, False), "")).end == end


@pytest.mark.slow
def test_the_worker_sees_crashes_and_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(target: str, *given: str, endless: bool = False) -> str:
        worker = Worker()
        words = ("ring", target, [("", text) for text in given], False)
        outcome = worker.run(Case("call", words, "", endless=endless))
        worker.stop()
        return outcome.end

    assert run("__import__('os').abort") == CRASH
    assert run("any", "(False for _ in iter(int, 1))", endless=True) == LONG
    monkeypatch.setattr("tools.fuzz.campaign.LIMIT", 2)
    assert run("__import__('time').sleep", "60") == HANG
