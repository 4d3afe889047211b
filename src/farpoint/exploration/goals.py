"""Where the options of an explorer lead: one function per method, each of a snapshot of the graph seen so far."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from farpoint.blas import one_blas_thread
from farpoint.compiling import compiled
from farpoint.diffusion import Walk
from farpoint.diffusion.goals import NeighborLists, find_peaks
from farpoint.diffusion.graphs import advance
from farpoint.diffusion.lanczos import eigenpairs
from farpoint.diffusion.spectral import Laplacian, canonical_vectors, walk_spectrum
from farpoint.exploration.memory import STATES, Memory
from farpoint.options.methods.cover import GrowingGraph

Vector = NDArray[np.float64]
# Scores of states that mirror each other differ by rounding only.
_SAME_RTOL = 1e-9
# Added to the number of untried actions: a state in which every action was tried still counts for something.
_ALL_TRIED = 1e-3
# The β and k of NEO, as in its authors' experiments; all eigenvectors are computed up to this number of states.
_NEO_WEIGHT, _NEO_ROOT, _NEO_SMALL = 0.5, 64, 200
# Betweenness is computed at every rebuild, so only from a sample of this many sources.
_SOURCES = 100


@dataclass
class GraphSnapshot:
    """The graph at one moment, as the methods read it: the neighbors of every state, and the explorer's counts.

    The arrays have one entry per state of the memory, the virtual one and ends of episodes included.
    """

    memory: Memory
    indptr: NDArray[np.int32]
    indices: NDArray[np.int32]
    rng: np.random.Generator
    far: FarPoints

    @property
    def n_states(self) -> int:
        """Number of states."""
        return int(self.memory.sizes[STATES])

    @property
    def visits(self) -> NDArray[np.int64]:
        """How often each state was visited."""
        return self.memory.visits[: self.n_states]

    @property
    def untried(self) -> NDArray[np.int64]:
        """How many actions were never tried in each state, of those that the environment does not forbid."""
        tried, barred = self.memory.tried[: self.n_states], self.memory.barred[: self.n_states]
        there = np.arange(tried.shape[1]) < self.memory.n_actions[: self.n_states, None]
        return np.asarray(((tried == 0) & there & ~barred).sum(axis=1))

    @property
    def walk(self) -> Walk:
        """The lazy walk on the graph, every edge of weight 1."""
        ones = np.ones(self.indices.size)
        moves = csr_array((ones, self.indices, self.indptr), shape=(self.n_states, self.n_states))
        return Walk(moves, symmetric=True, name="what was seen")

    @property
    def allowed(self) -> NDArray[np.bool_]:
        """The states that an option may lead to: those with actions, so no ends of episodes."""
        return self.memory.n_actions[: self.n_states] > 0


@dataclass
class FarPoints:
    """The score f_t of the graph, kept up to date: only states within t moves of a change are scored again."""

    t: int = 4
    squares: Vector = field(default_factory=lambda: np.empty(0))
    degrees: Vector = field(default_factory=lambda: np.empty(0))

    def scores(self, memory: Memory, indptr: NDArray[np.int32], indices: NDArray[np.int32]) -> Vector:
        """Return f_t of every state, and note that nothing has changed since."""
        n_states = indptr.size - 1
        self.squares, self.degrees = (_longer(part, n_states) for part in (self.squares, self.degrees))
        # A state without neighbors, the only one at first, is new and unchanged.
        changed = np.flatnonzero(memory.changed[:n_states] | (np.diff(indptr) == 0))
        memory.changed[:n_states] = False
        local_parts(indptr, indices, within_reach(indptr, indices, changed, self.t), self.t, self.squares, self.degrees)
        degrees = np.diff(indptr).astype(np.float64)
        total = max(float(degrees.sum()), 1.0)
        # f_t = ‖Wᵗe_s‖² − 2 (d · Wᵗe_s) / Σd + Σd² / (Σd)²
        part = self.squares[:n_states] - 2.0 * self.degrees[:n_states] / total
        return np.asarray(part + float((degrees**2).sum()) / total**2)


@compiled(nogil=True)
def within_reach(indptr: NDArray[Any], indices: NDArray[Any], sources: NDArray[Any], steps: int) -> NDArray[np.int64]:
    """Return the states within ``steps`` moves of the sources."""
    n_states = indptr.size - 1
    done = np.zeros(n_states, dtype=np.bool_)
    queue = np.empty(n_states, dtype=np.int64)
    last = 0
    for state in sources:
        if not done[state]:
            done[state] = True
            queue[last] = state
            last += 1
    first = 0
    for _ in range(steps):
        end = last
        while first < end:
            u = queue[first]
            first += 1
            for entry in range(indptr[u], indptr[u + 1]):
                v = indices[entry]
                if not done[v]:
                    done[v] = True
                    queue[last] = v
                    last += 1
    return queue[:last].copy()


@compiled(nogil=True)
def local_parts(
    indptr: NDArray[Any], indices: NDArray[Any], sources: NDArray[np.int64], t: int, squares: Vector, degrees: Vector
) -> None:
    """Fill ‖Wᵗe_s‖² and d · Wᵗe_s of the sources: the parts of f_t that depend on what lies within t moves only.

    With π₀ = d / Σd, f_t(s) = ‖Wᵗe_s‖² − 2 (d · Wᵗe_s) / Σd + Σd² / (Σd)².
    """
    n_states = indptr.size - 1
    now, then = np.zeros(n_states), np.zeros(n_states)
    mark = np.zeros(n_states, dtype=np.int32)
    states = np.empty(n_states + 1, dtype=np.int32)
    weights = np.ones(indices.size)
    stay, leave = np.empty(n_states), np.empty(n_states)
    for u in range(n_states):
        degree = indptr[u + 1] - indptr[u]
        stay[u] = 0.5 if degree > 0 else 1.0
        leave[u] = 0.5 / max(degree, 1)
    for number in range(sources.size):
        s = sources[number]
        states[0], mark[s], now[s] = s, number + 1, 1.0
        size = 1
        for _ in range(t):
            size, _ = advance(indptr, indices, weights, stay, leave, 0.0, states, size, mark, number + 1, now, then)
            now, then = then, now
        square, degree_sum = 0.0, 0.0
        for i in range(size):
            u = states[i]
            square += now[u] * now[u]
            degree_sum += now[u] * (indptr[u + 1] - indptr[u])
            now[u] = 0.0
        squares[s], degrees[s] = square, degree_sum


def _longer(values: Vector, size: int) -> Vector:
    return values if values.size >= size else np.concatenate([values, np.zeros(2 * size - values.size)])


def _first(weights: Vector, states: NDArray[np.int64], count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the ``count`` states of largest weight; ties are broken at random."""
    order = np.lexsort((rng.random(states.size), -weights))
    return np.asarray(states[order[:count]])


