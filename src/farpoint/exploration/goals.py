"""Where the options of an explorer lead: one function per method, all of what was seen so far."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from farpoint.blas import one_blas_thread
from farpoint.diffusion import Walk
from farpoint.diffusion.goals.peaks import compiled_peaks
from farpoint.diffusion.spectra.bases import canonical_vectors
from farpoint.diffusion.spectra.decomposition import walk_spectrum
from farpoint.diffusion.spectra.lanczos import eigenpairs
from farpoint.diffusion.spectra.laplacian import Laplacian
from farpoint.exploration.memory import STATES, Memory
from farpoint.options.methods.cover import GrowingGraph

Vector = NDArray[np.float64]
# Scores of states that mirror each other differ by rounding only.
_SAME = 1e-9
# What a state counts for in which every action was tried.
_ALL_TRIED = 1e-3
# The β and k of NEO, as in its authors' experiments; and up to how many states all eigenvectors are computed.
_NEO_WEIGHT, _NEO_ROOT, _NEO_SMALL = 0.5, 64, 200
# Betweenness is made anew again and again, so it is that of so many sources.
_SOURCES = 100


@dataclass
class Seen:
    """What was seen at one moment, as the methods read it: the neighbors of every state, and the agent's counts."""

    memory: Memory
    indptr: NDArray[np.int32]
    indices: NDArray[np.int32]
    rng: np.random.Generator
    far: FarPoints

    @property
    def n_states(self) -> int:
        """Number of states seen."""
        return int(self.memory.sizes[STATES])

    @property
    def visits(self) -> NDArray[np.int64]:
        """How often each state was visited."""
        return self.memory.visits[: self.n_states]

    @property
    def untried(self) -> NDArray[np.int64]:
        """How many actions were never tried in each state."""
        tried = self.memory.tried[: self.n_states]
        there = np.arange(tried.shape[1]) < self.memory.n_actions[: self.n_states, None]
        return np.asarray(((tried == 0) & there).sum(axis=1))

    @property
    def walk(self) -> Walk:
        """The lazy walk on the graph of what was seen, every edge of weight 1."""
        ones = np.ones(self.indices.size)
        moves = csr_array((ones, self.indices, self.indptr), shape=(self.n_states, self.n_states))
        return Walk(moves, symmetric=True, name="what was seen")

    @property
    def allowed(self) -> NDArray[np.bool_]:
        """The states that an option may lead to: not those in which an episode ends."""
        return ~self.memory.terminal[: self.n_states]


@dataclass
class FarPoints:
    """The score f_t of what was seen, kept up to date: only what lies within t moves of a change is computed anew."""

    t: int = 4
    squares: Vector = field(default_factory=lambda: np.empty(0))
    degrees: Vector = field(default_factory=lambda: np.empty(0))

    def scores(self, memory: Memory, indptr: NDArray[np.int32], indices: NDArray[np.int32]) -> Vector:
        """Return f_t of every state, and note that nothing has changed since."""
        from farpoint.exploration.far_kernels import local_parts, within_reach

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


def _longer(values: Vector, size: int) -> Vector:
    return values if values.size >= size else np.concatenate([values, np.zeros(2 * size - values.size)])


