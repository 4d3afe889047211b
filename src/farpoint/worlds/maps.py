"""Worlds on a grid of cells, in any number of dimensions: text maps, floors, moves and wind.

A *floor* is an array of bool with one axis per dimension, True where an agent can stand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from scipy.sparse import coo_array, csr_array

from farpoint.errors import InvalidMap, NotConnected, check_fraction, listed
from farpoint.worlds.arrays import read_only
from farpoint.worlds.builders import Known
from farpoint.worlds.world import World

WALL, FLOOR, START, TARGET = "#", ". ", "S", "G"
# States that fill less than one cell in so many of the rectangle around them are not treated as a map.
_SPARSEST = 64


def world_from_map(text: str, wind: float, *, largest_component: bool, name: str) -> World:
    """Return the world that a text map shows; see `World.from_map`."""
    parsed = parse_map(text)
    return world_from_floor(
        parsed.floor, wind, parsed.start, parsed.targets, largest_component=largest_component, name=name
    )


def world_from_floor(
    floor: NDArray[np.bool_],
    wind: float = 0.0,
    start: tuple[int, ...] | None = None,
    targets: Sequence[tuple[int, ...]] = (),
    *,
    name: str,
    largest_component: bool = False,
) -> World:
    """Return the world of a floor, with the cells of its start and targets where these are floor that was kept."""
    wind = check_fraction("wind", wind)
    floor = connected_floor(floor, largest_component)
    transitions, choice_ptr, actions = grid_choices(floor, wind)
    state_of = np.cumsum(floor.ravel()) - 1

    def states(cells: Sequence[tuple[int, ...]]) -> NDArray[np.int64]:
        kept = [cell for cell in cells if floor[cell]]
        return np.array([state_of[np.ravel_multi_index(cell, floor.shape)] for cell in kept], dtype=np.int64)

    starts, ends = states([] if start is None else [start]), states(targets)
    still = wind == 0.0
    return World(
        transitions,
        choice_ptr,
        actions=actions,
        positions=np.argwhere(floor).astype(np.int32),
        start=int(starts[0]) if starts.size else None,
        targets=ends if ends.size else None,
        name=name,
    ).knowing(
        Known(
            symmetric=True if still else None,
            connected=True,
            floor=read_only(floor) if still and floor.ndim == 2 else None,
        )
    )


@dataclass(frozen=True)
class ParsedMap:
    """The content of a text map."""

    floor: NDArray[np.bool_]
    start: tuple[int, ...] | None
    targets: list[tuple[int, ...]]


def parse_map(text: str) -> ParsedMap:
    """Return the floor, start and targets of a text map; lines are counted from 1 in errors."""
    if not isinstance(text, str):
        raise InvalidMap(f"map must be a text; got {type(text).__name__}.")
    lines = text.splitlines()
    first = 1
    while lines and not lines[0]:
        lines.pop(0)
        first += 1
    while lines and not lines[-1]:
        lines.pop()
    if not lines:
        raise InvalidMap("map must have at least one line; got an empty text.")
    width = len(lines[0])
    starts: list[tuple[int, ...]] = []
    targets: list[tuple[int, ...]] = []
    for row, line in enumerate(lines):
        if len(line) != width:
            raise InvalidMap(
                f"map must have lines of equal length; got {len(line)} characters in line {first + row} and "
                f"{width} in line {first}. Fill the short line with '#'."
            )
        for column, symbol in enumerate(line):
            if symbol == START:
                starts.append((row, column))
            elif symbol == TARGET:
                targets.append((row, column))
            elif symbol != WALL and symbol not in FLOOR:
                raise InvalidMap(
                    f"map must be made of '#' (wall), '.' or ' ' (floor), 'S' (start) and 'G' (target); "
                    f"got {symbol!r} in line {first + row}, column {column + 1}."
                )
    if len(starts) > 1:
        raise InvalidMap(f"map must have at most one start 'S'; got {len(starts)}.")
    floor = np.array([[symbol != WALL for symbol in line] for line in lines])
    if not floor.any():
        raise InvalidMap("map must have floor; got walls only. Mark floor with '.'.")
    return ParsedMap(floor, starts[0] if starts else None, targets)


def connected_floor(floor: NDArray[np.bool_], largest_component: bool) -> NDArray[np.bool_]:
    """Return the floor if it is connected, or its largest component if ``largest_component``."""
    if floor.all():
        return floor
    component, n_components = ndimage.label(floor)
    if n_components <= 1:
        return floor
    sizes = np.bincount(component.ravel())[1:]
    if not largest_component:
        raise NotConnected(
            f"world must be connected; got {n_components} components (sizes {listed(np.sort(sizes)[::-1])}). "
            "Pass largest_component=True to keep the largest."
        )
    return np.asarray(component == 1 + sizes.argmax())


def grid_choices(floor: NDArray[np.bool_], wind: float) -> tuple[csr_array, NDArray[Any], NDArray[np.int32]]:
    """Return the transitions, row groups and actions of the moves between adjacent cells of a floor.

    Of d dimensions, actions 0 … d − 1 step back along axis 0 … d − 1 and actions d … 2d − 1 step forward along
    axis d − 1 … 0; in two dimensions that is up, left, right, down. In this order the next states of a state
    ascend, so the adjacency needs no sorting. Wind blows forward along axis 0.
    """
    n_states = int(floor.sum())
    number = np.full(floor.shape, -1, dtype=np.int32 if floor.size < 2**31 else np.int64)
    number[floor] = np.arange(n_states, dtype=number.dtype)
    n_axes = floor.ndim

    next_state = np.empty((n_states, 2 * n_axes), dtype=number.dtype)
    for axis in range(n_axes):
        all_but_first = (slice(None),) * axis + (slice(1, None),)
        all_but_last = (slice(None),) * axis + (slice(None, -1),)
        for action, to, source in (
            (axis, all_but_first, all_but_last),
            (2 * n_axes - 1 - axis, all_but_last, all_but_first),
        ):
            neighbor = np.full_like(number, -1)
            neighbor[to] = number[source]
            next_state[:, action] = neighbor[floor]

    open_move = next_state >= 0
    targets = next_state[open_move]
    n_choices = targets.size
    choice_ptr = np.concatenate([[0], np.cumsum(open_move.sum(axis=1))])
    actions = np.broadcast_to(np.arange(2 * n_axes, dtype=np.int32), open_move.shape)[open_move]
    if wind == 0.0:
        # Read-only, so that the world need not copy them.
        entries = (read_only(np.ones(n_choices)), read_only(targets), read_only(np.arange(n_choices + 1)))
        return csr_array(entries, shape=(n_choices, n_states)), choice_ptr, actions

    blown_to = np.repeat(next_state[:, -1], np.diff(choice_ptr))
    windy = np.flatnonzero(blown_to >= 0)
    kept = np.ones(n_choices)
    kept[windy] = 1.0 - wind
    rows = np.concatenate([np.arange(n_choices), windy])
    columns = np.concatenate([targets, blown_to[windy]])
    chances = np.concatenate([kept, np.full(windy.size, wind)])
    transitions = coo_array((chances, (rows, columns)), shape=(n_choices, n_states)).tocsr()
    transitions.eliminate_zeros()
    return transitions, choice_ptr, actions


def floor_of(positions: NDArray[Any], moves: csr_array) -> NDArray[np.bool_] | None:
    """Return the map if the moves are those between adjacent cells, each of weight 1, states row by row; else None.

    >>> import farpoint as fp
    >>> floor_of(fp.ring().positions, fp.ring().adjacency).sum()
    np.int64(192)
    """
    cells = positions - positions.min(axis=0)
    shape = tuple(int(length) for length in cells.max(axis=0) + 1)
    flat = cells[:, 0].astype(np.int64) * shape[1] + cells[:, 1]
    if shape[0] * shape[1] > _SPARSEST * len(flat) or (np.diff(flat) <= 0).any() or (moves.data != 1.0).any():
        return None
    begins = np.repeat(np.arange(len(flat)), np.diff(moves.indptr))
    adjacent = np.abs(cells[begins] - cells[moves.indices]).sum(axis=1) == 1
    floor = np.zeros(shape, dtype=bool)
    floor[cells[:, 0], cells[:, 1]] = True
    # As many moves as there are pairs of adjacent cells, and no others: then it is all of them.
    n_pairs = 2 * int((floor[1:] & floor[:-1]).sum() + (floor[:, 1:] & floor[:, :-1]).sum())
    return read_only(floor) if bool(adjacent.all()) and n_pairs == moves.nnz else None
