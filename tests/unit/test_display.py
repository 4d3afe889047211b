"""Bars are seen by people only, after two seconds, one at a time; long work is announced."""

from __future__ import annotations

import io
import itertools
import logging
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

import farpoint as fp
from farpoint.display import announce, bars_are_shown, progress_bar, progress_bars


@pytest.fixture
def bars(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Show bars, and at once."""
    monkeypatch.setattr(fp.display, "PATIENCE_SECONDS", 0.0)
    with progress_bars(True):
        yield


class Written:
    """What has been written to standard error."""

    def __init__(self, capture: pytest.CaptureFixture[str]) -> None:
        self._capture, self._text = capture, ""

    def getvalue(self) -> str:
        self._text += self._capture.readouterr().err
        return self._text


@pytest.fixture
def stream(capsys: pytest.CaptureFixture[str]) -> Written:
    return Written(capsys)


def wait_until(condition: Callable[[], bool]) -> None:
    for _ in range(500):
        if condition():
            return
        time.sleep(0.01)
    pytest.fail("what should happen within 5 seconds did not")


def test_a_bar_says_how_much_is_done_and_is_removed(bars: None, stream: Written) -> None:
    with progress_bar("score", 4) as tell:
        wait_until(lambda: "score" in stream.getvalue())
        assert "0/4" in stream.getvalue()
        tell(1)
        wait_until(lambda: "1/4" in stream.getvalue())
        tell(2, 8, "score of a map")
        wait_until(lambda: "score of a map" in stream.getvalue())
        assert "2/8" in stream.getvalue()
    # The cursor goes back to the line of the bar, which is erased.
    assert stream.getvalue().endswith("\x1b[1A\x1b[2K")


def test_the_total_may_be_unknown(bars: None, stream: Written) -> None:
    with progress_bar("states") as tell:
        tell(17)
        wait_until(lambda: "17/?" in stream.getvalue())


def test_short_work_shows_no_bar(stream: Written) -> None:
    with progress_bars(True), progress_bar("score", 2) as tell:
        tell(1)
        tell(2)
    assert stream.getvalue() == ""


def test_one_bar_at_a_time(bars: None, stream: Written) -> None:
    with progress_bar("outer", 2) as outer, progress_bar("inner", 2) as inner:
        inner(1)
        outer(1)
        wait_until(lambda: "1/2" in stream.getvalue())
        with ThreadPoolExecutor(1) as pool:
            pool.submit(_bar_in_a_thread).result()
    assert "inner" not in stream.getvalue()
    assert "thread" not in stream.getvalue()
    with progress_bar("third", 2):
        wait_until(lambda: "third" in stream.getvalue())


def _bar_in_a_thread() -> None:
    with progress_bars(True), progress_bar("thread", 2) as tell:
        tell(1)
        time.sleep(0.1)


def test_nothing_is_shown_where_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not bars_are_shown()
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert bars_are_shown()
    monkeypatch.setenv("FARPOINT_PROGRESS", "0")
    assert not bars_are_shown()
    monkeypatch.delenv("FARPOINT_PROGRESS")
    monkeypatch.setattr(sys, "stderr", None)
    assert not bars_are_shown()


def test_two_threads_do_not_leave_bars_on_or_off() -> None:
    first, second = threading.Event(), threading.Event()
    seen = list[bool]()

    def one() -> None:
        with progress_bars(True):
            first.set()
            second.wait(5)
            seen.append(bars_are_shown())

    def other() -> None:
        first.wait(5)
        with progress_bars(True):
            second.set()
            while threads[0].is_alive():
                time.sleep(0.01)
        seen.append(bars_are_shown())

    threads = [threading.Thread(target=one), threading.Thread(target=other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # The blocks overlapped, and the first to begin was the first to end.
    assert seen == [True, False]
    assert not bars_are_shown()


def test_long_work_shows_a_bar_by_itself(bars: None, stream: Written) -> None:
    deadline = time.monotonic() + 10.0

    def endless(agent: object) -> bool:
        return "learning" not in stream.getvalue() and time.monotonic() < deadline

    env = fp.OptionsWrapper(__import__("gymnasium").make("FrozenLake-v1"), [])
    fp.train_tabular(env, 10**9, callback=endless)
    assert "learning" in stream.getvalue()
    assert "1000000000" in stream.getvalue()


def test_parallel_work_shows_a_bar_by_itself(bars: None, stream: Written) -> None:
    results = fp.parallel.parallel_map(lambda shared, task: task, None, range(3), label="counting")
    assert next(results) == 0
    wait_until(lambda: "counting" in stream.getvalue())
    assert list(results) == [1, 2]
    assert "3/3" in stream.getvalue()


def test_the_progress_of_ones_own_replaces_the_bar(bars: None, stream: Written) -> None:
    calls: list[tuple[int, int]] = []
    fp.score(fp.open_room(40, 40), 3, "local", progress=lambda done, total: calls.append((done, total)))
    assert calls[-1][0] == calls[-1][1]
    fp.record_log(__import__("gymnasium").make("FrozenLake-v1"), 1500, progress=lambda *call: calls.append(call))
    assert calls[-3:] == [(0, 1500), (1000, 1500), (1500, 1500)]
    assert stream.getvalue() == ""


def test_a_stream_that_is_closed_does_not_end_the_work(bars: None, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with progress_bar("score", 3) as tell:
        wait_until(lambda: "score" in stream.getvalue())
        stream.close()
        for number in itertools.count(1):
            tell(number)
            time.sleep(0.05)
            if number == 5:
                break


def test_minutes_are_announced_and_seconds_are_not(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="farpoint"):
        announce("score at t = 100", 250.0)
        announce("score at t = 4", 2.0)
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("WARNING", "score at t = 100: about 4 min on one core"),
        ("INFO", "score at t = 4: about 2 s on one core"),
    ]


def test_hiding_bars_ends(bars: None) -> None:
    with progress_bars(False):
        assert not bars_are_shown()
    assert bars_are_shown()
