"""A world as text: its map, with marks on some states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from farpoint.errors import InvalidInput, check_integer

if TYPE_CHECKING:
    from farpoint.worlds.world import World


def map_text(world: World, marks: Mapping[int, str]) -> str:
    """Return the map of a world with a border of walls; see `World.to_text`."""
    if not world.on_grid:
        raise InvalidInput(f"world must have a whole row and column per state to be a map; got {world!r} without.")
    assert world.positions is not None
    cells = world.positions - world.positions.min(axis=0) + 1
    canvas = np.full(cells.max(axis=0) + 2, "#", dtype="<U1")
    canvas[cells[:, 0], cells[:, 1]] = "."
    if not isinstance(marks, Mapping):
        raise InvalidInput(f"marks must be a mapping from states to characters; got {marks!r}.")
    for state, mark in marks.items():
        state = check_integer("marked state", state, 0, world.n_states - 1)
        if not isinstance(mark, str) or len(mark) != 1:
            raise InvalidInput(f"mark must be one character; got {mark!r} for state {state}.")
        canvas[tuple(cells[state])] = mark
    return "\n".join("".join(row) for row in canvas)
