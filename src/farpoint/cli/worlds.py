"""From the word on the command line to a world."""

from __future__ import annotations

import difflib
import os
import sys
from pathlib import Path

from farpoint.domain import CATALOGUE, Domain
from farpoint.errors import InvalidFile, NotConnected, UnknownName


def read_world(word: str, wind: float = 0.0, largest_component: bool = False) -> Domain:
    """Return the world of a catalogue name, a map file, or ``-`` for a map on standard input."""
    if word in CATALOGUE:
        return CATALOGUE[word](wind)
    if word == "-":
        text, name = sys.stdin.read(), "standard input"
    else:
        text, name = _read_file(word), Path(word).stem
    try:
        return Domain.from_map(text, wind, largest_component=largest_component, name=name)
    except NotConnected as error:
        raise NotConnected(str(error).replace("largest_component=True", "--largest-component")) from error


def _read_file(word: str) -> str:
    path = Path(word)
    if not os.path.exists(path):
        near = difflib.get_close_matches(word, CATALOGUE, n=3, cutoff=0.4)
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        raise UnknownName(f"world must be a map file, - or one of {', '.join(CATALOGUE)}; got {word!r}.{hint}")
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidFile(f"{path} must be a text map; it cannot be read ({error}).") from error
