"""The map of a world with its options, as the terminal shows it."""

from __future__ import annotations

import numpy as np
from rich.console import Console
from rich.text import Text

from farpoint.options import OptionSet

_TALLEST_MAP = 60
_STYLES = {
    "#": "bright_black",
    ".": "dim",
    "*": "bold red",
    "S": "bold green",
    "G": "bold magenta",
    "s": "bold red",
    "g": "bold red",
}
_MEANINGS = {"*": "goal of an option", "S": "start", "G": "target"}
# More targets than this, or than this share of the states, would hide the map.
_FEW_TARGETS, _SHARE_OF_TARGETS = 5, 0.1


def map_marks(options: OptionSet) -> dict[int, str]:
    """Return what is written on which state: ``*`` on goals, ``S`` on the start and ``G`` on the targets of the world.

    A start or target that is a goal too has a small letter. States of one cell (directions in MiniGrid) have one mark.
    Targets are not marked where they are many.

    >>> import farpoint as fp
    >>> map_marks(fp.OptionSet(fp.World.from_map("S..G"), [0, 1]))
    {0: 's', 1: '*', 3: 'G'}
    """
    world = options.world
    assert world.positions is not None
    first = np.array([] if world.start is None else [world.start], dtype=np.int64)
    targets = np.array([], dtype=np.int64) if world.targets is None else world.targets
    if targets.size > max(_FEW_TARGETS, _SHARE_OF_TARGETS * world.n_states):
        targets = targets[:0]
    marked = {"*": options.goals, "G": targets, "S": first}
    cells = {mark: set(map(tuple, np.asarray(world.positions[states]).tolist())) for mark, states in marked.items()}
    marks = {}
    for state in sorted({int(state) for states in marked.values() for state in states}):
        cell = tuple(np.asarray(world.positions[state]).tolist())
        mark = next(name for name in ("S", "G", "*") if cell in cells[name])
        marks[state] = mark.lower() if cell in cells["*"] else mark
    return marks


def print_map(console: Console, options: OptionSet) -> None:
    """Print the map, and what its letters mean where it has some; only a line if the terminal is too small for it."""
    if not options.world.on_grid:
        return
    marks = map_marks(options)
    text = options.world.to_text(marks)
    lines = text.splitlines()
    if len(lines[0]) > console.width or len(lines) > _TALLEST_MAP:
        console.print(f"(the map, {len(lines)} × {len(lines[0])}, is larger than this terminal)", highlight=False)
        return
    drawn = {"#": "█", ".": "·"} if console.encoding.startswith("utf") else {}
    colored = Text()
    for symbol in text + "\n":
        colored.append(drawn.get(symbol, symbol), style=_STYLES.get(symbol, ""))
    console.print(colored)
    letters = set(marks.values())
    shown = [f"{mark} {meaning}" for mark, meaning in _MEANINGS.items() if {mark, mark.lower()} & letters]
    if letters & {"s", "g"}:
        shown.append("a small letter: a goal too")
    # The stars need no explanation by themselves.
    if letters - {"*"}:
        console.print(Text(" · ".join(shown), style="dim"))
