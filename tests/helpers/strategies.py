"""What hypothesis draws worlds from."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray


@st.composite
def connected_weights(draw: st.DrawFn, most: int = 60, weighted: bool = True) -> NDArray[np.float64]:
    """The symmetric weights of a connected graph: a random tree and some more edges."""
    n = draw(st.integers(2, most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    weights = np.zeros((n, n))
    for node in range(1, n):
        weights[node, rng.integers(node)] = 1.0
    more = draw(st.integers(0, 3 * n))
    ends = rng.integers(n, size=(more, 2))
    weights[ends[:, 0], ends[:, 1]] = 1.0
    if weighted and draw(st.booleans()):
        weights *= rng.uniform(0.01, 10.0, size=weights.shape)
    weights = weights + weights.T
    np.fill_diagonal(weights, 0.0)
    return weights
