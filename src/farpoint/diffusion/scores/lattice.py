"""The local solver on maps: the walks of neighboring cells as rows over common offsets, step by step or expanded.

A task is a band of rows. It lies flat in memory, row after row, with one column of wall between rows (a walk cannot
pass it, so what lies beyond it in memory is never reached) and a margin of rows before and after.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.diffusion.scores.bounds import UNIT, distance_bound
from farpoint.diffusion.scores.chebyshev import Expansion
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
_MOST_NEIGHBORS = 4.0
# The buffers of a tile should stay in the second cache of a core.
_BUFFER_BYTES = 768 * 1024
_WIDEST, _NARROWEST = 128, 8
# What a sum of the expansion costs in doubles, and a cell of the walk's last extent, in sums of a walk step by step.
_EXPANDED_SUM, _AROUND = 1.6, 4.0
# A map is divided into so many tasks at least, unless all of them take as long as so many sums: about 5 ms.
_FEWEST_BLOCKS, _SUMS_OF_ONE_TASK = 8, 1e7
# The rounding of an expansion may be so many times what it leaves out, and both together are within the tolerance.
_ROUNDED = 3.5
# What is not within the tolerance is expanded again, with this share of the error; not more often than doubles allow.
_FINER = 1.0 / 16.0
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
    def radius(self) -> int:
        """How far a walk is followed."""
        return min(self.t, sum(self.floor.shape) + 1) if self.tolerance is None else self.first_expansion.degree

    @property
    def first_error(self) -> float:
        """What an expansion may leave out, so that nearly every state of an open map is within the tolerance."""
        assert self.tolerance is not None
        # There ‖p‖² is about 1 / (π t), and 2 ‖e‖ / ‖p‖ the relative error; ‖e‖ is twice as large in a dead end.
        return 0.1 * self.tolerance / float(np.sqrt(np.pi * self.t))

    @cached_property
    def first_expansion(self) -> Expansion:
        """What is computed of every state where there is a tolerance."""
        return Expansion.to(self.t, self.first_error)

    @property
    def first_type(self) -> Any:
        """The numbers that it is computed in: those of 32 bits, twice as fast, where their rounding is small."""
        short = self.first_expansion.rounding(float(np.finfo(np.float32).epsneg))
        return np.float32 if short <= _ROUNDED * self.first_error else np.float64

    @property
    def unrolled(self) -> bool:
        """Whether there is a kernel for this t alone."""
        return self.tolerance is None and self.t <= LARGEST_UNROLLED and self.n_cells >= WORTH_UNROLLING

    @property
    def sums_per_cell(self) -> float:
        """How many sums of the kernel a cell takes."""
        if self.tolerance is not None:
            return self.first_expansion.sums
        radii = np.minimum(np.arange(1, self.t + 1), self.radius).astype(np.float64)
        return float((2 * radii**2 + 2 * radii + 1).sum())

    @property
    def cost(self) -> float:
        """How long all of it takes, in sums of a walk that is followed step by step."""
        if self.unrolled:
            return self.n_cells * self.sums_per_cell
        if self.tolerance is None:
            return self.n_cells * (self.sums_per_cell + _AROUND * 2.0 * (self.radius + 1.0) ** 2)
        of_doubles = float(np.dtype(self.first_type).itemsize) / 8.0
        around = _AROUND * (self.radius + 1.0) ** 2
        return self.n_cells * of_doubles * _EXPANDED_SUM * (self.sums_per_cell + around)

    def blocks(self) -> list[tuple[int, int]]:
        """Return the ranges of rows that are one task each."""
        n_rows = self.floor.shape[0]
        size = max(_CELLS_PER_BLOCK // self.stride, _RADII_PER_BLOCK * self.radius, 1)
        if self.cost > _SUMS_OF_ONE_TASK:
            size = min(size, -(-n_rows // _FEWEST_BLOCKS))
        return [(first, min(first + size, n_rows)) for first in range(0, n_rows, size)]

    def sizes(self, blocks: list[tuple[int, int]]) -> list[int]:
        """Return how many states each block has."""
        return [int(np.count_nonzero(self.floor[first:last])) for first, last in blocks]

    def block(self, rows: tuple[int, int]) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        """Return the scores of the floor cells in some rows, and bounds on their errors (None where they are exact)."""
        floor = self.floor[rows[0] : rows[1]] != 0
        if self.unrolled:
            return self._unrolled(rows)[floor], None
        # A column of wall, as it lies in memory.
        padded = np.zeros((len(floor), self.stride), dtype=bool)
        padded[:, :-1] = floor
        wanted = padded.ravel()
        if self.tolerance is None:
            return self._followed(rows, wanted)[wanted], None
        scores, bounds = self._expanded(rows, wanted)
        return scores[wanted], bounds[wanted]

    def _followed(self, rows: tuple[int, int], wanted: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the scores of tiles that hold a wanted cell, 0 elsewhere: the walk of every cell, step by step."""
        tiles = Tiles.of(wanted, self.radius, 3 * 8 * (2 * self.radius**2 + 2 * self.radius + 1))
        margin = tiles.margin(self.stride)
        degrees, half_inverse = self.around(rows, margin)
        found = np.empty((tiles.numbers.size, tiles.width))
        kernel_for(self)(
            degrees, half_inverse, margin * self.stride + tiles.firsts, self.stride, self.t, self.radius, tiles.width,
            self.total, self.squares, found,
        )  # fmt: skip
        return tiles.flat(found)

    def _expanded(
        self, rows: tuple[int, int], wanted: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return scores to the tolerance by Chebyshev polynomials of the walk, and bounds on their errors."""
        assert self.tolerance is not None
        scores, bounds = np.zeros(wanted.size), np.zeros(wanted.size)
        error, type_ = self.first_error, self.first_type
        while True:
            expansion = Expansion.to(self.t, error)
            found, bound = self._with(expansion, type_, rows, wanted)
            scores[wanted], bounds[wanted] = found[wanted], bound[wanted]
            # Which terms a state gets depends on it alone: the same numbers, whatever it is computed beside.
            wanted = wanted & (bounds > self.tolerance * scores)
            last = type_ is np.float64 and expansion.left_out <= expansion.rounding(UNIT)
            if last or not wanted.any():
                return scores, bounds
            error, type_ = error * _FINER, np.float64

    def _with(
        self, expansion: Expansion, type_: Any, rows: tuple[int, int], wanted: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        from farpoint.diffusion.scores.chebyshev_kernels import expanded_scores

        bytes_per_cell = 6 * np.dtype(type_).itemsize * (expansion.degree + 4) ** 2
        tiles = Tiles.of(wanted, expansion.degree, bytes_per_cell)
        margin = tiles.margin(self.stride)
        degrees, half_inverse = self.around(rows, margin)
        found = np.empty((tiles.numbers.size, tiles.width))
        expanded_scores(
            degrees.astype(type_), (4.0 * half_inverse).astype(type_), margin * self.stride + tiles.firsts, self.stride,
            expansion.coefficients.astype(type_), tiles.width, self.total, self.squares, found,
        )  # fmt: skip
        scores = tiles.flat(found)
        own = degrees[margin * self.stride :][: wanted.size]
        unit = float(np.finfo(type_).epsneg)
        bound = distance_bound(scores, expansion.error(own, _MOST_NEIGHBORS, unit))
        # The last sum is one of doubles.
        sizes = np.sqrt(np.maximum(scores, 0.0)) + 2.0 * np.sqrt(self.squares) / self.total
        return scores, bound + 2.0 * (expansion.degree + 2) ** 2 * UNIT * sizes**2

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


def lattice_scores(floor: NDArray[np.bool_] | None, t: int, tolerance: float | None = None) -> LatticeScores | None:
    """Return the plan for the scores of a map; None without a map, or where the map is small against t."""
    # A walk of so many steps crosses the map many times: it is no plan for that, and its radii alone would fill memory.
    if floor is None or min(floor.shape) < 2 or t > _LONGEST_WALK:
        return None
    cells = as_bytes(floor)
    plan = LatticeScores(cells, t, tolerance, *degree_sums(cells))
    # In a world smaller than the diamond most of the diamond would be walls. An expansion has so few terms that this
    # matters less; its limit is what its buffers may take.
    return plan if floor.size >= (2.0 if tolerance is None else 0.02) * plan.radius**2 else None


@dataclass(frozen=True)
class Tiles:
    """Runs of cells that lie side by side in memory and are followed together; those that hold a wanted cell."""

    radius: int
    width: int
    numbers: NDArray[np.int64]
    n_cells: int

    @classmethod
    def of(cls, wanted: NDArray[np.bool_], radius: int, bytes_per_cell: int) -> Tiles:
        """Return the tiles for walks of a radius that take so many bytes per cell."""
        fits = _BUFFER_BYTES // bytes_per_cell
        width = int(np.clip(fits // _NARROWEST * _NARROWEST, _NARROWEST, _WIDEST))
        padded = np.zeros(-(-wanted.size // width) * width, dtype=bool)
        padded[: wanted.size] = wanted
        return cls(radius, width, np.flatnonzero(padded.reshape(-1, width).any(axis=1)), wanted.size)

    @property
    def firsts(self) -> NDArray[np.int64]:
        """The first cell of each."""
        return self.numbers * self.width

    def margin(self, stride: int) -> int:
        """Return how many rows more are needed before and after; the last tile may reach beyond the block."""
        return self.radius + 1 + -(-self.width // stride)

    def flat(self, found: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what was found for each tile, cell by cell, 0 where there is no tile."""
        cells = np.zeros((-(-self.n_cells // self.width), self.width))
        cells[self.numbers] = found
        return cells.ravel()[: self.n_cells]


def kernel_for(lattice: LatticeScores) -> Callable[..., None]:
    """Return what follows the walks: compiled loops, or for the first small maps of a process plain NumPy."""
    # Once the compiled loops are there, they are the faster ones for any map.
    if _COMPILED not in sys.modules and lattice.n_cells * lattice.sums_per_cell <= MOST_SUMS and next(_PLAIN_CALLS):
        return plain_scores
    from farpoint.diffusion.scores.lattice_kernels import diamond_scores

    return diamond_scores