def rarity(graph: GraphSnapshot) -> Vector:
    """Return how little is known about each state: (untried actions + 1e-3) / visits."""
    return np.asarray((graph.untried + _ALL_TRIED) / np.maximum(graph.visits, 1))


def diffusion_goals(graph: GraphSnapshot, count: int) -> NDArray[np.int64]:
    """Return far and rare states: local maxima of f_t · (untried actions) / visits on the graph.

    Maxima of the score alone lead to places that are well known by now; rare states alone lie side by side. The maxima
    of the product are far from each other and little known.
    """
    values = graph.far.scores(graph.memory, graph.indptr, graph.indices) * rarity(graph) * graph.allowed
    states = find_peaks(NeighborLists(graph.indptr, graph.indices), values, _SAME_RTOL, compiled=True)
    states = states[graph.allowed[states]]
    return _first(values[states], states, count, graph.rng)


def novelty_goals(graph: GraphSnapshot, count: int) -> NDArray[np.int64]:
    """Return the states that least is known about."""
    states = np.flatnonzero(graph.allowed)
    return _first(rarity(graph)[states], states, count, graph.rng)


def random_goals(graph: GraphSnapshot, count: int) -> NDArray[np.int64]:
    """Return random states."""
    states = np.flatnonzero(graph.allowed)
    return graph.rng.permutation(states)[:count]


def eigen_goals(graph: GraphSnapshot, count: int) -> NDArray[np.int64]:
    """Return where the leading eigenvectors of the graph are largest and smallest (Machado 2023)."""
    states = np.flatnonzero(graph.allowed)
    if states.size == 0:
        return states
    # One more than needed: eigenvectors may share their ends.
    n_vectors = min(count + 1, graph.n_states)
    psi = walk_spectrum(graph.walk, n_vectors).psi[states, 1:]
    ends = np.stack([psi.argmin(axis=0), psi.argmax(axis=0)], axis=1).ravel()
    return np.asarray(states[_different(ends.tolist())[:count]])


