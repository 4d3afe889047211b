"""Scores of a map to about a hundredth, at several t from one pass: to be shown until the score itself is computed.

In the norm that weights a state by its degree, the walk is symmetric. With q_t(s, y) = p_t(s, y) / d(y),

    q_2t(s, s) = Σ_y d(y) q_t(s, y)² = Σ_j c_j T_j(P)(s, s) / d(s),     c_j as in `chebyshev`, for 2t steps,

and T_2j(s, s) follows from the first j steps (see `_returns`; an odd number of steps never returns on a map). That is
a fraction of the work of following p_t, and one pass serves every t. Without the stationary part, 1 / Σ d, it is

    g_t(s) = q_2t(s, s) − 1 / Σ d = Σ_y d(y) (q_t(s, y) − 1 / Σ d)².

The score has d² in the place of d, f_t(s) = Σ_y d(y)² (q_t(s, y) − 1 / Σ d)², so f_t = R_t g_t where R_t(s) is the mean
degree around s with the weights of that sum. Only R is estimated: if q_t(s, y) were √(q_t(s, s) q_t(y, y)) times a
Gaussian of the distance, the weights would go as p_{t/2}(s, y) q_t(y, y) / √(q_{t/2}(y, y)), of which the last two are
taken to be g_t(y)^¾.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from farpoint.diffusion.scores.chebyshev import Expansion
from farpoint.diffusion.scores.lattice import Tiles, degree_sums, degrees_of_rows
from farpoint.engines import each
from farpoint.worlds.floors import as_bytes

Progress = Callable[[int, int], None]

# What the first steps leave out, as a share of 1 / t; g_t is about that, and what is left out a tenth of its bound.
_SHARE = 3e-3
# What the mean over degrees leaves out of its walk.
_LEFT_OUT = 1e-3
# Seconds of one core.
_SECONDS_PER_SUM = 3.5e-10
_CELLS_PER_BLOCK, _FEWEST_BLOCKS = 1 << 15, 8
# 2/d of each degree, 0 on walls.
_TWICE_INVERSE = np.array([0.0, 2.0, 1.0, 2.0 / 3.0, 0.5], dtype=np.float32)
_BYTES_PER_CELL = 4 * 4


@dataclass(frozen=True, eq=False)
class ReturnScores:
    """Scores of a map at several t, from the probabilities to return; no bound on their error is known.

    Examples
    --------
    >>> import farpoint as fp
    >>> world = fp.random_maze(60, 60, seed=1)
    >>> (estimate,) = ReturnScores.of(world.floor, [40]).compute()
    >>> bool(np.abs(estimate / fp.score(world, 40) - 1).mean() < 0.01)
    True
    """

    floor: NDArray[np.uint8]
    times: tuple[int, ...]

    @classmethod
    def of(cls, floor: NDArray[np.bool_], times: list[int]) -> ReturnScores:
        """Return the plan for the scores of a map at some t."""
        return cls(as_bytes(floor), tuple(times))

    @cached_property
    def n_steps(self) -> int:
        """How far walks are followed."""
        longest = max(self.times)
        return -(-Expansion.to(2 * longest, _SHARE / longest).degree // 2)

    @property
    def seconds(self) -> float:
        """Roughly how long this takes on one core."""
        return _SECONDS_PER_SUM * self.floor.size * float((np.arange(2, self.n_steps + 2) ** 2).sum())

    @property
    def _stride(self) -> int:
        return int(self.floor.shape[1]) + 1

    @cached_property
    def _weights(self) -> NDArray[np.float64]:
        """What makes q_2t(s, s) of each t out of the products of `step_products`, and last of 1 / d(s)."""
        chances = np.zeros((len(self.times), self.n_steps + 1))
        for row, t in zip(chances, self.times, strict=True):
            even = Expansion.to(2 * t, 0.0).coefficients[::2][: row.size]
            row[: even.size] = even
        # All of it is linear, so the columns of the matrix are what becomes of one of them alone.
        alone = np.eye(self.n_steps + 1)
        return chances @ _returns(alone[:-1], alone[-1])

    def compute(self, *, progress: Progress | None = None, n_jobs: int = -1) -> list[NDArray[np.float64]]:
        """Return the scores of all states at each t."""
        n_rows = self.floor.shape[0]
        size = min(max(_CELLS_PER_BLOCK // self._stride, 1), -(-n_rows // _FEWEST_BLOCKS))
        blocks = [(first, min(first + size, n_rows)) for first in range(0, n_rows, size)]
        pieces: list[NDArray[np.float32]] = []
        for piece in each(ReturnScores._block, self, blocks, n_jobs=n_jobs):
            pieces.append(piece)
            if progress is not None:
                progress(len(pieces), len(blocks))
        # With a row of wall before and one after, so that every cell has four neighbors in memory.
        g = np.zeros((len(self.times), self._degrees.size), dtype=np.float32)
        np.concatenate(pieces, axis=1, out=g[:, self._stride : -self._stride])
        tasks = [(t, one, with_degrees) for t, one in zip(self.times, g, strict=True) for with_degrees in (True, False)]
        sums = list(each(ReturnScores._averaged, self, tasks, n_jobs=n_jobs))
        places = self._degrees > 0
        return [
            (one[places] * of_degrees[places]).astype(np.float64) / np.maximum(of_ones[places], 1e-30)
            for one, of_degrees, of_ones in zip(g, sums[::2], sums[1::2], strict=True)
        ]

    def _block(self, rows: tuple[int, int]) -> NDArray[np.float32]:
        """Return g_t of some rows, flat, with one column of wall: one row per t, 0 on walls."""
        from farpoint.diffusion.scores.returns_kernels import step_products

        wanted = np.zeros((rows[1] - rows[0], self._stride), dtype=bool)
        wanted[:, :-1] = self.floor[rows[0] : rows[1]]
        cells = wanted.ravel()
        tiles = Tiles.of(cells, self.n_steps, _BYTES_PER_CELL * (self.n_steps + 4) ** 2)
        margin = tiles.margin(self._stride)
        twice = _TWICE_INVERSE[degrees_of_rows(self.floor, rows[0] - margin, rows[1] + margin)]
        found = np.empty((tiles.numbers.size, self.n_steps, tiles.width), dtype=np.float32)
        step_products(twice, margin * self._stride + tiles.firsts, self._stride, self.n_steps, tiles.width, found)
        own = 0.5 * twice[margin * self._stride :][: cells.size]
        values = self._weights[:, :-1] @ found
        g = np.empty((len(self.times), cells.size), dtype=np.float32)
        for number, last in enumerate(self._weights[:, -1]):
            g[number] = cells * (tiles.flat(values[:, number]) + last * own - self._stationary)
        return g

    @cached_property
    def _stationary(self) -> float:
        """1 / Σ d."""
        return 1.0 / degree_sums(self.floor)[0]

    @cached_property
    def _degrees(self) -> NDArray[np.uint8]:
        """The degrees of all cells, flat, with a row of wall before and after."""
        return degrees_of_rows(self.floor, -1, self.floor.shape[0] + 1)

    @cached_property
    def _twice_inverse(self) -> NDArray[np.float32]:
        return _TWICE_INVERSE[self._degrees]

    def _averaged(self, task: tuple[int, NDArray[np.float32], bool]) -> NDArray[np.float32]:
        """Return the mean around each cell of the weights g^¾, or of their products with the degrees."""
        from farpoint.diffusion.scores.returns_kernels import averaged

        t, g, with_degrees = task
        # Of any scale.
        root = np.sqrt(np.maximum(g / g.max(), np.float32(0.0)))
        weights = root * np.sqrt(root)
        if with_degrees:
            weights *= self._degrees
        coefficients = Expansion.to(max(t // 2, 1), _LEFT_OUT).coefficients.astype(np.float32)
        return averaged(weights, self._twice_inverse, coefficients, self._stride)


def _returns(products: NDArray[np.float64], first: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return T_2j(s, s) / d(s) for j = 0, 1, …, one row each, from the products of `step_products` and 1 / d(s).

    2 ⟨T_j e, P T_{j−1} e⟩ = ⟨T_j e, (T_j + T_{j−2}) e⟩ and 2 T_i T_j = T_{i+j} + T_{i−j}: four times a product is
    T_2j + T_0 + T_{2j−2} + T_2, at (s, s) and over d(s).
    """
    returns = [first, 4.0 * products[0] - first]
    for product in products[1:]:
        returns.append(4.0 * product - returns[-1] - returns[0] - returns[1])
    return np.array(returns)
