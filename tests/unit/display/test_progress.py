"""Bars are seen by people only, after two seconds, one at a time; long work is announced."""

from __future__ import annotations

import io
import itertools
import logging
from collections.abc import Iterator

import pytest

import farpoint as fp
from farpoint.display.progress import Bar, announce, bar_or, bars_are_shown, shows_progress, watched


@pytest.fixture
def bars() -> Iterator[None]:
    with fp.display.progress_bars(True):
        yield


def test_a_bar_says_how_much_is_done_and_is_removed(bars: None) -> None:
    stream = io.StringIO()
    bar = Bar("score", stream, patience=0.0)
    bar.update(1, 4)
    assert stream.getvalue().startswith("\rscore  25 % |███████")
    assert " 1/4, " in stream.getvalue()
    bar.close()
    # The last line is blank, and the next begins where it began.
    assert stream.getvalue().rsplit("\r", 2)[1].strip() == ""


def test_a_bar_waits_for_two_seconds(bars: None, monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = iter([0.0, 1.9, 2.0])
    monkeypatch.setattr("farpoint.display.progress.time.monotonic", lambda: next(seconds))
    stream = io.StringIO()
    bar = Bar("score", stream)
    bar.update(1, 4)
    assert stream.getvalue() == ""
    bar.update(2, 4)
    assert stream.getvalue().startswith("\rscore  50 % |")
    bar.close()


def test_one_bar_at_a_time(bars: None) -> None:
    outer, inner = io.StringIO(), io.StringIO()
    first, second = Bar("outer", outer, patience=0.0), Bar("inner", inner, patience=0.0)
    second.update(1, 2)
    first.update(1, 2)
    second.close()
    first.close()
    assert inner.getvalue() == ""
    assert "outer" in outer.getvalue()
    third = Bar("third", inner, patience=0.0)
    third.update(1, 2)
    third.close()
    assert "third" in inner.getvalue()


def test_nothing_is_shown_where_nobody_looks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert not bars_are_shown()
    assert list(watched(range(3), 3, "counting")) == [0, 1, 2]
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert bars_are_shown()
    monkeypatch.setenv("FARPOINT_PROGRESS", "0")
    assert not bars_are_shown()
    assert capsys.readouterr().err == ""


def test_long_work_shows_a_bar_by_itself(
    bars: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # As if hours went by.
    clock = itertools.count(0.0, 3.0)
    monkeypatch.setattr("farpoint.display.progress.time.monotonic", lambda: next(clock))
    fp.learn(fp.four_rooms(), n_runs=1, n_episodes=2, n_jobs=1)
    assert "learning 100 % |" in capsys.readouterr().err
    fp.record_log(__import__("gymnasium").make("FrozenLake-v1"), 1500)
    assert "recording" in capsys.readouterr().err


def test_the_progress_of_ones_own_replaces_the_bar(
    bars: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = itertools.count(0.0, 3.0)
    monkeypatch.setattr("farpoint.display.progress.time.monotonic", lambda: next(clock))
    calls: list[tuple[int, int]] = []
    fp.score(fp.open_room(40, 40), 3, "local", progress=lambda done, total: calls.append((done, total)))
    assert calls[-1][0] == calls[-1][1]
    assert capsys.readouterr().err == ""

    @shows_progress("counting")
    def count(*, progress: object = None) -> object:
        return progress

    assert count(progress=print) is print
    assert callable(count())


def test_a_stream_that_is_closed_does_not_end_the_work(bars: None) -> None:
    stream = io.StringIO()
    bar = Bar("score", stream, patience=0.0)
    stream.close()
    bar.update(1, 2)
    bar.close()
    done = []
    with bar_or(None, "again") as progress:
        for number in range(3):
            progress(number, 3)
            done.append(number)
    assert done == [0, 1, 2]


def test_minutes_are_announced_and_seconds_are_not(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="farpoint"):
        announce("score at t = 100", 250.0)
        announce("score at t = 4", 2.0)
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("WARNING", "score at t = 100: about 4 min on one core"),
        ("INFO", "score at t = 4: about 2 s on one core"),
    ]


def test_hiding_bars_ends(bars: None) -> None:
    with fp.display.progress_bars(False):
        assert not bars_are_shown()
    assert bars_are_shown()
