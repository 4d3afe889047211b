"""Routes and distances on a world that is its map: one byte or four per cell, and no graph."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from farpoint.errors import InvalidInput
from farpoint.worlds.floors import as_bytes, row_pieces
from farpoint.worlds.map_world import MapWorld

# Of maps with more states no graph is made.
LARGE_MAP = 20_000
# Farther than any cell.
_FAR = np.iinfo(np.int32).max


def map_route(world: MapWorld, start: int, goal: int, rng: np.random.Generator, max_steps: int) -> NDArray[np.int64]:
    """Return the states of a shortest route, both ends included; ties are drawn among the choices, in their order.

    Examples
    --------
    >>> import farpoint as fp
    >>> map_route(fp.open_room(1, 5), 3, 0, np.random.default_rng(0), 10)
    array([3, 2, 1, 0])
    """
    from farpoint.options.map_route_kernels import search_from_both_ends, ways_on

    floor, width = as_bytes(world.map).ravel(), world.map.shape[1]
    first, last = map_cells(world, np.array([start, goal])).tolist()
    marks = np.zeros(floor.size, dtype=np.uint8)
    ahead, back = search_from_both_ends(floor, width, first, last, marks)
    cell, ways = first, np.empty(4, dtype=np.int64)
    visited = [cell]
    for step in range(ahead + back):
        if len(visited) > max_steps:
            raise InvalidInput(f"max_steps must be enough for the option to end; got {max_steps}.")
        n_ways, n_good = ways_on(floor, width, cell, step, ahead, back, marks, ways)
        chances = (ways[:n_ways] >= 0) / n_good
        cell = int(ways[rng.choice(n_ways, p=chances)])
        visited.append(cell)
    return np.array([world.state_at(*divmod(cell, width)) for cell in visited], dtype=np.int64)


class MapDistances:
    """The number of moves from every cell to the nearest of some states, inf while there is none.

    Examples
    --------
    >>> import farpoint as fp
    >>> distances = MapDistances(fp.open_room(1, 5))
    >>> distances.come_nearer(np.array([0, 4]))
    >>> distances.of_all()
    array([0., 1., 2., 1., 0.])
    """

    def __init__(self, world: MapWorld) -> None:
        self._world = world
        self._moves = np.full(world.map.size, _FAR, dtype=np.int32)

    def come_nearer(self, states: NDArray[np.int64]) -> None:
        """Take more states into account."""
        from farpoint.options.map_route_kernels import come_nearer_on_map

        floor = as_bytes(self._world.map).ravel()
        come_nearer_on_map(floor, self._world.map.shape[1], map_cells(self._world, states), self._moves)

    def at(self, cells: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the moves of some cells."""
        return _floats(self._moves[cells])

    def of_all(self) -> NDArray[np.float64]:
        """Return the moves of all states."""
        world, moves = self._world, np.empty(self._world.n_states)
        grid = self._moves.reshape(world.map.shape)
        for first, last in row_pieces(world.map):
            here = slice(world.row_starts[first], world.row_starts[last])
            moves[here] = _floats(grid[first:last][world.map[first:last]])
        return moves


def _floats(moves: NDArray[np.int32]) -> NDArray[np.float64]:
    return np.where(moves == _FAR, np.inf, moves.astype(np.float64))


def map_cells(world: MapWorld, states: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the cells of states, numbered row by row.

    >>> import farpoint as fp
    >>> map_cells(fp.ring(), np.array([191, 0]))
    array([350,  28])
    """
    order = np.argsort(states, kind="stable")
    ascending = states[order]
    cells = np.empty(states.size, dtype=np.int64)
    width = world.map.shape[1]
    for first, last in row_pieces(world.map):
        begin, end = np.searchsorted(ascending, world.row_starts[[first, last]])
        if begin < end:
            inside = np.flatnonzero(world.map[first:last])
            cells[order[begin:end]] = first * width + inside[ascending[begin:end] - world.row_starts[first]]
    return cells
