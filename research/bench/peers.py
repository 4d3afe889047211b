"""The programs that are measured: ways to compute the score, ours and those of other packages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.sparse import csr_matrix

from farpoint.diffusion import lazy_walk, normalized_laplacian, score, stationary
from farpoint.worlds import World

Scorer = Callable[[World, int], NDArray[np.float64]]

_COLUMNS_AT_ONCE = 256


@dataclass(frozen=True)
class Peer:
    """A way to score all states.

    Attributes
    ----------
    name, title : str
    run : function of a world and t
    bytes_of : function of the number of states
        Roughly the memory that it needs, so that it is not run on worlds that are too large for it.
    exact : bool
        Whether it computes f_t up to rounding.
    power : float
        Its time grows at least like n^``power``.
    """

    name: str
    title: str
    run: Scorer
    bytes_of: Callable[[int], float]
    exact: bool
    power: float = 1.0


def _exact(world: World, t: int) -> NDArray[np.float64]:
    return np.asarray(score(world, t, "local"))


def _to_a_thousandth(world: World, t: int) -> NDArray[np.float64]:
    return np.asarray(score(world, t, "local", tolerance=1e-3))


def _probes(world: World, t: int) -> NDArray[np.float64]:
    return np.asarray(score(world, t, "probes"))


def dense_eigh(world: World, t: int) -> NDArray[np.float64]:
    """Return f_t by Eq. 1 from all eigenvectors of the dense normalized Laplacian."""
    nu, psi = linalg.eigh(normalized_laplacian(world).toarray(), overwrite_a=True)
    root = np.sqrt(np.asarray(world.adjacency.sum(axis=1)))
    # Wᵗe_s − π = D^½ Σ_{i≥2} ω_iᵗ ψ_i ψ_i(s) / √d(s)
    spread = root[:, None] * ((psi[:, 1:] * (1.0 - nu[1:] / 2.0) ** t) @ psi[:, 1:].T)
    return np.asarray((spread**2).sum(axis=0) / root**2)


def sparse_powers(world: World, t: int) -> NDArray[np.float64]:
    """Return f_t by Proposition 2 from Wᵗ, one sparse product after another."""
    walk = lazy_walk(world)
    power = walk
    for _ in range(t - 1):
        power = power @ walk
    pi = stationary(world)
    # ‖p − π‖² = ‖p‖² − 2 p·π + ‖π‖²
    squares = power.power(2).sum(axis=0)
    return np.asarray(squares - 2.0 * (power.T @ pi) + pi @ pi)


def pygsp_heat(world: World, t: int) -> NDArray[np.float64]:
    """Return ‖D^½ (e^{−tN/2} − ψ₁ψ₁ᵀ) D^-½ e_s‖² from PyGSP's heat filter: (1 − ν/2)ᵗ is near e^{−tν/2}, not equal."""
    from pygsp import filters, graphs

    graph = graphs.Graph(csr_matrix(world.adjacency.copy()), lap_type="normalized")
    graph.estimate_lmax()
    heat = filters.Heat(graph, scale=t / 2.0 * graph.lmax)
    root = np.sqrt(np.asarray(world.adjacency.sum(axis=1)))
    pi = stationary(world)[:, None]
    squares = np.empty(world.n_states)
    for first in range(0, world.n_states, _COLUMNS_AT_ONCE):
        last = min(first + _COLUMNS_AT_ONCE, world.n_states)
        deltas = np.zeros((world.n_states, last - first))
        deltas[np.arange(first, last), np.arange(last - first)] = 1.0
        kernels = np.asarray(heat.filter(deltas, method="chebyshev")).reshape(world.n_states, -1)
        squares[first:last] = ((root[:, None] * kernels / root[first:last] - pi) ** 2).sum(axis=0)
    return squares


def simpleoptions_score(world: World, t: int) -> NDArray[np.float64]:
    """Return the score as the diffusion option generator of simpleoptions computes it."""
    from simpleoptions.implementations.diffusion_options import DiffusionOptionGenerator

    generator = DiffusionOptionGenerator.__new__(DiffusionOptionGenerator)
    generator.time_scale = t
    adjacency = world.adjacency.toarray()
    pieces = generator._compute_eigendecomp(np.diag(adjacency.sum(axis=1)), adjacency)
    return np.asarray(generator.compute_f(*pieces))


def strict_maxima(world: World, scores: NDArray[np.float64]) -> int:
    """Return how many states are higher than all of their neighbors: what simpleoptions takes for its goals."""
    matrix = world.adjacency
    highest = np.maximum.reduceat(scores[matrix.indices], matrix.indptr[:-1])
    return int((scores > highest).sum())


PEERS = {
    peer.name: peer
    for peer in (
        Peer("farpoint", "Farpoint, exact", _exact, lambda n: 300.0 * n, True),
        Peer("thousandth", "Farpoint, to 0.1 %", _to_a_thousandth, lambda n: 300.0 * n, False),
        Peer("probes", "Farpoint, 256 probes", _probes, lambda n: 600.0 * n, False),
        Peer("powers", "scipy, sparse powers", sparse_powers, lambda n: 900.0 * n, True),
        Peer("eigh", "dense eigh", dense_eigh, lambda n: 40.0 * n**2, True, 3.0),
        Peer("pygsp", "PyGSP, heat filter", pygsp_heat, lambda n: 8.0 * 10 * _COLUMNS_AT_ONCE * n, False, 2.0),
        Peer("simpleoptions", "simpleoptions", simpleoptions_score, lambda n: 100.0 * n**2, False, 3.0),
    )
}
