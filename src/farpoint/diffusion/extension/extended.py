"""Out-of-sample extension: the score of every state from a sample of them (section 3.2, supplement E).

`extend` works on a world whose graph is known, where only some columns of the walk are computed; `extend_to` goes from
the states of a world made of samples to observations that are not among them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from farpoint.blas import one_blas_thread
from farpoint.diffusion.extension.landmarks import default_tau
from farpoint.diffusion.extension.lowrank import Columns, LowRank, affordable_tau, columns_of, low_rank, positive_part
from farpoint.diffusion.scores.local import StateScores
from farpoint.diffusion.scores.result import Scores
from farpoint.diffusion.spectra.decomposition import DENSE_LIMIT
from farpoint.diffusion.walk import Walk
from farpoint.errors import InvalidInput, check_integer, check_time, check_word
from farpoint.worlds import World, WorldLike, as_world
from farpoint.worlds.arrays import real_numbers
from farpoint.worlds.samples import check_observations

EXTENSIONS = ("nystrom", "harmonics")
_N_CHECKS = 256
# From here on the walks of the checks are followed to a relative error of 1e-4 instead of exactly.
_LONG_WALK = 30
# Geometric harmonics that the sample determines worse than this are left out (Coifman and Lafon's condition number).
_HARMONICS_LEAST = 1e-4
_NEAREST = 32
# Squares of shares that are rounding.
_NOTHING = 1e-16


class ExtendedScores(Scores):
    """g_t of every state: an array of floats with a record of which states it was extended from, and how.

    Attributes
    ----------
    t : float
    method : str
        ``"nystrom"`` or ``"harmonics"``.
    tau : int
        Length of the walks from the sample.
    rank : int
        Components that were kept.
    sample : array of int
        The states it was extended from.
    error_estimate : float
        Root mean square of g_t − f_t over the states outside the sample, estimated from 256 of them drawn at random
        (all of them where there are fewer: then it is exact), whose walks were followed. NaN for a fraction of t.
        Compare it with the standard deviation of the scores: where it is as large, the extension is useless.

    Examples
    --------
    >>> import farpoint as fp
    >>> world = fp.four_rooms()
    >>> scores = fp.extend(world, fp.diffusion.choose_landmarks(world, 52), t=4)
    >>> scores.method, scores.tau, len(scores.sample)
    ('nystrom', 24, 52)
    """

    method: str = "unknown"
    tau: int = 0
    rank: int = 0
    error_estimate: float = float("nan")
    sample: NDArray[np.int64] | None = None


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
) -> ExtendedScores:
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
    rescued by anything; ``error_estimate`` is then as large as the spread of the scores.

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
    ExtendedScores
        An array of shape (n_states,) with ``t``, ``method``, ``tau``, ``rank``, ``sample`` and ``error_estimate``.

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
    >>> bool(scores.error_estimate < 0.3 * scores.std())
    True
    """
    world = as_world(world)
    walk = Walk.of(world)
    t = check_time(t)
    method = check_word("method", method, EXTENSIONS)
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
    return ExtendedScores.of(
        values,
        t=t,
        solver=method,
        form="walk",
        reason=f"extended from {states.size} of {world.n_states} states by {method}, τ = {tau}, {kept} components",
        method=method,
        tau=tau,
        rank=kept,
        sample=states,
        error_estimate=_error_estimate(walk, t, states, values),
    )


def _affordable_tau(walk: Walk, states: NDArray[np.int64], method: str, tau: int | None) -> int:
    if tau is None:
        wanted = default_tau(walk.n_states, states.size)
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
    held = leading.row_squares(np.ones(leading.omega.size), n_jobs) + columns.first**2
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
    return StateScores(walk, int(t), 1e-4 if t > _LONG_WALK else None).at(states)[0]


def _error_estimate(walk: Walk, t: float, sample: NDArray[np.int64], values: NDArray[np.float64]) -> float:
    if not t.is_integer():
        return float("nan")
    outside = np.ones(walk.n_states, dtype=bool)
    outside[sample] = False
    others = np.flatnonzero(outside) if outside.any() else sample
    if others.size > _N_CHECKS:
        others = np.sort(np.random.default_rng(0).choice(others, _N_CHECKS, replace=False))
    return float(np.sqrt(np.mean((values[others] - _true_scores(walk, t, others)) ** 2)))


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

    points = check_observations(world, observations)
    values = real_numbers("scores", scores)
    if values.shape != (world.n_states,) or not np.isfinite(values).all():
        raise InvalidInput(f"scores must have one finite entry per state ({world.n_states}); got shape {values.shape}.")
    known: Any = world.observations
    between = RBFInterpolator(known, values, neighbors=min(_NEAREST, world.n_states), kernel="linear", degree=0)
    # A score is never negative; a function through scores near zero may dip below.
    return np.asarray(np.clip(between(points), min(0.0, float(values.min())), None), dtype=np.float64)
