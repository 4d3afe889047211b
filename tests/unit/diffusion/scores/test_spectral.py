"""Scores from eigenvectors, and the lazy walk as a sum of Chebyshev polynomials."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

import farpoint as fp
from farpoint.diffusion.scores.chebyshev import Expansion
from farpoint.errors import InvalidInput
from tests.helpers import brute


def test_decompositions_are_checked() -> None:
    world, windy = fp.ring(), fp.four_rooms(wind=0.2)
    with pytest.raises(InvalidInput, match=r"decomposition must be of this world \(192 states\)"):
        fp.score(world, decomposition=fp.spectrum(fp.maze()))
    with pytest.raises(InvalidInput, match="form must be 'polar' with a decomposition"):
        fp.score(windy, form="walk", decomposition=fp.spectrum(windy))
    assert fp.score(world, decomposition=fp.spectrum(world, 10)).solver == "truncated"


def test_truncated_solver_on_a_sparse_spectrum_is_within_its_bound() -> None:
    world = fp.random_maze(40, 40)
    scores = fp.score(world, 30, "truncated", n_components=60)
    assert scores.error_bound is not None
    error = np.abs(np.asarray(scores) - np.asarray(fp.score(world, 30, "local")))
    assert (error <= scores.error_bound).all()


@pytest.mark.parametrize("t", [1, 5, 20])
def test_truncated_polar_score_is_within_its_bound(t: int) -> None:
    world = fp.World.from_map(fp.random_maze(32, 32).to_text(), wind=1 / 3, largest_component=True)
    scores = fp.score(world, t, "truncated", form="polar", n_components=60)
    assert scores.error_bound is not None
    error = np.abs(np.asarray(scores) - np.asarray(fp.score(world, t, "spectral", form="polar")))
    assert (error <= scores.error_bound + 1e-13).all()
    assert error.max() > 1e-6


def test_a_spectrum_of_another_world_with_the_same_degrees_is_refused() -> None:
    # Ten states of three neighbors each: the Petersen graph and the pentagonal prism.
    petersen = fp.World.from_graph(nx.petersen_graph())
    prism = fp.World.from_graph(nx.circular_ladder_graph(5))
    np.testing.assert_array_equal(petersen.adjacency.sum(axis=1), prism.adjacency.sum(axis=1))
    with pytest.raises(InvalidInput, match=r"decomposition must be of this world \(10 states\); got .* of another"):
        fp.score(petersen, decomposition=fp.spectrum(prism))
    again = fp.World.from_graph(petersen.adjacency, name="the same")
    expected = brute.score(petersen.adjacency.toarray(), 3)
    np.testing.assert_allclose(fp.score(petersen, 3, decomposition=fp.spectrum(again)), expected, atol=1e-14)


@pytest.mark.parametrize("weight", [1e-12, 1e-9, 1e-4])
@pytest.mark.parametrize("solver", ["spectral", "truncated", "local", "auto"])
def test_two_groups_that_are_hardly_connected(solver: str, weight: float) -> None:
    # Two cliques of 12 states joined by one light edge: walks of 4 steps forget where in their clique they began, and
    # nothing of which clique. Without that edge f = ‖Wᵗe_s − π₀‖² of each half is known to all digits by brute force.
    clique = 1.0 - np.eye(12)
    weights = np.block([[clique, np.zeros((12, 12))], [np.zeros((12, 12)), clique]])
    weights[11, 12] = weights[12, 11] = weight
    world = fp.World.from_graph(weights)
    for t in (4, 1000):
        scores = fp.score(world, t, solver)
        bound = 1e-11 if scores.error_bound is None else scores.error_bound + 1e-11
        assert (np.abs(scores - brute.score(weights, t)) <= bound).all()


def test_polar_refuses_what_it_cannot_tell_apart() -> None:
    cycle = np.roll(np.eye(12), 1, axis=1) + 0.1 * np.roll(np.eye(12), 2, axis=1)
    weights = np.block([[cycle, np.zeros((12, 12))], [np.zeros((12, 12)), cycle]])
    weights[11, 12] = weights[23, 0] = 1e-13
    world = fp.World.from_graph(weights)
    with pytest.raises(InvalidInput, match=r"nearly in two parts. Use form='walk' or 'symmetrized'"):
        fp.score(world, 4, "spectral", form="polar")
    np.testing.assert_allclose(fp.score(world, 4, form="walk"), brute.walk_score(weights, 4), rtol=1e-9)


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
