"""Compiled motion of a point among the walls of a grid.

The cell in row r and column c covers c ≤ x < c + 1 and r ≤ y < r + 1; outside the map is wall.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.compiling import compiled

# How near a point comes to a wall: more than single precision loses in maps of a thousand cells, so that an
# observation never lies inside a wall.
MARGIN = 1e-4


@compiled()
def move(floor: NDArray[np.bool_], x: float, y: float, dx: float, dy: float) -> tuple[float, float]:
    """Return where a point ends that sets out from (x, y) by (dx, dy), slides along walls and never enters one.

    The straight line is followed from one cell border to the next. Each border is crossed in one axis alone, so a
    point cannot slip between two walls that touch at a corner, however long the step.
    """
    n_rows, n_columns = floor.shape
    column, row = int(np.floor(x)), int(np.floor(y))
    while dx != 0.0 or dy != 0.0:
        # Shares of what is left of the step at which the next border of each axis is met.
        meet_x = meet_y = 2.0
        if dx > 0.0:
            meet_x = (column + 1 - x) / dx
        elif dx < 0.0:
            meet_x = (column - x) / dx
        if dy > 0.0:
            meet_y = (row + 1 - y) / dy
        elif dy < 0.0:
            meet_y = (row - y) / dy
        # A wall is met a little before its border.
        if meet_x > 1.0 and meet_y > 1.0:
            x += dx
            y += dy
            break
        if meet_x <= meet_y:
            share = max(meet_x, 0.0)
            y += share * dy
            ahead = column + (1 if dx > 0.0 else -1)
            border = float(column + 1 if dx > 0.0 else column)
            if 0 <= ahead < n_columns and floor[row, ahead]:
                x = border
                column = ahead
                dx *= 1.0 - share
            else:
                x = border - MARGIN if dx > 0.0 else border + MARGIN
                dx = 0.0
            dy *= 1.0 - share
        else:
            share = max(meet_y, 0.0)
            x += share * dx
            ahead = row + (1 if dy > 0.0 else -1)
            border = float(row + 1 if dy > 0.0 else row)
            if 0 <= ahead < n_rows and floor[ahead, column]:
                y = border
                row = ahead
                dy *= 1.0 - share
            else:
                y = border - MARGIN if dy > 0.0 else border + MARGIN
                dy = 0.0
            dx *= 1.0 - share
    # Inside the cell that was reached, and off its walls: on a border the last digit alone would decide the cell.
    return _inside(floor, row, column, x, 1), _inside(floor, row, column, y, 0)


@compiled()
def _inside(floor: NDArray[np.bool_], row: int, column: int, value: float, axis: int) -> float:
    low = column if axis == 1 else row
    size = floor.shape[axis]
    before = low > 0 and (floor[row, column - 1] if axis == 1 else floor[row - 1, column])
    after = low + 1 < size and (floor[row, column + 1] if axis == 1 else floor[row + 1, column])
    least = low + (1e-9 if before else MARGIN)
    most = low + 1 - (1e-9 if after else MARGIN)
    return min(max(value, least), most)


@compiled()
def walk(
    floor: NDArray[np.bool_],
    starts: NDArray[np.float64],
    episode_length: int,
    moves: NDArray[np.float64],
    visited: NDArray[Any],
    followed: NDArray[Any],
) -> None:
    """Fill where a point is before and after each move; it begins at the next start after each episode's length."""
    x = y = 0.0
    for step in range(len(moves)):
        if step % episode_length == 0:
            x, y = starts[step // episode_length, 0], starts[step // episode_length, 1]
        visited[step, 0], visited[step, 1] = x, y
        x, y = move(floor, x, y, moves[step, 0], moves[step, 1])
        followed[step, 0], followed[step, 1] = x, y
