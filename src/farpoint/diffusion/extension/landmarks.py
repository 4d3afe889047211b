"""Landmarks: the sampled states from which the score of all states is extended."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from farpoint.blas import one_blas_thread
from farpoint.diffusion.extension.lowrank import affordable_tau, columns_of, low_rank
from farpoint.diffusion.walk import Walk
from farpoint.errors import InvalidInput, check_integer, check_word
from farpoint.worlds import WorldLike, as_world

LANDMARKS = ("farthest", "random", "leverage")
# A pilot sample that is larger makes leverage as dear as the extension itself.
_LARGEST_PILOT = 500


@one_blas_thread()
def choose_landmarks(
    world: WorldLike, n_landmarks: int, method: str = "farthest", *, seed: int = 0
) -> NDArray[np.int64]:
    """Return different states to extend a score from, in ascending order.

    ``"farthest"`` starts from a random state and adds the state that is most moves from all before it; ``"random"``
    draws uniformly; ``"leverage"`` draws by the weight of each state in the leading eigenvectors of the walk, estimated
    from a random pilot sample of at most 500 (symmetric worlds only). Farthest points are the best at small samples;
    leverage costs an extension of its own and is no better than random (``docs/extension.md``).

    Parameters
    ----------
    world : World
    n_landmarks : int
        From 1 to n_states.
    method : {"farthest", "random", "leverage"}
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
    walk = Walk.of(world)
    n = check_integer("n_landmarks", n_landmarks, 1, world.n_states)
    method = check_word("method", method, LANDMARKS)
    rng = np.random.default_rng(check_integer("seed", seed, 0))
    if method == "farthest":
        from farpoint.diffusion.extension.kernels import farthest_states

        graph = world.neighbors
        return np.sort(farthest_states(graph.indptr, graph.indices, int(rng.integers(world.n_states)), n))
    if method == "random":
        return np.sort(rng.choice(world.n_states, n, replace=False))
    weight = _leverage(walk, n, rng)
    return np.sort(rng.choice(world.n_states, n, replace=False, p=weight / weight.sum()))


def _leverage(walk: Walk, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return Σ ψ̂_i(s)² μ_i / (μ_i + λ) of every state, λ the eigenvalue of rank n / 2, plus the constant component."""
    if not walk.symmetric:
        raise InvalidInput(f"world must be symmetric for leverage; got {walk.name}. Use method='farthest'.")
    pilot = np.sort(rng.choice(walk.n_states, min(max(n, 2), _LARGEST_PILOT), replace=False))
    tau = affordable_tau(walk, pilot, default_tau(walk.n_states, pilot.size))
    leading = low_rank(columns_of(walk, pilot, tau))
    mu = leading.omega**tau
    ridge = mu[min(n // 2, mu.size - 1)] if mu.size else 1.0
    # Each state keeps a small chance, so that there are always enough to draw.
    return np.asarray(leading.row_squares(mu / (mu + ridge)) + leading.columns.first**2 + 1e-12)


def default_tau(n_states: int, n_sample: int) -> int:
    """Return the length of the walks: 12 n / m, so that they reach well past the next landmarks.

    In a plane a lazy walk of τ steps spreads by √τ / 2 cells per direction and m landmarks of n states are √(n/m)
    apart: the walk spreads over 1.7 times that distance.
    """
    return max(1, round(12 * n_states / n_sample))
