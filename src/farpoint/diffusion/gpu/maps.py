"""Scores and far points of a map on a GPU: one byte per cell goes in, nothing else is kept of the world."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from farpoint.diffusion.goals.order import SAME_SCORE, descending
from farpoint.diffusion.gpu import cuda_source
from farpoint.diffusion.gpu.device import cupy, kernel
from farpoint.diffusion.scores.bounds import check_tolerance, loss_bound, rounding_bound
from farpoint.errors import InvalidInput, check_fraction, check_integer

# Cells are numbered in 32 bits while plateaus are found.
_MOST_CELLS_WITH_GOALS = 2**31 - 1
# Of the card: the map twice and a score, and some room.
_BYTES_PER_CELL = 12
_SHARE_OF_MEMORY = 0.8
_THREADS = 256
_COUNTING_BLOCKS = 4096
# Σ p̂ is rounded, so a loss is only known up to this.
_LOSS_ROUNDING = 1e-13
# States that have lost too much are followed again, this much farther.
_WIDER = 1.25


@dataclass(frozen=True)
class Totals:
    """What the whole map adds to every score: Σ d and Σ d²."""

    total: float
    squares: float

    @property
    def share(self) -> float:
        """1 / Σ d."""
        return 1.0 / self.total

    @property
    def rest(self) -> float:
        """Σ π²."""
        return self.squares / self.total**2


def score_map(floor: ArrayLike, t: int = 4, *, tolerance: float | None = None, memory: int | None = None) -> Any:
    """Return the scores of all cells of a map, computed on the GPU; 0 on walls.

    Parameters
    ----------
    floor : array of bool or uint8, shape (rows, cols)
        Where one can walk, up, down, left and right. On this machine (numpy, also memory-mapped) or on the GPU (cupy).
    t : int
        Time scale.
    tolerance : float, optional
        Largest relative error, where t is too large for the walk to be followed exactly.
    memory : int, optional
        Bytes of the card to use; a map that needs more is computed in bands. Default: four fifths of what is free.

    Returns
    -------
    array of float, shape (rows, cols)
        On the GPU if everything fits, otherwise of numpy.

    Examples
    --------
    >>> import numpy as np, farpoint as fp
    >>> fp.diffusion.gpu.score_map(np.ones((3, 4)))[0, 0]  # doctest: +SKIP
    array(0.0396...)
    """
    t, tolerance = check_integer("t", t, 1), check_tolerance(tolerance)
    memory = None if memory is None else check_integer("memory", memory, 1)
    xp = cupy()
    if not isinstance(floor, xp.ndarray):
        floor = np.asarray(floor)
    if floor.ndim != 2 or min(floor.shape) == 0:
        raise InvalidInput(f"floor must be a map of two dimensions; got shape {floor.shape}.")
    free = memory if memory is not None else int(_SHARE_OF_MEMORY * xp.cuda.runtime.memGetInfo()[0])
    bands = list(bands_of(floor.shape, t, free))
    totals = totals_of(floor, bands)
    if totals.total == 0.0:
        raise InvalidInput("floor must have cells next to each other; got none.")
    if len(bands) == 1:
        return band_scores(floor, bands[0], t, tolerance, totals)
    scores = np.empty(floor.shape)
    for band in bands:
        scores[band[0] : band[1]] = band_scores(floor, band, t, tolerance, totals).get()
    return scores


def bands_of(shape: tuple[int, int], t: int, memory: int) -> Iterator[tuple[int, int]]:
    """Yield the rows of each band, such that a band with t rows more on either side fits into memory.

    >>> list(bands_of((10, 100), 1, 12 * 102 * 6))
    [(0, 4), (4, 8), (8, 10)]
    """
    rows, cols = shape
    size = memory // (_BYTES_PER_CELL * (cols + 2 * t)) - 2 * t
    if size < 1:
        raise InvalidInput(f"memory must hold {2 * t + 1} rows of the map; got {memory} bytes.")
    for first in range(0, rows, size):
        yield first, min(first + size, rows)


def degrees_of(floor: Any, band: tuple[int, int], margin: int) -> Any:
    """Return the degrees of a band with a margin on every side: of other cells of the map, of walls beyond it."""
    xp = cupy()
    rows, cols = floor.shape
    # One row more on either side, for the degrees of the outermost rows.
    first, last = band[0] - margin - 1, band[1] + margin + 1
    inside = slice(max(first, 0), min(last, rows))
    open_cells = xp.zeros((last - first, cols + 2 * margin + 2), dtype=xp.uint8)
    open_cells[inside.start - first : inside.stop - first, margin + 1 : margin + 1 + cols] = xp.asarray(
        floor[inside]
    ).astype(bool)
    out = xp.zeros_like(open_cells)
    n_cells = out.size
    kernel(cuda_source.degrees_source(), "degrees")(
        (-(-n_cells // _THREADS),), (_THREADS,), (open_cells, out, np.int64(out.shape[1]), np.int64(n_cells))
    )
    return xp.ascontiguousarray(out[1:-1, 1:-1])


def totals_of(floor: Any, bands: list[tuple[int, int]]) -> Totals:
    """Return Σ d and Σ d² over all bands of a map."""
    xp = cupy()
    found = xp.zeros(5, dtype=np.uint64)
    for band in bands:
        degrees = degrees_of(floor, band, 0)
        count = kernel(cuda_source.degrees_source(), "count")
        count((_COUNTING_BLOCKS,), (_THREADS,), (degrees, found, np.int64(degrees.size)))
    counts = xp.asnumpy(found).astype(np.float64)
    return Totals(float(counts @ np.arange(5)), float(counts @ np.arange(5) ** 2))


def band_scores(floor: Any, band: tuple[int, int], t: int, tolerance: float | None, totals: Totals) -> Any:
    """Return the scores of the cells of one band, on the GPU."""
    if t > cuda_source.LARGEST_IN_WARP:
        return _walk_scores(floor, band, t, tolerance, totals)
    xp = cupy()
    degrees = degrees_of(floor, band, t)
    rows, cols = band[1] - band[0], floor.shape[1]
    out = xp.empty((rows, cols))
    arguments = (degrees, out, np.int64(cols + 2 * t), np.int32(rows), np.int32(cols), totals.share, totals.rest)
    if t <= cuda_source.LARGEST_IN_THREAD:
        tile_cols, tile_rows = cuda_source.TILE
        grid = (-(-cols // tile_cols), -(-rows // tile_rows))
        kernel(cuda_source.thread_source(t), "scores")(grid, cuda_source.TILE, arguments)
    else:
        groups = 32 // (16 if 2 * t + 1 < 16 else 32) * cuda_source.WARPS_PER_BLOCK
        blocks = -(-rows * cols // (groups * cuda_source.SOURCES_PER_WARP))
        kernel(cuda_source.warp_source(t), "scores")((blocks,), (32 * cuda_source.WARPS_PER_BLOCK,), arguments)
    return out


def _walk_scores(floor: Any, band: tuple[int, int], t: int, tolerance: float | None, totals: Totals) -> Any:
    """Return the scores of a band for large t, followed as far as the tolerance needs."""
    xp = cupy()
    rows, cols = band[1] - band[0], floor.shape[1]
    out = xp.zeros((rows, cols))
    wanted = xp.ones((rows, cols), dtype=bool)
    reach = first_reach(tolerance)
    while True:
        radii = followed_radii(t, reach)
        radius = int(radii[-1])
        if radius > cuda_source.LARGEST_RADIUS:
            raise InvalidInput(
                f"t must be at most {cuda_source.LARGEST_RADIUS} for exact scores on a GPU; got {t} with tolerance "
                f"{tolerance}, for which a walk is followed {radius} cells far. Pass a larger tolerance."
            )
        degrees = degrees_of(floor, band, radius)
        stride = cols + 2 * radius
        cells = xp.flatnonzero(wanted & (degrees[radius : radius + rows, radius : radius + cols] > 0))
        if cells.size == 0:
            return out
        found = _follow(degrees, cells // cols, cells % cols, radii, stride, totals)
        out.ravel()[cells] = found[0]
        if tolerance is None or radius == t:
            return out
        scores, lost, peaks = (one.get() for one in found)
        bounds = rounding_bound(scores, t, 4, 2 * radius**2 + 2 * radius + 1, totals.rest)
        bounds = bounds + loss_bound(lost + _LOSS_ROUNDING, np.maximum(peaks, 4.0 / totals.total))
        wanted[...] = False
        wanted.ravel()[cells[xp.asarray(bounds > tolerance * scores)]] = True
        reach *= _WIDER


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
    """Return how far a walk is followed after 0, 1, … t steps.

    >>> followed_radii(3, float("inf"))
    array([0, 1, 2, 3])
    """
    steps = np.arange(t + 1)
    wanted = steps if np.isinf(reach) else np.minimum(steps, np.ceil(reach * np.sqrt(steps)) + 1)
    return wanted.astype(np.int64)


def _follow(degrees: Any, rows: Any, cols: Any, radii: NDArray[np.int64], stride: int, totals: Totals) -> list[Any]:
    xp = cupy()
    radius = int(radii[-1])
    sources = (rows + radius) * stride + cols + radius
    results = [xp.empty(sources.size) for _ in range(3)]
    room = 16 * (2 * radius + 3) ** 2
    run = kernel(cuda_source.block_source(), "scores")
    run.max_dynamic_shared_size_bytes = room
    run(
        (min(int(sources.size), 1 << 20),),
        (cuda_source.THREADS_PER_WALK,),
        (
            degrees, sources.astype(np.int64), np.int64(sources.size), xp.asarray(radii, dtype=np.int32),
            np.int32(radii.size - 1), np.int32(radius), np.int64(stride), totals.share, totals.rest, *results,
        ),
        shared_mem=room,
    )  # fmt: skip
    return results


def goals_of_map(floor: ArrayLike, scores: Any, *, tolerance: float = SAME_SCORE) -> tuple[Any, Any]:
    """Return the cells (row · columns + column) of the local maxima on a map, highest first, and their scores.

    The same as `find_goals` finds: one cell per plateau of equal score, the first, where no neighbor is higher.

    Parameters
    ----------
    floor : array of bool or uint8, shape (rows, cols)
    scores : array of float, shape (rows, cols)
        From `score_map`.
    tolerance : float
        Relative difference up to which two scores are equal.

    Examples
    --------
    >>> import numpy as np, farpoint as fp
    >>> floor = np.ones((5, 9), dtype=bool)
    >>> fp.diffusion.gpu.goals_of_map(floor, fp.diffusion.gpu.score_map(floor))[0]  # doctest: +SKIP
    array([ 0,  8, 36, 44])
    """
    xp, tolerance = cupy(), check_fraction("tolerance", tolerance)
    cells = xp.asarray(floor).astype(xp.uint8)
    values = xp.asarray(scores, dtype=np.float64)
    if values.shape != cells.shape:
        raise InvalidInput(f"scores must have the shape of the map ({cells.shape}); got {values.shape}.")
    if cells.size > _MOST_CELLS_WITH_GOALS:
        raise InvalidInput(f"a map must have at most {_MOST_CELLS_WITH_GOALS} cells for goals; got {cells.size}.")
    source, n_cells, n_cols = cuda_source.goals_source(), np.int64(cells.size), np.int32(cells.shape[1])
    parent, peak = xp.empty(cells.size, dtype=np.int32), xp.empty(cells.size, dtype=np.uint8)
    grid, block = (-(-cells.size // _THREADS),), (_THREADS,)
    kernel(source, "begin")(grid, block, (values, parent, peak, cells, n_cells))
    kernel(source, "join")(grid, block, (values, parent, cells, n_cols, n_cells, tolerance))
    kernel(source, "settle")(grid, block, (parent, n_cells))
    kernel(source, "lower")(grid, block, (values, parent, peak, cells, n_cols, n_cells))
    found = xp.flatnonzero(peak)
    heights = values.ravel()[found]
    order = descending(heights, found, tolerance, xp)
    return found[order], heights[order]
