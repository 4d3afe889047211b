"""The loops of `lattice_kernels` written out for one small t: the walk of a cell lies in registers, nothing is cleared.

The program text is made for each t and then compiled, eight or so cells at a time. Every sum has its terms in the order
of `lattice_kernels`, so the scores are the same to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from farpoint.compiling import compiled

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
        lines += [f"y{k}_{name(*offset)} = {_step(k, *offset)}" for offset in diamond(k)]
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


def _step(k: int, row: int, col: int) -> str:
    """Return ½ y(v) + ½/d(v) ((up + down) + (left + right)), without what no walk of k − 1 steps has reached."""

    def there(*offsets: tuple[int, int]) -> str:
        reached = [f"y{k - 1}_{name(*offset)}" for offset in offsets if abs(offset[0]) + abs(offset[1]) < k]
        return f"({' + '.join(reached)})" if reached else ""

    pairs = [there((row - 1, col), (row + 1, col)), there((row, col - 1), (row, col + 1))]
    around = " + ".join(pair for pair in pairs if pair)
    stayed = there((row, col))
    terms = [f"0.5 * {stayed}"] if stayed else []
    return " + ".join(terms + ([f"w_{name(row, col)} * ({around})"] if around else []))
