"""Command lines: every command and option, read from the command itself, with plausible and absurd words."""

from __future__ import annotations

import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from typing import Any
from unittest.mock import patch

import numpy as np
from typer.main import get_command

from farpoint.cli import main
from farpoint.cli.app import app
from tools.fuzz.cases import FOREIGN, OK, REFUSED, Case, Outcome

LONGEST_LINE = 400
PLAUSIBLE = {
    "world": ("four_rooms", "open_room:3x4", "text.txt", "-", "gym:FrozenLake-v1", "random_maze:6x9"),
    "t": ("4", "13", "2.5"),
    "n_options": ("2", "3"),
    "method": ("diffusion", "eigen", "cover", "bottleneck", "successor", "random", "none"),
    "methods": ("diffusion", "diffusion,none", "random"),
    "solver": ("auto", "spectral", "local", "truncated", "probes"),
    "form": ("auto", "polar", "walk", "symmetrized"),
    "tolerance": ("1e-3",),
    "min_prominence": ("0", "0.01"),
    "wind": ("0", "0.3"),
    "seed": ("0", "7"),
    "out": ("results", "folder"),
    "formats": ("png",),
    "engine": ("local",),
    "n_runs": ("1", "2"),
    "n_episodes": ("2",),
    "max_steps": ("5",),
    "jobs": ("1",),
}
ABSURD = (
    *(
        "",
        " ",
        "-1",
        "0",
        "nan",
        "inf",
        "-inf",
        "1e308",
        "1000000000000",
        "99999999999999999999",
        "1.5",
        "None",
        "text",
    ),
    *("é", "x" * 5_000, "a\nb", ",", "diffusion,,eigen", "png,", "folder", "loop", "numbers.npy", "missing/map.txt"),
    *("open_room:0x3", "open_room:999999999x999999999", "random_maze:", "gym:", "gym:Nothing-v0", "gym:CartPole-v1"),
    *("four_room", "--", "-", "--help", "--no-such-option", "[bold]", "\x1b[31m", "text.txt/x", "\udcff"),
)
STDIN = ("S..\n..G\n", "", "###\n", "..\r\n..\r\n", "\ufeff...\n", "\x00", "a\n", ".#.\n", None)
# One of these is in every line of a suite, so that it stops before its work, which takes minutes.
STOPS = (("--only", "no-such-section"), ("--jobs", "0"), ("--engine", "nowhere"), ("--help",), ("--only", ""))
# The same for the Studio, which would serve until it is interrupted.
STUDIO_STOPS = (("--port", "70000"), ("--token", "short"), ("--host", ""), ("--help",))


@cache
def commands() -> dict[str, tuple[Any, ...]]:
    """Return the parameters of every command.

    >>> {"discover", "compare", "paper"} <= set(commands())
    True
    """
    command: Any = get_command(app)
    return {name: tuple(one.params) for name, one in command.commands.items()}


def draw_command(rng: np.random.Generator) -> Case:
    """Return a random command line."""
    name = str(rng.choice([*commands()]))
    words = [name]
    parameters = commands()[name]
    suite = not any(parameter.param_type_name == "argument" for parameter in parameters)
    wrong = set(rng.permutation(len(parameters))[: rng.choice([0, 1, 1, 2])].tolist())
    for number, parameter in enumerate(parameters):
        argument = parameter.param_type_name == "argument"
        needed = argument or parameter.name in ("n_runs", "n_episodes", "max_steps")
        # Pictures take seconds.
        share = 0.05 if parameter.name == "out" else 0.3
        if number not in wrong and not needed and rng.random() > share:
            continue
        choice = ABSURD if number in wrong else PLAUSIBLE.get(parameter.name, ("1",))
        word = choice[rng.integers(len(choice))]
        if argument:
            words.append(word)
        elif getattr(parameter, "is_flag", False):
            words.append(parameter.opts[0])
        else:
            words += [parameter.opts[0], word]
    if rng.random() < 0.03:
        words.append(ABSURD[rng.integers(len(ABSURD))])
    if name == "studio":
        words += STUDIO_STOPS[rng.integers(len(STUDIO_STOPS))]
    elif suite:
        words += STOPS[rng.integers(len(STOPS))]
    text = STDIN[rng.integers(len(STDIN))]
    return Case("command", (words, text), f"run({words!r}, {text!r})", endless="1000000000000" in words)


def run(words: list[str], text: str | None) -> tuple[int, str, str]:
    """Return the exit code, output and errors of a command line, run in this process."""
    output, errors = io.StringIO(), io.StringIO()
    stdin = None if text is None else io.StringIO(text)
    with (
        patch.object(sys, "argv", ["farpoint", *words]),
        patch.object(sys, "stdin", stdin),
        redirect_stdout(output),
        redirect_stderr(errors),
    ):
        try:
            main()
        except SystemExit as end:
            return int(end.code or 0), output.getvalue(), errors.getvalue()
    raise AssertionError("the command did not end with an exit code")


def judge_command(case: Case) -> Outcome:
    """Run a command line: exit code 0, or one line of error."""
    code, output, errors = run(*case.words)
    if "Traceback" in output + errors:
        return Outcome(FOREIGN, f"a traceback: {errors[-200:]!r}")
    if code == 0:
        return Outcome(OK)
    if code not in (1, 2):
        return Outcome(FOREIGN, f"exit code {code}")
    lines = errors.splitlines()
    usage = output.startswith("Usage:")
    if not usage and (len(lines) != 1 or len(lines[0]) > LONGEST_LINE or not lines[0].startswith("farpoint: ")):
        return Outcome(FOREIGN, f"{len(lines)} lines of error: {errors[:200]!r}")
    return Outcome(REFUSED, errors.strip())
