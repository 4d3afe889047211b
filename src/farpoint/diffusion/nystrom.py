"""Out-of-sample extension: the score of every state from a sample of them (section 3.2, supplement E).

`extend` works on a world whose graph is known, where only some columns of the walk are computed; `extend_to` goes from
the states of a world made of samples to observations that are not among them; `choose_landmarks` chooses the sample.

The symmetric lazy walk L = ½ (I + D^-½ M D^-½) has the eigenvalues ω and the orthonormal eigenvectors ψ, the first of
which is known: ψ₁ = √(d / Σd), ω₁ = 1. Here K = L^τ − ψ₁ψ₁ᵀ is replaced by the matrix of low rank that agrees with it
on the rows and columns of the sample S,

    K ≈ Q = K_xS K_SS⁺ K_Sx,

and the *exact* eigenvectors of Q are taken: with K_SS = V Λ Vᵀ and F = K_xS V Λ^-½, Q = F Fᵀ, so the eigenvectors
U, μ of the small matrix FᵀF give ψ̂ = F U μ^-½ and ω̂ = μ^{1/τ}. The textbook formula, ψ̂ = K_xS V Λ⁻¹, is neither
orthonormal nor near f_t. Columns of L^τ are walks of τ steps from the landmarks, sparse where the world is large; no
matrix of n × n, and none of n × m unless it is small, is ever filled.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg
from scipy.sparse import csc_array, csr_array

from farpoint.blas import one_blas_thread
from farpoint.compiling import compiled
from farpoint.diffusion.graphs import GraphPlan, advance
from farpoint.diffusion.scores import Scores
from farpoint.diffusion.spectral import DENSE_LIMIT
from farpoint.diffusion.walk import Walk
from farpoint.errors import InvalidInput, check_integer, check_time, check_word
from farpoint.parallel import parallel_map
from farpoint.worlds import World, WorldLike, as_world
from farpoint.worlds.arrays import real_numbers
from farpoint.worlds.samples import check_observations

_N_CHECKS = 256
# From here on the walks of the checks are followed to a relative error of 1e-4 instead of exactly.
_LONG_WALK = 30
# Geometric harmonics that the sample determines worse than this are left out (Coifman and Lafon's condition number).
_HARMONICS_LEAST = 1e-4
_NEAREST = 32
# Squares of shares that are rounding.
_NOTHING = 1e-16
# Entries of the columns that are kept at most: 12 bytes each, and as much again while their order is changed.
MOST_ENTRIES = 40_000_000
# Entries of the columns times the steps of the walks, at most: about a minute of one core.
MOST_WORK = 6e9
_LANDMARKS_PER_TASK = 32
_BLOCK_BYTES = 1 << 26
# Probabilities below this are dropped on the way: all of them together are less than the rounding of the largest.
_CUTOFF = 1e-18
# Eigenvalues below this share of the largest are rounding.
_TRUSTED = 1e-12
# Products of the columns with themselves lose twice the digits: only for kernels conditioned better than this.
_SAFE_CONDITION = 1e-5
_SPARSE = 0.05
_ROUNDING = 1e-15
# Entries of a world's columns that are reserved at first.
_FIRST_ROOM = 1 << 16


@one_blas_thread()
def extend(
    world: WorldLike,
    sample: ArrayLike,
    t: float = 4,
    *,
    method: str = "nystrom",
    tau: int | None = None,
    rank: int | None = None,
    remainder: bool = True,
    n_jobs: int = -1,
) -> Scores:
    """Return g_t of every state: the score f_t extended from the states in ``sample`` alone.

    Only the walks that begin in the sample are followed; nothing of the size n × n is decomposed.

    - ``"nystrom"``: the walk's power L^τ, without its known constant component, is replaced by the low-rank matrix that
      agrees with it on the sample's columns, K_xS K_SS⁺ K_Sx. Its exact orthonormal eigenvectors stand for ψ, the τ-th
      roots of its eigenvalues for ω, in Eq. 1. What these cannot hold, the share 1 − Σ ψ̂_i(s)² of a walk's first step,
      adds c (1 − Σ ψ̂_i(s)²) / d(s), with the one number c that fits f_t of the sample best.
    - ``"harmonics"``: f_t of the sample is continued as a function by the geometric harmonics of L^τ (Coifman and Lafon
      2006). It uses no eigenvector of the whole and is the weaker one everywhere.

    How accurate this is over the share of the states, and what helps, is measured in ``docs/extension.md``: on the
    paper's worlds a tenth of the states gives a correlation with f_t of 0.95 and more. A sample too small for t is not
    rescued by anything; the estimated error is then as large as the spread of the scores.

    g_t equals f_t on the sample up to what the rank leaves out, not exactly: values put in there by force would be
    false maxima.

    Parameters
    ----------
    world : World
        A symmetric world.
    sample : array of int
        Different states, for example from `choose_landmarks`; 2 to 10 000 of them.
    t : float
    method : {"nystrom", "harmonics"}
    tau : int, optional
        Default: 12 n / m for m of n states in the sample (4 n / m for harmonics), less where walks so
        long would take half a gigabyte (40 million entries) or much more than a minute of one core.
    rank : int, optional
        Components to keep at most. Default: all whose eigenvalue stands clear of rounding (1e-12 of the largest; for
        harmonics 1e-4).
    remainder : bool
        Whether nystrom adds the share that its eigenvectors cannot hold. Only for whole t: the others go without.
    n_jobs : int
        Workers; the numbers do not depend on it.

    Returns
    -------
    Scores
        Of shape (n_states,); ``solver`` is the method. Its ``details`` hold ``sample``, ``tau`` (length of the walks
        from the sample), ``rank`` (components that were kept) and ``error_estimate``: the root mean square of g_t − f_t
        over the states outside the sample, estimated from 256 of them drawn at random (all of them where there are
        fewer: then it is exact), whose walks were followed; NaN for a fraction of t. Compare it with the standard
        deviation of the scores: where it is as large, the extension is useless.

    Raises
    ------
    InvalidInput
        A world that is not symmetric, a sample with repeated or unknown states, a fraction of t with harmonics.

    Examples
    --------
    >>> import numpy as np, farpoint as fp
    >>> world = fp.ring()
    >>> scores = fp.extend(world, fp.diffusion.choose_landmarks(world, world.n_states // 4), t=4)
    >>> bool(np.corrcoef(scores, fp.score(world, t=4))[0, 1] > 0.98)
    True
    >>> scores.solver, scores.details["tau"], len(scores.details["sample"])
    ('nystrom', 48, 48)
    >>> bool(scores.details["error_estimate"] < 0.3 * scores.std())
    True
    """
    world = as_world(world)
    walk = Walk.of(world).written_out()
    t = check_time(t)
    method = check_word("method", method, ("nystrom", "harmonics"))
    states = _check_sample(world, sample)
    if not walk.symmetric:
        raise InvalidInput(
            f"world must be symmetric to extend a score; got {world!r}. Add the weights of both directions: "
            "World.from_graph(world.adjacency + world.adjacency.T)."
        )
    if method == "harmonics" and not t.is_integer():
        raise InvalidInput(f"t must be a whole number with method='harmonics'; got {t:g}. Use method='nystrom'.")
    if rank is not None:
        rank = check_integer("rank", rank, 1, states.size)
    tau = _affordable_tau(walk, states, method, tau)
    columns = columns_of(walk, states, tau, n_jobs)
    if method == "nystrom":
        leading = low_rank(columns, rank)
        values, kept = leading.scores(t, n_jobs), leading.omega.size
        if remainder and t.is_integer():
            values += _remainder(leading, values[states], _true_scores(walk, t, states), n_jobs)
    else:
        values, kept = _harmonics(columns, _true_scores(walk, t, states), rank)
    return Scores(
        values,
        t=t,
        solver=method,
        form="walk",
        reason=f"extended from {states.size} of {world.n_states} states by {method}, τ = {tau}, {kept} components",
        world=world,
        details={
            "sample": states,
            "tau": tau,
            "rank": kept,
            "error_estimate": _error_estimate(walk, t, states, values),
        },
    )


def _affordable_tau(walk: Walk, states: NDArray[np.int64], method: str, tau: int | None) -> int:
    if tau is None:
        # In a plane a lazy walk of τ steps spreads by √τ / 2 cells per direction and m landmarks of n states are
        # √(n/m) apart: a walk of 12 n / m steps spreads over 1.7 times that distance.
        wanted = max(1, round(12 * walk.n_states / states.size))
        return affordable_tau(walk, states, wanted if method == "nystrom" else max(1, wanted // 3))
    tau = check_integer("tau", tau, 1)
    if affordable_tau(walk, states, tau) < tau:
        raise InvalidInput(
            f"tau must be small enough to follow {states.size} walks of that many steps within a minute; got {tau}. "
            "Leave it out to take the best that is affordable."
        )
    return tau


def _check_sample(world: World, sample: ArrayLike) -> NDArray[np.int64]:
    states = world.check_states("sample", sample)
    if np.unique(states).size != states.size:
        raise InvalidInput(f"sample must hold different states; got {states.size}, {np.unique(states).size} different.")
    if not 2 <= states.size <= DENSE_LIMIT:
        raise InvalidInput(f"sample must have from 2 to {DENSE_LIMIT} states; got {states.size}.")
    return states


def _remainder(
    leading: LowRank, low: NDArray[np.float64], known: NDArray[np.float64], n_jobs: int
) -> NDArray[np.float64]:
    """Return c (1 − Σ ψ̂_i(s)²) / d(s) of every state, c fitted where f_t is known.

    The whole Ψ has orthonormal rows, so 1 − Σ ψ̂_i(s)² is the share of e_s that these components miss. What it adds
    to f_t is at most d_max ω^{2t} of that over d(s), ω the largest that is left out: c lies between 0 and d_max.
    """
    columns = leading.columns
    held = leading.row_squares(n_jobs) + columns.first**2
    missing = np.maximum(1.0 - held, 0.0) / columns.degrees
    here = missing[columns.sample]
    if here @ here < _NOTHING:
        return np.zeros_like(missing)
    factor = float((known - low) @ here / (here @ here))
    return np.asarray(np.clip(factor, 0.0, columns.degrees.max()) * missing)


def _harmonics(columns: Columns, known: NDArray[np.float64], rank: int | None) -> tuple[NDArray[np.float64], int]:
    """Return the continuation of ``known`` from the sample to every state, and how many harmonics carry it."""
    root = np.sqrt(columns.degrees)
    values, vectors = positive_part(columns.within, _HARMONICS_LEAST, rank)
    # Functions of states are compared by D: f √d is to the symmetric walk what f is to the walk.
    weights = vectors @ ((vectors.T @ (known * root[columns.sample])) / values)
    return np.asarray(columns.matrix @ weights / root), values.size


def _true_scores(walk: Walk, t: float, states: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return f_t of some states, by following their walks."""
    return GraphPlan(walk, int(t), 1e-4 if t > _LONG_WALK else None).following().at(states)[0]


def _error_estimate(walk: Walk, t: float, sample: NDArray[np.int64], values: NDArray[np.float64]) -> float:
    if not t.is_integer():
        return float("nan")
    outside = np.ones(walk.n_states, dtype=bool)
    outside[sample] = False
    others = np.flatnonzero(outside) if outside.any() else sample
    if others.size > _N_CHECKS:
        others = np.sort(np.random.default_rng(0).choice(others, _N_CHECKS, replace=False))
    return float(np.sqrt(np.mean((values[others] - _true_scores(walk, t, others)) ** 2)))


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of L^τ that belong to a sample, one row per state, and the degrees."""

    matrix: csr_array
    sample: NDArray[np.int64]
    degrees: NDArray[np.float64]
    tau: int

    @cached_property
    def first(self) -> NDArray[np.float64]:
        """ψ₁ of every state."""
        return np.asarray(np.sqrt(self.degrees / self.degrees.sum()))

    @property
    def within(self) -> NDArray[np.float64]:
        """The rows of the sample: L^τ between landmarks, symmetric to the last digit."""
        rows = self.matrix[self.sample].toarray()
        return np.asarray((rows + rows.T) / 2)

    def blocks(self) -> list[tuple[int, int]]:
        """Ranges of rows, each small enough to be filled."""
        rows = max(1, _BLOCK_BYTES // (8 * self.sample.size))
        n_states = self.degrees.size
        return [(first, min(first + rows, n_states)) for first in range(0, n_states, rows)]


def columns_of(walk: Walk, sample: NDArray[np.int64], tau: int, n_jobs: int = -1) -> Columns:
    """Return the columns of L^τ = D^-½ W^τ D^½ at the states of the sample, of a symmetric walk without jumps."""
    degrees = walk.leaving
    _ = walk.stay, walk.leave  # computed once, here, and not by every worker
    starts = range(0, sample.size, _LANDMARKS_PER_TASK)
    tasks = [sample[first : first + _LANDMARKS_PER_TASK] for first in starts]
    walks = list(parallel_map(_follow_walks, (walk, tau), tasks, n_jobs=n_jobs))
    counts = np.concatenate([[0], *(np.diff(pointers) for pointers, _, _ in walks)])
    states = np.concatenate([ends for _, ends, _ in walks])
    data = np.concatenate([values for _, _, values in walks])
    root = np.sqrt(degrees)
    data /= root[states]
    data *= np.repeat(root[sample], counts[1:])
    matrix = csc_array((data, states, np.cumsum(counts)), shape=(degrees.size, sample.size))
    return Columns(csr_array(matrix.tocsr()), sample, degrees, tau)


def _follow_walks(
    shared: tuple[Walk, int], sources: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
    walk, tau = shared
    moves = walk.moves
    pointers, ends, values = walk_ends(
        moves.indptr, moves.indices, moves.data, walk.stay, walk.leave, sources, tau, _CUTOFF
    )
    return pointers, ends, values


def affordable_tau(walk: Walk, sample: NDArray[np.int64], tau: int) -> int:
    """Return τ, or the longest below it whose columns, judged by a few of them, fit into memory and a minute."""
    few = sample[np.linspace(0, sample.size - 1, num=min(8, sample.size)).astype(np.int64)]
    if walk.n_states * sample.size <= min(MOST_ENTRIES, MOST_WORK / tau):
        return tau
    # Upwards, so that no walk longer than needed is tried.
    fits, length = 1, 8
    while True:
        length = min(length, tau)
        pointers, _, _ = _follow_walks((walk, length), few)
        entries = pointers[-1] / few.size * sample.size
        if entries > MOST_ENTRIES or entries * length > MOST_WORK:
            return fits
        if entries == walk.n_states * sample.size:
            # The walks are everywhere: from here on every step costs the same.
            return min(tau, int(MOST_WORK / entries))
        fits = length
        if length == tau:
            return tau
        length = int(1.3 * length)


def positive_part(
    matrix: NDArray[np.float64], least: float, rank: int | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the eigenvalues above ``least`` of the largest, descending, at most ``rank``, and their vectors."""
    if not matrix.size:
        return np.empty(0), np.empty((0, 0))
    values, vectors = linalg.eigh(matrix, check_finite=False)
    values, vectors = values[::-1], vectors[:, ::-1]
    # The walk has norm 1, so values this small are rounding, even if they are the largest.
    kept = int((values > max(least * values[0], _ROUNDING)).sum())
    kept = kept if rank is None else min(kept, rank)
    return values[:kept], vectors[:, :kept]


@dataclass(frozen=True, eq=False)
class LowRank:
    """Eigenpairs of the low-rank walk: ψ̂ = (K_xS − ψ₁ ψ₁(S)ᵀ) ``mix``, orthonormal, without the constant one."""

    columns: Columns
    mix: NDArray[np.float64]
    omega: NDArray[np.float64]
    # Ψᵀ D Ψ: the inner products of φ̃.
    gram: NDArray[np.float64]

    def scores(self, t: float, n_jobs: int = -1) -> NDArray[np.float64]:
        """Return ‖Σ ω̂_iᵗ φ̂_i(s) φ̃̂_i‖² of every state, block of rows by block of rows (Eq. 1)."""
        if not self.omega.size:
            return np.zeros(self.columns.degrees.size)
        values, vectors = linalg.eigh(self.gram, check_finite=False)
        half = vectors * np.sqrt(np.maximum(values, 0.0))
        return self._squares((self.mix * self.omega**t) @ half, n_jobs) / self.columns.degrees

    def row_squares(self, n_jobs: int = -1) -> NDArray[np.float64]:
        """Return Σ_i ψ̂_i(s)² of every state."""
        return self._squares(self.mix, n_jobs)

    def _squares(self, mix: NDArray[np.float64], n_jobs: int) -> NDArray[np.float64]:
        return np.concatenate(
            list(parallel_map(_square_block, (self.columns, mix), self.columns.blocks(), n_jobs=n_jobs))
        )


def low_rank(columns: Columns, rank: int | None = None) -> LowRank:
    """Return the eigenpairs of the matrix of low rank that the columns of a sample make."""
    first = columns.first[columns.sample]
    values, vectors = positive_part(columns.within - np.outer(first, first), _TRUSTED)
    to_factor = vectors / np.sqrt(values)
    squares, weighted = _grams(columns, to_factor, values)
    mu, turn = positive_part(squares, _TRUSTED, rank)
    turn = turn / np.sqrt(mu)
    omega = np.minimum(mu, 1.0) ** (1.0 / columns.tau)
    return LowRank(columns, to_factor @ turn, omega, turn.T @ weighted @ turn)


def _grams(
    columns: Columns, to_factor: NDArray[np.float64], values: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return FᵀF and FᵀDF."""
    matrix, degrees = columns.matrix, columns.degrees
    rank = values.size
    well = rank == columns.sample.size and values[-1] > _SAFE_CONDITION * values[0]
    if well and matrix.nnz < _SPARSE * matrix.shape[0] * matrix.shape[1]:
        psi_1 = columns.first
        first = psi_1[columns.sample]
        # L^τ ψ₁ = ψ₁, so taking ψ₁ out of the columns takes its square out of their products.
        squares = (matrix.T @ matrix).toarray() - np.outer(first, first)
        across = np.outer(matrix.T @ (degrees * psi_1), first)
        weighted = (matrix.T @ matrix.multiply(degrees[:, None]).tocsr()).toarray() - across - across.T
        weighted += psi_1 @ (degrees * psi_1) * np.outer(first, first)
        return to_factor.T @ squares @ to_factor, to_factor.T @ weighted @ to_factor
    plain, heavy = np.zeros((rank, rank)), np.zeros((rank, rank))
    for block in columns.blocks():
        rows = _factor_rows(columns, to_factor, block)
        plain += rows.T @ rows
        heavy += rows.T @ (degrees[slice(*block), None] * rows)
    return plain, heavy


def _factor_rows(columns: Columns, mix: NDArray[np.float64], block: tuple[int, int]) -> NDArray[np.float64]:
    """Return a few rows of (K_xS − ψ₁ ψ₁(S)ᵀ) mix."""
    part = columns.matrix[slice(*block)]
    filled = part.nnz > 0.2 * part.shape[0] * part.shape[1]
    product = (part.toarray() if filled else part) @ mix
    psi_1 = columns.first
    return np.asarray(product - np.outer(psi_1[slice(*block)], psi_1[columns.sample] @ mix))


def _square_block(shared: tuple[Columns, NDArray[np.float64]], block: tuple[int, int]) -> NDArray[np.float64]:
    rows = _factor_rows(*shared, block)
    return np.asarray(np.einsum("si,si->s", rows, rows))


def choose_landmarks(
    world: WorldLike, n_landmarks: int, method: str = "farthest", *, seed: int = 0
) -> NDArray[np.int64]:
    """Return different states to extend a score from, in ascending order.

    ``"farthest"`` starts from a random state and adds the state that is most moves from all before it; ``"random"``
    draws uniformly. Farthest points are better at small samples (``docs/extension.md``).

    Parameters
    ----------
    world : World
    n_landmarks : int
        From 1 to n_states.
    method : {"farthest", "random"}
    seed : int

    Returns
    -------
    array of int, shape (n_landmarks,)

    Examples
    --------
    >>> import farpoint as fp
    >>> fp.diffusion.choose_landmarks(fp.grid((9,)), 3, seed=1)
    array([0, 4, 8])
    """
    world = as_world(world)
    Walk.of(world)  # fails on a world that is not connected
    n = check_integer("n_landmarks", n_landmarks, 1, world.n_states)
    method = check_word("method", method, ("farthest", "random"))
    rng = np.random.default_rng(check_integer("seed", seed, 0))
    if method == "farthest":
        graph = world.neighbors
        return np.sort(farthest_states(graph.indptr, graph.indices, int(rng.integers(world.n_states)), n))
    return np.sort(rng.choice(world.n_states, n, replace=False))


@one_blas_thread()
def extend_to(world: WorldLike, scores: ArrayLike, observations: ArrayLike) -> NDArray[np.float64]:
    """Return the score at observations that need not be states: exact at every state, smooth between them.

    Radial functions through the 32 states nearest to each observation, ``|x − x_i|`` plus a constant, which pass
    through every state's own score and need no width. Far from every state the result means little.

    Parameters
    ----------
    world : World
        Whose states carry observations, as `World.from_samples` makes them.
    scores : array, shape (n_states,)
    observations : array, shape (n, dimensions) or (dimensions,)

    Returns
    -------
    array of float, shape (n,)

    Examples
    --------
    >>> import numpy as np, farpoint as fp
    >>> points = np.random.default_rng(0).uniform(size=(2000, 2))
    >>> world = fp.World.from_samples(points, n_states=200)
    >>> scores = fp.score(world, t=4)
    >>> bool(np.abs(fp.diffusion.extend_to(world, scores, world.observations) - scores).max() < 1e-8)
    True
    """
    world = as_world(world)
    from scipy.interpolate import RBFInterpolator

    scale = 1.0 if world.scale is None else world.scale
    points = check_observations(world, observations) / scale
    values = real_numbers("scores", scores)
    if values.shape != (world.n_states,) or not np.isfinite(values).all():
        raise InvalidInput(f"scores must have one finite entry per state ({world.n_states}); got shape {values.shape}.")
    known: Any = world.observations / scale  # type: ignore[operator]
    between = RBFInterpolator(known, values, neighbors=min(_NEAREST, world.n_states), kernel="linear", degree=0)
    # A score is never negative; a function through scores near zero may dip below.
    return np.asarray(np.clip(between(points), min(0.0, float(values.min())), None), dtype=np.float64)


@compiled(nogil=True)
def walk_ends(
    indptr: NDArray[Any],
    indices: NDArray[Any],
    weights: NDArray[np.float64],
    stay: NDArray[np.float64],
    leave: NDArray[np.float64],
    sources: NDArray[np.int64],
    t: int,
    cutoff: float,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
    """Return the columns Wᵗe_s of the sources as one compressed matrix: pointers, states, probabilities.

    Mass below ``cutoff`` is dropped where it stands.
    """
    n_states = indptr.size - 1
    now, then = np.zeros(n_states), np.zeros(n_states)
    mark = np.zeros(n_states, dtype=np.int32)
    states = np.empty(n_states + 1, dtype=np.int32)
    pointers = np.zeros(sources.size + 1, dtype=np.int64)
    ends, values = np.empty(_FIRST_ROOM, dtype=np.int32), np.empty(_FIRST_ROOM)
    filled = 0
    for number in range(sources.size):
        begin = sources[number]
        states[0], mark[begin], now[begin] = begin, number + 1, 1.0
        size = 1
        for _ in range(t):
            size, _ = advance(indptr, indices, weights, stay, leave, cutoff, states, size, mark, number + 1, now, then)
            now, then = then, now
        if filled + size > ends.size:
            room = max(2 * ends.size, filled + size)
            more_ends, more_values = np.empty(room, dtype=np.int32), np.empty(room)
            more_ends[:filled], more_values[:filled] = ends[:filled], values[:filled]
            ends, values = more_ends, more_values
        for i in range(size):
            u = states[i]
            if now[u] > cutoff:
                ends[filled], values[filled] = u, now[u]
                filled += 1
            now[u] = 0.0
        pointers[number + 1] = filled
    return pointers, ends[:filled].copy(), values[:filled].copy()


@compiled()
def farthest_states(indptr: NDArray[Any], indices: NDArray[Any], first: int, n_points: int) -> NDArray[np.int64]:
    """Return states, each as many moves as possible from those before it.

    A search from a new state stops where an earlier one is nearer, so all of them together visit each state a few
    times only.
    """
    n_states = indptr.size - 1
    distance = np.full(n_states, n_states, dtype=np.int64)
    queue = np.empty(n_states, dtype=np.int64)
    chosen = np.empty(n_points, dtype=np.int64)
    state = first
    for number in range(n_points):
        chosen[number] = state
        distance[state] = 0
        queue[0] = state
        begin, end = 0, 1
        while begin < end:
            u = queue[begin]
            begin += 1
            for entry in range(indptr[u], indptr[u + 1]):
                v = indices[entry]
                if distance[v] > distance[u] + 1:
                    distance[v] = distance[u] + 1
                    queue[end] = v
                    end += 1
        state = int(distance.argmax())
    return chosen
