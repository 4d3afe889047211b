"""A world that is its map: one byte per cell, from which everything else is made when something asks for it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from farpoint.errors import InvalidInput, check_integer
from farpoint.worlds.arrays import read_only
from farpoint.worlds.bands import FloorBands
from farpoint.worlds.floors import cell_of, cells_of_all, count_moves, row_starts, state_of
from farpoint.worlds.grids import grid_choices
from farpoint.worlds.known import Known
from farpoint.worlds.world import World

# Numbers that are hashed at a time.
_PIECE = 1 << 20


class MapWorld(World):
    """The world of a map of two dimensions: moves up, left, right and down between adjacent floor cells.

    It is a `World` in everything. Scores, goals and routes read the map alone; `transitions`, `adjacency`,
    `positions` and the others are there when they are asked for, and not before.
    """

    def __new__(cls, *values: Any, **named: Any) -> Any:
        """Return a plain world: called so by dataclasses.replace, and a changed copy is no longer its map."""
        return World(*values, **named)

    @classmethod
    def of(
        cls, floor: NDArray[np.bool_], *, start: int | None = None, targets: ArrayLike | None = None, name: str = "map"
    ) -> MapWorld:
        """Return the world of a connected floor."""
        world: MapWorld = object.__new__(cls)
        if not isinstance(name, str):
            raise InvalidInput(f"name must be a text; got {name!r}.")
        facts = {"name": name, "known": Known(symmetric=True, connected=True, floor=read_only(np.asarray(floor)))}
        for what, value in facts.items():
            object.__setattr__(world, what, value)
        if start is not None:
            object.__setattr__(world, "start", check_integer("start", start, 0, world.n_states - 1))
        if targets is not None:
            object.__setattr__(world, "targets", read_only(world.check_states("targets", targets)))
        return world

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.map, self.start, self.targets, self.name)

    @property
    def map(self) -> NDArray[np.bool_]:
        """The floor."""
        floor = self.known.floor
        assert floor is not None
        return floor

    @cached_property
    def row_starts(self) -> NDArray[np.int64]:
        """The number of the first state of every row, and last the number of states."""
        return row_starts(self.map)

    @property
    def n_states(self) -> int:
        """Number of states."""
        return int(self.row_starts[-1])

    @cached_property
    def n_choices(self) -> int:
        """Number of choices, over all states."""
        return count_moves(self.map)

    @property
    def deterministic(self) -> bool:
        """Whether every choice leads to one state only."""
        return True

    @property
    def on_grid(self) -> bool:
        """Whether every state has a row and a column that are whole numbers."""
        return True

    @cached_property
    def _written_out(self) -> World:
        transitions, choice_ptr, actions = grid_choices(self.map, 0.0)
        return World(transitions, choice_ptr, actions=actions)

    @cached_property
    def transitions(self) -> csr_array:
        """One row per choice."""
        return self._written_out.transitions

    @cached_property
    def choice_ptr(self) -> NDArray[Any]:
        """The row group of each state."""
        return self._written_out.choice_ptr

    @cached_property
    def actions(self) -> NDArray[np.int32]:
        """Up, left, right, down: 0, 1, 2, 3."""
        actions = self._written_out.actions
        assert actions is not None
        return actions

    @cached_property
    def positions(self) -> NDArray[np.int32]:
        """Row and column of every state."""
        return cells_of_all(self.map)

    @property
    def bands(self) -> FloorBands:
        """The neighbors of all states, band by band."""
        return FloorBands(self.map, self.row_starts)

    def cell(self, state: int) -> tuple[int, int]:
        """Return the row and column of a state."""
        return cell_of(self.map, self.row_starts, check_integer("state", state, 0, self.n_states - 1))

    def state_at(self, row: int, col: int) -> int:
        """Return the state of a floor cell."""
        return state_of(self.map, self.row_starts, row, col)

    @cached_property
    def fingerprint(self) -> str:
        """A digest of the dynamics, the same as if all was written out."""
        result = hashlib.blake2b(digest_size=16)
        for numbers in self._numbers():
            result.update(np.ascontiguousarray(numbers).data)
        return result.hexdigest()

    def _numbers(self) -> Iterator[NDArray[Any]]:
        """Yield ``transitions.indptr``, ``transitions.indices``, ``choice_ptr`` and ``transitions.data`` in pieces."""
        yield from _counting(self.n_choices + 1)
        yield from self.next_states()
        yield from self.list_ends()
        yield from _ones(self.n_choices)

    def next_states(self) -> Iterator[NDArray[np.int64]]:
        """Yield the state that each choice leads to, in pieces."""
        for states in self.bands.ranges():
            yield self.bands.neighbors(states)[1].astype("<i8")

    def list_ends(self) -> Iterator[NDArray[np.int64]]:
        """Yield 0 and the number of choices of all states up to each, in pieces."""
        yield np.zeros(1, dtype="<i8")
        before = 0
        for states in self.bands.ranges():
            ends = self.bands.neighbors(states)[0][1:].astype("<i8") + before
            before = int(ends[-1])
            yield ends

    def moves_digest(self) -> str:
        """Return the digest of the adjacency's ``indptr``, ``indices`` and ``data``."""
        result = hashlib.blake2b(digest_size=16)
        for pieces in (self.list_ends(), self.next_states(), _ones(self.n_choices)):
            for numbers in pieces:
                result.update(np.ascontiguousarray(numbers).data)
        return result.hexdigest()


def _counting(size: int) -> Iterator[NDArray[np.int64]]:
    for first in range(0, size, _PIECE):
        yield np.arange(first, min(first + _PIECE, size), dtype="<i8")


def _ones(size: int) -> Iterator[NDArray[np.float64]]:
    for first in range(0, size, _PIECE):
        yield np.ones(min(_PIECE, size - first), dtype="<f8")


def _restored(floor: NDArray[np.bool_], start: int | None, targets: Any, name: str) -> MapWorld:
    return MapWorld.of(floor, start=start, targets=targets, name=name)
