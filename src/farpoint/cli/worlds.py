"""Worlds from a word on the command line."""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Callable
from pathlib import Path

from farpoint.cli.own_modules import make_named_env
from farpoint.errors import InvalidFile, InvalidInput, NotConnected, UnknownName
from farpoint.worlds import CATALOGUE, World, open_room, random_maze
from farpoint.worlds.map_files import ENDINGS
from farpoint.worlds.maps import read_map

_MOST_DIGITS = 10
# Worlds of any size.
SIZED: dict[str, Callable[..., World]] = {"open_room": open_room, "random_maze": random_maze}


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
    if word == "-":
        text, name = read_input(), "standard input"
    else:
        text, name = _read_file(word), Path(word).stem
    return _largest(lambda: World.from_map(text, wind, largest_component=largest_component, name=name))


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
        return sys.stdin.read()
    except (OSError, ValueError) as error:
        raise InvalidFile(f"standard input must be a text map; it cannot be read ({error}).") from error
