"""Controllers of continuous actions for near goals, learned from a log and improved by trying."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

pytest.importorskip("torch")

import torch

import farpoint as fp
from farpoint.deep.near_actor import ActorTraining, scaled_actions
from farpoint.deep.near_training import NearSettings, Stretches
from farpoint.errors import InvalidInput

SMALL: dict[str, Any] = {"n_updates": 60, "hidden": [8], "n_waves": 4, "batch_size": 16}
QUICK: dict[str, Any] = {"hidden": [64], "batch_size": 128, "learning_rate": 3e-3}


def maze(text: str, **settings: Any) -> fp.ContinuousMaze:
    return fp.ContinuousMaze(text, start="random", actions="box", **{"noise": 0.0, "max_steps": 100, **settings})


def a_training(n_updates: int = 10) -> ActorTraining:
    log = fp.envs.record_samples(maze("...."), 300, seed=0)
    steps = Stretches.of(log.observations, log.actions.astype(np.float32), log.next_observations)
    settings = NearSettings(n_updates, 0, 4, 0.2, 2, 0.9, (8,), 4, 1e-3, 16, seed=0)
    return ActorTraining(steps, np.array([-1.0, -1.0]), np.array([1.0, 1.0]), settings)


def test_it_goes_right_and_left_and_ends_exactly_there() -> None:
    env = maze(".....")
    log = fp.envs.record_samples(env, 3_000, seed=0)
    control = fp.deep.learn_controller(log, n_updates=600, horizon=10, n_waves=0, **QUICK)
    assert isinstance(control, fp.options.LearnedActor)
    np.testing.assert_array_equal(control.low, log.actions.min(axis=0))
    np.testing.assert_array_equal(control.high, log.actions.max(axis=0))
    assert control.record["n_actions"] is None
    right, left = control([1.0, 0.5], [2.5, 0.5]), control([4.0, 0.5], [2.5, 0.5])
    assert right[0] > 0.7
    assert left[0] < -0.7
    # A step is 0.4 long: one that ends within reach of a goal nearer than that is shorter than the longest.
    reach = control.record["reach"]
    for goal in (1.3, 2.2, 3.05):
        env.reset(options={"start": (1.0, 0.5)})
        here = np.array([1.0, 0.5])
        for _ in range(10):
            if np.linalg.norm(here - [goal, 0.5]) <= reach:
                break
            here = env.step(control(here, [goal, 0.5]))[0]
        assert np.linalg.norm(here - [goal, 0.5]) <= reach


def test_it_goes_around_a_wall() -> None:
    env = maze("...\n.#.\n...")
    log = fp.envs.record_samples(env, 6_000, seed=0)
    control = fp.deep.learn_controller(log, n_updates=900, horizon=12, **QUICK)
    # From the left of the wall to its upper right: not right, into the wall, but up.
    assert control(np.array([0.9, 1.4]), np.array([1.5, 0.6]))[1] < -0.5
    world = fp.World.from_samples(log, n_states=40, neighbors="temporal")
    options = fp.GraphOptions.learn(log, fp.discover(world, n_options=3), radius=0.4, controller=control, n_trials=10)
    assert options.success is not None
    assert options.success.min() >= 0.9
    assert fp.envs.option_success(env, options, n_trials=10).min() >= 0.9


def test_the_network_in_numpy_is_that_of_torch() -> None:
    training = a_training()
    training.run(5)
    control = training.controller({})
    here, goals = training.log.before[:20], training.log.after[3:23]
    with torch.no_grad():
        expected = torch.tanh(training.actor(torch.from_numpy(here), torch.from_numpy(goals))).numpy()
    found = np.array([control(one, other) for one, other in zip(here, goals, strict=True)])
    assert found == pytest.approx(expected, abs=1e-5)


def test_the_critics_differ_and_the_actor_learns_every_second_time() -> None:
    training = a_training()
    one, other = (critic.plain().weights[0] for critic in training.critics)
    assert one.shape == other.shape
    assert (one != other).any()
    changed = []
    for _ in range(4):
        before, values = training.actor.plain().weights[0], training.critics[0].plain().weights[0]
        training.run(1)
        assert (training.critics[0].plain().weights[0] != values).any()
        changed.append(bool((training.actor.plain().weights[0] != before).any()))
    assert changed == [True, False, True, False]


def test_half_of_the_goals_of_the_log_come_from_another_time() -> None:
    before = np.array([[0.0], [1.0], [0.5], [1.5]])
    # Two stretches of two steps each, at different times in the same place.
    steps = Stretches.of(before, np.ones((4, 1), np.float32), before + 1.0)
    assert steps.last.tolist() == [1, 1, 3, 3]
    settings = NearSettings(10, 0, 2, 0.1, 1, 0.9, (8,), 0, 1e-3, 16, seed=0)
    training = ActorTraining(steps, np.array([0.0]), np.array([1.0]), settings)
    before, _, after, goals = training.sample(steps, 400)
    np.testing.assert_array_equal(after, before + 1.0)
    assert np.isin(goals, steps.after).all()
    # A goal of the same stretch is a whole number of steps ahead.
    another = (goals - before) % 1.0 != 0.0
    assert not another[:200].any()
    assert another[200:].any()
    assert len(training.sample(Stretches.of(before[:1], np.ones((1, 1)), before[:1] + 1.0), 5)[0]) == 5


def test_tries_are_learned_from() -> None:
    actions = []

    class Noted(gym.Wrapper[Any, Any, Any, Any]):
        def step(self, action: Any) -> Any:
            actions.append(action)
            return self.env.step(action)

    env = Noted(maze("...."))
    log = fp.envs.record_samples(env, 300, seed=0)
    actions.clear()
    alone = fp.deep.learn_controller(log, **SMALL)
    assert not actions
    tried = fp.deep.learn_controller(log, env=env, n_tries=100, **SMALL)
    assert len(actions) == 100
    assert isinstance(tried, fp.options.LearnedActor)
    assert ((tried.low <= actions) & (actions <= tried.high)).all()
    assert len(np.unique(actions, axis=0)) == 100
    assert (alone.network.weights[0] != tried.network.weights[0]).any()
    again = fp.deep.learn_controller(log, env=env, n_tries=100, **SMALL)
    for one, other in zip(tried.network.weights, again.network.weights, strict=True):
        np.testing.assert_array_equal(one, other)


def test_trying_helps_where_the_log_is_short() -> None:
    env = maze(".....")
    log = fp.envs.record_samples(env, 30, seed=0)
    control = fp.deep.learn_controller(log, env=env, n_updates=600, n_tries=1_000, horizon=10, n_waves=0, **QUICK)
    for start, goal in ((0.5, 2.5), (4.5, 2.5), (2.5, 4.5), (2.5, 0.5)):
        assert control([start, 0.5], [goal, 0.5])[0] * (goal - start) > 0.5


def test_a_number_that_never_changes_stays_as_it_is() -> None:
    log = fp.envs.record_samples(maze("....."), 500, seed=0)
    actions = np.column_stack([log.actions, np.full(500, 3.0)])
    control = fp.deep.learn_controller((log.observations, actions, log.next_observations), **SMALL)
    action = control([1.0, 0.5], [2.5, 0.5])
    assert action.shape == (3,)
    assert action[2] == 3.0


def test_only_the_first_numbers_may_be_a_goal() -> None:
    log = fp.envs.record_samples(maze("....."), 500, seed=0)
    control = fp.deep.learn_controller(log, goal_dimensions=1, **SMALL)
    assert control([1.0, 0.5], [2.5]).shape == (2,)


def test_actions_are_scaled_to_one() -> None:
    low, high = np.array([0.0, -2.0]), np.array([4.0, 2.0])
    scaled = scaled_actions(np.array([[0.0, 0.0], [4.0, 2.0], [1.0, -2.0]]), low, high)
    assert scaled.tolist() == [[-1.0, 0.0], [1.0, 1.0], [-0.5, -1.0]]


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"n_actions": 1}, "n_actions must be"),
        ({"gamma": 2.0}, "gamma must"),
        ({"hidden": [0]}, "hidden must be"),
        ({"env": fp.ContinuousMaze("....", scaled=True)}, "action must be"),
    ],
)
def test_refusals(change: dict[str, Any], match: str) -> None:
    log = fp.envs.record_samples(maze("...."), 50, seed=0)
    with pytest.raises(InvalidInput, match=match):
        fp.deep.learn_controller(log, **{**SMALL, **change})


def test_values_stay_finite_without_a_discount() -> None:
    log = fp.envs.record_samples(maze("...."), 100, seed=0)
    control = fp.deep.learn_controller(log, gamma=1.0, **SMALL)
    assert np.isfinite(control([1.0, 0.5], [2.5, 0.5])).all()
