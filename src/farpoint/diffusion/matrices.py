"""The matrices and the stationary distribution of a world's lazy walk, written out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array, eye_array

from farpoint.blas import one_blas_thread
from farpoint.diffusion.walk import Walk, check_polar
from farpoint.worlds import WorldLike


@one_blas_thread()
def lazy_walk(world: WorldLike) -> csr_array:
    """Return the matrix of the lazy random walk, W = ½ (I + M D⁻¹), columns "from".

    In a state without moves the walk stays. The columns of the result sum to one. Restarts are written out here, which
    takes states × starts entries.

    Paper: Algorithm 1 prints ½ (I − M D⁻¹).
    Here: plus, as in the text and the supplement, because only that is a walk.

    Returns
    -------
    sparse matrix, shape (n_states, n_states)

    Examples
    --------
    >>> import farpoint as fp
    >>> fp.diffusion.lazy_walk(fp.grid((3,))).toarray()
    array([[0.5 , 0.25, 0.  ],
           [0.5 , 0.5 , 0.5 ],
           [0.  , 0.25, 0.5 ]])
    """
    walk = Walk.of(world)
    return csr_array(diags_array(walk.stay) + walk.weights().T @ diags_array(walk.leave))


@one_blas_thread()
def stationary(world: WorldLike) -> NDArray[np.float64]:
    """Return the stationary distribution π₀ of the lazy walk: the share of time a long walk spends in each state.

    In a symmetric world π₀(s) = d(s) / Σ d. Elsewhere it solves W π₀ = π₀ on the one set of states that the walk
    cannot leave, and is zero outside that set.

    Raises
    ------
    NotConnected
        If the walk can end in several sets of states, so that π₀ depends on the start.

    Examples
    --------
    >>> import farpoint as fp
    >>> fp.stationary(fp.grid((3,)))
    array([0.25, 0.5 , 0.25])
    """
    return Walk.of(world).pi


@one_blas_thread()
def normalized_laplacian(world: WorldLike) -> csr_array:
    """Return the normalized Laplacian, N = I − D^-½ M D^-½, with D the weight that enters each state.

    Paper: the supplement prints D^-½ (I − M) D^-½.
    Here: D^-½ (D − M) D^-½, because only that has the eigenvalues ν = 2 (1 − ω).

    Raises
    ------
    InvalidInput
        If some state is entered by no move (it would be divided by zero).

    Examples
    --------
    >>> import farpoint as fp
    >>> fp.diffusion.normalized_laplacian(fp.grid((2,))).toarray()
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    walk = Walk.of(world)
    check_polar(walk)
    scale = diags_array(walk.entering**-0.5)
    return csr_array(eye_array(walk.n_states) - scale @ walk.weights().T @ scale)
