"""Scores of maps: the walks of neighboring cells as rows over common offsets.

A task is a band of rows. It lies flat in memory, row after row, with one column of wall between rows (a walk cannot
pass it, so what lies beyond it in memory is never reached) and a margin of rows before and after.

Up to t = 5 the walk is written out step by step; beyond, it is a sum of about √t Chebyshev polynomials of the walk that
always moves. With P the walk that never stays, the lazy walk is (I + P) / 2, and for x = cos θ

    ((1 + x) / 2)ᵗ = cos²ᵗ(θ / 2) = Σ_j c_j T_j(x),   c_j = 2 C(2t, t − j) / 4ᵗ for j > 0, c_0 = C(2t, t) / 4ᵗ.

The c_j are binomial probabilities: beyond a few √t they are negligible. All T_j(P) shrink vectors, in the norm that
weights a state by its degree, so what a sum up to j = J leaves out is known beforehand: at most Σ_{j > J} c_j.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from farpoint.diffusion.bounds import UNIT, check_tolerance, distance_bound
from farpoint.diffusion.map_kernels import cells_of_color, expanded_scores, unrolled_scores
from farpoint.diffusion.scores import Plan
from farpoint.errors import InvalidInput, check_integer
from farpoint.worlds.arrays import digest
from farpoint.worlds.floors import Floor, as_cells

# Cells that one task covers: large enough that its margins are small beside it, small enough to be lost.
CELLS_PER_BLOCK = 1 << 16
RADII_PER_BLOCK = 4
# Up to this t the walk of a cell is written out; beyond, that takes long to compile and is too large for registers.
LARGEST_UNROLLED = 5
# ½/d of each degree, 0 on walls.
_HALF_INVERSE = np.array([0.0, 0.5, 0.25, 0.5 / 3.0, 0.125])
_MOST_NEIGHBORS = 4.0
# The buffers of a tile should stay in the second cache of a core.
_BUFFER_BYTES = 768 * 1024
_WIDEST, _NARROWEST = 128, 8
# The cost of a sum of the expansion in doubles, in sums of a walk that is written out; and the cost of clearing and
# adding up a cell of the walk's last extent, in sums of the expansion.
_EXPANDED_SUM, _AROUND = 1.6, 4.0
# The least number of tasks of a map, unless all of it takes at most this many sums: about 5 ms.
_FEWEST_BLOCKS, _SUMS_OF_ONE_TASK = 8, 1e7
_SECONDS_PER_SUM = 0.5e-9
# The rounding of an expansion may be this many times what it leaves out; both together are within the tolerance.
_ROUNDED = 3.5
# States that are not within the tolerance are expanded again, with this share of the error, as far as doubles allow.
_FINER = 1.0 / 16.0
_LONGEST_WALK = 1_000_000
# Beyond this many √t all coefficients are 0 in doubles.
_FARTHEST = 12.0
# The part left out of an exact score, far below the rounding of its sums.
_NOTHING = 2.0**-60
# 2/d, two sums one after the other and a product, of numbers of at most twice the norm of the first vector; and a
# difference, which has that norm itself.
_UNITS_PER_STEP = 9.0
# Terms of second order, generously.
_SECOND_ORDER = 1.05


@dataclass(frozen=True)
class Expansion:
    """The first terms of the lazy walk of t steps.

    Examples
    --------
    >>> short = Expansion.to(t=100, error=1e-5)
    >>> short.degree, short.left_out < 1e-5, Expansion.to(t=100, error=0.0).degree
    (31, True, 100)
    """

    t: int
    coefficients: NDArray[np.float64]
    left_out: float

    @classmethod
    def to(cls, t: int, error: float) -> Expansion:
        """Return the shortest sum that leaves out at most ``error``, of at least one step."""
        j = np.arange(min(t, int(np.ceil(_FARTHEST * np.sqrt(t))) + 1), dtype=np.float64)
        # C(2t, t − j − 1) / C(2t, t − j) = (t − j) / (t + j + 1)
        chances = np.concatenate([[1.0], 2.0 * np.cumprod((t - j) / (t + j + 1.0))])
        # Summed from the smallest.
        rest = np.cumsum(chances[::-1])[::-1]
        left_out = np.append(rest[1:], 0.0) / rest[0]
        degree = max(1, int(np.argmax(left_out <= error)))
        return cls(t, chances[: degree + 1] / rest[0], float(left_out[degree]))

    @property
    def degree(self) -> int:
        """The largest j: how many steps are taken, and how far they lead."""
        return int(self.coefficients.size) - 1

    @cached_property
    def sums(self) -> float:
        """How many sums a state of a map costs: only cells of one color of a chessboard are reached in a step."""
        return float((np.arange(2, self.degree + 2, dtype=np.float64) ** 2).sum())

    def rounding(self, unit: float) -> float:
        """Return a bound on the rounding of the sum, in the same norm, by numbers of relative error ``unit``.

        An error made in step k grows by j − k + 1 until step j at most, the size of U_{j−k}. So T_j is off by
        9 u j (j + 1) / 2, and the sum by 9 u (E j² + E j) / 2, where j has the chances c_j: E j² = t / 2. Adding up
        costs a unit per term.
        """
        steps = 0.5 * _UNITS_PER_STEP * (self.t / 2.0 + np.sqrt(self.t / 2.0))
        return float(_SECOND_ORDER * unit * (steps + self.degree + 4))

    def error(self, degrees: NDArray[np.float64], most: float, unit: float) -> NDArray[np.float64]:
        """Return a bound on ‖p̂ − p‖₂ for walks that begin in states of the given degrees, the largest being ``most``.

        With y = p / d and ‖y‖² = Σ d y², a walk begins with ‖y‖ = 1 / √d(s), and ‖p‖₂ ≤ √most ‖y‖.
        """
        return np.asarray(np.sqrt(most / np.maximum(degrees, 1.0)) * (self.left_out + self.rounding(unit)))


@dataclass(frozen=True, eq=False)
class MapPlan(Plan):
    """The scores of a map at one t, in bands of rows.

    Attributes
    ----------
    floor : Floor
    t : int
    tolerance : float or None
        The largest relative error that a score may have; None: exact.
    total, squares : float
        Σ d and Σ d² of the whole map, of which the floor may be a part.

    Examples
    --------
    >>> import farpoint as fp
    >>> plan = MapPlan.of(fp.open_room(10, 10).floor, t=4)
    >>> plan.block((0, 1))[0][:4].round(3)
    array([0.148, 0.121, 0.103, 0.101])
    """

    floor: Floor
    t: int
    tolerance: float | None
    total: float
    squares: float

    @classmethod
    def of(cls, floor: Floor | None, t: int, tolerance: float | None = None) -> MapPlan | None:
        """Return the plan for the scores of a map; None without a map, or where the map is small against t."""
        # A longer walk crosses the map many times: this plan is not made for that, and its radii would fill memory.
        if floor is None or min(floor.shape) < 2 or t > _LONGEST_WALK:
            return None
        plan = cls(floor, t, tolerance, *floor.degree_sums)
        # In a world smaller than the walk's square most of the square would be walls. To a tolerance there are so few
        # terms that this matters less; the limit is what the buffers may take.
        return plan if floor.size >= (2.0 if tolerance is None else 0.02) * plan.radius**2 else None

    @property
    def stride(self) -> int:
        """Cells per row, with the column of wall."""
        return int(self.floor.shape[1]) + 1

    @property
    def n_cells(self) -> int:
        """Number of cells, walls included."""
        return int(self.floor.shape[0]) * self.stride

    @property
    def unrolled(self) -> bool:
        """Whether the walk is written out for this t; otherwise it is a sum of Chebyshev polynomials."""
        return self.tolerance is None and self.t <= LARGEST_UNROLLED

    @property
    def radius(self) -> int:
        """How far a walk is followed."""
        return self.t if self.unrolled else self.first_expansion.degree

    @property
    def first_error(self) -> float:
        """The part an expansion may leave out, so that nearly every state of an open map is within the tolerance."""
        if self.tolerance is None:
            return _NOTHING
        # There ‖p‖² is about 1 / (π t), and 2 ‖e‖ / ‖p‖ the relative error; ‖e‖ is twice as large in a dead end.
        return 0.1 * self.tolerance / float(np.sqrt(np.pi * self.t))

    @cached_property
    def first_expansion(self) -> Expansion:
        """The expansion used for every state; without a tolerance it has all terms that matter in double precision."""
        return Expansion.to(self.t, self.first_error)

    @property
    def first_type(self) -> Any:
        """The numbers that it is computed in: those of 32 bits, twice as fast, where their rounding is small."""
        short = self.first_expansion.rounding(float(np.finfo(np.float32).epsneg))
        return np.float32 if short <= _ROUNDED * self.first_error else np.float64

    @property
    def sums_per_cell(self) -> float:
        """How many sums a cell takes."""
        if not self.unrolled:
            return self.first_expansion.sums
        radii = np.arange(1, self.t + 1)
        return float((2 * radii**2 + 2 * radii + 1).sum())

    @property
    def cost(self) -> float:
        """How long all of it takes, in sums of a walk that is written out."""
        if self.unrolled:
            return self.n_cells * self.sums_per_cell
        of_doubles = float(np.dtype(self.first_type).itemsize) / 8.0
        around = _AROUND * (self.radius + 1.0) ** 2
        return self.n_cells * of_doubles * _EXPANDED_SUM * (self.sums_per_cell + around)

    @property
    def seconds(self) -> float:
        """Roughly how long all of it takes on one core."""
        return _SECONDS_PER_SUM * self.cost

    @cached_property
    def tasks(self) -> list[tuple[int, int]]:
        """The ranges of rows that are one task each."""
        n_rows = self.floor.shape[0]
        size = max(CELLS_PER_BLOCK // self.stride, RADII_PER_BLOCK * self.radius, 1)
        if self.cost > _SUMS_OF_ONE_TASK:
            size = min(size, -(-n_rows // _FEWEST_BLOCKS))
        return [(first, min(first + size, n_rows)) for first in range(0, n_rows, size)]

    def states(self, rows: tuple[int, int]) -> slice:
        """Return the states that a task computes."""
        first, last = self.floor.row_starts[list(rows)]
        return slice(int(first), int(last))

    @property
    def about(self) -> dict[str, Any]:
        """Facts that the blocks depend on besides the world: in another frame the same world has other rows."""
        sizes = np.diff([self.floor.row_starts[first] for first, _ in self.tasks] + [self.floor.n_states])
        return {"plan": "map", "frame": [list(self.floor.shape), digest(sizes)]}

    def block(self, rows: tuple[int, int]) -> tuple[NDArray[np.float64], ...]:
        """Return the scores of the floor cells in some rows, and bounds on their errors where there is a tolerance."""
        floor = self.floor.cells[rows[0] : rows[1]]
        if self.unrolled:
            return (self._unrolled(rows)[floor],)
        # A column of wall, as it lies in memory.
        padded = np.zeros((len(floor), self.stride), dtype=bool)
        padded[:, :-1] = floor
        wanted = padded.ravel()
        scores, bounds = self._expanded(rows, wanted)
        return (scores[wanted],) if self.tolerance is None else (scores[wanted], bounds[wanted])

    def expansions(self) -> Iterator[tuple[Expansion, Any]]:
        """Yield the expansions to try in turn, each with its float type, until all states are within the tolerance."""
        error, type_ = self.first_error, self.first_type
        while True:
            expansion = Expansion.to(self.t, error)
            yield expansion, type_
            if self.tolerance is None or (type_ is np.float64 and expansion.left_out <= expansion.rounding(UNIT)):
                return
            error, type_ = error * _FINER, np.float64

    @property
    def halo(self) -> int:
        """The largest distance of a cell that a score depends on; the degree of the last cell of a walk adds one."""
        return 1 + (self.t if self.unrolled else max(expansion.degree for expansion, _ in self.expansions()))

    def _expanded(
        self, rows: tuple[int, int], wanted: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return scores to the tolerance by Chebyshev polynomials of the walk, and bounds on their errors."""
        scores, bounds = np.zeros(wanted.size), np.zeros(wanted.size)
        for expansion, type_ in self.expansions():
            found, bound = self._with(expansion, type_, rows, wanted)
            scores[wanted], bounds[wanted] = found[wanted], bound[wanted]
            if self.tolerance is None:
                break
            # Which terms a state gets depends on it alone: the same numbers, whatever it is computed beside.
            wanted = wanted & (bounds > self.tolerance * scores)
            if not wanted.any():
                break
        return scores, bounds

    def _with(
        self, expansion: Expansion, type_: Any, rows: tuple[int, int], wanted: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        bytes_per_cell = 6 * np.dtype(type_).itemsize * (expansion.degree + 4) ** 2
        tiles = Tiles.of(wanted, expansion.degree, bytes_per_cell)
        margin = tiles.margin(self.stride)
        degrees, half_inverse = self.around(rows, margin)
        found = np.empty((tiles.numbers.size, tiles.width))
        colors = [cells_of_color(color, expansion.degree, self.stride, tiles.width) for color in (0, 1)]
        expanded_scores(
            degrees.astype(type_), (4.0 * half_inverse).astype(type_), margin * self.stride + tiles.firsts,
            tuple(colors), expansion.coefficients.astype(type_), tiles.width, self.total, self.squares, found,
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
        degrees = self.floor.degrees(rows[0] - margin, rows[1] + margin)
        return degrees.astype(np.float64), _HALF_INVERSE[degrees]

    def _unrolled(self, rows: tuple[int, int]) -> NDArray[np.float64]:
        degrees, half_inverse = self.around(rows, self.t + 1)
        n_rows, n_cols = rows[1] - rows[0], self.floor.shape[1]
        scores = np.empty((n_rows, n_cols))
        share = 1.0 / self.total
        unrolled_scores(self.t)(
            degrees, half_inverse, self.stride, n_rows, n_cols, 2.0 * share, share * share * self.squares, scores
        )
        return scores


@dataclass(frozen=True)
class Tiles:
    """Runs of cells that lie side by side in memory and are followed together; those that hold a wanted cell."""

    radius: int
    width: int
    numbers: NDArray[np.int64]
    n_cells: int

    @classmethod
    def of(cls, wanted: NDArray[np.bool_], radius: int, bytes_per_cell: int) -> Tiles:
        """Return the tiles for walks of a radius that take ``bytes_per_cell``."""
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


def block_scores(
    cells: ArrayLike, t: int, degree_sums: tuple[float, float], *, tolerance: float | None = None
) -> NDArray[np.float64]:
    """Return the scores of all cells of one block of a large map; 0 on walls.

    The score of a cell depends on the cells within t + 1 of it and on two sums over the whole map. So the scores of a
    block with `block_halo` more cells on every side are those of `score`, to the last bit, but for the halo itself.
    docs/scale.md shows how Dask computes those of a map in blocks.

    Parameters
    ----------
    cells : array of bool or uint8, shape (n_rows, n_cols)
        Not 0 where there is floor. Nothing beyond the block is floor.
    t : int
    degree_sums : (float, float)
        Σ d and Σ d² over all floor cells of the whole map, where d is the number of adjacent floor cells.
    tolerance : float, optional
        As in `score`.

    Returns
    -------
    array of float, shape (n_rows, n_cols)

    Examples
    --------
    >>> import numpy as np, farpoint as fp
    >>> world = fp.open_room(40, 60)
    >>> part = fp.diffusion.block_scores(world.floor.cells[:15], 4, world.floor.degree_sums)
    >>> whole = fp.score(world, 4, "local").reshape(40, 60)
    >>> bool(np.allclose(part[:10], whole[:10], rtol=1e-12))
    True
    """
    t, tolerance = check_integer("t", t, 1, _LONGEST_WALK), check_tolerance(tolerance)
    total, squares = (float(one) for one in degree_sums)
    if not 0.0 < total <= squares:
        raise InvalidInput(f"degree_sums must be Σ d and Σ d² of the whole map; got {degree_sums!r}.")
    array = np.asarray(cells)
    floor = as_cells(array) if array.any() else np.zeros(array.shape, dtype=bool)
    scores = np.zeros(floor.shape)
    scores[floor] = MapPlan(Floor.of_own(floor), t, tolerance, total, squares).block((0, len(floor)))[0]
    return scores


def block_halo(t: int, tolerance: float | None = None) -> int:
    """Return how many cells beyond a block its scores depend on: t + 1, or about 3 √t for a thousandth.

    >>> block_halo(4), block_halo(100, tolerance=1e-3) < 60
    (5, True)
    """
    t, tolerance = check_integer("t", t, 1, _LONGEST_WALK), check_tolerance(tolerance)
    return MapPlan(Floor.of_own(np.ones((1, 1), dtype=bool)), t, tolerance, 1.0, 1.0).halo
