"""Stationary distributions of chains that are nearly in several parts."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array

import farpoint as fp
from farpoint.diffusion.balance import by_elimination, stationary_weights
from farpoint.errors import NotConnected
from tests.helpers.graphs import directed_graph, with_episodes


def two_cycles(n_states: int, there: float, back: float) -> csr_array:
    """Two one-way cycles, the end of each joined to the beginning of the other by a light edge."""
    half = n_states // 2
    begins = np.arange(n_states)
    ends = np.where(begins % half == half - 1, begins - half + 1, begins + 1)
    rows, cols = np.append(begins, [half - 1, n_states - 1]), np.append(ends, [half, 0])
    return csr_array((np.append(np.ones(n_states), [there, back]), (rows, cols)), shape=(n_states, n_states))


@pytest.mark.parametrize("light", [1e-3, 1e-9, 1e-13])
def test_the_lightest_edges_decide(light: float) -> None:
    # What flows over in one step is the same in both directions: π₁ · there = π₂ · back at the two ends, and π is
    # constant along a cycle. So the halves are as back : there, up to the light edges' own share.
    world = fp.World.from_graph(two_cycles(24, 3 * light, light))
    pi = fp.stationary(world)
    assert pi[:12].sum() / pi[12:].sum() == pytest.approx(1 / 3, rel=10 * light + 1e-13)


def test_elimination_is_exact() -> None:
    rng = np.random.default_rng(0)
    chances = np.power(10.0, rng.integers(-12, 0, size=(7, 7))).astype(np.float64)
    exact = [[Fraction(float(value)) for value in row] for row in chances]
    # Kirchhoff: π(s) is proportional to the sum over all trees into s, here by the minors of the exact Laplacian.
    weights = [minor(exact, state) for state in range(7)]
    expected = np.array([float(weight / sum(weights)) for weight in weights])
    np.testing.assert_allclose(by_elimination(chances), expected, rtol=1e-13)


def minor(chances: list[list[Fraction]], left_out: int) -> Fraction:
    """The determinant of the Laplacian without one row and column, in whole fractions."""
    kept = [state for state in range(len(chances)) if state != left_out]
    matrix = [[sum(chances[i]) - chances[i][i] if i == j else -chances[i][j] for j in kept] for i in kept]
    result = Fraction(1)
    for column in range(len(matrix)):
        pivot = matrix[column][column]
        result *= pivot
        for row in range(column + 1, len(matrix)):
            factor = matrix[row][column] / pivot
            matrix[row] = [a - factor * b for a, b in zip(matrix[row], matrix[column], strict=True)]
    return result


def test_large_worlds_that_are_nearly_in_parts_are_refused() -> None:
    with pytest.raises(NotConnected, match="must not fall nearly into parts; got a condition number of"):
        fp.stationary(fp.World.from_graph(two_cycles(1200, 1e-13, 1e-13)))
    assert fp.stationary(fp.World.from_graph(two_cycles(1200, 3e-3, 1e-3))).sum() == pytest.approx(1)


@pytest.mark.parametrize("episodes", [False, True])
def test_elimination_and_factorization_agree(episodes: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    world = directed_graph(3, 200)
    world = with_episodes(world) if episodes else world
    small = fp.stationary(world)
    monkeypatch.setattr("farpoint.diffusion.balance.ELIMINATION_LIMIT", 0)
    np.testing.assert_allclose(fp.stationary(world), small, rtol=1e-10, atol=1e-15)


def test_one_state() -> None:
    none = np.empty((0, 1))
    assert stationary_weights(csc_array((1, 1)), none, none).tolist() == [1.0]
