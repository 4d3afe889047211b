"""The far points of a world: local maxima of the score on the graph, with their plateaus and prominences.

Neighbors are looked at band of states by band of states, so a large map needs neither its graph nor an array of its
size. A band gives the neighbors of states ``first``, ``first + 1``, … as ``indptr`` and ``indices``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any, NamedTuple, Protocol

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from farpoint.compiling import compiled
from farpoint.diffusion.walk import Walk
from farpoint.display import Plottable, Tabular
from farpoint.errors import InvalidInput, check_fraction, check_integer, check_jobs
from farpoint.worlds import World, WorldLike, as_world
from farpoint.worlds.arrays import read_only, real_numbers
from farpoint.worlds.world import state_columns

Numbers = NDArray[Any]
Values = NDArray[np.float64]
# Scores of states that mirror each other differ by rounding only, about 1e-15 of their size; scores that
# differ otherwise do so by far more. Any tolerance between gives the same goals on the paper's worlds.
SAME_SCORE = 1e-9
# Up to this number of states whole arrays are compared; beyond it compiled loops look at bands of states.
WHOLE_ARRAYS_LIMIT = 20_000
# Up to this number of states the compiler takes longer than interpreted loops.
_INTERPRETED = 5_000
_BLOCK = 1 << 20


class Goals(Plottable, Tabular):
    """Local maxima of a score, highest first.

    Attributes
    ----------
    states : array of int
        One state per maximum: of a plateau of equal score, the first.
    heights : array of float
        The score there.
    prominences : array of float
        How far the score must fall on the way to a higher maximum; of the highest, to the lowest score of all. Computed
        when first asked for.
    world : World or None
        Where the states lie, for pictures and tables; not kept in a pickle.

    Examples
    --------
    >>> import farpoint as fp
    >>> world = fp.open_room(5, 9)
    >>> goals = fp.find_goals(world, fp.score(world, t=4))
    >>> goals.states
    array([ 0,  8, 36, 44])
    >>> goals.most_prominent(1).states
    array([0])
    """

    def __init__(
        self,
        states: NDArray[np.int64],
        heights: NDArray[np.float64],
        prominences: NDArray[np.float64] | Callable[[], NDArray[np.float64]],
        world: World | None = None,
    ) -> None:
        self.states, self.heights, self.world = states, heights, world
        self._find = prominences

    @cached_property
    def prominences(self) -> NDArray[np.float64]:
        """How far the score must fall on the way to a higher maximum."""
        return self._find() if callable(self._find) else self._find

    def most_prominent(self, n_goals: int) -> Goals:
        """Return the ``n_goals`` of largest prominence, in the same order as here.

        >>> import farpoint as fp
        >>> world = fp.maze()
        >>> len(fp.find_goals(world, fp.score(world)).most_prominent(5))
        5
        """
        n_goals = check_integer("n_goals", n_goals, 1, len(self))
        rank = descending(self.prominences, self.states)[:n_goals]
        return self.where(np.isin(np.arange(len(self)), rank))

    def where(self, keep: NDArray[np.bool_] | NDArray[np.int64]) -> Goals:
        """Return the goals for which ``keep`` is true, or those of these numbers, in their order.

        >>> import farpoint as fp
        >>> world = fp.ring()
        >>> goals = fp.find_goals(world, fp.score(world))
        >>> len(goals.where(goals.states < 100)) < len(goals)
        True
        """
        numbers = isinstance(keep, np.ndarray) and keep.dtype == np.int64
        if not numbers and (not isinstance(keep, np.ndarray) or keep.dtype != bool or keep.shape != self.states.shape):
            raise InvalidInput(f"keep must be an array of one True or False per goal ({len(self)}); got {keep!r}.")
        return Goals(self.states[keep], self.heights[keep], lambda: self.prominences[keep], self.world)

    def columns(self) -> dict[str, Any]:
        """Return one row per goal: its state, where that is, how high and how prominent."""
        where = {"state": self.states} if self.world is None else state_columns(self.world, self.states)
        return {**where, "height": self.heights, "prominence": self.prominences}

    def __reduce__(self) -> tuple[Any, ...]:
        return Goals, (self.states, self.heights, self.prominences)

    def __repr__(self) -> str:
        return f"Goals({len(self)} states)"

    def __len__(self) -> int:
        return int(self.states.size)

    def __iter__(self) -> Iterator[int]:
        return iter(int(state) for state in self.states)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.states, dtype=dtype, copy=copy)


def find_goals(
    world: WorldLike,
    scores: ArrayLike,
    *,
    min_prominence: float = 0.0,
    tolerance: float = SAME_SCORE,
    n_jobs: int = -1,
) -> Goals:
    """Return the local maxima of a score on the world's graph, one state per plateau, highest first.

    A plateau is a connected set of states whose scores are equal up to ``tolerance``; it is a maximum if no neighbor
    of any of its states is higher. Neighbors are the states one move away in either direction.

    Parameters
    ----------
    world : World
    scores : array, shape (n_states,)
        A memory-mapped array of doubles is read in bands of about a million states, so that the goals of a map larger
        than memory can be found; only ``prominences`` then need memory, up to 16 bytes per state.
    min_prominence : float
        Leave out the maxima from which the score falls by less than this on the way to a higher one.
    tolerance : float
        Relative difference up to which two scores are equal.
    n_jobs : int
        Threads that look at a large world; the goals do not depend on it.

    Returns
    -------
    Goals
        With ``states``, ``heights`` and ``prominences``.

    Examples
    --------
    >>> import farpoint as fp
    >>> world = fp.four_rooms()
    >>> goals = fp.find_goals(world, fp.score(world, t=4))
    >>> len(goals)
    20
    """
    world = as_world(world)
    Walk.of(world)  # fails on a world that is not connected
    values = _values_of(scores)
    if values.shape != (world.n_states,):
        raise InvalidInput(f"scores must have one entry per state ({world.n_states}); got shape {values.shape}.")
    # In blocks: the scores of a map larger than memory are a file.
    n_wrong = sum(int((~np.isfinite(values[at : at + _BLOCK])).sum()) for at in range(0, values.size, _BLOCK))
    if n_wrong:
        raise InvalidInput(f"scores must be finite; got {n_wrong} that are not.")
    tolerance = check_fraction("tolerance", tolerance)
    min_prominence = check_prominence(min_prominence)
    return goals_of(world, values, min_prominence, tolerance, check_jobs(n_jobs))


def goals_of(
    world: World,
    values: NDArray[np.float64],
    min_prominence: float = 0.0,
    tolerance: float = SAME_SCORE,
    n_jobs: int = -1,
) -> Goals:
    """Return the goals of values that are checked and that nobody changes; see `find_goals`."""
    neighbors = neighbors_of(world)
    states = find_peaks(neighbors, values, tolerance, n_jobs=n_jobs)
    states = states[descending(values[states], states, tolerance)]
    goals = Goals(states, values[states], lambda: prominences_of(neighbors, values, states, tolerance, n_jobs), world)
    return goals if min_prominence == 0.0 else goals.where(goals.prominences >= min_prominence)


def _values_of(scores: ArrayLike) -> Values:
    """Return scores as an array that cannot change, since prominences are computed later. Files are not copied."""
    if hasattr(scores, "__array__") and not isinstance(scores, np.ma.MaskedArray):
        values = np.asarray(scores)
        if values.dtype == np.float64 and (isinstance(scores, np.memmap) or not values.flags.writeable):
            return values
    return read_only(real_numbers("scores", scores))


def check_prominence(min_prominence: float) -> float:
    """Return the least prominence if it is a number of at least 0.

    >>> check_prominence(0.5)
    0.5
    """
    if isinstance(min_prominence, bool) or not isinstance(min_prominence, Real) or not min_prominence >= 0:
        raise InvalidInput(f"min_prominence must be at least 0; got {min_prominence!r}.")
    return float(min_prominence)


def descending(values: Any, states: Any, tolerance: float = SAME_SCORE, xp: Any = np) -> Any:
    """Return the order of descending value; values that are equal up to rounding come in the order of their states.

    ``xp`` is the module of the arrays: numpy, or cupy for arrays on a GPU.

    >>> descending(np.array([1.0, 2.0, 2.0 + 1e-15]), np.array([5, 3, 4]))
    array([1, 2, 0])
    """
    order = xp.argsort(-values)
    ordered = values[order]
    drops = ordered[:-1] - ordered[1:] > tolerance * xp.maximum(xp.abs(ordered[:-1]), xp.abs(ordered[1:]))
    # Values in runs of equal ones are sorted again, by state, so that the order does not depend on the solver.
    tied = xp.zeros(values.size, dtype=bool)
    tied[1:] |= ~drops
    tied[:-1] |= ~drops
    run = xp.zeros(values.size, dtype=np.int64)
    xp.cumsum(drops, out=run[1:])
    among, run = order[tied], run[tied]
    if bool((states[1:] > states[:-1]).all()):
        # The order of states is that of their places: one number holds run and place, and sorting numbers is fast.
        order[tied] = xp.sort(run * values.size + among) % values.size
    else:
        order[tied] = among[xp.lexsort(xp.stack([states[among], run]))]
    return order


class Neighbors(Protocol):
    """States in ranges, and the neighbors of each range when they are asked for: a `Floor` or `NeighborLists`."""

    @property
    def n_states(self) -> int:
        """Number of states."""

    def ranges(self) -> list[range]:
        """Return ranges that cover all states, in order; neighbors are in the same range or the one before or after."""

    def neighbors(self, states: range) -> tuple[Numbers, Numbers]:
        """Return ``indptr`` and ``indices``: those of ``states[k]`` are ``indices[indptr[k]:indptr[k + 1]]``."""


@dataclass(frozen=True)
class NeighborLists:
    """A graph in memory, one range: the neighbors of state s are ``indices[indptr[s]:indptr[s + 1]]``."""

    indptr: Numbers
    indices: Numbers

    @property
    def n_states(self) -> int:
        """Number of states."""
        return int(self.indptr.size - 1)

    def ranges(self) -> list[range]:
        """Return all states."""
        return [range(self.n_states)]

    def neighbors(self, states: range) -> tuple[Numbers, Numbers]:
        """Return the neighbors of all states."""
        return self.indptr, self.indices


def neighbors_of(world: World) -> Neighbors:
    """Return the neighbors of all states; those of a large map are made band by band, without its graph."""
    if world.n_states > WHOLE_ARRAYS_LIMIT and world.floor is not None:
        return world.floor
    return NeighborLists(world.neighbors.indptr, world.neighbors.indices)


def find_peaks(
    neighbors: Neighbors,
    values: Values,
    tolerance: float,
    *,
    compiled: bool = False,
    n_jobs: int = -1,
    plateau: Numbers | None = None,
) -> NDArray[np.int64]:
    """Return the first state of every plateau that has no higher neighbor, ascending.

    With ``compiled`` small graphs are searched by compiled loops too, as large ones are: for a graph that is searched
    often. The first state of the plateau that each state lies on is written to ``plateau``, if given.

    Examples
    --------
    >>> import farpoint as fp
    >>> find_peaks(neighbors_of(fp.grid((4,))), np.array([2.0, 1.0, 3.0, 3.0]), 1e-9)
    array([0, 2])
    """
    if isinstance(neighbors, NeighborLists) and neighbors.n_states <= WHOLE_ARRAYS_LIMIT and not compiled:
        return _plain_peaks(neighbors, values, tolerance, plateau)
    bands = neighbors.ranges()
    # Kernels are compiled once: for values that are read-only, as scores are.
    values = read_only(values.view())
    tasks = [(neighbors, values, tolerance, band, plateau) for band in bands]
    if len(bands) == 1:
        # No plateau goes on beyond it: there is nothing to join.
        return _look_at(*tasks[0]).peaks
    if n_jobs == 1:
        found: Any = (_look_at(*task) for task in tasks)
    else:
        # Threads whatever the active backend of joblib: they read the same arrays.
        found = Parallel(n_jobs=n_jobs, backend="threading", return_as="generator")(
            delayed(_look_at)(*task) for task in tasks
        )
    peaks, roots, firsts = _join_bands(bands, found)
    if plateau is not None and roots.size:
        plateau[roots] = firsts
        for band in bands:
            _follow_roots(plateau, band.start, band.stop)
    return peaks


class _Band(NamedTuple):
    """What was found in a band of states. A plateau is open if it has a state of the same height beyond the band."""

    # Peaks whose plateau is not open.
    peaks: Numbers
    # Open plateaus by their first state, and whether a neighbor is higher.
    opened: Numbers
    risen: NDArray[np.bool_]
    # An open plateau and a state of the same height in the band before.
    links: Numbers
    # An open plateau and a higher state: another open plateau of the band, or a neighbor beyond it.
    rises: Numbers
    # States next to other bands on open plateaus, and these plateaus.
    border: Numbers


def _look_at(neighbors: Neighbors, values: Values, tolerance: float, band: range, plateau: Numbers | None) -> _Band:
    indptr, indices = neighbors.neighbors(band)
    root = np.empty(len(band), dtype=np.int32 if len(band) < 2**31 else np.int64)
    is_open, risen, links, rises, border = band_peaks(indptr, indices, band.start, values, tolerance, root)
    opened = np.flatnonzero(is_open)
    peaks = np.flatnonzero(~(is_open | risen))
    if plateau is not None:
        plateau[band.start : band.stop] = root
        plateau[band.start : band.stop] += band.start
    # Each pair once: along a border of equal heights they repeat.
    links, rises = (np.unique(pairs, axis=0) if pairs.size else pairs for pairs in (links, rises))
    return _Band(peaks + band.start, opened + band.start, risen[opened], links, rises, border)


def _join_bands(bands: list[range], found: Iterator[_Band]) -> tuple[NDArray[np.int64], Numbers, Numbers]:
    """Return the peaks of all bands, the open plateaus of all bands, and the first state of each of these."""
    nothing = np.empty((0, 2), dtype=np.int64)
    peaks, opened, risen, links, rises, higher = [], [], [], [nothing], [nothing], [np.empty(0, dtype=np.int64)]
    before, waiting = nothing, nothing
    for states, band in zip(bands, found, strict=True):
        links.append(np.stack([band.links[:, 0], _open_plateaus(before, band.links[:, 1])], axis=1))
        backward, forward = band.rises[:, 1] < states.start, band.rises[:, 1] >= states.stop
        pairs = [(waiting, band.border), (band.rises[backward], before)]
        for rising, border in pairs:
            other = _open_plateaus(border, rising[:, 1])
            rises.append(np.stack([rising[:, 0], other], axis=1)[other >= 0])
            # A plateau that is not open is another one.
            higher.append(rising[other < 0, 0])
        rises.append(band.rises[~backward & ~forward])
        before, waiting = band.border, band.rises[forward]
        peaks.append(band.peaks)
        opened.append(band.opened)
        risen.append(band.risen)
    roots = np.concatenate(opened)
    if not roots.size:
        return np.concatenate(peaks), roots, roots
    begins, ends = np.searchsorted(roots, np.concatenate(links)).T
    joined = csr_array((np.ones(begins.size, dtype=np.int8), (begins, ends)), shape=(roots.size,) * 2)
    n_plateaus, plateau = connected_components(joined, directed=False)
    _, first = np.unique(plateau, return_index=True)
    low = np.zeros(n_plateaus, dtype=bool)
    low[plateau[np.concatenate(risen)]] = True
    low[plateau[np.searchsorted(roots, np.concatenate(higher))]] = True
    one, other = plateau[np.searchsorted(roots, np.concatenate(rises))].T
    low[one[one != other]] = True
    return np.sort(np.concatenate([*peaks, roots[first[~low]]])), roots, roots[first[plateau]]


def _open_plateaus(border: Numbers, states: Numbers) -> Numbers:
    """Return the open plateaus that states of a band lie on; −1 for states on others."""
    if not border.size:
        return np.full(states.size, -1, dtype=np.int64)
    place = np.minimum(np.searchsorted(border[:, 0], states), len(border) - 1)
    return np.where(border[place, 0] == states, border[place, 1], -1)


def _plain_peaks(graph: NeighborLists, values: Values, tolerance: float, plateau: Numbers | None) -> NDArray[np.int64]:
    n_states = graph.n_states
    begins, ends = np.repeat(np.arange(n_states), np.diff(graph.indptr)), graph.indices
    a, b = values[begins], values[ends]
    same = np.abs(a - b) <= tolerance * np.maximum(np.abs(a), np.abs(b))
    links = csr_array((np.ones(int(same.sum()), dtype=np.int8), (begins[same], ends[same])), shape=(n_states,) * 2)
    _, part = connected_components(links, directed=False)
    _, first = np.unique(part, return_index=True)
    own = first[part]
    if plateau is not None:
        plateau[:] = own
    is_peak = np.asarray(own == np.arange(n_states))
    is_peak[own[begins[(own[begins] != own[ends]) & (b > a)]]] = False
    return np.flatnonzero(is_peak)


def prominences_of(
    neighbors: Neighbors, values: Values, states: NDArray[np.int64], tolerance: float, n_jobs: int = -1
) -> Values:
    """Return the prominence of peaks; only where the basins of two peaks meet is anything sorted.

    Two whole numbers per state are held meanwhile.

    Examples
    --------
    >>> import farpoint as fp
    >>> prominences_of(neighbors_of(fp.grid((4,))), np.array([2.0, 1.0, 3.0, 0.0]), np.array([0, 2]), 1e-9)
    array([1., 3.])
    """
    n_states = neighbors.n_states
    plateau = np.empty(n_states, dtype=np.int32 if n_states < 2**31 else np.int64)
    find_peaks(neighbors, values, tolerance, n_jobs=n_jobs, plateau=plateau)
    basin = np.arange(n_states, dtype=plateau.dtype)
    bands = neighbors.ranges()
    for band in bands:
        climb(*neighbors.neighbors(band), band.start, values, plateau, basin)
    peaks = number_basins(plateau, basin)
    meetings = [saddles(*neighbors.neighbors(band), band.start, values, plateau, basin) for band in bands]
    pairs, height = (np.concatenate(part) for part in zip(*meetings, strict=True))
    del meetings
    lowest = lowest_levels(values, plateau, basin, peaks.size)
    del plateau, basin
    falls = falls_of(height, pairs, np.argsort(-height, kind="stable"), values[peaks], lowest, tolerance)
    # A plateau within the tolerance of a higher one is a peak, and yet in another's basin: it falls by nothing.
    place = np.minimum(np.searchsorted(peaks, states), peaks.size - 1)
    return np.where(peaks[place] == states, falls[place], 0.0)


@compiled(nogil=True)
def _root(parent: Numbers, state: int) -> int:
    while parent[state] != state:
        parent[state] = parent[parent[state]]
        state = parent[state]
    return state


@compiled(nogil=True)
def _equal(a: float, b: float, tolerance: float) -> bool:
    return bool(abs(a - b) <= tolerance * max(abs(a), abs(b)))


@compiled(nogil=True)
def _join(parent: Numbers, one: int, other: int) -> None:
    # The smaller number is the root, so the root is the plateau's first state.
    a, b = _root(parent, one), _root(parent, other)
    parent[max(a, b)] = min(a, b)


@compiled(nogil=True)
def _put(pairs: Numbers, count: int, one: int, other: int) -> Numbers:
    if count == len(pairs):
        pairs = np.concatenate((pairs, np.empty_like(pairs)))
    pairs[count, 0], pairs[count, 1] = one, other
    return pairs


@compiled(nogil=True)
def band_peaks(indptr: Numbers, indices: Numbers, first: int, values: Values, tolerance: float, root: Numbers) -> Any:
    """Return which plateaus of a band are open and from which one can rise, and links, rises and border of `_Band`.

    ``root`` becomes the first state of the plateau of each state, counted in the band. Whether a higher neighbor is on
    the same plateau, by way of others, is known only when all of these are joined.
    """
    n_states = indptr.size - 1
    last = first + n_states
    is_open, is_linked, risen = np.zeros((3, n_states), dtype=np.bool_)
    links, n_links = np.empty((16, 2), dtype=np.int64), 0
    rises, n_rises = np.empty((16, 2), dtype=np.int64), 0
    border, n_border = np.empty((16, 2), dtype=np.int64), 0
    for k in range(n_states):
        linked, higher = False, False
        for entry in range(indptr[k], indptr[k + 1]):
            v = indices[entry]
            same = _equal(values[first + k], values[v], tolerance)
            linked |= same
            higher |= (not same) & (values[v] > values[first + k])
        root[k] = k
        risen[k], is_linked[k] = higher, linked
    for k in range(n_states):
        if not is_linked[k]:
            continue
        u, outside = first + k, False
        for entry in range(indptr[k], indptr[k + 1]):
            v = indices[entry]
            inside = first <= v < last
            outside |= not inside
            if not _equal(values[u], values[v], tolerance):
                if values[v] > values[u]:
                    rises = _put(rises, n_rises, k, v)
                    n_rises += 1
            elif not inside:
                is_open[k] = True
                if v < first:
                    links = _put(links, n_links, k, v)
                    n_links += 1
            elif v < u:
                _join(root, k, v - first)
        risen[k] = False
        if outside:
            border = _put(border, n_border, u, k)
            n_border += 1
    # Only the first state of a plateau stands for it.
    for k in range(n_states):
        if root[k] != k:
            root[k] = _root(root, k)
            is_open[root[k]] |= is_open[k]
            is_open[k], risen[k] = False, True
    n_kept = 0
    for k in range(n_rises):
        own, other = root[rises[k, 0]], rises[k, 1]
        inside = first <= other < last
        if inside:
            if own == root[other - first]:
                continue
            other = first + root[other - first]
        # Two plateaus are one only if they are joined beyond the band.
        if is_open[own] and (not inside or is_open[other - first]):
            rises[n_kept, 0], rises[n_kept, 1] = first + own, other
            n_kept += 1
        else:
            risen[own] = True
    for k in range(n_links):
        links[k, 0] = first + root[links[k, 0]]
    n_open = 0
    for k in range(n_border):
        own = root[border[k, 1]]
        if is_open[own]:
            border[n_open, 0], border[n_open, 1] = border[k, 0], first + own
            n_open += 1
    return is_open, risen, links[:n_links], rises[:n_kept], border[:n_open]


@compiled(nogil=True)
def _follow_roots(plateau: Numbers, first: int, last: int) -> None:
    """Give every state of a band the plateau that the first state of its group in the band belongs to."""
    for u in range(first, last):
        if plateau[u] >= first:
            plateau[u] = plateau[plateau[u]]


@compiled(nogil=True, interpret_up_to=_INTERPRETED)
def climb(indptr: Numbers, indices: Numbers, first: int, values: Values, plateau: Numbers, up: Numbers) -> None:
    """Note the highest neighbor of each plateau of a band, where it is higher than the plateau; bands come in order.

    The level of a plateau is the value of its first state. A plateau is left from any of its states.
    """
    for place in range(indptr.size - 1):
        own = plateau[first + place]
        for entry in range(indptr[place], indptr[place + 1]):
            other = plateau[indices[entry]]
            if values[other] > values[own] and (up[own] == own or values[other] > values[up[own]]):
                up[own] = other


@compiled(nogil=True, interpret_up_to=_INTERPRETED)
def number_basins(plateau: Numbers, up: Numbers) -> Numbers:
    """Turn ``up`` into the number of the basin that each state lies in; return the peak of every basin, ascending."""
    n_states = up.size
    for u in range(n_states):
        up[u] = _root(up, plateau[u])
    n_peaks = 0
    for u in range(n_states):
        n_peaks += up[u] == u
    peaks = np.empty(n_peaks, dtype=up.dtype)
    n_peaks = 0
    for u in range(n_states):
        if up[u] == u:
            peaks[n_peaks] = u
            n_peaks += 1
    # Numbers are written as −1 − number at first, to distinguish them from states.
    for k in range(n_peaks):
        up[peaks[k]] = -1 - k
    for u in range(n_states):
        if up[u] >= 0:
            up[u] = up[up[u]]
    for u in range(n_states):
        up[u] = -1 - up[u]
    return peaks


@compiled(nogil=True, interpret_up_to=_INTERPRETED)
def saddles(
    indptr: Numbers, indices: Numbers, first: int, values: Values, plateau: Numbers, basin: Numbers
) -> tuple[Numbers, Values]:
    """Return where two basins meet in a band: their numbers, and the lower level of the two states."""
    count = 0
    for place in range(indptr.size - 1):
        u = first + place
        for entry in range(indptr[place], indptr[place + 1]):
            count += indices[entry] < u and basin[u] != basin[indices[entry]]
    pairs, height = np.empty((count, 2), dtype=basin.dtype), np.empty(count)
    count = 0
    for place in range(indptr.size - 1):
        u = first + place
        for entry in range(indptr[place], indptr[place + 1]):
            v = indices[entry]
            if v < u and basin[u] != basin[v]:
                pairs[count, 0], pairs[count, 1] = basin[u], basin[v]
                height[count] = min(values[plateau[u]], values[plateau[v]])
                count += 1
    return pairs, height


@compiled(nogil=True, interpret_up_to=_INTERPRETED)
def lowest_levels(values: Values, plateau: Numbers, basin: Numbers, n_basins: int) -> Values:
    """Return the lowest level in each basin."""
    lowest = np.full(n_basins, np.inf)
    for u in range(basin.size):
        lowest[basin[u]] = min(lowest[basin[u]], values[plateau[u]])
    return lowest


@compiled(nogil=True, interpret_up_to=_INTERPRETED)
def falls_of(
    height: Values, pairs: Numbers, descending: Numbers, level: Values, lowest: Values, tolerance: float
) -> Values:
    """Return how far the peak of each basin must fall on the way to a higher peak.

    ``level`` and ``lowest`` are the highest and lowest level of each basin. Basins are joined over their saddles, the
    highest first; where two meet, the one with the lower peak ends. Among equally high peaks the first survives.
    """
    n_basins = level.size
    parent = np.arange(n_basins).astype(pairs.dtype)
    peak = np.arange(n_basins).astype(pairs.dtype)
    fall = np.zeros(n_basins)
    for k in range(descending.size):
        saddle = descending[k]
        a, b = _root(parent, pairs[saddle, 0]), _root(parent, pairs[saddle, 1])
        if a == b:
            continue
        high, low = peak[a], peak[b]
        same = _equal(level[high], level[low], tolerance)
        if (same and low < high) or (not same and level[low] > level[high]):
            high, low = low, high
        fall[low] = level[low] - height[saddle]
        parent[b] = a
        peak[a] = high
    # The highest peak of each part falls to the lowest state of its part.
    least = np.full(n_basins, np.inf)
    for k in range(n_basins):
        part = _root(parent, k)
        least[part] = min(least[part], lowest[k])
    for k in range(n_basins):
        if parent[k] == k:
            fall[peak[k]] = level[peak[k]] - least[k]
    return fall
