"""The local solver on maps: the walks of neighboring cells as rows over a common diamond of offsets.

A task is a band of rows. It lies flat in memory, row after row, with one column of wall between rows (a walk cannot
pass it, so what lies beyond it in memory is never reached) and a margin of rows before and after.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain, repeat
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from farpoint.diffusion.scores.bounds import loss_bound, rounding_bound
from farpoint.diffusion.scores.plain_lattice import MOST_SUMS, plain_scores
from farpoint.worlds.floors import as_bytes, row_pieces

# Cells that one task covers: large enough that its margins are small beside it, small enough to be lost.
_CELLS_PER_BLOCK = 1 << 16
_RADII_PER_BLOCK = 4
# From so many cells on, a kernel for this t alone is worth its compilation.
WORTH_UNROLLING = 1 << 18
# Beyond, such a kernel takes long to compile and is no faster: the walk is too large for registers.
LARGEST_UNROLLED = 5
_COMPILED = "farpoint.diffusion.scores.lattice_kernels"
# How many times small maps go without: then there are more to come, and compiling pays.
_PLAIN_CALLS = chain(repeat(True, 16), repeat(False))
# ½/d of each degree, 0 on walls.
_HALF_INVERSE = np.array([0.0, 0.5, 0.25, 0.5 / 3.0, 0.125])
# The three buffers of a tile should stay in the second cache of a core.
_BUFFER_BYTES = 768 * 1024
_WIDEST, _NARROWEST = 128, 8
# Σ p̂ is rounded, so a loss is only known up to this.
LOSS_ROUNDING = 1e-13
# When a tile has lost too much it is followed again, this much wider.
WIDER = 1.25
_LONGEST_WALK = 1_000_000


@dataclass(frozen=True, eq=False)
class LatticeScores:
    """The scores of a map at one t; what every task of the local solver shares.

    Attributes
    ----------
    floor : array of uint8, shape (n_rows, n_cols)
        1 where there is floor.
    t : int
    tolerance : float or None
        The largest relative error that a score may have; None: exact.
    total, squares : float
        Σ d and Σ d².
    """

    floor: NDArray[np.uint8]
    t: int
    tolerance: float | None
    total: float
    squares: float

    @property
    def stride(self) -> int:
        """Cells per row, with the column of wall."""
        return int(self.floor.shape[1]) + 1

    @property
    def n_cells(self) -> int:
        """Number of cells, walls included."""
        return int(self.floor.shape[0]) * self.stride

    @property
    def reach(self) -> float:
        """How far a walk of k steps is followed at first, in units of √k."""
        return first_reach(self.tolerance)

    def radii(self, reach: float) -> NDArray[np.int64]:
        """Return how far the walk is followed after 0, 1, … t steps."""
        return np.minimum(followed_radii(self.t, reach), sum(self.floor.shape) + 1)

    @property
    def sums_per_cell(self) -> float:
        """How many sums of the kernel a cell costs: Σ_k of the states within ``radii[k]``."""
        radii = self.radii(self.reach)[1:].astype(np.float64)
        return float((2 * radii**2 + 2 * radii + 1).sum())

    def blocks(self) -> list[tuple[int, int]]:
        """Return the ranges of rows that are one task each."""
        n_rows = self.floor.shape[0]
        size = max(_CELLS_PER_BLOCK // self.stride, _RADII_PER_BLOCK * int(self.radii(self.reach)[-1]), 1)
        return [(first, min(first + size, n_rows)) for first in range(0, n_rows, size)]

    def sizes(self, blocks: list[tuple[int, int]]) -> list[int]:
        """Return how many states each block has."""
        return [int(np.count_nonzero(self.floor[first:last])) for first, last in blocks]

    def block(self, rows: tuple[int, int]) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        """Return the scores of the floor cells in some rows, and bounds on their errors (None where they are exact)."""
        floor = self.floor[rows[0] : rows[1]] != 0
        if self.tolerance is None and self.t <= LARGEST_UNROLLED and self.n_cells >= WORTH_UNROLLING:
            return self._unrolled(rows)[floor], None
        exact = self.radii(np.inf)
        # A column of wall, as it lies in memory.
        padded = np.zeros((len(floor), self.stride), dtype=bool)
        padded[:, :-1] = floor
        wanted = padded.ravel()
        everywhere = wanted.copy()
        scores, bounds = np.zeros(wanted.size), np.zeros(wanted.size)
        reach = self.reach
        while wanted.any():
            radii = self.radii(reach)
            everything = np.array_equal(radii, exact)
            found, bound = _follow(self, rows, wanted, radii, everything)
            scores[wanted], bounds[wanted] = found[wanted], bound[wanted]
            if everything or self.tolerance is None:
                break
            wanted &= bounds > self.tolerance * scores
            reach *= WIDER
        return scores[everywhere], None if self.tolerance is None else bounds[everywhere]

    def around(self, rows: tuple[int, int], margin: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return d and ½/d of some rows, flat, with ``margin`` rows more on either side; 0 on walls."""
        degrees = degrees_of_rows(self.floor, rows[0] - margin, rows[1] + margin)
        return degrees.astype(np.float64), _HALF_INVERSE[degrees]

    def _unrolled(self, rows: tuple[int, int]) -> NDArray[np.float64]:
        degrees, half_inverse = self.around(rows, self.t + 1)
        n_rows, n_cols = rows[1] - rows[0], self.floor.shape[1]
        from farpoint.diffusion.scores.unrolled_kernels import unrolled_scores

        scores = np.empty((n_rows, n_cols))
        share = 1.0 / self.total
        unrolled_scores(self.t)(
            degrees, half_inverse, self.stride, n_rows, n_cols, 2.0 * share, share * share * self.squares, scores
        )
        return scores


