"""Diffusion distance, diffusion maps, difficulty, and the bound of Proposition 2."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from farpoint.blas import one_blas_thread
from farpoint.diffusion.graphs import dense_power, squaring_seconds
from farpoint.diffusion.spectral import Spectrum, check_decomposition, walk_spectrum
from farpoint.diffusion.walk import Walk
from farpoint.errors import InvalidInput, check_integer, check_memory, check_time, check_word
from farpoint.worlds import World, WorldLike, as_world

NORMS = ("plain", "weighted")
_COLUMNS_AT_ONCE = 256
# One move of one walk on one core.
_SECONDS_PER_MOVE = 2.5e-9


def _symmetric_walk(world: World, what: str) -> Walk:
    walk = Walk.of(world)
    if not walk.symmetric:
        raise InvalidInput(f"world must be symmetric for {what}; got {world!r}.")
    return walk


@one_blas_thread()
def distributions(
    world: WorldLike, t: float, states: NDArray[np.int64], decomposition: Spectrum | None = None
) -> NDArray[np.float64]:
    """Return the distributions p_t = Wᵗe_s of the lazy walk after t steps from each of ``states``, one per column.

    Examples
    --------
    >>> import numpy as np, farpoint as fp
    >>> distributions(fp.grid((3,)), 1, np.array([0]))[:, 0]
    array([0.5, 0.5, 0. ])
    """
    world = as_world(world)
    t, states = check_time(t), world.check_states("states", states)
    check_memory("states", f"{states.size} of {world.n_states}", 16 * states.size * world.n_states)
    if decomposition is not None:
        check_decomposition(Walk.of(world), decomposition, "auto")
    elif t.is_integer():
        walk = Walk.of(world)
        if squaring_seconds(walk, int(t)) < _SECONDS_PER_MOVE * walk.n_moves * states.size * t:
            return np.asarray(dense_power(walk, int(t))[:, states] + walk.pi[:, None])
        walk = walk.written_out()
        columns = np.zeros((world.n_states, states.size))
        columns[states, np.arange(states.size)] = 1.0
        for _ in range(int(t)):
            columns = walk.forward(columns)
        return columns
    walk = _symmetric_walk(world, "a fraction of t")
    spectrum = decomposition if decomposition is not None else walk_spectrum(walk)
    # p_t = Σ_i ω_iᵗ φ_i(s) φ̃_i
    return np.asarray(spectrum.phi_tilde @ (spectrum.phi[states] * spectrum.powers(t)).T)


@one_blas_thread()
def diffusion_distance(world: WorldLike, state: int, t: float = 4, *, norm: str = "plain") -> NDArray[np.float64]:
    """Return the diffusion distance D_t(s, ·) from ``state`` s to every state.

    ``"plain"`` is the paper's section 2.2, ‖p_t^(s) − p_t^(s′)‖. ``"weighted"`` divides each squared difference by π₀,
    the classical form, and equals the Euclidean distance of `diffusion_map`.

    Paper: the supplement writes D_t² = Σ ω^{2t} (φ̃(s) − φ̃(s′))² and the plain norm.
    Here: that sum is exact with φ in place of φ̃ and for the weighted norm, so each norm is computed by its definition.

    Examples
    --------
    >>> import farpoint as fp
    >>> fp.diffusion_distance(fp.grid((4,)), 0, t=1).round(3)
    array([0.   , 0.354, 0.791, 1.   ])
    """
    world = as_world(world)
    state = check_integer("state", state, 0, world.n_states - 1)
    t = check_time(t)
    check_word("norm", norm, NORMS)
    spectrum = None if t.is_integer() else walk_spectrum(_symmetric_walk(world, "a fraction of t"))
    scale: NDArray[np.float64] | float = 1.0
    if norm == "weighted":
        pi = Walk.of(world).pi
        if not pi.all():
            raise InvalidInput(
                f"every state must be visited in the long run for norm='weighted'; got {(pi == 0).sum()} that are not. "
                "Use norm='plain'."
            )
        scale = 1.0 / np.sqrt(pi)[:, None]
    here = distributions(world, t, np.array([state]), spectrum)
    distances = np.empty(world.n_states)
    for first in range(0, world.n_states, _COLUMNS_AT_ONCE):
        block = np.arange(first, min(first + _COLUMNS_AT_ONCE, world.n_states))
        difference = (distributions(world, t, block, spectrum) - here) * scale
        distances[block] = np.linalg.norm(difference, axis=0)
    return distances


@one_blas_thread()
def diffusion_map(world: WorldLike, t: float = 4, n_components: int | None = None) -> NDArray[np.float64]:
    """Return coordinates in which Euclidean distance is the weighted diffusion distance.

    Coordinate i of state s is ω_iᵗ φ_i(s) √vol for i ≥ 2, vol the sum of all degrees; with all components the distance
    is exact, with the leading ones it is the best approximation of that dimension.

    Paper: the supplement prints φ̃. Here: φ, because with φ̃ the distances do not agree.

    Parameters
    ----------
    world : World
        A symmetric world.
    t : float
    n_components : int, optional
        How many coordinates; default all n_states − 1.

    Returns
    -------
    array, shape (n_states, n_components)

    Examples
    --------
    >>> import farpoint as fp
    >>> fp.diffusion.diffusion_map(fp.ring(), t=4, n_components=2).shape
    (192, 2)
    """
    world = as_world(world)
    t = check_time(t)
    walk = _symmetric_walk(world, "a diffusion map")
    if n_components is not None:
        n_components = check_integer("n_components", n_components, 1, world.n_states - 1)
    spectrum = walk_spectrum(walk, None if n_components is None else n_components + 1)
    return np.asarray((spectrum.phi * spectrum.powers(t))[:, 1:] * np.sqrt(spectrum.degrees.sum()))


@one_blas_thread()
def difficulty(world: WorldLike, *, n_times: int = 100, longest: float = 1000.0) -> float:
    """Return how hard a world is to cross: its number of states times its mean pairwise diffusion distance.

    The mean is over all ordered pairs of states and over ``n_times`` evenly spaced t from 1 to ``longest``
    (section 4.4).

    Paper: prints 13.6 (Ring), 20.5 (Maze) and 8.6 (4Rooms).
    Here: the constant cannot be recovered from the text; the order Maze > Ring > 4Rooms holds.

    Examples
    --------
    >>> import farpoint as fp
    >>> fp.difficulty(fp.maze()) > fp.difficulty(fp.ring()) > fp.difficulty(fp.four_rooms())
    True
    """
    world = as_world(world)
    from scipy.spatial.distance import pdist

    n_times = check_integer("n_times", n_times, 1)
    check_memory("n_times", n_times, 8 * n_times)
    check_time(longest)
    spectrum = walk_spectrum(_symmetric_walk(world, "difficulty"))
    n_states = world.n_states
    everywhere = np.arange(n_states)
    total = 0.0
    for t in np.linspace(1.0, longest, n_times):
        total += 2.0 * pdist(distributions(world, t, everywhere, spectrum).T).sum()
    return float(n_states * total / (n_states**2 * n_times))


@one_blas_thread()
def score_bound(world: WorldLike, t: float = 4) -> NDArray[np.float64]:
    """Return the upper bound of Proposition 2 on f_t: ω₂^{2t} (1 / π₀(s) − 1).

    Examples
    --------
    >>> import farpoint as fp
    >>> world = fp.four_rooms()
    >>> bool((fp.score(world, t=4) <= fp.diffusion.score_bound(world, t=4)).all())
    True
    """
    world = as_world(world)
    t = check_time(t)
    walk = _symmetric_walk(world, "the bound of Proposition 2")
    omega_2 = walk_spectrum(walk, 2).omega[1]
    return np.asarray(omega_2 ** (2 * t) * (1.0 / walk.pi - 1.0))
