"""The score of every state."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import farpoint as fp
from farpoint.errors import InvalidInput, NotConnected
from tests.helpers import brute
from tests.helpers.envs import make
from tests.helpers.graphs import with_episodes


def test_three_state_path_by_hand() -> None:
    # W = ½(I + M D⁻¹), one step: columns (½, ½, 0), (¼, ½, ¼), (0, ½, ½); π₀ = (¼, ½, ¼).
    scores = fp.score(fp.grid((3,)), t=1)
    np.testing.assert_allclose(scores, [2 / 16, 0.0, 2 / 16], atol=1e-15)


def test_fraction_of_t_lies_between_its_neighbors() -> None:
    world = fp.maze()
    low, middle, high = (np.asarray(fp.score(world, t)) for t in (3, 3.5, 4))
    assert ((low > middle) & (middle > high)).all()


def test_worlds_that_have_no_score() -> None:
    with pytest.raises(InvalidInput, match="at least 2 states"):
        fp.score(fp.grid((1,)))
    apart = fp.World(fp.grid((2,)).transitions, np.array([0, 2, 2]))
    assert fp.score(apart, form="walk").shape == (2,)
    blown = fp.World.from_map(".\n.\n.", wind=1.0)
    with pytest.raises(InvalidInput, match=r"for Algorithm 2; got none into state 0\. Use form='walk'"):
        fp.score(blown, form="polar")
    assert fp.score(blown).form == "walk"


def test_disconnected_constructor_is_refused_by_the_score() -> None:
    two = fp.grid((2,)).transitions.toarray()
    matrix = np.block([[two, np.zeros((2, 2))], [np.zeros((2, 2)), two]])
    world = fp.World(matrix, np.array([0, 1, 2, 3, 4]))
    with pytest.raises(NotConnected, match=r"2 components \(sizes 2, 2\)"):
        fp.score(world)


def test_walk_form_with_a_state_that_keeps_the_walker() -> None:
    # 0 → 1 → 2, and 2 has no move: everything ends there.
    world = fp.World.from_graph([[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    np.testing.assert_allclose(fp.stationary(world), [0, 0, 1])
    # After one step from 0: (½, ½, 0), so f = ¼ + ¼ + 1; from 1: (0, ½, ½); from 2 it is there.
    np.testing.assert_allclose(fp.score(world, 1, form="walk"), [1.5, 0.5, 0.0], atol=1e-15)


def test_auto_takes_the_walk_where_algorithm_2_explodes() -> None:
    edges = [(0, i) for i in range(1, 51)] + [(1, 0)] + [(i, 1) for i in range(2, 51)]
    world = fp.World.from_graph(nx.DiGraph(edges))
    scores = fp.score(world, 100)
    assert scores.form == "walk"
    assert "would explode" in scores.reason
    assert 0 <= scores.max() < 2
    with pytest.raises(InvalidInput, match=r"must lie in −1 … 1; got -2\.57"):
        fp.score(world, form="polar")


def test_a_state_in_which_the_walk_begins_again_and_lands_by_hand() -> None:
    # 0 – 1, and from 1 the walk begins again, always in 1: weights 0 → 1 (1) and 1 → 0 (½), 1 → 1 (½).
    world = fp.World.from_graph([[0, 1], [1, 0]])
    world = fp.World(world.transitions, world.choice_ptr, restart=np.array([0.0, 0.5]), starts=np.array([0.0, 1.0]))
    # W = ½ (I + M D⁻¹): columns (½, ½) and (¼, ¾), so π₀ = (⅓, ⅔).
    np.testing.assert_allclose(fp.stationary(world), [1 / 3, 2 / 3], rtol=1e-14)
    expected = [2 * (1 / 2 - 1 / 3) ** 2, 2 * (1 / 4 - 1 / 3) ** 2]
    np.testing.assert_allclose(fp.score(world, 1, form="walk"), expected, rtol=1e-13)


@pytest.mark.parametrize("name", ["FrozenLake-v1", "CliffWalking-v1"])
def test_every_form_of_a_world_with_episodes_is_that_of_its_weights(name: str) -> None:
    world = fp.World.from_env(make(name))
    assert world.restart is not None
    assert world.starts is not None
    weights = brute.restart_weights(world.adjacency.toarray(), world.restart, world.starts)
    np.testing.assert_allclose(fp.score(world, 4, form="walk"), brute.walk_score(weights, 4), rtol=1e-9)
    np.testing.assert_allclose(fp.score(world, 4, form="symmetrized"), brute.score(weights + weights.T, 4), rtol=1e-9)
    # Algorithm 2: Eq. 1 on the left singular vectors of N.
    left, nu, _ = np.linalg.svd(brute.laplacian(weights))
    degrees, omega = weights.sum(axis=0), 1.0 - nu[:-1] / 2.0
    phi, phi_tilde = left[:, :-1] / np.sqrt(degrees)[:, None], left[:, :-1] * np.sqrt(degrees)[:, None]
    polar = (((phi * omega**4) @ phi_tilde.T) ** 2).sum(axis=1)
    scores = fp.score(world, 4, "spectral", form="polar")
    np.testing.assert_allclose(scores, polar, rtol=1e-8, atol=1e-12)


def test_restarts_that_are_never_taken_change_nothing() -> None:
    world = fp.maze()
    still = with_episodes(world, terminal=0)
    starts = still.starts
    never = fp.World(world.transitions, world.choice_ptr, restart=np.zeros(world.n_states), starts=starts)
    np.testing.assert_allclose(fp.score(never, 6, form="walk"), fp.score(world, 6), rtol=1e-11)