def _first(weights: Vector, states: NDArray[np.int64], count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the states of largest weight; of equal ones, random ones."""
    order = np.lexsort((rng.random(states.size), -weights))
    return np.asarray(states[order[:count]])


def rarity(seen: Seen) -> Vector:
    """Return how little is known about each state: its untried actions per visit, a little more than none of them."""
    return np.asarray((seen.untried + _ALL_TRIED) / np.maximum(seen.visits, 1))


def diffusion_goals(seen: Seen, count: int) -> NDArray[np.int64]:
    """Return far and rare states: local maxima of f_t · (untried actions) / visits on the graph of what was seen.

    Maxima of the score alone bring the agent to places it knows well by now; rare states alone lie side by side. The
    maxima of the product are both far from each other and little known.
    """
    values = seen.far.scores(seen.memory, seen.indptr, seen.indices) * rarity(seen) * seen.allowed
    peaks = compiled_peaks(seen.indptr, seen.indices, values, _SAME)
    states = np.flatnonzero(peaks.is_peak & seen.allowed)
    return _first(values[states], states, count, seen.rng)


def novelty_goals(seen: Seen, count: int) -> NDArray[np.int64]:
    """Return the states about which least is known."""
    states = np.flatnonzero(seen.allowed)
    return _first(rarity(seen)[states], states, count, seen.rng)


def random_goals(seen: Seen, count: int) -> NDArray[np.int64]:
    """Return random states."""
    states = np.flatnonzero(seen.allowed)
    return seen.rng.permutation(states)[:count]


def eigen_goals(seen: Seen, count: int) -> NDArray[np.int64]:
    """Return where the leading eigenvectors of the graph of what was seen are largest and smallest (Machado 2023)."""
    states = np.flatnonzero(seen.allowed)
    if states.size == 0:
        return states
    # Some more than are needed: eigenvectors may share their ends.
    n_vectors = min(count + 1, seen.n_states)
    psi = walk_spectrum(seen.walk, n_vectors).psi[states, 1:]
    ends = np.stack([psi.argmin(axis=0), psi.argmax(axis=0)], axis=1).ravel()
    return np.asarray(states[_different(ends.tolist())[:count]])


def cover_goals(seen: Seen, count: int) -> NDArray[np.int64]:
    """Return the ends of Fiedler vectors, with an edge added between the ends of each before the next (Jinnai 2019)."""
    states = np.flatnonzero(seen.allowed)
    graph = GrowingGraph(seen.walk)
    ends: list[int] = []
    # An edge may end where another does; then there is one more, but not for ever.
    for _ in range(min(count, states.size)):
        fiedler = graph.fiedler_vector()[states]
        low, high = int(states[fiedler.argmin()]), int(states[fiedler.argmax()])
        ends = _different([*ends, low, high])
        if len(ends) >= count or low == high:
            break
        graph.add_edge(low, high)
    return np.array(ends[:count], dtype=np.int64)


@one_blas_thread()
def neo_goals(seen: Seen, count: int) -> NDArray[np.int64]:
    """Return where the smoothest eigenvectors of NEO's Laplacian are largest (Theophilou and Şimşek 2025).

    (I − D⁻¹A + β C) v = λ v, C the diagonal matrix of (visits / most visits)^(1/k): where visits are many v is pressed
    towards 0, so that |v| is largest where they are few.

    Paper: options climb |v|. Here: they take the shortest way to its largest value, as those of all methods do.
    """
    states = np.flatnonzero(seen.allowed)
    if states.size == 0:
        return states
    laplacian = Laplacian.of(seen.walk)
    pressed = _NEO_WEIGHT * (seen.visits / seen.visits.max()) ** (1.0 / _NEO_ROOT)
    # D^½ (I − D⁻¹A + β C) D^-½ is symmetric and has the same eigenvalues; v = D^-½ ψ.
    matrix = laplacian.sparse + diags_array(pressed)
    if seen.n_states <= _NEO_SMALL:
        values, psi = np.linalg.eigh(matrix.toarray())
    else:
        # Some more than are needed: two may be largest in the same state. All λ > 0, so that 0 lies below them.
        number = min(2 * count, seen.n_states // 2)
        values, psi = eigenpairs(matrix.tocsc(), number, np.random.default_rng(0), sigma=0.0)
    sizes = np.abs(canonical_vectors(values, psi)) / np.sqrt(np.maximum(np.diff(seen.indptr), 1))[:, None]
    return np.asarray(states[_different(sizes[states].argmax(axis=0).tolist())[:count]])


def betweenness_goals(seen: Seen, count: int) -> NDArray[np.int64]:
    """Return the states that the most shortest routes pass, local maxima first, on the graph of what was seen."""
    from farpoint.options.centrality_kernels import dependencies

    n_sources = min(seen.n_states, _SOURCES)
    sources = np.sort(seen.rng.choice(seen.n_states, size=n_sources, replace=False))
    values, _ = dependencies(seen.indptr, seen.indices, sources)
    neighbors = np.repeat(np.arange(seen.n_states), np.diff(seen.indptr))
    highest = np.full(seen.n_states, -np.inf)
    np.maximum.at(highest, neighbors, values[seen.indices])
    peak = values >= highest * (1.0 - _SAME)
    order = np.lexsort((-values, ~peak))
    return np.asarray(order[seen.allowed[order]][:count], dtype=np.int64)


@dataclass
class KeptGoals:
    """The goals of a method of `OF_THE_GRAPH`, computed anew only if the graph changed: eigenvectors are dear."""

    graph: tuple[NDArray[np.generic], ...] = ()
    goals: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def of(self, seen: Seen, method: str, count: int) -> NDArray[np.int64]:
        """Return what ``GOALS[method]`` would."""
        graph = (seen.indptr, seen.indices, seen.allowed)
        if not self.graph or not all(np.array_equal(old, new) for old, new in zip(self.graph, graph, strict=True)):
            self.graph, self.goals = graph, GOALS[method](seen, count)
        return self.goals


def _different(states: list[int]) -> list[int]:
    """Return the states without repetitions, in the same order."""
    return list(dict.fromkeys(states))


def no_goals(seen: Seen, count: int) -> NDArray[np.int64]:
    """Return no state."""
    return np.empty(0, dtype=np.int64)


# Methods that read the graph alone, not the counts and nothing random: their goals change only where the graph does.
OF_THE_GRAPH = ("eigen", "cover")

GOALS: dict[str, Callable[[Seen, int], NDArray[np.int64]]] = {
    "diffusion": diffusion_goals,
    "novelty": novelty_goals,
    "eigen": eigen_goals,
    "cover": cover_goals,
    "neo": neo_goals,
    "betweenness": betweenness_goals,
    "random": random_goals,
    "none": no_goals,
}
