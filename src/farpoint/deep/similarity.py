"""How close approximate eigenfunctions are to the exact ones of a world."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from farpoint.blas import one_blas_thread
from farpoint.diffusion.spectral import Spectrum, spectrum
from farpoint.diffusion.walk import Walk
from farpoint.errors import InvalidInput
from farpoint.worlds import World, WorldLike, as_world
from farpoint.worlds.arrays import real_numbers

# Eigenvalues that differ by less than this are treated as one repeated eigenvalue.
_SAME = 1e-8
# Extra eigenpairs to compute, so that the last eigenspace is complete.
_SPARE = 12


class FunctionsOfObservations(Protocol):
    """Anything that gives the values of several functions at observations, such as `Eigenfunctions`."""

    def phi(self, observations: Any) -> NDArray[np.float64]:
        """Return the values, shape (n_observations, n_functions)."""


@one_blas_thread()
def cosine_similarities(functions: FunctionsOfObservations | NDArray[Any], world: WorldLike) -> NDArray[np.float64]:
    """Return ``|cos|`` of the angle between each function and the exact eigenspace at the same position.

    The exact eigenfunctions are the φ of the walk (`spectrum`), which are orthonormal under π₀; the cosine uses the
    same inner product. In a world that is not symmetric they are the eigenfunctions of the stationary walk averaged
    with its reverse, which is what `learn_eigenfunctions` learns. Where ω is repeated, any basis of the eigenspace is
    valid, so the cosine is that of the angle between the function and the whole eigenspace. Functions of one
    eigenspace are not required to be orthogonal to each other.

    Parameters
    ----------
    functions : array of shape (n_states, n_functions), or object with a method ``phi(observations)``
        In descending order of ω, the constant function first. An object is evaluated at `observations_of` the world.
    world : World

    Returns
    -------
    array of float, shape (n_functions,)

    Raises
    ------
    InvalidInput
        If the shape does not match the world, or the walk never returns to some of its states.

    Examples
    --------
    >>> import farpoint as fp
    >>> ring = fp.ring()
    >>> fp.deep.cosine_similarities(fp.spectrum(ring).phi[:, :5], ring).round(6)
    array([1., 1., 1., 1., 1.])
    """
    world = as_world(world)
    if not isinstance(functions, np.ndarray) and callable(getattr(functions, "phi", None)):
        functions = functions.phi(observations_of(world))
    values = real_numbers("functions", functions)  # type: ignore[arg-type]
    if values.ndim != 2 or len(values) != world.n_states or not 1 <= values.shape[1] <= world.n_states:
        raise InvalidInput(
            f"functions must have a row for each of {world.n_states} states and at most as many columns; got shape "
            f"{values.shape}."
        )
    exact, mass = exact_eigenfunctions(world, values.shape[1])
    eigenspace = np.cumsum(np.diff(exact.omega, prepend=exact.omega[0]) < -_SAME)
    size = np.sqrt(mass @ values**2)
    # Orthonormal ψ = √π₀ φ turn the weighted inner product into the plain one.
    components = (exact.psi.T @ (np.sqrt(mass)[:, None] * values)) / np.where(size > 0, size, 1.0)
    cosines = [
        np.linalg.norm(components[eigenspace == eigenspace[number], number]) for number in range(values.shape[1])
    ]
    return np.array(cosines)


@one_blas_thread()
def exact_eigenfunctions(world: World, n_functions: int) -> tuple[Spectrum, NDArray[np.float64]]:
    """Return the leading spectrum of `reversible_weights`, its last eigenspace complete, and their row sums.

    >>> import farpoint as fp
    >>> exact, mass = exact_eigenfunctions(fp.grid((3,)), 2)
    >>> exact.omega.round(6) + 0.0, mass
    (array([1. , 0.5, 0. ]), array([0.25, 0.5 , 0.25]))
    """
    weights = reversible_weights(world)
    mass = np.asarray(weights.sum(axis=1))
    if (mass <= 0).any():
        raise InvalidInput(
            f"world must be one in which the walk returns to every state; got {int((mass <= 0).sum())} states that it "
            "leaves and never enters again."
        )
    graph = world if Walk.of(world).symmetric else World.from_graph(csr_array(weights), name=world.name)
    return spectrum(graph, min(world.n_states, n_functions + _SPARE)), mass


def observations_of(world: World) -> NDArray[Any]:
    """Return what an agent observes in each state: the world's observations, else positions, else state numbers.

    >>> import farpoint as fp
    >>> observations_of(fp.grid((3,))).tolist()
    [[0], [1], [2]]
    """
    if world.observations is not None:
        return np.asarray(world.observations)
    return np.arange(world.n_states) if world.positions is None else np.asarray(world.positions)


@one_blas_thread()
def reversible_weights(world: World) -> csr_array:
    """Return J, the joint distribution of a step (s, s′) of the stationary walk, averaged with its reverse.

    The walk is the one without laziness. In a symmetric world J is proportional to the adjacency, and its row sums are
    π₀ everywhere.

    >>> import farpoint as fp
    >>> reversible_weights(fp.grid((3,))).toarray()
    array([[0.  , 0.25, 0.  ],
           [0.25, 0.  , 0.25],
           [0.  , 0.25, 0.  ]])
    """
    walk = Walk.of(world)
    if walk.symmetric:
        return csr_array(walk.moves / walk.moves.sum())
    flow = diags_array(2.0 * walk.pi * walk.leave) @ walk.weights()
    return csr_array(0.5 * (flow + flow.T))
