"""How near learned eigenfunctions are to the true ones of a world."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from farpoint.deep.eigenfunctions.data import observations_of, reversible_weights
from farpoint.diffusion import Spectrum, spectrum
from farpoint.errors import InvalidInput
from farpoint.worlds import World

if TYPE_CHECKING:
    from farpoint.deep.eigenfunctions.functions import Eigenfunctions

# Eigenvalues nearer than this are one eigenvalue that is repeated.
_SAME = 1e-8
# Components computed beyond those asked for, so that the last eigenspace is whole.
_SPARE = 12


def cosine_similarities(functions: Eigenfunctions | NDArray[Any], world: World) -> NDArray[np.float64]:
    """Return |cos| between each learned function and the true eigenspace of its place; the mean is what is reported.

    The true ones are the eigenfunctions φ of the walk (`spectrum`), orthonormal under π₀, and that is the inner product
    of the cosine too. In a world that is not symmetric they are those of the stationary walk averaged with its
    reverse, which is what transitions show a learner (see `learn_eigenfunctions`). Where ω is repeated its eigenvectors
    are any basis of the eigenspace: the cosine is then that of the angle between the function and the whole
    eigenspace. This does not ask that functions of one eigenspace are orthogonal to each other; the learned are,
    unless ``rayleigh_ritz=False``.

    Parameters
    ----------
    functions : Eigenfunctions, or array of shape (n_states, n_functions)
        In the order of ω, the constant first.
    world : World

    Returns
    -------
    array of float, shape (n_functions,)

    Examples
    --------
    >>> import farpoint as fp
    >>> ring = fp.ring()
    >>> fp.cosine_similarities(fp.spectrum(ring).phi[:, :5], ring).round(6)
    array([1., 1., 1., 1., 1.])
    """
    values = np.asarray(functions if isinstance(functions, np.ndarray) else functions.phi(observations_of(world)))
    if values.ndim != 2 or len(values) != world.n_states or not 1 <= values.shape[1] <= world.n_states:
        raise InvalidInput(
            f"functions must have a row for each of {world.n_states} states and at most as many columns; got shape "
            f"{values.shape}."
        )
    true, mass = true_eigenfunctions(world, values.shape[1])
    place = np.cumsum(np.diff(true.omega, prepend=true.omega[0]) < -_SAME)
    size = np.sqrt(mass @ values**2)
    # Orthonormal ψ = √π₀ φ turn the weighted inner product into the plain one.
    shares = (true.psi.T @ (np.sqrt(mass)[:, None] * values)) / np.where(size > 0, size, 1.0)
    cosines = [np.linalg.norm(shares[place == place[number], number]) for number in range(values.shape[1])]
    return np.array(cosines)


def true_eigenfunctions(world: World, n_functions: int) -> tuple[Spectrum, NDArray[np.float64]]:
    """Return the spectrum of what is learned from a world, its last eigenspace whole, and the mass of each state."""
    weights = reversible_weights(world)
    mass = np.asarray(weights.sum(axis=1))
    if (mass <= 0).any():
        raise InvalidInput(
            f"world must be one in which a walk comes back to every state; got {int((mass <= 0).sum())} that it leaves "
            "for ever."
        )
    graph = world if world.walker.symmetric else World.from_graph(csr_array(weights), name=world.name)
    return spectrum(graph, min(world.n_states, n_functions + _SPARE)), mass
