"""Scores from eigenvectors."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import farpoint as fp
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
