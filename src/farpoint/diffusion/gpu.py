"""Scores and far points on a GPU (extra ``gpu``): only one byte per cell of a map is copied to the GPU.

The kernels for maps are in ``maps.cu``; where the walk of a source lies in registers, its steps are written out here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from farpoint.diffusion.bounds import check_tolerance, loss_bound, rounding_bound
from farpoint.diffusion.goals import SAME_SCORE, descending
from farpoint.diffusion.map_kernels import diamond
from farpoint.diffusion.walk import Walk
from farpoint.errors import InvalidInput, MissingExtra, check_fraction, check_integer

# Up to here the walk of a source, one step short of its end, fits into the registers of a thread.
LARGEST_IN_THREAD = 6
# Each of 32 threads holds a column of the walk, and the outermost columns must stay empty.
LARGEST_IN_WARP = 15
# Two squares of doubles in the 227 KiB of shared memory that a block may have.
LARGEST_RADIUS = 58

# Columns and rows of sources in a block.
TILE = (32, 8)
WARPS_PER_BLOCK = 4
# Sources that a warp follows one after the other.
SOURCES_PER_WARP = 16
THREADS_PER_WALK = 256
# Cells are numbered in 32 bits while plateaus are found.
_MOST_CELLS_WITH_GOALS = 2**31 - 1
# Bytes on the card: the map twice and a score, and some room.
_BYTES_PER_CELL = 12
_SHARE_OF_MEMORY = 0.8
_THREADS = 256
_COUNTING_BLOCKS = 4096
# Σ p̂ is rounded, so a loss is only known up to this.
_LOSS_ROUNDING = 1e-13
# States that have lost too much are followed again, this much farther.
_WIDER = 1.25
_STATES_PER_BLOCK = 1 << 16


@cache
def cupy() -> Any:
    """Return the module CuPy; fail where it is not installed or finds no GPU."""
    try:
        import cupy as module
    except ImportError as error:
        raise MissingExtra("cupy must be installed for device='gpu'. Run: pip install 'farpoint[gpu]'") from error
    try:
        count = module.cuda.runtime.getDeviceCount()
    except module.cuda.runtime.CUDARuntimeError as error:
        raise InvalidInput(f"device must be a GPU that CUDA can use; got none ({error}).") from error
    if count == 0:
        raise InvalidInput("device must be a GPU that CUDA can use; got none.")
    return module


def has_gpu() -> bool:
    """Return whether scores can be computed on a GPU here.

    >>> isinstance(has_gpu(), bool)
    True
    """
    try:
        cupy()
    except (InvalidInput, MissingExtra):
        return False
    return True


@cache
def kernel(source: str, name: str) -> Any:
    """Return a compiled kernel; CuPy keeps it on disk too."""
    return cupy().RawKernel(source, name, options=("-std=c++14",))


def walk_scores(walk: Walk, t: int, tolerance: float | None) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Return the scores of all states, and bounds on their errors where there is a tolerance."""
    cupy()
    if walk.floor is None:
        values = score_graph(walk, t)
        # A sum for each state over the moves that enter it, and in the end one over all states.
        degree, n_terms = int(np.bincount(walk.moves.indices).max()), walk.n_states
    else:
        cells = walk.floor.cells
        scores = score_map(cells, t, tolerance=tolerance)
        values = (scores if isinstance(scores, np.ndarray) else scores.get())[cells]
        degree, n_terms = 4, 2 * t**2 + 2 * t + 1
    if tolerance is None:
        return values, None
    rounding = rounding_bound(values, t, degree, n_terms, walk.pi_squared, walk.pi_error)
    # Scores so small that they round more have that as their bound.
    return values, np.maximum(tolerance * values, rounding)


@dataclass(frozen=True)
class Totals:
    """Σ d and Σ d² of the whole map, which every score needs."""

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
    bands = list(bands_of(floor.shape, t, _free_memory() if memory is None else memory))
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
    size = _rows_that_fit(cols, t, memory)
    if size < 1:
        raise InvalidInput(f"memory must hold {2 * t + 1} rows of the map; got {memory} bytes.")
    for first in range(0, rows, size):
        yield first, min(first + size, rows)


def _rows_that_fit(n_cols: int, t: int, memory: int) -> int:
    return memory // (_BYTES_PER_CELL * (n_cols + 2 * t)) - 2 * t


