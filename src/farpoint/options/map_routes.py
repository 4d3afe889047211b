"""Routes and distances on a floor: one byte or four per cell, and no graph. Cells are numbered row by row.

Between neighboring cells the number of moves to a place differs by exactly one, so for one route it need not be kept:
its remainder by three, in a byte per cell, says which neighbor is nearer.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from farpoint.compiling import compiled
from farpoint.errors import InvalidInput
from farpoint.worlds.floors import Floor, row_pieces

Cells = NDArray[np.uint8]
Numbers = NDArray[np.int64]

# Of maps with more states no graph is made.
LARGE_MAP = 20_000
# Farther than any cell.
_FAR = np.iinfo(np.int32).max


def map_route(floor: Floor, start: int, goal: int, rng: np.random.Generator, max_steps: int) -> NDArray[np.int64]:
    """Return the states of a shortest route, both ends included; ties are drawn among the choices, in their order.

    Examples
    --------
    >>> import farpoint as fp
    >>> map_route(fp.open_room(1, 5).floor, 3, 0, np.random.default_rng(0), 10)
    array([3, 2, 1, 0])
    """
    cells, width = floor.bytes.ravel(), floor.shape[1]
    first, last = map_cells(floor, np.array([start, goal])).tolist()
    marks = np.zeros(floor.size, dtype=np.uint8)
    moves = mark_moves(cells, width, first, last, marks)
    cell, ways = first, np.empty(4, dtype=np.int64)
    visited = [cell]
    for left in range(moves, 0, -1):
        if len(visited) > max_steps:
            raise InvalidInput(f"max_steps must be enough for the option to end; got {max_steps}.")
        n_ways, n_good = ways_on(cells, width, cell, left, marks, ways)
        chances = (ways[:n_ways] >= 0) / n_good
        cell = int(ways[rng.choice(n_ways, p=chances)])
        visited.append(cell)
    return floor.states(np.stack(np.divmod(visited, width), axis=1))


class MapDistances:
    """The number of moves from every cell to the nearest of some states, inf while there is none.

    Examples
    --------
    >>> import farpoint as fp
    >>> distances = MapDistances(fp.open_room(1, 5).floor)
    >>> distances.come_nearer(np.array([0, 4]))
    >>> distances.of_all()
    array([0., 1., 2., 1., 0.])
    """

    def __init__(self, floor: Floor) -> None:
        self._floor = floor
        self._moves = np.full(floor.size, _FAR, dtype=np.int32)

    def come_nearer(self, states: NDArray[np.int64]) -> None:
        """Take more states into account."""
        floor = self._floor
        lower_distances_on_map(floor.bytes.ravel(), floor.shape[1], map_cells(floor, states), self._moves)

    def at(self, cells: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the moves of some cells."""
        return _floats(self._moves[cells])

    def of_all(self) -> NDArray[np.float64]:
        """Return the moves of all states."""
        cells, starts, moves = self._floor.cells, self._floor.row_starts, np.empty(self._floor.n_states)
        grid = self._moves.reshape(cells.shape)
        for first, last in row_pieces(cells):
            moves[starts[first] : starts[last]] = _floats(grid[first:last][cells[first:last]])
        return moves


def _floats(moves: NDArray[np.int32]) -> NDArray[np.float64]:
    return np.where(moves == _FAR, np.inf, moves.astype(np.float64))


def map_cells(floor: Floor, states: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the cells of states, numbered row by row.

    >>> import farpoint as fp
    >>> map_cells(fp.ring().floor, np.array([191, 0]))
    array([350,  28])
    """
    order = np.argsort(states, kind="stable")
    ascending = states[order]
    cells = np.empty(states.size, dtype=np.int64)
    here, starts, width = floor.cells, floor.row_starts, floor.shape[1]
    for first, last in row_pieces(here):
        begin, end = np.searchsorted(ascending, starts[[first, last]])
        if begin < end:
            inside = np.flatnonzero(here[first:last])
            cells[order[begin:end]] = first * width + inside[ascending[begin:end] - starts[first]]
    return cells


@compiled(nogil=True, inline="always")
def _neighbor(cell: int, col: int, side: int, n_cells: int, width: int) -> int:
    """Return the cell above, left, right or below (0 … 3) of one in a column, or -1 beyond the map."""
    if side == 0:
        return cell - width if cell >= width else -1
    if side == 1:
        return cell - 1 if col > 0 else -1
    if side == 2:
        return cell + 1 if col + 1 < width else -1
    return cell + width if cell + width < n_cells else -1


@compiled(nogil=True, interpret_up_to=5_000)
def mark_moves(floor: Cells, width: int, start: int, goal: int, marks: Cells) -> int:
    """Mark each cell out to the start with 1 + its moves to the goal modulo 3; return those of the start, or -1."""
    front = np.array([goal])
    marks[goal] = 1
    depth = 0
    while front.size > 0 and marks[start] == 0:
        depth += 1
        found, n_found = np.empty(4 * front.size, dtype=np.int64), 0
        for place in range(front.size):
            col = front[place] % width
            for side in range(4):
                cell = _neighbor(front[place], col, side, floor.size, width)
                if cell >= 0 and floor[cell] != 0 and marks[cell] == 0:
                    marks[cell] = np.uint8(1 + depth % 3)
                    found[n_found] = cell
                    n_found += 1
        front = found[:n_found]
    return depth if marks[start] != 0 else -1


@compiled(nogil=True, interpret_up_to=5_000)
def ways_on(floor: Cells, width: int, cell: int, moves: int, marks: Cells, ways: Numbers) -> tuple[int, int]:
    """Write the neighbors of a cell that is ``moves`` from the goal, those that are nearer as they are.

    The others are written as −1 − cell. Returns how many neighbors there are, and how many are nearer.
    """
    n_ways, n_good = 0, 0
    for side in range(4):
        there = _neighbor(cell, cell % width, side, floor.size, width)
        if there < 0 or floor[there] == 0:
            continue
        good = marks[there] == 1 + (moves - 1) % 3
        ways[n_ways] = there if good else -1 - there
        n_ways += 1
        n_good += good
    return n_ways, n_good


@compiled(nogil=True, interpret_up_to=5_000)
def lower_distances_on_map(floor: Cells, width: int, sources: Numbers, moves: NDArray[np.int32]) -> None:
    """Lower ``moves`` to the number of moves from the nearest source wherever that is less."""
    front = sources
    depth = 0
    for place in range(front.size):
        moves[front[place]] = 0
    while front.size > 0:
        depth += 1
        found, n_found = np.empty(4 * front.size, dtype=np.int64), 0
        for place in range(front.size):
            col = front[place] % width
            for side in range(4):
                cell = _neighbor(front[place], col, side, floor.size, width)
                if cell >= 0 and floor[cell] != 0 and moves[cell] > depth:
                    moves[cell] = depth
                    found[n_found] = cell
                    n_found += 1
        front = found[:n_found]
