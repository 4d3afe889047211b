"""Scores of any walk: by products of matrices in small worlds, by following it from every state, or from random probes.

The score of a state depends on its neighborhood and on sums over the whole world only, so blocks of states can be
computed anywhere, in any order, and be kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import reverse_cuthill_mckee

from farpoint.compiling import compiled
from farpoint.diffusion.bounds import loss_bound, product_bound, rounding_bound, worth_stating
from farpoint.diffusion.maps import MapPlan
from farpoint.diffusion.scores import Found, Plan
from farpoint.diffusion.walk import Walk
from farpoint.errors import InvalidInput
from farpoint.worlds.arrays import digest

Vector = NDArray[np.float64]

STATES_PER_BLOCK = 1 << 16
# A block should not take longer than this, for it cannot be interrupted; a single state that does is refused.
_BLOCK_SECONDS = 10.0
_LONGEST_STATE_SECONDS = 600.0
# Up to here Wᵗ is a dense matrix that is squared log₂ t times, where that is less work than t steps from every state.
_DENSE_STATES = 2_500
_SECONDS_PER_PRODUCT = 2e-10
# Worlds of at most this many states are scored without the compiler where products of sparse matrices take at most this
# long, estimated from the time per entry of a product.
_SMALL_STATES = 5_000
_SMALL_SECONDS = 0.01
_SECONDS_PER_ENTRY = 12e-9
# States are put into another order if more than this share of a sample of moves leads far away.
_SCATTERED = 0.5
_FAR = 1_000
_WORTH_ORDERING = 50_000
# A cutoff ε loses about this many ε per step on a plane, and a loss δ costs about 4 δ of the score.
_LOSS_PER_STEP = 25.0
_FINER = 8.0
# Seconds of one core per edge update: of one walk, of one probe.
_SECONDS_PER_MOVE = 2.5e-9
_SECONDS_PER_PROBED_MOVE = 0.6e-9
_N_SAMPLES = 32
_MOVES_TOGETHER = 1_000_000
# t distributions over all states are kept for a walk with jumps.
_MOST_JUMP_BYTES = 4 * 2**30
# Probes computed together: one line of the cache per state.
_PROBES_PER_TASK = 8
# A group of probes cannot be interrupted.
_LONGEST_TASK_SECONDS = 600.0
DEFAULT_PROBES = 256


def local_plan(walk: Walk, t: int, tolerance: float | None = None) -> PowerPlan | MapPlan | GraphPlan:
    """Return how walks of t steps are followed: by products of matrices, as rows of a map, or state by state.

    >>> import farpoint as fp
    >>> type(local_plan(Walk.of(fp.four_rooms()), 4)).__name__
    'PowerPlan'
    >>> type(local_plan(Walk.of(fp.open_room(300, 300)), 4)).__name__
    'MapPlan'
    """
    powers = PowerPlan(walk, t, tolerance)
    if powers.seconds <= _SMALL_SECONDS:
        return powers
    of_map = MapPlan.of(walk.floor, t, tolerance)
    if of_map is not None:
        return of_map
    plan = GraphPlan(walk.written_out(), t, tolerance)
    # With a tolerance only where it would take long: the bound on steps is the better one.
    worth = powers.squared and powers.seconds < plan.seconds and (tolerance is None or plan.seconds > _BLOCK_SECONDS)
    return powers if worth else plan


@dataclass(frozen=True, eq=False)
class PowerPlan(Plan):
    """All scores of a small world at once, from Wᵗ: sparse products, or a dense matrix squared log₂ t times.

    Examples
    --------
    >>> import farpoint as fp
    >>> PowerPlan(Walk.of(fp.grid((3,))), 2, None).block(0)[0].round(4)
    array([0.0312, 0.    , 0.0312])
    """

    walk: Walk
    t: int
    tolerance: float | None

    names = ("scores", "bounds")

    @property
    def about(self) -> dict[str, Any]:
        """Facts that the scores depend on besides the world."""
        return {"plan": "powers"}

    @cached_property
    def _costs(self) -> tuple[float, float]:
        """Roughly how long it takes by sparse products, and by squaring; infinite where a matrix is too large."""
        walk, t = self.walk, self.t
        squaring = squaring_seconds(walk, t)
        # At least all moves in every step: known without a look at the neighborhoods, or at the graph of a map.
        if (
            walk.jumps is not None
            or walk.n_states > _SMALL_STATES
            or _SECONDS_PER_ENTRY * walk.n_moves * t > _SMALL_SECONDS
        ):
            return float("inf"), squaring
        moves = walk.moves
        return _SECONDS_PER_ENTRY * moves.shape[0] * updates_per_state(moves, t), squaring

    @property
    def seconds(self) -> float:
        """Roughly how long this takes on one core; infinite where the matrix is too large."""
        return min(self._costs)

    @property
    def squared(self) -> bool:
        """Whether it is a dense matrix that is squared."""
        sparse, squaring = self._costs
        return squaring < sparse

    def block(self, task: int) -> tuple[Vector, Vector]:
        """Return the scores of all states, and bounds on their rounding."""
        walk, t = self.walk, self.t
        if self.squared:
            scores = np.asarray((dense_power(walk, t) ** 2).sum(axis=0))
            return scores, product_bound(scores, t, walk.n_states, walk.pi_error)
        scores = power_scores(walk, t)
        return scores, rounding_bound(scores, t, most_terms(walk), walk.n_states, walk.pi_squared, walk.pi_error)

    def found(self, *arrays: Vector) -> Found:
        """Return the scores, and bounds where there is a tolerance or much rounding."""
        scores, bounds = arrays
        stated = bounds if self.tolerance is not None else worth_stating(bounds, scores, self.walk.pi_squared)
        return Found(scores, stated)


def power_scores(walk: Walk, t: int) -> Vector:
    """Return ‖Wᵗe_s − π₀‖² of every state from sparse products, of a walk without jumps.

    Examples
    --------
    >>> import farpoint as fp
    >>> power_scores(Walk.of(fp.grid((3,))), 1)
    array([0.125, 0.   , 0.125])
    """
    rows = step = walk.steps()
    for _ in range(t - 1):
        rows = rows @ step
    pi = walk.pi
    near = pi[rows.indices]
    inside = np.add.reduceat((rows.data - near) ** 2, rows.indptr[:-1])
    # π₀ of what is not reached; in a row that reaches every state it is exactly zero.
    outside = walk.pi_squared - np.add.reduceat(near**2, rows.indptr[:-1])
    return np.asarray(np.where(np.diff(rows.indptr) == walk.n_states, inside, inside + np.maximum(outside, 0.0)))


def dense_power(walk: Walk, t: int) -> Vector:
    """Return Wᵗ − π₀1ᵀ as a dense matrix, squared log₂ t times.

    Examples
    --------
    >>> import farpoint as fp
    >>> dense_power(Walk.of(fp.grid((2,))), 1)
    array([[0., 0.],
           [0., 0.]])
    """
    # (W − π₀1ᵀ)ᵗ = Wᵗ − π₀1ᵀ, and it goes to 0 with all its digits.
    return np.asarray(np.linalg.matrix_power(walk.forward(np.eye(walk.n_states)) - walk.pi[:, None], t))


def squaring_seconds(walk: Walk, t: int) -> float:
    """Return roughly how long a dense Wᵗ takes; infinite in a world of more than 2 500 states.

    >>> import farpoint as fp
    >>> squaring_seconds(Walk.of(fp.open_room(50, 51)), 4)
    inf
    """
    n_states = walk.n_states
    squarings = 2.0 * np.log2(t + 1) * _SECONDS_PER_PRODUCT * float(n_states) ** 3
    return float(squarings) if n_states <= _DENSE_STATES else float("inf")


def updates_per_state(moves: csr_array, t: int) -> float:
    """Return how many moves are followed in t steps from a state, the mean over a sample of states.

    >>> import farpoint as fp
    >>> updates_per_state(fp.grid((4,)).adjacency, 3)
    11.0
    """
    samples = np.linspace(0, moves.shape[0] - 1, num=min(_N_SAMPLES, moves.shape[0])).astype(np.int64)
    # As many samples together as fit into memory where each of them meets all moves in one step.
    width = int(np.clip(_MOVES_TOGETHER // max(moves.nnz, 1), 1, samples.size))
    groups = [samples[first : first + width] for first in range(0, samples.size, width)]
    return sum(_updates(moves, group, t) for group in groups) / samples.size


def _updates(moves: csr_array, samples: NDArray[np.int64], t: int) -> int:
    """Return how many moves are followed in t steps from some states, in all."""
    n_states, degrees = int(moves.shape[0]), np.diff(moves.indptr)
    # State s as the k-th sample sees it is k n_states + s. Most pages of these arrays are never touched.
    new = samples + n_states * np.arange(samples.size)
    seen, place = np.zeros(samples.size * n_states, dtype=bool), np.empty(samples.size * n_states, dtype=np.int64)
    seen[new] = True
    total = edges = 0
    for step in range(t):
        states = new % n_states
        counts = degrees[states]
        ends = np.cumsum(counts)
        # Every step follows the moves of all states that were seen.
        edges += int(ends[-1])
        # The neighbors of all new states, one after the other.
        within = np.arange(ends[-1]) + np.repeat(moves.indptr[states] - ends + counts, counts)
        around = moves.indices[within] + np.repeat(new - states, counts)
        around = around[~seen[around]]
        # Each once, without sorting.
        place[around] = np.arange(around.size)
        new = around[place[around] == np.arange(around.size)]
        if not new.size:
            return total + edges * (t - step)
        seen[new] = True
        total += edges
    return total


def most_terms(walk: Walk) -> int:
    """Return the largest number of terms that one step of the walk adds up in an entry.

    >>> import farpoint as fp
    >>> most_terms(Walk.of(fp.open_room(3, 3)))
    4
    """
    entering = np.bincount(walk.moves.indices, minlength=1)
    # With jumps it is a sum over all states too.
    return int(entering.max()) + (0 if walk.jumps is None else walk.n_states)


@dataclass(frozen=True, eq=False)
class JumpTables:
    """What all sources share about jumps; see `push_scores`. Without jumps they have no rows."""

    out: Vector
    arrived: Vector
    back: Vector
    highest: Vector
    gram: Vector

    @staticmethod
    def fit(walk: Walk, t: int) -> bool:
        """Return whether the tables of walks of t steps fit into memory."""
        return walk.jumps is None or 8 * walk.jumps.rank * t * walk.n_states <= _MOST_JUMP_BYTES

    @classmethod
    def check(cls, walk: Walk, t: int) -> None:
        """Fail unless they fit."""
        if not cls.fit(walk, t):
            raise InvalidInput(
                f"t × states must leave the tables of a world with restarts within {_MOST_JUMP_BYTES >> 30} GiB; got "
                f"{t} × {walk.n_states}. Use solver='probes'."
            )

    @classmethod
    def of(cls, walk: Walk, t: int) -> JumpTables:
        """Return the tables of walks of t steps."""
        if walk.jumps is None:
            none = np.empty((0, walk.n_states))
            gram = np.array([[walk.pi_squared]])
            return cls(none, np.empty((t, 0, walk.n_states)), np.empty((t, 0, 0)), np.empty((t, 0)), gram)
        cls.check(walk, t)
        rank, out = walk.jumps.rank, walk.jumps.out * walk.leave
        arrived = np.empty((t, rank, walk.n_states))
        now = walk.jumps.into.T
        for k in range(t):
            arrived[k] = now.T
            now = walk.forward(now, jumps=False)
        back = np.einsum("js,kis->kji", out, arrived)
        rows = np.concatenate([arrived.reshape(t * rank, -1), walk.pi[None, :]])
        return cls(out, arrived, np.ascontiguousarray(back), arrived.max(axis=2), rows @ rows.T)


@dataclass(frozen=True, eq=False)
class GraphPlan(Plan):
    """Scores of a walk on any graph, followed from every state.

    Examples
    --------
    >>> import farpoint as fp
    >>> GraphPlan(Walk.of(fp.open_room(3, 3)), 4, None).shared().block((0, 3))[0].round(3)
    array([0.048, 0.032, 0.048])
    """

    walk: Walk
    t: int
    tolerance: float | None

    @cached_property
    def seconds(self) -> float:
        """Roughly how long this takes on one core."""
        walk, t = self.walk, self.t
        if not JumpTables.fit(walk, t):
            return float("inf")
        # With a tolerance the walk is followed about c √k far, as if it were that many steps long.
        far = t if self.tolerance is None else min(t, int(np.ceil(2.5 * np.sqrt(t))))
        updates = updates_per_state(walk.moves, far) * t / far
        # What jumped in each step may jump again in each later one.
        jumped = 0 if walk.jumps is None else 1.5 * (walk.jumps.rank * float(t)) ** 2
        return float(_SECONDS_PER_MOVE * walk.n_states * (updates + jumped))

    @cached_property
    def order(self) -> NDArray[Any] | None:
        """The order in which states are followed, so that neighbors lie together; None: as they are numbered."""
        return better_order(self.walk.moves)

    @cached_property
    def tasks(self) -> list[tuple[int, int]]:
        """The ranges of states, in their order, that are one task each."""
        n_states, seconds = self.walk.n_states, self.seconds
        JumpTables.check(self.walk, self.t)
        if seconds / n_states > _LONGEST_STATE_SECONDS:
            raise InvalidInput(
                f"t must be small enough to be followed; got {self.t}, which would take about {seconds / n_states:.0f} "
                "s per state. Use solver='spectral' or 'truncated' in a symmetric world."
            )
        size = int(np.clip(_BLOCK_SECONDS * n_states / max(seconds, 1e-9), 1, STATES_PER_BLOCK))
        return [(first, min(first + size, n_states)) for first in range(0, n_states, size)]

    def states(self, task: tuple[int, int]) -> slice | NDArray[Any]:
        """Return the states that a task computes."""
        return slice(*task) if self.order is None else self.order[slice(*task)]

    @property
    def about(self) -> dict[str, Any]:
        """Facts that the blocks depend on besides the world."""
        return {"plan": "graph", "order": None if self.order is None else digest(self.order)}

    def shared(self) -> Following:
        """Return what computes the tasks."""
        return self.following(self.order)

    def following(self, order: NDArray[Any] | None = None) -> Following:
        """Return the walk as it is followed, its states in an order: all that does not depend on the state."""
        walk = self.walk
        tables = JumpTables.of(walk, self.t)
        moves, vectors, jumps = walk.moves, [walk.stay, walk.leave, walk.pi], [tables.out, tables.arrived]
        if order is not None:
            moves = csr_array(moves[order][:, order])
            moves.sort_indices()
            vectors = [one[order] for one in vectors]
            jumps = [np.ascontiguousarray(one[..., order]) for one in jumps]
        stay, leave, pi = vectors
        graph = (moves.indptr, moves.indices, moves.data, stay, leave, *jumps, tables.back, tables.highest, tables.gram)
        return Following((*graph, pi), self.t, self.tolerance, most_terms(walk), walk.pi_squared, walk.pi_error)


@dataclass(frozen=True, eq=False)
class Following:
    """A walk as it is followed from every state; what every task of a `GraphPlan` shares.

    Attributes
    ----------
    graph : tuple of arrays
        The first arguments of `push_scores`.
    t : int
    tolerance : float or None
    n_terms : int
        The largest number of terms that one step of the walk adds up in an entry.
    pi_squared, pi_error : float
    """

    graph: tuple[Any, ...]
    t: int
    tolerance: float | None
    n_terms: int
    pi_squared: float
    pi_error: float

    def block(self, states: tuple[int, int]) -> tuple[Vector, ...]:
        """Return the scores of a range of states, and bounds on their errors where there is a tolerance."""
        return self.at(np.arange(*states))

    def at(self, sources: NDArray[np.int64]) -> tuple[Vector, ...]:
        """Return the scores of some states, and bounds on their errors where there is a tolerance."""
        if self.tolerance is None:
            return (self._follow(sources, 0.0)[0],)
        n_states = self.graph[-1].size
        cutoff = self.tolerance / (4.0 * _LOSS_PER_STEP * self.t)
        scores, losses = self._follow(sources, cutoff)
        while True:
            rounding = rounding_bound(scores, self.t, self.n_terms, n_states, self.pi_squared, self.pi_error)
            # Where the loss is below the rounding already, following more would mend nothing.
            poor = np.flatnonzero((losses + rounding > self.tolerance * scores) & (losses > rounding))
            if poor.size == 0 or cutoff == 0.0:
                return scores, losses + rounding
            cutoff = cutoff / _FINER if cutoff > 1e-30 else 0.0
            scores[poor], losses[poor] = self._follow(sources[poor], cutoff)

    def _follow(self, sources: NDArray[np.int64], cutoff: float) -> tuple[Vector, Vector]:
        """Return scores and bounds on what dropping mass below the cutoff costs them."""
        scores, lost, peaks = np.empty(sources.size), np.empty(sources.size), np.empty(sources.size)
        arguments: list[Any] = [*self.graph, sources, self.t, cutoff, scores, lost, peaks]
        push_scores(*arguments)
        return scores, loss_bound(lost, np.maximum(peaks, self.graph[-1].max()))


def better_order(moves: csr_array) -> NDArray[np.int32] | None:
    """Return an order that brings neighbors together, or None where they lie together already."""
    n_states = moves.shape[0]
    if n_states < _WORTH_ORDERING:
        return None
    sample = np.linspace(0, moves.nnz - 1, num=10_000).astype(np.int64)
    begins = np.searchsorted(moves.indptr, sample, side="right") - 1
    far = np.abs(begins - moves.indices[sample]) > max(_FAR, 4 * int(np.sqrt(n_states)))
    if far.mean() < _SCATTERED:
        return None
    return np.asarray(reverse_cuthill_mckee(moves, symmetric_mode=False))


@dataclass(frozen=True, eq=False)
class ProbePlan(Plan):
    """The score estimated from random probes: for very long walks, where even the part that matters is large.

    For a vector z of random signs, z·(Wᵗe_s − π₀) has mean 0 and variance f_t(s), and all of them are one product:
    zᵀWᵗ, the sparse matrix applied t times. The mean of m squares estimates f_t of every state with a relative standard
    error of about √(2/m), whatever t. Neighboring states see nearly the same numbers, so the estimate is smooth, and
    its maxima lie near those of f_t.

    Examples
    --------
    >>> import farpoint as fp
    >>> len(ProbePlan(Walk.of(fp.maze()), t=4, n_probes=20).tasks)
    3
    """

    walk: Walk
    t: int
    n_probes: int = DEFAULT_PROBES
    seed: int = 0

    solver = "probes"
    names = ("squares", "fourths")
    # Each task is of all states, and their results are added up.
    added = True

    @property
    def seconds(self) -> float:
        """Roughly how long this takes on one core."""
        return self._seconds(self.n_probes)

    def _seconds(self, n_probes: int) -> float:
        return float(_SECONDS_PER_PROBED_MOVE * n_probes * self.t * (self.walk.n_moves + self.walk.n_states))

    @property
    def _squared(self) -> bool:
        return squaring_seconds(self.walk, self.t) < self.seconds

    @cached_property
    def tasks(self) -> list[tuple[np.random.SeedSequence, int]]:
        """The seed of each group of probes, and how many it has."""
        if not self._squared and self._seconds(_PROBES_PER_TASK) > _LONGEST_TASK_SECONDS:
            raise InvalidInput(
                f"t must be small enough for probes to be followed; got {self.t}, which would take more than "
                f"{_LONGEST_TASK_SECONDS:.0f} s per group of {_PROBES_PER_TASK}. Use solver='auto'."
            )
        firsts = range(0, self.n_probes, _PROBES_PER_TASK)
        seeds = np.random.SeedSequence(self.seed).spawn(len(firsts))
        sizes = [min(_PROBES_PER_TASK, self.n_probes - first) for first in firsts]
        return list(zip(seeds, sizes, strict=True))

    def shared(self) -> Probing:
        """Return what computes the tasks."""
        walk = self.walk.written_out()
        # Computed once, here, and not by every worker.
        _ = walk.pi, walk.stay, walk.leave
        return Probing(walk, self.t, dense_power(walk, self.t) if self._squared else None)

    def found(self, *arrays: Vector) -> Found:
        """Return the estimates, and their standard errors."""
        (squares, fourths), n = arrays, self.n_probes
        mean = squares / n
        variance = np.maximum(fourths / n - mean**2, 0.0) * n / (n - 1)
        return Found(mean, None, np.sqrt(variance / n))


@dataclass(frozen=True, eq=False)
class Probing:
    """A walk as probes see it; what every task of a `ProbePlan` shares. ``power`` is Wᵗ − π₀1ᵀ where that is known."""

    walk: Walk
    t: int
    power: Vector | None

    def block(self, task: tuple[np.random.SeedSequence, int]) -> tuple[Vector, Vector]:
        """Return the sums of squares and of fourth powers over the probes of one task."""
        seed, n_probes = task
        probes = np.random.default_rng(seed).integers(0, 2, size=(self.walk.n_states, n_probes), dtype=np.int8)
        values = 2.0 * probes.astype(np.float64) - 1.0
        if self.power is not None:
            values = self.power.T @ values
        else:
            mean = self.walk.pi @ values
            for _ in range(self.t):
                values = self.walk.backward(values)
            values -= mean
        values *= values
        squares = values.sum(axis=1)
        values *= values
        return squares, values.sum(axis=1)


@compiled(nogil=True, inline="always")
def advance(
    indptr: NDArray[Any],
    indices: NDArray[Any],
    weights: Vector,
    stay: Vector,
    leave: Vector,
    cutoff: float,
    states: NDArray[np.int32],
    size: int,
    mark: NDArray[np.int32],
    stamp: int,
    now: Vector,
    then: Vector,
) -> Any:
    """Take one step: empty ``now`` into ``then``; return in how many states the walk may be, and the mass dropped.

    The walk stays with probability ``stay[u]`` and takes a move of weight w with probability ``leave[u]`` w. It is
    lazy, so the states it may be in only ever grow by the neighbors of those it may be in: ``states`` lists them, and
    ``mark`` holds ``stamp`` for them. Mass below ``cutoff`` is dropped where it stands.
    """
    dropped = 0.0
    reached = size
    for i in range(size):
        u = states[i]
        p = now[u]
        now[u] = 0.0
        if p < cutoff:
            dropped += p
            continue
        then[u] += stay[u] * p
        share = leave[u] * p
        for entry in range(indptr[u], indptr[u + 1]):
            v = indices[entry]
            # Written always, counted only when new: no branch for the processor to guess wrongly.
            states[reached] = v
            reached += mark[v] != stamp
            mark[v] = stamp
            then[v] += share * weights[entry]
    return reached, dropped


@compiled(nogil=True)
def push_scores(
    indptr: NDArray[Any],
    indices: NDArray[Any],
    weights: Vector,
    stay: Vector,
    leave: Vector,
    out: Vector,
    arrived: Vector,
    back: Vector,
    highest: Vector,
    gram: Vector,
    pi: Vector,
    sources: NDArray[np.int64],
    t: int,
    cutoff: float,
    scores: Vector,
    lost: Vector,
    peaks: Vector,
) -> None:
    """Fill ‖p̂ − π₀‖² of every source, where p̂ is Wᵗe_s but for what was dropped.

    ``lost`` is how much was dropped, ``peaks`` the largest entry of p̂.

    With L the walk without jumps, Wᵗe_s = Lᵗe_s + Σ_k Σ_j m_{k,j} L^{t−k} into_j, where m_{k,j} is the mass that jump j
    takes in step k. So only Lᵗe_s, inside its neighborhood, is followed for each source.

    ``out[j, s]`` is the probability of jump j from s, ``arrived[k, j]`` is L^k into_j, ``back[k, j, i]`` the mass that
    jump j takes of arrived[k, i], ``highest[k, j]`` the largest entry of arrived[k, j], and ``gram`` holds the inner
    products of all arrived[k, j], in this order, and last π₀.
    """
    n_states = indptr.size - 1
    rank = out.shape[0]
    now = np.zeros(n_states)
    then = np.zeros(n_states)
    mark = np.zeros(n_states, dtype=np.int32)
    states = np.empty(n_states + 1, dtype=np.int32)
    # The coefficient of arrived[k, j], and last that of π₀.
    mass = np.zeros(t * rank + 1)
    mass[t * rank] = -1.0
    for number in range(sources.size):
        s = sources[number]
        states[0] = s
        mark[s] = number + 1
        now[s] = 1.0
        size = 1
        dropped = 0.0
        for step in range(t):
            for j in range(rank):
                total = 0.0
                for i in range(size):
                    u = states[i]
                    if now[u] >= cutoff:
                        total += out[j, u] * now[u]
                # What jumped in step i is L^{step−1−i} into by now, and may jump again.
                for i in range(step):
                    for other in range(rank):
                        total += mass[(t - 1 - i) * rank + other] * back[step - 1 - i, j, other]
                mass[(t - 1 - step) * rank + j] = total
            size, below = advance(
                indptr, indices, weights, stay, leave, cutoff, states, size, mark, number + 1, now, then
            )
            dropped += below
            now, then = then, now
        # Σ over the states that were reached of (p − π)², plus what is left outside them. When they are the whole world
        # the second part is exactly zero, so a score near zero keeps its digits.
        inside = 0.0
        ball = 0.0
        peak = 0.0
        whole = gram[t * rank, t * rank]
        elsewhere = 0.0
        if rank:
            for i in range(size):
                u = states[i]
                around = 0.0
                for k in range(t):
                    for j in range(rank):
                        around += mass[k * rank + j] * arrived[k, j, u]
                difference = now[u] + around - pi[u]
                inside += difference * difference
                ball += (around - pi[u]) ** 2
                peak = max(peak, now[u] + around)
                now[u] = 0.0
            whole = 0.0
            for a in range(mass.size):
                for b in range(mass.size):
                    whole += mass[a] * gram[a, b] * mass[b]
            for k in range(t):
                for j in range(rank):
                    elsewhere += mass[k * rank + j] * highest[k, j]
        else:
            for i in range(size):
                u = states[i]
                difference = now[u] - pi[u]
                inside += difference * difference
                ball += pi[u] * pi[u]
                peak = max(peak, now[u])
                now[u] = 0.0
        scores[number] = inside if size == n_states else inside + max(0.0, whole - ball)
        lost[number] = dropped
        peaks[number] = max(peak, elsewhere)