def _free_memory() -> int:
    return int(_SHARE_OF_MEMORY * cupy().cuda.runtime.memGetInfo()[0])


def can_score(shape: tuple[int, ...], t: int) -> bool:
    """Return whether there is a GPU here that scores a map of this shape exactly.

    >>> can_score((100, 100), LARGEST_RADIUS + 1)
    False
    """
    return t <= LARGEST_RADIUS and has_gpu() and _rows_that_fit(shape[1], t, _free_memory()) > 0


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
    kernel(_source("degrees"), "degrees")(
        (-(-n_cells // _THREADS),), (_THREADS,), (open_cells, out, np.int64(out.shape[1]), np.int64(n_cells))
    )
    return xp.ascontiguousarray(out[1:-1, 1:-1])


def totals_of(floor: Any, bands: list[tuple[int, int]]) -> Totals:
    """Return Σ d and Σ d² over all bands of a map."""
    xp = cupy()
    found = xp.zeros(5, dtype=np.uint64)
    for band in bands:
        degrees = degrees_of(floor, band, 0)
        count = kernel(_source("degrees"), "count")
        count((_COUNTING_BLOCKS,), (_THREADS,), (degrees, found, np.int64(degrees.size)))
    counts = xp.asnumpy(found).astype(np.float64)
    return Totals(float(counts @ np.arange(5)), float(counts @ np.arange(5) ** 2))


def band_scores(floor: Any, band: tuple[int, int], t: int, tolerance: float | None, totals: Totals) -> Any:
    """Return the scores of the cells of one band, on the GPU."""
    if t > LARGEST_IN_WARP:
        return _walk_scores(floor, band, t, tolerance, totals)
    xp = cupy()
    degrees = degrees_of(floor, band, t)
    rows, cols = band[1] - band[0], floor.shape[1]
    out = xp.empty((rows, cols))
    arguments = (degrees, out, np.int64(cols + 2 * t), np.int32(rows), np.int32(cols), totals.share, totals.rest)
    if t <= LARGEST_IN_THREAD:
        tile_cols, tile_rows = TILE
        grid = (-(-cols // tile_cols), -(-rows // tile_rows))
        kernel(thread_source(t), "scores")(grid, TILE, arguments)
    else:
        groups = 32 // (16 if 2 * t + 1 < 16 else 32) * WARPS_PER_BLOCK
        blocks = -(-rows * cols // (groups * SOURCES_PER_WARP))
        kernel(warp_source(t), "scores")((blocks,), (32 * WARPS_PER_BLOCK,), arguments)
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
        if radius > LARGEST_RADIUS:
            raise InvalidInput(
                f"t must be at most {LARGEST_RADIUS} for exact scores on a GPU; got {t} with tolerance "
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
    # the score; four edges lose; the factor 4 is for losses on the way.
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
    run = kernel(block_source(), "scores")
    run.max_dynamic_shared_size_bytes = room
    run(
        (min(int(sources.size), 1 << 20),),
        (THREADS_PER_WALK,),
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
    source, n_cells, n_cols = _source("goals"), np.int64(cells.size), np.int32(cells.shape[1])
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


def score_graph(walk: Walk, t: int, states_per_block: int = _STATES_PER_BLOCK) -> NDArray[np.float64]:
    """Return f_t of every state of a walk without restarts, computed on the GPU.

    Examples
    --------
    >>> import farpoint as fp
    >>> score_graph(fp.diffusion.Walk.of(fp.grid((3,))), 2)  # doctest: +SKIP
    array([0.03125, 0.     , 0.03125])
    """
    xp = cupy()
    import cupyx.scipy.sparse as sparse

    if walk.jumps is not None:
        raise InvalidInput("device must be 'cpu' for a world with episodes; got 'gpu'.")
    step = sparse.csr_matrix(walk.steps())
    pi = xp.asarray(walk.pi)
    scores = np.empty(walk.n_states)
    for first in range(0, walk.n_states, states_per_block):
        last = min(first + states_per_block, walk.n_states)
        rows = step[first:last]
        for _ in range(t - 1):
            rows = rows @ step
        squares = rows.multiply(rows).sum(axis=1).ravel()
        scores[first:last] = xp.asnumpy(squares - 2.0 * (rows @ pi) + walk.pi_squared)
    return scores


@cache
def _sections() -> dict[str, str]:
    """Return the parts of ``maps.cu`` by their names."""
    text = Path(__file__).with_name("maps.cu").read_text(encoding="utf-8")
    parts = (part.split("\n", 1) for part in text.split("\n//// ")[1:])
    return {title.split(":")[0]: body for title, body in parts}


def _source(section: str, walk: list[str] | None = None, **numbers: int) -> str:
    """Return a part of ``maps.cu`` with its numbers defined and the steps of the walk written out."""
    defined = "".join(f"#define {name} {number}\n" for name, number in numbers.items())
    body = _sections()[section]
    if walk is not None:
        body = body.replace("// WALK", "\n    ".join(walk))
    return f"{defined}{_sections()['inverse']}{body}"


def thread_source(t: int) -> str:
    """Return a kernel in which every thread follows the walk of its own cell in registers; all loops are written out.

    >>> "extern" in thread_source(2)
    True
    """
    cols, rows = TILE
    lines = [f"const double {_name(0, 0, 0)} = 2.0 * h[r][c];"]
    for k in range(1, t):
        lines += [f"const double {_name(k, y, x)} = {_update(k, y, x)};" for y, x in diamond(k)]
    lines.append("double squares = 0.0, product = 0.0, p;")
    for y, x in diamond(t):
        # With whole p = d y, squares is Σ p² and product Σ d p.
        lines.append(f"p = {_at('d', y, x)} * ({_update(t, y, x)});")
        lines.append(f"squares = fma(p, p, squares); product = fma({_at('d', y, x)}, p, product);")
    return _source("thread", lines, STEPS=t, COLS=cols, ROWS=rows, WIDE=cols + 2 * t, HIGH=rows + 2 * t)


def _name(k: int, y: int, x: int) -> str:
    return f"y{k}_{y + k}_{x + k}"


def _at(array: str, y: int, x: int) -> str:
    return f"{array}[r + {y}][c + {x}]".replace("+ -", "- ")


def _update(k: int, y: int, x: int) -> str:
    """Return the value after step k at an offset; what lies outside the walk so far is 0."""
    around = [(y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)]
    known = [_name(k - 1, *place) for place in around if abs(place[0]) + abs(place[1]) < k]
    total = " + ".join(known) or "0.0"
    stays = f"0.5 * {_name(k - 1, y, x)}" if abs(y) + abs(x) < k else "0.0"
    return f"fma({_at('h', y, x)}, {total}, {stays})"


def warp_source(t: int) -> str:
    """Return a kernel in which the threads of a warp hold a column each of the walk of one source.

    >>> "__shfl_up_sync" in warp_source(7)
    True
    """
    side = 2 * t + 1
    # Two sources in one warp where their columns fit.
    width = 16 if side < 16 else 32
    lines = []
    for y in range(side):
        lines.append(f"const double h{y} = lane < {side} ? halves[corner[{y} * stride]] : 0.0;")
    for y in range(side):
        start = f"lane == {t} ? 2.0 * h{t} : 0.0" if y == t else "0.0"
        lines.append(f"double y{y} = {start};")
    lines.append("double before, old, sides;")
    for k in range(1, t + 1):
        lines.append("before = 0.0;")
        for y in range(t - k, t + k + 1):
            below = f"y{y + 1}" if y < t + k else "0.0"
            lines.append(
                f"old = y{y}; sides = __shfl_up_sync(0xffffffffu, old, 1, {width})"
                f" + __shfl_down_sync(0xffffffffu, old, 1, {width});"
                f" y{y} = fma(h{y}, (before + {below}) + sides, 0.5 * old); before = old;"
            )
    lines.append("double squares = 0.0, product = 0.0, p, d;")
    for y in range(side):
        lines.append(
            f"d = h{y} > 0.0 ? (double)corner[{y} * stride] : 0.0; p = d * y{y};"
            " squares = fma(p, p, squares); product = fma(d, p, product);"
        )
    return _source(
        "warp", lines, STEPS=t, WIDTH=width, WARPS_PER_BLOCK=WARPS_PER_BLOCK, SOURCES_PER_WARP=SOURCES_PER_WARP
    )


def block_source() -> str:
    """Return a kernel in which a block of threads follows the walk of each source in shared memory, for any radii.

    >>> "lost" in block_source()
    True
    """
    return _source("block", THREADS_PER_WALK=THREADS_PER_WALK)
