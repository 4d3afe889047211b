"""Compiled breadth-first search on a map: cells are numbered row by row, and one byte per cell says what was seen.

Between neighboring cells the number of moves to a place differs by exactly one, so it need not be kept: its remainder
by three says which neighbor is nearer.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.compiling import compiled

Cells = NDArray[np.uint8]
Numbers = NDArray[np.int64]

# In the byte of a cell: the moves from the start and those to the goal, each as 1 + remainder by three, 0 if not seen;
# and whether it lies between the start and where both searches met.
_TO_GOAL = 4
_BETWEEN = 16


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


@compiled(nogil=True)
def _next_level(floor: Cells, width: int, front: Numbers, depth: int, unit: int, marks: Cells) -> Any:
    """Mark the cells one move beyond a front; return them, and those that the other search has marked."""
    found, n_found = np.empty(4 * front.size, dtype=np.int64), 0
    n_met = 0
    own, other = (3, 12) if unit == 1 else (12, 3)
    mark = np.uint8(unit * (1 + (depth + 1) % 3))
    for place in range(front.size):
        col = front[place] % width
        for side in range(4):
            cell = _neighbor(front[place], col, side, floor.size, width)
            if cell >= 0 and floor[cell] != 0 and marks[cell] & own == 0:
                marks[cell] |= mark
                found[n_found] = cell
                n_found += 1
                n_met += marks[cell] & other != 0
    found = found[:n_found]
    met = np.empty(n_met, dtype=np.int64)
    if n_met > 0:
        n_met = 0
        for place in range(n_found):
            if marks[found[place]] & other != 0:
                met[n_met] = found[place]
                n_met += 1
    return found, met


@compiled(nogil=True)
def search_from_both_ends(floor: Cells, width: int, start: int, goal: int, marks: Cells) -> Any:
    """Mark the cells on all shortest routes; return the moves from the start to where the searches met, and from there.

    Both ends are searched in turn, the smaller front first. The sum is -1 where there is no way.
    """
    front, rear = np.array([start]), np.array([goal])
    ahead, back = 0, 0
    marks[start] += np.uint8(1)
    marks[goal] += np.uint8(_TO_GOAL)
    met = front if start == goal else front[:0]
    while met.size == 0:
        if front.size == 0 or rear.size == 0:
            return -1, 0
        if front.size <= rear.size:
            front, met = _next_level(floor, width, front, ahead, 1, marks)
            ahead += 1
        else:
            rear, met = _next_level(floor, width, rear, back, _TO_GOAL, marks)
            back += 1
    # From where they met back to the start: what leads there by the fewest moves.
    for place in range(met.size):
        marks[met[place]] += np.uint8(_BETWEEN)
    for depth in range(ahead - 1, -1, -1):
        before, n_before = np.empty(4 * met.size, dtype=np.int64), 0
        for place in range(met.size):
            col = met[place] % width
            for side in range(4):
                cell = _neighbor(met[place], col, side, floor.size, width)
                if cell >= 0 and marks[cell] < _BETWEEN and marks[cell] % 4 == 1 + depth % 3:
                    marks[cell] += np.uint8(_BETWEEN)
                    before[n_before] = cell
                    n_before += 1
        met = before[:n_before]
    return ahead, back


@compiled(nogil=True)
def ways_on(
    floor: Cells, width: int, cell: int, step: int, ahead: int, back: int, marks: Cells, ways: Numbers
) -> tuple[int, int]:
    """Write the neighbors of a cell that a route has reached after ``step`` moves, those that lead on as they are.

    The others are written as −1 − cell. Returns how many neighbors there are, and how many lead on.
    """
    n_ways, n_good = 0, 0
    for side in range(4):
        there = _neighbor(cell, cell % width, side, floor.size, width)
        if there < 0 or floor[there] == 0:
            continue
        if step < ahead:
            good = marks[there] >= _BETWEEN and marks[there] % 4 == 1 + (step + 1) % 3
        else:
            good = marks[there] // _TO_GOAL % 4 == 1 + (ahead + back - step - 1) % 3
        ways[n_ways] = there if good else -1 - there
        n_ways += 1
        n_good += good
    return n_ways, n_good


@compiled(nogil=True)
def come_nearer_on_map(floor: Cells, width: int, sources: Numbers, moves: NDArray[np.int32]) -> None:
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
