"""Choices as matrices of moves between states."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from farpoint.worlds import World


def primitive_moves(world: World) -> csr_array:
    """Return the row-stochastic matrix of a random primitive choice, rows "from".

    A choice is taken with probability proportional to its weight: uniformly in worlds without weights.

    Examples
    --------
    >>> import farpoint as fp
    >>> primitive_moves(fp.grid((3,))).toarray()
    array([[0. , 1. , 0. ],
           [0.5, 0. , 0.5],
           [0. , 1. , 0. ]])
    """
    owners = world.choice_states
    weights = np.ones(world.n_choices) if world.weights is None else world.weights
    return move_matrix(world, weights / np.bincount(owners, weights=weights, minlength=world.n_states)[owners])


def move_matrix(world: World, chances: NDArray[np.float64]) -> csr_array:
    """Return the matrix of moves, rows "from", when each choice is taken with the given chance in its own state.

    Examples
    --------
    >>> import numpy as np, farpoint as fp
    >>> move_matrix(fp.grid((3,)), np.array([0.0, 1.0, 0.0, 1.0])).toarray()
    array([[0., 0., 0.],
           [1., 0., 0.],
           [0., 1., 0.]])
    """
    pick = csr_array((chances, np.arange(world.n_choices), world.choice_ptr), shape=(world.n_states, world.n_choices))
    return csr_array(pick @ world.transitions)
