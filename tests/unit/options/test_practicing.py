"""Options from a log: success is measured, and routes go around edges that the controller fails on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import farpoint as fp
from farpoint.errors import InvalidInput
from farpoint.options.practicing import Rehearsal, practice, reroute
from farpoint.worlds import SampleLog

ROOMS = """
#######
#..#..#
#.....#
#..#..#
#######"""


def recorded(n_steps: int = 20_000, **settings: Any) -> tuple[fp.ContinuousMaze, SampleLog]:
    env = fp.ContinuousMaze(ROOMS, start="random", **settings)
    return env, fp.envs.record_samples(env, n_steps, seed=0)


def discovered(log: SampleLog) -> fp.OptionSet:
    return fp.discover(fp.World.from_samples(log, n_states=60, neighbors="temporal"), n_options=3)


@pytest.mark.parametrize("actions", ["directions", "box"])
def test_options_from_a_log_alone_reach_their_goals(actions: str) -> None:
    env, log = recorded(actions=actions)
    options = fp.GraphOptions.learn(log, discovered(log), radius=0.4, n_trials=10, max_steps=100)
    assert options.success is not None
    assert (options.success >= 0.9).all()
    # What was rehearsed in the log holds in the maze.
    tried = fp.GraphOptions.learn(log, discovered(log), radius=0.4, env=env, n_trials=10, max_steps=100, wander=3)
    assert tried.success is not None
    assert (tried.success >= 0.9).all()
    assert repr(tried).startswith("GraphOptions(3 goals, 60 states, radius=0.4, success ")


def test_the_same_seed_gives_the_same_options() -> None:
    _, log = recorded(4_000)
    one, two = (fp.GraphOptions.learn(log, discovered(log), radius=0.3, n_trials=4, seed=1) for _ in range(2))
    np.testing.assert_array_equal(one.options.world.lengths, two.options.world.lengths)
    np.testing.assert_array_equal(one.success, two.success)
    some = one[1:]
    assert some.success is not None
    assert one.success is not None
    np.testing.assert_array_equal(some.success, one.success[1:])


def square() -> fp.World:
    """Four places, nearly a square: 0 – 1 – 3 along the top, 0 – 2 – 3 along the left and the bottom."""
    matrix = csr_array(np.array([[0, 1, 1, 0], [1, 0, 0, 1], [1, 0, 0, 1], [0, 1, 1, 0]], dtype=float))
    places = np.array([[0.0, 0.0], [1.0, 0.0], [-0.2, 1.1], [1.0, 1.1]])
    world = replace(fp.World.from_graph(matrix), observations=places)
    before, after = world.choice_states, world.transitions.indices
    return replace(world, lengths=np.linalg.norm(places[before] - places[after], axis=1))


class Blocked:
    """The square as a place for trials: actions are targets, and nobody gets from 0 to 1."""

    def begin(self, rng: np.random.Generator) -> Any:
        self.here = np.array([0.0, 0.0])
        return self.here

    def step(self, action: Any, rng: np.random.Generator) -> tuple[Any, bool]:
        target = np.asarray(action)
        if not (np.allclose(self.here, [0, 0]) and np.allclose(target, [1, 0])):
            self.here = target
        return self.here, False


def go(here: Any, target: Any) -> Any:
    return target


@pytest.mark.parametrize("max_steps", [50, 300])
def test_routes_go_around_edges_that_fail(max_steps: int) -> None:
    # The way by 1 is the shorter one.
    options = fp.GraphOptions(fp.OptionSet(square(), np.array([3])), go, radius=0.1)
    assert options[0].route([0.0, 0.0]).tolist() == [0, 1, 3]
    found = practice(options, Blocked(), n_trials=2, max_steps=max_steps, seed=0)
    assert found.success.tolist() == [0.0]
    # One try for every twenty steps at the same place.
    assert found.tried.sum() == 2 * -(-max_steps // 20)
    assert found.followed.sum() == 0
    around = fp.GraphOptions(reroute(options.options, found.tried, found.followed), go, radius=0.1)
    assert around[0].route([0.0, 0.0]).tolist() == [0, 2, 3]
    # With few tries the edge is longer, with many it is gone.
    assert around.options.world.n_choices == (8 if max_steps == 50 else 7)
    again = practice(around, Blocked(), n_trials=2, max_steps=50, seed=0)
    assert again.success.tolist() == [1.0]
    assert again.tried.sum() == again.followed.sum() == 4


def test_an_edge_without_a_way_around_is_not_cut() -> None:
    line = fp.World.from_graph(np.array([[0.0, 1.0], [1.0, 0.0]]))
    options = fp.OptionSet(replace(line, observations=np.array([[0.0], [1.0]])), np.array([1]))
    kept = reroute(options, np.array([50, 0]), np.array([0, 0]))
    assert kept.world.n_choices == 2
    assert kept.world.lengths is not None
    assert kept.world.lengths.tolist() == [51.0, 1.0]


def test_a_trial_that_begins_at_the_goal_does_not_count() -> None:
    options = fp.GraphOptions(fp.OptionSet(square(), np.array([0])), go, radius=0.1)
    assert np.isnan(practice(options, Blocked(), n_trials=2, max_steps=9, seed=0).success).all()


def test_a_rehearsal_goes_where_logged_steps_went() -> None:
    log = SampleLog(np.array([[0.0], [9.0]]), np.array([0, 0]), np.array([[1.0], [8.0]]))
    place, rng = Rehearsal(log), np.random.default_rng(0)
    assert place.begin(rng) in log.observations
    assert place.step(0, rng)[0] in log.next_observations


def test_wrong_arguments_are_named() -> None:
    _, log = recorded(500)
    world = fp.World.from_samples(log, n_states=10)
    options = fp.OptionSet(world, np.array([0]))
    with pytest.raises(InvalidInput, match="env must be a Gymnasium environment or None; got 5"):
        fp.GraphOptions.learn(log, options, radius=0.1, env=5)
    with pytest.raises(InvalidInput, match="log must have observations of 2 numbers"):
        fp.GraphOptions.learn(([[0.0]], [0], [[1.0]]), options, radius=0.1)
    with pytest.raises(InvalidInput, match="n_trials must be at least 1"):
        fp.GraphOptions.learn(log, options, radius=0.1, n_trials=0)
    with pytest.raises(InvalidInput, match=r"success must be 1 shares of trials; got shape \(2,\)"):
        fp.GraphOptions(options, lambda here, there: 0, 0.1, np.ones(2))
