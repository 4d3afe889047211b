"""The local solver on maps: the walks of neighboring cells as rows over a common diamond of offsets.

The map lies flat in memory, row after row, with one column of wall between rows (a walk cannot pass it, so what lies
beyond it in memory is never reached) and a margin of walls before and after.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from farpoint.diffusion.scores.bounds import loss_bound, rounding_bound

# Cells that one task covers: large enough that its margins are small beside it, small enough to be lost.
_CELLS_PER_BLOCK = 1 << 16
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
    """The scores of a map at one t, as the kernels read it; what every task of the local solver shares.

    Attributes
    ----------
    degrees : array of uint8
        Flat, ``stride`` cells per row, 0 on walls.
    stride, t : int
    tolerance : float or None
        The largest relative error that a score may have; None: exact.
    total, squares : float
        Σ d and Σ d².
    """

    degrees: NDArray[np.uint8]
    stride: int
    t: int
    tolerance: float | None
    total: float
    squares: float

    @property
    def n_cells(self) -> int:
        """Number of cells, walls included."""
        return int(self.degrees.size)

    @property
    def reach(self) -> float:
        """How far a walk of k steps is followed at first, in units of √k."""
        return first_reach(self.tolerance)

    def radii(self, reach: float) -> NDArray[np.int64]:
        """Return how far the walk is followed after 0, 1, … t steps."""
        return np.minimum(followed_radii(self.t, reach), self.degrees.size // self.stride + self.stride)

    @property
    def sums_per_cell(self) -> float:
        """How many sums of the kernel a cell costs: Σ_k of the states within ``radii[k]``."""
        radii = self.radii(self.reach)[1:].astype(np.float64)
        return float((2 * radii**2 + 2 * radii + 1).sum())

    def blocks(self) -> list[tuple[int, int]]:
        """Return the ranges of cells that are one task each."""
        size = max(_CELLS_PER_BLOCK, int(self.radii(self.reach)[-1]) * self.stride)
        return [(first, min(first + size, self.n_cells)) for first in range(0, self.n_cells, size)]

    def block(self, cells: tuple[int, int]) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        """Return the scores of the floor cells in a range, and bounds on their errors (None where they are exact)."""
        first, last = cells
        degrees = self.degrees[first:last]
        exact = self.radii(np.inf)
        scores = np.zeros(last - first)
        bounds = np.zeros(last - first)
        wanted = degrees > 0
        reach = self.reach
        while wanted.any():
            radii = self.radii(reach)
            everything = np.array_equal(radii, exact)
            found, bound = _follow(self, first, wanted, radii, everything)
            scores[wanted], bounds[wanted] = found[wanted], bound[wanted]
            if everything or self.tolerance is None:
                break
            wanted &= bounds > self.tolerance * scores
            reach *= WIDER
        floor = degrees > 0
        return scores[floor], None if self.tolerance is None else bounds[floor]


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
    rows, cols = floor.shape
    padded = np.zeros((rows, cols + 1), dtype=np.uint8)
    padded[:, :cols] = floor
    flat = padded.ravel()
    degrees = np.zeros_like(flat)
    for shift in (1, cols + 1):
        degrees[shift:] += flat[:-shift]
        degrees[:-shift] += flat[shift:]
    degrees *= flat
    counts = np.bincount(degrees, minlength=5)
    total, squares = float(counts @ np.arange(5)), float(counts @ np.arange(5) ** 2)
    plan = LatticeScores(degrees, cols + 1, t, tolerance, total, squares)
    # In a world smaller than the diamond most of the diamond would be walls.
    return plan if floor.size >= 2 * int(plan.radii(plan.reach)[-1]) ** 2 else None


def _follow(
    lattice: LatticeScores, first: int, wanted: NDArray[np.bool_], radii: NDArray[np.int64], everything: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return score and bound of the tiles that hold a wanted cell; 0 elsewhere."""
    from farpoint.diffusion.scores.lattice_kernels import diamond_scores

    farthest = int(radii.max())
    width = _tile_width(farthest)
    n_tiles = -(-wanted.size // width)
    margin = farthest * (lattice.stride + 1)
    # The block with its margin, walls where the map has ended.
    begin, end = first - margin, first + n_tiles * width + margin
    around = np.zeros(end - begin)
    inside = slice(max(begin, 0), min(end, lattice.degrees.size))
    around[inside.start - begin : inside.stop - begin] = lattice.degrees[inside]
    half_inverse = np.divide(0.5, around, out=np.zeros_like(around), where=around > 0)
    padded = np.zeros(n_tiles * width, dtype=bool)
    padded[: wanted.size] = wanted
    tiles = np.flatnonzero(padded.reshape(n_tiles, width).any(axis=1))
    found, lost, peaks = (np.empty((tiles.size, width)) for _ in range(3))
    diamond_scores(
        around, half_inverse, margin + tiles * width, lattice.stride, radii, width,
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


def _tile_width(radius: int) -> int:
    fits = _BUFFER_BYTES // (3 * 8 * (2 * radius**2 + 2 * radius + 1))
    return int(np.clip(fits // _NARROWEST * _NARROWEST, _NARROWEST, _WIDEST))
