"""The command where its input or output is not an ordinary terminal."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.helpers.commands import FARPOINT, farpoint


def in_shell(line: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Return the finished process of a line of bash in which ``FARPOINT`` is the command."""
    words = f"set -o pipefail; {line.replace('FARPOINT', shlex.join(FARPOINT))}"
    return subprocess.run(["bash", "-c", words], capture_output=True, env=os.environ | environment, check=False)


@pytest.mark.parametrize("words", ["discover four_rooms", "compare open_room:3x3 --n-runs 2 --n-episodes 2"])
def test_a_terminal_that_has_only_ascii(words: str) -> None:
    run = in_shell(f"FARPOINT {words}", PYTHONIOENCODING="ascii")
    assert (run.returncode, run.stderr) == (0, b"")
    assert run.stdout.isascii()
    assert b"diffusion" in run.stdout


@pytest.mark.parametrize("words", ["discover four_rooms", "compare open_room:3x3 --n-runs 2 --n-episodes 2", "--help"])
def test_a_reader_that_leaves_after_the_first_line(words: str) -> None:
    run = in_shell(f"FARPOINT {words} | head -1")
    assert (run.returncode, run.stderr) == (0, b"")
    assert run.stdout.count(b"\n") == 1


def test_a_closed_input() -> None:
    run = in_shell("FARPOINT discover - <&-")
    assert run.returncode == 2
    assert run.stderr.startswith(b"farpoint: standard input must be open")
    assert run.stderr.count(b"\n") == 1


def test_an_input_that_is_not_a_text() -> None:
    run = in_shell("printf '\\xff\\xfe' | FARPOINT discover -", PYTHONIOENCODING="utf-8")
    assert run.returncode == 2
    assert run.stderr.startswith(b"farpoint: standard input must be a text map")


def test_a_map_with_a_byte_order_mark_and_the_line_endings_of_windows(tmp_path: Path) -> None:
    (tmp_path / "map.txt").write_bytes(b"\xef\xbb\xbfS..\r\n..G\r\n")
    run = farpoint("discover", "map.txt", cwd=tmp_path)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.splitlines()[1].split()[:2] == ["map", "6"]


@pytest.mark.parametrize(
    ("words", "match"),
    [
        (["compare", "random_maze:4000x4000", "--n-runs", "0"], "--n-runs must be at least 1; got 0."),
        (["compare", "random_maze:4000x4000", "--n-episodes", "-3"], "--n-episodes must be at least 1; got -3."),
        (["compare", "random_maze:4000x4000", "--max-steps", "0"], "--max-steps must be at least 1; got 0."),
        (["compare", "random_maze:4000x4000", "--n-options", "0"], "--n-options must be at least 1; got 0."),
        (["compare", "random_maze:4000x4000", "--t", "nan"], "t must be a finite number above 0; got nan."),
        (["discover", "four_rooms", "--out", ""], "Invalid value for '--out'"),
        (["compare", "four_rooms", "--out", ""], "Invalid value for '--out'"),
        (["paper", "--out", ""], "Invalid value for '--out'"),
        (["discover", "random_maze:999999999x999999999"], "must fit into the memory of this machine"),
        (["discover", "random_maze:" + "9" * 5000 + "x3"], "world must give its size as ROWSxCOLS"),
        (["discover", "gym:no_such_module:Nothing-v0"], "environment must be registered in Gymnasium"),
        (["paper", "--jobs", "1000000000000"], "n_jobs must be at most 1024"),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_line_before_any_work(words: list[str], match: str) -> None:
    run = farpoint(*words)
    assert run.returncode == 2
    assert run.stdout == ""
    assert len(run.stderr.splitlines()) == 1
    assert len(run.stderr) < 400
    assert match in run.stderr


@pytest.mark.parametrize(
    ("error", "text"), [(OSError(), "got OSError."), (OSError("lost"), "got lost."), (OSError(28, "full"), "got full.")]
)
def test_an_error_of_the_system_says_what_it_is(error: OSError, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**arguments: object) -> None:
        raise error

    monkeypatch.setattr("farpoint.cli.discover.run", fail)
    run = farpoint("discover", "ring")
    assert run.returncode == 2
    assert run.stderr.strip() == f"farpoint: output must be one that can be written; {text}"
