"""Compiled loops over the cells of a map: the walk written out for small t, and by Chebyshev polynomials.

Written out, the walk of a cell lies in registers, and nothing is cleared. With y = p / d a step is
y′(v) = ½ y(v) + ½/d(v) Σ_{u next to v} y(u). The program text is made for each t and then compiled, eight or so cells
at a time.

The polynomials are those of the walk that always moves. It is on the white cells of a chessboard after an even number
of steps and on the black ones after an odd number. Along the diagonals a = row + col and b = row − col each color by
itself is a full square: after j steps (j + 1)² cells that lie side by side. The walks of ``width`` cells that lie side
by side on the map are kept together: a step is a sum of shifted arrays, in which no index is looked up and nothing
branches. White cells lie at (a / 2 + middle, b / 2 + middle), black ones at ((a + 1) / 2 + middle,
(b + 1) / 2 + middle).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.compiling import compiled

# Unsigned, so that the compiler need not ask whether an index counts from the end.
_U = np.uint64
# Columns that are scored together: the rows around them stay in the second cache.
_COLUMNS = 1024

_HEAD = """\
def scores_{t}(degrees, half_inverse, stride, rows, cols, share, rest, out):
    for begin in range(0, cols, {columns}):
        n = min({columns}, cols - begin)
        for row in range(rows):
            first = U((row + {t} + 1) * stride + begin)
            found = out[row, begin : begin + n]
            for index in range(n):
                at = first + U(index)
