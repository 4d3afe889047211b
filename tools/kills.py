"""Long commands that are killed at random moments and started again: ``python -m tools.kills [N_KILLS]``.

Each command runs once undisturbed; then it is killed with SIGKILL, started again in the same folder, killed again, and
at last let run to its end. What it leaves must be the same, byte by byte, as what the undisturbed run left, apart from
the seconds that parts took; and nothing unfinished may be left.
"""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.helpers.commands import FARPOINT
from tests.helpers.faults import content_of

# The research modules are not installed.
_ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
# Kept blocks from 1,000 states on, in small worlds, so that there is something to be killed in.
_DISCOVER = (
    "import farpoint.cli.discover as command; command.KEPT_STATES = 1_000; from farpoint.cli import main; main()"
)
_SCORE = """
import numpy as np, farpoint as fp
scores = fp.score(fp.open_room(600, 700), 9, "local", checkpoint="blocks")
fp.files.write_arrays("scores.npz", "scores", {}, {"scores": np.asarray(scores)})
"""
_MAPPED = """
import farpoint as fp
world = fp.open_room(600, 700)
scores = fp.score(world, 9, "local", checkpoint="blocks", out="scores.npy")
fp.files.write_arrays("goals.npz", "goals", {}, {"goals": fp.find_goals(world, scores).states})
"""
_TRAINING = """
import farpoint as fp
fp.learn_eigenfunctions(fp.grid((9,)), n_functions=3, n_steps=2_000, hidden=(8,), checkpoint="state").save("a.npz")
"""


def _python(code: str, *words: str) -> list[str]:
    return [sys.executable, "-c", code, *words]


COMMANDS: dict[str, list[str]] = {
    "discover": _python(_DISCOVER, "discover", "random_maze:60x60", "--out", "out"),
    "score": _python(_SCORE),
    "mapped": _python(_MAPPED),
    "eigenfunctions": _python(_TRAINING),
    "paper": [*FARPOINT, "paper", "--quick", "--only", "grid,counts", "--out", "out"],
    "large": [sys.executable, "-m", "research.large", "--quick", "--only", "eigenfunctions", "--out", "out"],
}


@dataclass
class Tally:
    """What happened: kills that hit, runs that were over before, resumed runs with other content."""

    kills: int = 0
    over: int = 0
    resumed: int = 0
    different: int = 0


def comparable(folder: Path) -> dict[str, bytes]:
    """Return all files below a folder, without the seconds that pages and kept results hold."""
    content = content_of(folder)
    for name, data in content.items():
        if name.endswith(".html"):
            content[name] = re.sub(rb"computed in [0-9.]+ s", b"", data)
        elif "/results/" in name:
            with np.load(folder / name) as file:
                header = json.loads(str(file["header"]))
                header["facts"].pop("seconds")
                header.pop("digest")
                content[name] = repr([header, *(file[one].tobytes() for one in file.files if one != "header")]).encode()
    return content


def finish(command: Sequence[str], folder: Path) -> None:
    """Run a command to its end."""
    run = subprocess.run(command, cwd=folder, env=_ENVIRONMENT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


def kill_and_resume(
    command: Sequence[str], folder: Path, *, n_kills: int, kills_per_run: int, seed: int
) -> Iterator[Tally]:
    """Yield the tally after every resumed run, until there were ``n_kills`` kills."""
    rng, tally = random.Random(seed), Tally()
    (folder / "undisturbed").mkdir()
    # The first run may compile; the second says how long it takes.
    for _ in range(2):
        began = time.perf_counter()
        with tempfile.TemporaryDirectory() as other:
            finish(command, Path(other))
        seconds = time.perf_counter() - began
    finish(command, folder / "undisturbed")
    expected = comparable(folder / "undisturbed")
    while tally.kills < n_kills:
        place = folder / f"run-{tally.resumed}"
        place.mkdir()
        for _ in range(min(kills_per_run, n_kills - tally.kills)):
            process = subprocess.Popen(
                command, cwd=place, env=_ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            try:
                process.wait(rng.uniform(0.1, 1.0) * seconds)
                tally.over += 1
                break
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                tally.kills += 1
        finish(command, place)
        tally.resumed += 1
        tally.different += comparable(place) != expected
        yield tally


def main() -> None:
    """Kill every command, or those that are named, and print a table."""
    n_kills = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    print(f"{'command':<16}{'kills':>8}{'over before':>14}{'resumed':>10}{'different':>12}{'seconds':>10}", flush=True)
    different = 0
    for name in sys.argv[2:] or COMMANDS:
        began, tally = time.perf_counter(), Tally()
        with tempfile.TemporaryDirectory() as folder:
            for tally in kill_and_resume(COMMANDS[name], Path(folder), n_kills=n_kills, kills_per_run=5, seed=0):
                different += tally.different
        seconds = time.perf_counter() - began
        print(
            f"{name:<16}{tally.kills:>8}{tally.over:>14}{tally.resumed:>10}{tally.different:>12}{seconds:>10.0f}",
            flush=True,
        )
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
