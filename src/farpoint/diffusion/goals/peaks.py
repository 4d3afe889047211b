"""The peaks of a function on the states of a world, their plateaus and their prominences."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from farpoint.engines import Local
from farpoint.worlds import World
from farpoint.worlds.bands import GraphBands, NeighborBands
from farpoint.worlds.map_world import MapWorld

Values = NDArray[np.float64]
# Up to so many states arrays do it at once; beyond, compiled loops on all cores.
FEW_STATES = 20_000


class Peaks(NamedTuple):
    """The first state of the plateau that each state lies on, and which states are the first of a peak."""

    plateau: NDArray[Any]
    is_peak: NDArray[np.bool_]


def bands_of(world: World) -> NeighborBands:
    """Return the neighbors of all states, of a large map without its graph."""
    if isinstance(world, MapWorld) and world.n_states > FEW_STATES:
        return world.bands
    return GraphBands(world.neighbors)


def find_peaks(bands: NeighborBands, values: Values, tolerance: float) -> Peaks:
    """Return the plateaus of equal value, and which of them have no higher neighbor.

    Examples
    --------
    >>> import farpoint as fp
    >>> find_peaks(bands_of(fp.grid((4,))), np.array([2.0, 1.0, 3.0, 3.0]), 1e-9)
    Peaks(plateau=array([0, 1, 2, 2], dtype=int32), is_peak=array([ True, False,  True, False]))
    """
    if isinstance(bands, GraphBands) and bands.n_states <= FEW_STATES:
        return _plain_peaks(bands.graph, values, tolerance)
    from farpoint.diffusion.goals.kernels import drop_rising, join_pairs

    n_states = bands.n_states
    plateau = np.empty(n_states, dtype=np.int32 if n_states < 2**31 else np.int64)
    is_peak = np.empty(n_states, dtype=bool)
    shared = (bands, values, tolerance, plateau, is_peak)
    ranges = bands.ranges()
    # Threads of this process whatever the engine: they write into the same arrays.
    pairs = [found for _, found in sorted(Local().as_done(_look_around, shared, ranges, -1), key=lambda one: one[0])]
    for links, _ in pairs:
        join_pairs(plateau, links)
    for _ in Local().as_done(_settle, (plateau, is_peak), ranges, -1):
        pass
    for _, rises in pairs:
        drop_rising(plateau, is_peak, rises)
    return Peaks(plateau, is_peak)


def compiled_peaks(indptr: NDArray[Any], indices: NDArray[Any], values: Values, tolerance: float) -> Peaks:
    """Return what `find_peaks` returns, of a graph that is searched often: by compiled loops, whatever its size.

    Examples
    --------
    >>> import farpoint as fp
    >>> graph = fp.grid((3,)).neighbors
    >>> compiled_peaks(graph.indptr, graph.indices, np.array([2.0, 1.0, 2.0]), 1e-9).is_peak
    array([ True, False,  True])
    """
    from farpoint.diffusion.goals.kernels import drop_rising, look_around, settle

    plateau, is_peak = np.empty(values.size, dtype=np.int32), np.empty(values.size, dtype=bool)
    _, rises = look_around(0, indptr, indices, values, tolerance, plateau, is_peak)
    settle(0, values.size, plateau, is_peak)
    drop_rising(plateau, is_peak, rises)
    return Peaks(plateau, is_peak)


def _look_around(shared: Any, states: tuple[int, int]) -> tuple[NDArray[Any], NDArray[Any]]:
    from farpoint.diffusion.goals.kernels import look_around

    bands, values, tolerance, plateau, is_peak = shared
    indptr, indices = bands.neighbors(states)
    found: tuple[NDArray[Any], NDArray[Any]] = look_around(
        states[0], indptr, indices, values, tolerance, plateau, is_peak
    )
    return found


def _settle(shared: Any, states: tuple[int, int]) -> None:
    from farpoint.diffusion.goals.kernels import settle

    settle(*states, *shared)


def _plain_peaks(graph: csr_array, values: Values, tolerance: float) -> Peaks:
    n_states = graph.shape[0]
    begins, ends = np.repeat(np.arange(n_states), np.diff(graph.indptr)), graph.indices
    a, b = values[begins], values[ends]
    same = np.abs(a - b) <= tolerance * np.maximum(np.abs(a), np.abs(b))
    links = csr_array((np.ones(int(same.sum()), dtype=np.int8), (begins[same], ends[same])), shape=graph.shape)
    _, part = connected_components(links, directed=False)
    _, firsts = np.unique(part, return_index=True)
    plateau = firsts[part].astype(np.int32)
    is_peak = np.asarray(plateau == np.arange(n_states))
    rising = (plateau[begins] != plateau[ends]) & (b > a)
    is_peak[plateau[begins[rising]]] = False
    return Peaks(plateau, is_peak)


def prominences_of(
    bands: NeighborBands, values: Values, states: NDArray[np.int64], tolerance: float
) -> NDArray[np.float64]:
    """Return the prominence of peaks; only where the basins of two peaks meet is anything sorted.

    Examples
    --------
    >>> import farpoint as fp
    >>> prominences_of(bands_of(fp.grid((4,))), np.array([2.0, 1.0, 3.0, 0.0]), np.array([0, 2]), 1e-9)
    array([1., 3.])
    """
    from farpoint.diffusion.goals.kernels import climb, lowest_levels, number_basins, prominences, saddles

    plateau = find_peaks(bands, values, tolerance).plateau
    basin = np.arange(bands.n_states, dtype=plateau.dtype)
    ranges = bands.ranges()
    for band in ranges:
        climb(band[0], *bands.neighbors(band), values, plateau, basin)
    peaks = number_basins(plateau, basin)
    meetings = [saddles(band[0], *bands.neighbors(band), values, plateau, basin) for band in ranges]
    pairs, height = (np.concatenate(part) for part in zip(*meetings, strict=True))
    del meetings
    lowest = lowest_levels(values, plateau, basin, peaks.size)
    del plateau, basin
    falls = prominences(pairs, height, np.argsort(-height, kind="stable"), values[peaks], lowest, tolerance)
    # A plateau within the tolerance of a higher one is a peak, and yet in another's basin: it falls by nothing.
    place = np.minimum(np.searchsorted(peaks, states), peaks.size - 1)
    return np.where(peaks[place] == states, falls[place], 0.0)
