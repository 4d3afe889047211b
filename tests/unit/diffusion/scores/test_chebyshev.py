"""The lazy walk as a sum of Chebyshev polynomials."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from farpoint.diffusion.scores.chebyshev import Expansion


@pytest.mark.parametrize("t", [1, 2, 3, 17, 60])
def test_coefficients_are_those_of_numpy(t: int) -> None:
    power = np.array([1.0])
    for _ in range(t):
        power = chebyshev.chebmul(power, [0.5, 0.5])
    np.testing.assert_allclose(Expansion.to(t, 0.0).coefficients, power, rtol=1e-12)


@pytest.mark.parametrize("t", [1, 5, 100, 10_000, 1_000_000])
@pytest.mark.parametrize("error", [0.3, 1e-4, 1e-12])
def test_it_is_the_shortest_sum_that_leaves_out_little_enough(t: int, error: float) -> None:
    short = Expansion.to(t, error)
    assert short.left_out <= error
    assert short.coefficients.sum() + short.left_out == pytest.approx(1.0, abs=1e-14)
    if short.degree > 1:
        assert short.left_out + short.coefficients[-1] > error
    assert short.degree <= min(t, 8 * np.sqrt(t))


@pytest.mark.parametrize("error", [0.2, 1e-3, 1e-8, 0.0])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_the_bound_holds_on_any_graph(error: float, kind: type) -> None:
    for seed in range(5):
        adjacency = nx.to_numpy_array(nx.connected_watts_strogatz_graph(40, 4, 0.5, seed=seed))
        degrees = adjacency.sum(axis=1)
        walk = adjacency / degrees[:, None]
        t = 30
        expansion = Expansion.to(t, error)
        # Of p / d, by rows; each vector begins in one state.
        before: NDArray[Any] = np.diag(1.0 / degrees).astype(kind)
        now: NDArray[Any] = (walk @ np.diag(1.0 / degrees)).astype(kind)
        total = (expansion.coefficients[0] * before + expansion.coefficients[1] * now).astype(kind)
        for coefficient in expansion.coefficients[2:].astype(kind):
            before, now = now, (2 * walk.astype(kind)) @ now - before
            total += coefficient * now
        exact = np.diag(degrees) @ np.linalg.matrix_power(0.5 * (np.eye(40) + walk), t) @ np.diag(1.0 / degrees)
        found = np.linalg.norm(np.diag(degrees) @ total - exact, axis=0)
        assert (found <= expansion.error(degrees, degrees.max(), float(np.finfo(kind).epsneg)) + 1e-15).all()