"""


@cache
def unrolled_scores(t: int) -> Any:
    """Return the compiled function that fills ‖Wᵗe_s − π₀‖² of all cells of a band of rows.

    It takes degrees and ½/d (0 on walls), flat with ``stride`` cells per row and t + 1 rows more on either side, the
    size of the band, 2 / Σ d, Σ d² / (Σ d)², and the array to fill.

    >>> unrolled_scores(1).__name__
    'scores_1'
    """
    names: dict[str, Any] = {"U": np.uint64, "__name__": __name__}
    # With the name of this file numba keeps what it compiled until this file changes.
    exec(compile(source(t), __file__, "exec"), names)
    return compiled(nogil=True)(names[f"scores_{t}"])


def source(t: int) -> str:
    """Return the program text for one t.

    >>> source(1).count("score +=")
    5
    """
    lines = [f"down_{k} = U({k} * stride)" for k in range(1, t + 1)]
    lines += [f"w_{name(*offset)} = half_inverse[{place(*offset)}]" for offset in diamond(t)]
    lines.append(f"y0_{name(0, 0)} = 2.0 * w_{name(0, 0)}")
    for k in range(1, t + 1):
        lines += [f"y{k}_{name(*offset)} = {_step_text(k, *offset)}" for offset in diamond(k)]
    lines.append("score = 0.0")
    for offset in diamond(t):
        # Σ (p − π)² = Σ p (p − 2π) + Σ π², with π = d / Σ d.
        lines += [f"d = degrees[{place(*offset)}]", f"p = d * y{t}_{name(*offset)}", "score += p * (p - share * d)"]
    lines.append("found[index] = score + rest")
    return _HEAD.format(t=t, columns=_COLUMNS) + "".join(f"{16 * ' '}{line}\n" for line in lines)


def diamond(radius: int) -> Iterator[tuple[int, int]]:
    """Yield the offsets within a distance, row by row.

    >>> list(diamond(1))
    [(-1, 0), (0, -1), (0, 0), (0, 1), (1, 0)]
    """
    for row in range(-radius, radius + 1):
        for col in range(abs(row) - radius, radius - abs(row) + 1):
            yield row, col


def name(row: int, col: int) -> str:
    """Return an offset as part of a name.

    >>> name(-1, 2)
    'm1_2'
    """
    return f"{row}_{col}".replace("-", "m")


def place(row: int, col: int) -> str:
    """Return where the cell at an offset lies.

    >>> place(-1, 2)
    'at - down_1 + U(2)'
    """
    down = "" if row == 0 else f" {'-' if row < 0 else '+'} down_{abs(row)}"
    across = "" if col == 0 else f" {'-' if col < 0 else '+'} U({abs(col)})"
    return f"at{down}{across}"


def _step_text(k: int, row: int, col: int) -> str:
    """Return ½ y(v) + ½/d(v) ((up + down) + (left + right)), without what no walk of k − 1 steps has reached."""

    def there(*offsets: tuple[int, int]) -> str:
        reached = [f"y{k - 1}_{name(*offset)}" for offset in offsets if abs(offset[0]) + abs(offset[1]) < k]
        return f"({' + '.join(reached)})" if reached else ""

    pairs = [there((row - 1, col), (row + 1, col)), there((row, col - 1), (row, col + 1))]
    around = " + ".join(pair for pair in pairs if pair)
    stayed = there((row, col))
    terms = [f"0.5 * {stayed}"] if stayed else []
    return " + ".join(terms + ([f"w_{name(row, col)} * ({around})"] if around else []))


@compiled(nogil=True)
def _step(
    now: NDArray[Any],
    then: NDArray[Any],
    total: NDArray[Any],
    twice: NDArray[Any],
    coefficient: Any,
    source: int,
    target: int,
    size: int,
    side: int,
    width: int,
) -> None:
    """Put T_{j+1} = 2 P T_j − T_{j−1} in the place of T_{j−1}, and add its share to ``total``.

    ``now`` holds T_j on the cells of the other color; ``twice`` is 2/d, 0 for walls. The square has ``size`` cells a
    side and begins at ``target``; its first cell has the neighbor ``source`` and the three beside it.
    """
    across, down = _U(width), _U(side * width)
    for row in range(size):
        first = _U(target) + _U(row) * down
        before = _U(source) + _U(row) * down
        for index in range(size * width):
            i, k = first + _U(index), before + _U(index)
            around = (now[k] + now[k + across]) + (now[k + down] + now[k + down + across])
            value = twice[i] * around - then[i]
            then[i] = value
            total[i] += coefficient * value


def cells_of_color(color: int, degree: int, stride: int, width: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where each cell of one color lies in a buffer, and how far it is from the middle on the map.

    >>> cells_of_color(1, 1, stride=10, width=1)
    (array([ 6,  7, 11, 12]), array([-10,  -1,   1,  10]))
    """
    middle, side = degree // 2 + 1, degree + 4
    far = degree - (degree + color) % 2
    a, b = np.mgrid[-far : far + 1 : 2, -far : far + 1 : 2].reshape(2, -1)
    targets = ((a + color) // 2 + middle) * side + (b + color) // 2 + middle
    return targets * width, (a + b) // 2 * stride + (a - b) // 2


@compiled(nogil=True)
def lay_out(
    cell: int,
    targets: NDArray[np.int64],
    shifts: NDArray[np.int64],
    width: int,
    twice_inverse: NDArray[Any],
    twice: NDArray[Any],
) -> None:
    """Copy 2/d to the cells of one color."""
    for number in range(targets.size):
        target, place = _U(targets[number]), _U(cell + shifts[number])
        for index in range(width):
            twice[target + _U(index)] = twice_inverse[place + _U(index)]


@compiled(nogil=True)
def _add(
    cell: int,
    targets: NDArray[np.int64],
    shifts: NDArray[np.int64],
    degrees: NDArray[Any],
    total: NDArray[Any],
    share: float,
    score: NDArray[np.float64],
) -> None:
    """Add Σ p (p − 2π) over the cells of one color, with π = d / Σ d."""
    for number in range(targets.size):
        source, place = _U(targets[number]), _U(cell + shifts[number])
        for index in range(score.size):
            i = _U(index)
            d = np.float64(degrees[place + i])
            p = d * np.float64(total[source + i])
            score[i] += p * (p - 2.0 * share * d)


@compiled(nogil=True)
def expanded_scores(
    degrees: NDArray[Any],
    twice_inverse: NDArray[Any],
    cells: NDArray[np.int64],
    colors: Any,
    coefficients: NDArray[Any],
    width: int,
    total: float,
    squares: float,
    scores: NDArray[np.float64],
) -> None:
    """Fill ‖p̂ − π₀‖² of the ``width`` cells that begin at each of ``cells``, one row per beginning.

    ``degrees`` and ``twice_inverse`` (2/d, 0 on walls) are flat over the map with a margin of ``coefficients.size``
    rows; ``colors`` is `cells_of_color` of both. All but the last sums are in the precision of ``coefficients``.
    ``total`` is Σ d and ``squares`` Σ d².
    """
    degree = coefficients.size - 1
    side = degree + 4
    # Row 0 is for the white cells, row 1 for the black ones; the last T_j of each color, its part of the sum, and 2/d.
    values = np.zeros((2, side * side * width), coefficients.dtype)
    totals, twice = np.zeros_like(values), np.zeros_like(values)
    half = coefficients.dtype.type(0.5)
    share = 1.0 / total
    diagonal = (side + 1) * width
    center = (degree // 2 + 1) * diagonal
    for number in range(cells.size):
        cell = cells[number]
        for color in range(2):
            lay_out(cell, colors[color][0], colors[color][1], width, twice_inverse, twice[color])
        values[:] = 0
        totals[:] = 0
        # Half of T_0 first: T_1 = P T_0, without the factor 2 of the later ones.
        for i in range(width):
            values[0, center + i] = half * half * twice_inverse[cell + i]
        for j in range(1, degree + 1):
            own, other = j % 2, (j + 1) % 2
            target = center - j // 2 * diagonal
            source = target - own * diagonal
            _step(
                values[other], values[own], totals[own], twice[own], coefficients[j], source, target, j + 1, side, width
            )
            if j == 1:
                for i in range(width):
                    values[0, center + i] = half * twice_inverse[cell + i]
                    totals[0, center + i] = coefficients[0] * values[0, center + i]
        score = scores[number]
        score[:] = share * share * squares
        for color in range(2):
            _add(cell, colors[color][0], colors[color][1], degrees, totals[color], share, score)