def degrees_of_rows(floor: NDArray[np.uint8], first: int, last: int) -> NDArray[np.uint8]:
    """Return the degrees of the cells of some rows, flat with one column of wall; 0 on walls and beyond the map.

    >>> degrees_of_rows(np.ones((2, 2), dtype=np.uint8), -1, 2)
    array([0, 0, 0, 2, 2, 0, 2, 2, 0], dtype=uint8)
    """
    n_rows, n_cols = floor.shape
    # One row more on either side, for the degrees of the outermost.
    inside = slice(max(first - 1, 0), max(min(last + 1, n_rows), 0))
    cells = np.zeros((last - first + 2, n_cols + 1), dtype=np.uint8)
    cells[inside.start - first + 1 : inside.stop - first + 1, :-1] = floor[inside]
    flat = cells.ravel()
    degrees = np.zeros_like(flat)
    for shift in (1, n_cols + 1):
        degrees[shift:] += flat[:-shift]
        degrees[:-shift] += flat[shift:]
    degrees *= flat
    return degrees[n_cols + 1 : -(n_cols + 1)]


def degree_sums(floor: NDArray[np.uint8]) -> tuple[float, float]:
    """Return Σ d and Σ d².

    >>> degree_sums(np.ones((2, 3), dtype=np.uint8))
    (14.0, 34.0)
    """
    counts = np.zeros(5, dtype=np.int64)
    for first, last in row_pieces(floor):
        degrees = degrees_of_rows(floor, first, last)
        counts += [np.count_nonzero(degrees == degree) for degree in range(5)]
    return float(counts @ np.arange(5)), float(counts @ np.arange(5) ** 2)


def first_reach(tolerance: float | None) -> float:
    """Return how far a walk of k steps is followed at first, in units of √k.

    >>> first_reach(None)
    inf
    """
    if tolerance is None:
        return float("inf")
    # In an open room the walk's two diagonals are independent with variance k/2 each. A loss δ costs about 4 δ of
    # the score; four edges lose; the factor 4 is for what is lost on the way.
    return NormalDist().inv_cdf(1.0 - min(tolerance, 0.5) / 64.0) / 2**0.5


def followed_radii(t: int, reach: float) -> NDArray[np.int64]:
    """Return how far a walk is followed after 0, 1, … t steps on a map without end.

    >>> followed_radii(3, float("inf"))
    array([0, 1, 2, 3])
    """
    steps = np.arange(t + 1)
    wanted = steps if np.isinf(reach) else np.minimum(steps, np.ceil(reach * np.sqrt(steps)) + 1)
    return wanted.astype(np.int64)


def lattice_scores(floor: NDArray[np.bool_] | None, t: int, tolerance: float | None = None) -> LatticeScores | None:
    """Return the plan for the scores of a map; None without a map, or where the map is small against t."""
    # A walk of so many steps crosses the map many times: it is no plan for that, and its radii alone would fill memory.
    if floor is None or min(floor.shape) < 2 or t > _LONGEST_WALK:
        return None
    cells = as_bytes(floor)
    plan = LatticeScores(cells, t, tolerance, *degree_sums(cells))
    # In a world smaller than the diamond most of the diamond would be walls.
    return plan if floor.size >= 2 * int(plan.radii(plan.reach)[-1]) ** 2 else None


def _follow(
    lattice: LatticeScores,
    rows: tuple[int, int],
    wanted: NDArray[np.bool_],
    radii: NDArray[np.int64],
    everything: bool,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return score and bound of the tiles that hold a wanted cell; 0 elsewhere."""
    farthest = int(radii.max())
    width = _tile_width(farthest)
    n_tiles = -(-wanted.size // width)
    # The last tile may reach beyond the block.
    margin = farthest + 1 + -(-width // lattice.stride)
    degrees, half_inverse = lattice.around(rows, margin)
    padded = np.zeros(n_tiles * width, dtype=bool)
    padded[: wanted.size] = wanted
    tiles = np.flatnonzero(padded.reshape(n_tiles, width).any(axis=1))
    found, lost, peaks = (np.empty((tiles.size, width)) for _ in range(3))
    kernel_for(lattice)(
        degrees, half_inverse, margin * lattice.stride + tiles * width, lattice.stride, radii, width,
        lattice.total, lattice.squares, everything, found, lost, peaks,
    )  # fmt: skip
    scores, bounds = np.zeros((n_tiles, width)), np.zeros((n_tiles, width))
    scores[tiles] = found
    if lattice.tolerance is not None:
        squares = lattice.squares / lattice.total**2
        bounds[tiles] = rounding_bound(found, lattice.t, 4, 2 * farthest**2 + 2 * farthest + 1, squares)
    if not everything:
        bounds[tiles] += loss_bound(lost + LOSS_ROUNDING, np.maximum(peaks, 4.0 / lattice.total))
    return scores.ravel()[: wanted.size], bounds.ravel()[: wanted.size]


def kernel_for(lattice: LatticeScores) -> Callable[..., None]:
    """Return what follows the walks: compiled loops, or for the first small maps of a process plain NumPy."""
    # Once the compiled loops are there, they are the faster ones for any map.
    if _COMPILED not in sys.modules and lattice.n_cells * lattice.sums_per_cell <= MOST_SUMS and next(_PLAIN_CALLS):
        return plain_scores
    from farpoint.diffusion.scores.lattice_kernels import diamond_scores

    return diamond_scores


def _tile_width(radius: int) -> int:
    fits = _BUFFER_BYTES // (3 * 8 * (2 * radius**2 + 2 * radius + 1))
    return int(np.clip(fits // _NARROWEST * _NARROWEST, _NARROWEST, _WIDEST))
