"""How a case ended.

- *ok*: it returned. *refused*: an error of Farpoint in one short line, or Python's own for a missing or unknown
  argument. *long*: it asked for endless work, and could be interrupted or had no memory left. *exotic*: any other
  exception, for an argument of a type that no reader of the docstring would pass.
- *foreign*: any other exception, or a message longer than a line. *silent*: it returned numbers that are not finite,
  changed its arguments, left temporary files, or read something else from a damaged file. *hang*: it took longer than
  the limit. *crash*: its process ended.
"""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import os
import shutil
import signal
import traceback
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import scipy.sparse as sp

from farpoint.errors import FarpointError
from tests.helpers.worlds import WORLDS
from tools.fuzz.cases import EXOTIC, FOREIGN, HANG, LONG, OK, REFUSED, SILENT, Case, Outcome
from tools.fuzz.commands import judge_command
from tools.fuzz.damage import judge_file
from tools.fuzz.values import NAMES

LONGEST_MESSAGE = 400
# Endless work is interrupted after so many seconds of computing, anything else after many more.
_PATIENCE, _LIMIT = 3, 20
# May hold what is not finite: its documentation says where.
_NOT_FINITE = {
    "fp.steps_between_states": "infinite where a target cannot be reached",
    "fp.measures.decisions_between_states": "infinite where a target cannot be reached",
    "fp.learn_episodes": "infinite where a target was never reached",
    "fp.learn_from_scratch": "infinite where the reward was never found",
    "fp.explore(env=lake(), n_steps=20).steps_until": "infinite where so many states were never seen",
    "fp.measures.first_visits": "infinite where a state was never visited",
    "fp.measures.estimate": "one run has no interval",
    "Walk.of(w).forward": "mass that is not finite stays so",
    "fp.envs.option_success": "nan for an option without a trial that counts",
}


class Overtime(BaseException):
    """Raised in a call that takes too long, as Ctrl-C would be."""


def judge(case: Case) -> Outcome:
    """Run a case in the current folder and return how it ended."""
    judges: dict[str, Callable[[Case], Outcome]] = {"call": judge_call, "command": judge_command, "file": judge_file}
    prepare_folder()
    # Of computing, so that a busy machine does not look like a hang; the campaign limits the time of waiting.
    signal.signal(signal.SIGPROF, _interrupt)
    limit = _PATIENCE if case.endless else 5 * _LIMIT if case.patient else _LIMIT
    signal.setitimer(signal.ITIMER_PROF, limit)
    try:
        outcome = judges[case.kind](case)
    except Overtime:
        return Outcome(LONG if case.endless else HANG, f"interrupted after {limit} s")
    except FarpointError as error:
        outcome = _judge_message(error)
    except MemoryError as error:
        outcome = Outcome(LONG if case.endless else EXOTIC if case.exotic else FOREIGN, _where(error))
    except Exception as error:
        outcome = Outcome(EXOTIC if case.exotic else FOREIGN, _where(error))
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    left = sorted(name for name in os.listdir() if name.startswith(".") or name.startswith("tmp"))
    if left and outcome.end in (OK, REFUSED):
        return Outcome(SILENT, f"left {', '.join(left)}")
    return outcome


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise Overtime


def prepare_folder() -> None:
    """Empty the current folder, and put files in it that might be taken for others."""
    for path in Path().iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    Path("folder").mkdir()
    Path("loop").symlink_to("loop")
    Path("text.txt").write_text("S..\n..G\n")
    np.save("numbers.npy", np.ones(3))


def judge_call(case: Case) -> Outcome:
    """Call a function, a constructor or a method."""
    world, target, given, holds = case.words
    scope = {**NAMES, "W": world, "w": WORLDS[world]()}
    try:
        function = eval(target, scope)
        values = [(name, eval(text, scope)) for name, text in given]
    except FarpointError:
        return Outcome(OK, "this world has no such thing")
    before = [_digest(value) for _, value in values]
    placed, named = [value for name, value in values if not name], {name: value for name, value in values if name}
    try:
        inspect.signature(function).bind(*placed, **named)
    except TypeError as error:
        return Outcome(REFUSED, str(error))
    except ValueError:
        pass  # a function without a signature
    try:
        result = function(*placed, **named)
        if isinstance(result, AbstractContextManager) and not hasattr(result, "close"):
            with result:
                pass
    finally:
        _close_figures()
    changed = [name for (name, value), old in zip(values, before, strict=True) if _digest(value) != old]
    if changed:
        return Outcome(SILENT, f"changed {', '.join(changed)}")
    given_back = any(result is value for _, value in values)
    if not (holds or given_back or target in _NOT_FINITE or _finite(result)):
        return Outcome(SILENT, f"returned numbers that are not finite: {str(result)[:100]!r}")
    return Outcome(OK)


def _judge_message(error: FarpointError) -> Outcome:
    message = str(error)
    if "\n" in message or len(message) > LONGEST_MESSAGE:
        return Outcome(FOREIGN, f"a message of {len(message)} characters: {message[:100]!r}")
    return Outcome(REFUSED, message)


def _where(error: Exception) -> str:
    """Return the exception in one line, with the last line of Farpoint that it went through."""
    ours = [frame for frame in traceback.extract_tb(error.__traceback__) if "/farpoint/" in frame.filename]
    place = f"{ours[-1].filename.partition('/farpoint/')[2]}:{ours[-1].lineno}" if ours else "?"
    return f"{type(error).__name__} in {place}: {str(error)[:120]!r}"


def _digest(value: Any) -> str:
    """Return a digest of what a call might change in an argument, where that is cheap."""
    if sp.issparse(value):
        value = [getattr(value, name) for name in ("data", "indices", "indptr", "row", "col") if hasattr(value, name)]
    if isinstance(value, np.ndarray):
        small = value.size < 10**6 and value.dtype != object
        return hashlib.blake2b(value.tobytes()).hexdigest() if small else ""
    return " ".join(map(_digest, value)) if isinstance(value, list) else repr(value) if isinstance(value, dict) else ""


def _finite(value: Any) -> bool:
    if isinstance(value, (float, complex, np.inexact)):
        return bool(np.isfinite(value))
    if sp.issparse(value):
        value = value.data
    if isinstance(value, np.ndarray):
        return not np.issubdtype(value.dtype, np.inexact) or bool(np.isfinite(value).all())
    if isinstance(value, (tuple, list)):
        return all(_finite(item) for item in value)
    if dataclasses.is_dataclass(value) and not inspect.isclass(value):
        return all(_finite(getattr(value, field.name)) for field in dataclasses.fields(value))
    return True


def _close_figures() -> None:
    import matplotlib.pyplot as plt

    plt.close("all")
