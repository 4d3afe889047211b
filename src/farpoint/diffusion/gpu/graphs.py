"""Scores of a graph on a GPU: the distributions of a block of states, as rows of a sparse matrix, step by step."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from farpoint.diffusion.gpu.device import cupy
from farpoint.diffusion.walk import Walk
from farpoint.errors import InvalidInput

_STATES_PER_BLOCK = 1 << 16


def score_graph(walk: Walk, t: int, states_per_block: int = _STATES_PER_BLOCK) -> NDArray[np.float64]:
    """Return f_t of every state of a walk without restarts, computed on the GPU.

    Examples
    --------
    >>> import farpoint as fp
    >>> score_graph(fp.diffusion.Walk.of(fp.grid((3,))), 2)  # doctest: +SKIP
    array([0.03125, 0.     , 0.03125])
    """
    xp = cupy()
    import cupyx.scipy.sparse as sparse

    if walk.jumps is not None:
        raise InvalidInput("device must be 'cpu' for a world with episodes; got 'gpu'.")
    step = sparse.csr_matrix(step_matrix(walk))
    pi = xp.asarray(walk.pi)
    scores = np.empty(walk.n_states)
    for first in range(0, walk.n_states, states_per_block):
        last = min(first + states_per_block, walk.n_states)
        rows = step[first:last]
        for _ in range(t - 1):
            rows = rows @ step
        squares = rows.multiply(rows).sum(axis=1).ravel()
        scores[first:last] = xp.asnumpy(squares - 2.0 * (rows @ pi) + walk.pi_squared)
    return scores


def step_matrix(walk: Walk) -> csr_array:
    """Return the probability of going from each state (rows) to each other in one step.

    >>> import farpoint as fp
    >>> step_matrix(Walk.of(fp.grid((3,)))).toarray()
    array([[0.5 , 0.5 , 0.  ],
           [0.25, 0.5 , 0.25],
           [0.  , 0.5 , 0.5 ]])
    """
    return csr_array(diags_array(walk.stay) + diags_array(walk.leave) @ walk.moves)