def cover_goals(graph: GraphSnapshot, count: int) -> NDArray[np.int64]:
    """Return the ends of Fiedler vectors, with an edge added between the ends of each before the next (Jinnai 2019)."""
    states = np.flatnonzero(graph.allowed)
    growing = GrowingGraph(graph.walk)
    ends: list[int] = []
    # An edge may end where another does; then one more is added, up to a limit.
    for _ in range(min(count, states.size)):
        fiedler = growing.fiedler_vector()[states]
        low, high = int(states[fiedler.argmin()]), int(states[fiedler.argmax()])
        ends = _different([*ends, low, high])
        if len(ends) >= count or low == high:
            break
        growing.add_edge(low, high)
    return np.array(ends[:count], dtype=np.int64)


@one_blas_thread()
def neo_goals(graph: GraphSnapshot, count: int) -> NDArray[np.int64]:
    """Return where the smoothest eigenvectors of NEO's Laplacian are largest (Theophilou and Şimşek 2025).

    (I − D⁻¹A + β C) v = λ v with C the diagonal matrix of (visits / most visits)^(1/k): many visits press v toward 0,
    so |v| is largest where visits are few.

    Paper: options climb |v|. Here: they take the shortest way to its largest value, because all methods do.
    """
    states = np.flatnonzero(graph.allowed)
    if states.size == 0:
        return states
    laplacian = Laplacian.of(graph.walk)
    pressed = _NEO_WEIGHT * (graph.visits / graph.visits.max()) ** (1.0 / _NEO_ROOT)
    # D^½ (I − D⁻¹A + β C) D^-½ is symmetric and has the same eigenvalues; v = D^-½ ψ.
    matrix = laplacian.sparse + diags_array(pressed)
    if graph.n_states <= _NEO_SMALL:
        values, psi = np.linalg.eigh(matrix.toarray())
    else:
        # Twice as many as needed: two may be largest in the same state. All λ > 0, so 0 lies below them.
        number = min(2 * count, graph.n_states // 2)
        values, psi = eigenpairs(matrix.tocsc(), number, np.random.default_rng(0), sigma=0.0)
    sizes = np.abs(canonical_vectors(values, psi)) / np.sqrt(np.maximum(np.diff(graph.indptr), 1))[:, None]
    return np.asarray(states[_different(sizes[states].argmax(axis=0).tolist())[:count]])


def betweenness_goals(graph: GraphSnapshot, count: int) -> NDArray[np.int64]:
    """Return the states that the most shortest routes pass, local maxima first."""
    from farpoint.options.centrality import dependencies

    n_sources = min(graph.n_states, _SOURCES)
    sources = np.sort(graph.rng.choice(graph.n_states, size=n_sources, replace=False))
    values = dependencies(graph.indptr, graph.indices, sources)
    neighbors = np.repeat(np.arange(graph.n_states), np.diff(graph.indptr))
    highest = np.full(graph.n_states, -np.inf)
    np.maximum.at(highest, neighbors, values[graph.indices])
    peak = values >= highest * (1.0 - _SAME_RTOL)
    order = np.lexsort((-values, ~peak))
    return np.asarray(order[graph.allowed[order]][:count], dtype=np.int64)


@dataclass
class KeptGoals:
    """The goals of a method of `OF_THE_GRAPH`, computed again only if the graph changed: eigenvectors are slow."""

    arrays: tuple[NDArray[np.generic], ...] = ()
    goals: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def of(self, graph: GraphSnapshot, method: str, count: int) -> NDArray[np.int64]:
        """Return what ``GOALS[method]`` would."""
        arrays = (graph.indptr, graph.indices, graph.allowed)
        if not self.arrays or not all(np.array_equal(old, new) for old, new in zip(self.arrays, arrays, strict=True)):
            self.arrays, self.goals = arrays, GOALS[method](graph, count)
        return self.goals


def _different(states: list[int]) -> list[int]:
    """Return the states without repetitions, in the same order."""
    return list(dict.fromkeys(states))


def no_goals(graph: GraphSnapshot, count: int) -> NDArray[np.int64]:
    """Return no state."""
    return np.empty(0, dtype=np.int64)


# Methods that read the graph alone, no counts and nothing random: their goals change only if the graph does.
OF_THE_GRAPH = ("eigen", "cover")

GOALS: dict[str, Callable[[GraphSnapshot, int], NDArray[np.int64]]] = {
    "diffusion": diffusion_goals,
    "novelty": novelty_goals,
    "eigen": eigen_goals,
    "cover": cover_goals,
    "neo": neo_goals,
    "betweenness": betweenness_goals,
    "random": random_goals,
    "none": no_goals,
}
