from __future__ import annotations

import pickle

import networkx as nx
import numpy as np
import pytest

import farpoint as fp
from farpoint.errors import InvalidInput
from tests.helpers import brute
from tests.helpers.graphs import cylinder


@pytest.mark.parametrize("shape", [(20, 20), (5,), (6, 8), (5, 6, 7), (4, 4, 4, 4)])
@pytest.mark.parametrize("t", [1, 4, 13])
def test_goals_of_a_grid_are_its_corners(shape: tuple[int, ...], t: int) -> None:
    # Grids that t steps do not nearly cross: in a 3×9 room at t = 13 the short side has mixed; its middle is a goal.
    world = fp.grid(shape)
    assert set(fp.find_goals(world, fp.score(world, t))) == brute.corners(shape)


def test_cylinder_has_one_goal_per_rim() -> None:
    # All states of a rim are alike, so each rim is one plateau.
    world = cylinder(24, 8)
    assert len(fp.find_goals(world, fp.score(world, 4))) == 2


def test_a_world_of_equal_states_is_one_plateau() -> None:
    world = fp.World.from_graph(nx.cycle_graph(9))
    goals = fp.find_goals(world, fp.score(world, 3))
    assert goals.states.tolist() == [0]
    assert goals.prominences[0] == pytest.approx(0, abs=1e-15)


def test_scores_that_are_no_scores() -> None:
    with pytest.raises(InvalidInput, match=r"one entry per state \(192\)"):
        fp.find_goals(fp.ring(), np.zeros(5))
    with pytest.raises(InvalidInput, match="must be finite; got 1"):
        fp.find_goals(fp.grid((3,)), [0.0, np.nan, 1.0])
    with pytest.raises(InvalidInput, match="min_prominence must be at least 0"):
        fp.find_goals(fp.grid((3,)), [0.0, 2.0, 1.0], min_prominence=-1)


def test_prominence_by_hand() -> None:
    # Heights along a path: peaks 5, 4 and 3 with saddles 1 and 2.
    world = fp.grid((7,))
    goals = fp.find_goals(world, [5.0, 1.0, 4.0, 2.0, 3.0, 2.5, 0.5])
    assert goals.states.tolist() == [0, 2, 4]
    assert goals.prominences.tolist() == [4.5, 3.0, 1.0]
    assert fp.find_goals(world, [5.0, 1.0, 4.0, 2.0, 3.0, 2.5, 0.5], min_prominence=2).states.tolist() == [0, 2]
    assert np.asarray(goals.most_prominent(2)).tolist() == [0, 2]


def brute_prominences(world: fp.World, scores: np.ndarray, goals: fp.Goals) -> list[float]:
    """Of each goal: its height less the highest level from which a higher goal (or an equal one before it) is seen."""
    graph = nx.from_scipy_sparse_array(world.neighbors)
    falls = []
    for number, state in enumerate(goals.states.tolist()):
        better = {int(other) for other in goals.states[:number]}
        for level in np.unique(scores)[::-1]:
            above = (
                nx.node_connected_component(graph.subgraph(np.flatnonzero(scores >= level).tolist()), state)
                if (scores[state] >= level)
                else set()
            )
            if better & above or (not better and level == scores.min()):
                falls.append(float(scores[state] - level))
                break
    return falls


@pytest.mark.parametrize("seed", range(30))
def test_prominences_are_those_of_the_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = nx.connected_watts_strogatz_graph(int(rng.integers(5, 60)), 4, 0.2, seed=seed)
    world = fp.World.from_graph(graph)
    # Few different numbers, so that there are plateaus and equally high peaks.
    scores = rng.integers(1, int(rng.integers(3, 40)), size=world.n_states).astype(float)
    goals = fp.find_goals(world, scores)
    assert goals.prominences.tolist() == brute_prominences(world, scores, goals)
    again = pickle.loads(pickle.dumps(goals))
    np.testing.assert_array_equal(again.prominences, goals.prominences)
