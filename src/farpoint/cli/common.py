"""What the commands share: where they print, the worlds that words name, and the map of a world."""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from farpoint.errors import InvalidFile, InvalidInput, NotConnected, UnknownName
from farpoint.measures import Estimate
from farpoint.measures.comparison import effect_of
from farpoint.options import OptionSet
from farpoint.options.probability import resolve_option_probability
from farpoint.report.figures import METHOD_TITLES
from farpoint.report.tables import Row, cell_text
from farpoint.worlds import CATALOGUE, World, open_room, random_maze
from farpoint.worlds.maps import ENDINGS, read_map, read_text

# On a narrower terminal a table is a list.
_NARROW = 70
# Columns of words.
_WORDS = ("world", "method", "solver")
_MOST_DIGITS = 10
# Worlds of any size.
SIZED: dict[str, Callable[..., World]] = {"open_room": open_room, "random_maze": random_maze}
_STUDIO_SIZES = {"open_room": (12, 12), "random_maze": (40, 60)}
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


class CommandConsole(Console):
    """A console whose reader may leave early (``| head -1``): the command then ends quietly, as `main` decides."""

    def on_broken_pipe(self) -> None:
        """Pass the error on; rich itself would end with exit code 1."""
        raise BrokenPipeError


def print_table(console: Console, rows: Sequence[Row], title: str | None = None) -> None:
    """Print rows as a table that is folded into the terminal; on a narrow one, as a list."""
    if console.width < _NARROW:
        for row in rows:
            console.print(Text("\n".join(f"{name}: {cell_text(value)}" for name, value in row.items()) + "\n"))
        return
    table = Table(title=title, box=None, pad_edge=False, header_style="bold")
    for name in rows[0]:
        interval = any(isinstance(row[name], Estimate) for row in rows)
        heading = f"{name} [95 %]" if interval else name
        table.add_column(heading, justify="left" if name in _WORDS else "right", overflow="fold")
    for row in rows:
        # As plain text: rich would read an interval in brackets as markup.
        table.add_row(*(Text(cell_text(value)) for value in row.values()))
    console.print(table)


def read_world(word: str, wind: float = 0.0, largest_component: bool = False, seed: int = 0) -> World:
    """Return the world of a name, ``NAME:ROWSxCOLS``, ``gym:ENV-ID``, ``gym:MODULE:ENV-ID``, a map file, or ``-``."""
    if word in CATALOGUE:
        return CATALOGUE[word](wind)
    name, _, size = word.partition(":")
    if name in SIZED:
        return SIZED[name](*_read_size(word, size), wind=wind)
    if word.startswith("gym:"):
        return World.from_env(make_named_env(word.removeprefix("gym:")), seed=seed)
    if Path(word).suffix.lower() in ENDINGS and os.path.exists(word):
        return _largest(lambda: World.from_array(word, wind, largest_component=largest_component))
    text, name = _read_map(word)
    return _largest(lambda: World.from_map(text, wind, largest_component=largest_component, name=name))


def source_of_word(word: str) -> dict[str, Any]:
    """Return where the Studio takes the world of a word from; words are those of `read_world`.

    >>> source_of_word("random_maze:100x200")
    {'kind': 'random_maze', 'rows': 100, 'cols': 200}
    >>> source_of_word("gym:FrozenLake-v1")
    {'kind': 'env', 'id': 'FrozenLake-v1'}
    """
    name, colon, size = word.partition(":")
    if name in SIZED:
        rows, cols = _read_size(word, size) if colon else _STUDIO_SIZES[name]
        return {"kind": name, "rows": rows, "cols": cols}
    if word in CATALOGUE:
        return {"kind": "named", "name": word}
    if name == "gym":
        if ":" in size:
            raise InvalidInput(
                f"world must be an environment that Gymnasium knows; got {word!r}. The Studio imports no modules."
            )
        return {"kind": "env", "id": size}
    if Path(word).suffix.lower() in ENDINGS and os.path.exists(word):
        text, name = World.from_array(word, largest_component=True).to_text(), Path(word).stem
    else:
        text, name = _read_map(word)
    return {"kind": "text", "text": text, "name": name}


def _read_map(word: str) -> tuple[str, str]:
    """Return the text of a map file or of standard input, and its name."""
    return (read_input(), "standard input") if word == "-" else (_read_file(word), Path(word).stem)


def _largest(make: Callable[[], World]) -> World:
    """Return the world; say in the words of the command line how the largest component is kept."""
    try:
        return make()
    except NotConnected as error:
        raise NotConnected(str(error).replace("largest_component=True", "--largest-component")) from error


def _read_size(word: str, size: str) -> tuple[int, int]:
    rows, _, cols = size.partition("x")
    if not (rows.isdecimal() and cols.isdecimal() and max(len(rows), len(cols)) <= _MOST_DIGITS):
        raise InvalidInput(f"world must give its size as ROWSxCOLS; got {word!r}. For example random_maze:100x200.")
    return int(rows), int(cols)


def _read_file(word: str) -> str:
    path = Path(word)
    if not os.path.exists(path):
        near = difflib.get_close_matches(word, CATALOGUE, n=3, cutoff=0.4)
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        raise UnknownName(f"world must be a map file, - or one of {', '.join(CATALOGUE)}; got {word!r}.{hint}")
    return read_map(path)


def read_input() -> str:
    """Return the text on standard input."""
    if sys.stdin is None:
        raise InvalidInput("standard input must be open to read a map from it; got one that is closed.")
    try:
        return read_text(sys.stdin, "standard input")
    except InvalidInput:
        raise
    except (OSError, ValueError) as error:
        raise InvalidFile(f"standard input must be a text map; it cannot be read ({error}).") from error


def make_named_env(name: str) -> Any:
    """Return the environment of a name; of ``MODULE:ENV-ID``, the module may lie in the current folder.

    The command is a script, so that Python looks for modules beside the script and not where it is run, as it does
    for ``python -m farpoint``.

    >>> make_named_env("FrozenLake-v1").action_space.n
    np.int64(4)
    """
    from farpoint.envs.making import make_env

    # Only for a name that asks for a module: otherwise files that happen to lie there could be imported by their names.
    if ":" in name and not sys.flags.safe_path and os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    return make_env(name)


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


def print_choice(console: Console, options: OptionSet) -> None:
    """Print which t and which of its local maxima were taken, and why."""
    if "choice" in options.record:
        console.print(Text(str(options.record["choice"]), style="dim"), soft_wrap=True)


def print_harm(console: Console, options: OptionSet, option_probability: float | None, seed: int) -> None:
    """Print a warning if an agent that acts at random needs more steps with the options than without."""
    if len(options) == 0:
        return
    effect = effect_of(options.world, options, option_probability=option_probability, seed=seed)
    if effect is None or not effect.harms:
        return
    chance = resolve_option_probability(option_probability, options)
    line = (
        f"warning: {METHOD_TITLES[options.method]} make things worse than none for an agent that takes an option with "
        f"probability {chance:.3g}: {effect.measure}, in the mean {effect.helped:,.0f}, without options "
        f"{effect.alone:,.0f}. Use more options, or a smaller probability."
    )
    console.print(Text(line, style="yellow"), soft_wrap=True)


def print_choices(console: Console, found: list[OptionSet], option_probability: float | None, seed: int) -> None:
    """Print how options were chosen, and a warning for each method whose options harm."""
    for options in found:
        print_choice(console, options)
    for options in found:
        print_harm(console, options, option_probability, seed)
