"""Controllers for near goals, learned from a log and improved by trying."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

pytest.importorskip("torch")

import torch

import farpoint as fp
from farpoint.deep.near_training import NearSettings, Stretches
from farpoint.deep.near_values import ValueTraining
from farpoint.errors import InvalidInput
from tests.helpers.counter import Counter

GAMMA = 0.9
SMALL: dict[str, Any] = {"n_updates": 60, "hidden": [8], "n_waves": 4, "batch_size": 16}


def corridor(n_steps: int, seed: int = 0) -> fp.worlds.SampleLog:
    """Return random steps on 0 … 9: action 1 is one up, action 0 one down, the ends hold."""
    taken = np.random.default_rng(seed).integers(2, size=n_steps)
    places = [5.0]
    for action in taken.tolist():
        places.append(min(9.0, max(0.0, places[-1] + 2 * action - 1)))
    rows = np.array(places)[:, None]
    return fp.worlds.SampleLog(rows[:-1], taken, rows[1:])


def test_values_are_those_of_the_shortest_way() -> None:
    settings: dict[str, Any] = {"hidden": [64], "n_waves": 0, "batch_size": 64, "learning_rate": 1e-2}
    control = fp.deep.learn_controller(corridor(2_000), n_updates=1_000, horizon=6, gamma=GAMMA, **settings)
    for here in (2.0, 4.0, 7.0):
        for away in (-2, -1, 1, 2):
            values = control.network(np.array([here], np.float32), np.array([away], np.float32))
            # −1 per step until the goal, discounted: after the step towards it |away| − 1 are left, else |away| + 1.
            left = np.array([abs(away + 1) if away < 0 else away + 1, abs(away - 1) if away > 0 else 1 - away])
            assert values == pytest.approx(-(1 - GAMMA**left) / (1 - GAMMA), abs=0.2)
            assert control([here], [here + away]) == (away > 0)


def test_it_goes_around_a_wall() -> None:
    env = fp.ContinuousMaze("...\n.#.\n...", start="random", noise=0.0, max_steps=100)
    log = fp.envs.record_samples(env, 6_000, seed=0)
    control = fp.deep.learn_controller(log, n_updates=700, horizon=12, hidden=[64], batch_size=128, learning_rate=3e-3)
    # From the left of the wall to its upper right: not right, into the wall, but up or down.
    assert control(np.array([0.9, 1.4]), np.array([1.5, 0.6])) in (5, 6, 7)
    world = fp.World.from_samples(log, n_states=40, neighbors="temporal")
    options = fp.GraphOptions.learn(log, fp.discover(world, n_options=3), radius=0.4, controller=control, n_trials=10)
    assert options.controller is control
    assert options.success is not None
    assert options.success.min() >= 0.9
    assert fp.envs.option_success(env, options, n_trials=10).min() >= 0.9


def test_the_network_in_numpy_is_that_of_torch() -> None:
    log = corridor(500)
    steps = Stretches.of(log.observations, log.actions, log.next_observations)
    settings = NearSettings(10, 0, 4, 0.5, 1, GAMMA, (8,), 4, 1e-3, 16, seed=0)
    training = ValueTraining(steps, np.arange(2), settings)
    training.run(5)
    plain = training.network.plain()
    here, goals = steps.before[:20], steps.after[3:23]
    with torch.no_grad():
        expected = training.network(torch.from_numpy(here), torch.from_numpy(goals)).numpy()
    found = [plain(one, other - one) for one, other in zip(here, goals, strict=True)]
    assert np.array(found) == pytest.approx(expected, abs=1e-5)


def test_goals_lie_in_the_same_stretch() -> None:
    steps = Stretches.of(np.arange(6.0)[:, None], np.zeros(6, np.int64), np.array([[1.0], [2], [9], [4], [5], [6]]))
    assert steps.last.tolist() == [2, 2, 2, 5, 5, 5]
    assert steps.goals(np.array([0, 0, 1, 3]), np.array([0, 1, 5, 1]), 1).ravel().tolist() == [1, 2, 9, 5]


def test_tries_are_learned_from() -> None:
    log = corridor(200)
    steps = Stretches.of(log.observations, log.actions, log.next_observations)
    training = ValueTraining(steps, np.arange(2), NearSettings(10, 0, 4, 0.5, 1, GAMMA, (8,), 4, 1e-3, 16, seed=0))
    for _ in range(2):
        training.add(Stretches.of(np.array([[100.0], [101.0]]), np.zeros(2, np.int64), np.array([[101.0], [102.0]])))
    assert training.tried is not None
    assert training.tried.last.tolist() == [1, 1, 3, 3]
    before = training.batch()[0]
    assert (before >= 100).sum() == 4, "a quarter of the batch"


def test_trying_takes_the_environment_along() -> None:
    steps_taken = []

    class Counted(gym.Wrapper[Any, Any, Any, Any]):
        def step(self, action: Any) -> Any:
            steps_taken.append(action)
            return self.env.step(action)

    env = Counted(fp.ContinuousMaze("....", start="random", max_steps=30))
    log = fp.envs.record_samples(env, 300, seed=0)
    steps_taken.clear()
    alone = fp.deep.learn_controller(log, **SMALL)
    assert not steps_taken
    tried = fp.deep.learn_controller(log, env=env, n_tries=100, **SMALL)
    assert len(steps_taken) == 100
    assert (alone.network.weights[0] != tried.network.weights[0]).any()
    again = fp.deep.learn_controller(log, env=env, n_tries=100, **SMALL)
    for one, other in zip(tried.network.weights, again.network.weights, strict=True):
        np.testing.assert_array_equal(one, other)


def test_continuous_actions_are_some_of_the_log() -> None:
    env = fp.ContinuousMaze(".....", start="random", noise=0.0, actions="box", max_steps=50)
    log = fp.envs.record_samples(env, 3_000, seed=0)
    settings: dict[str, Any] = {"hidden": [64], "n_waves": 0, "batch_size": 64, "learning_rate": 5e-3}
    control = fp.deep.learn_controller(log, n_updates=600, horizon=10, n_actions=9, **settings)
    assert isinstance(control, fp.options.LearnedController)
    assert control.actions.shape == (9, 2)
    assert all((log.actions == action).all(axis=1).any() for action in control.actions)
    assert control([1.0, 0.5], [2.5, 0.5])[0] > 0 > control([4.0, 0.5], [2.5, 0.5])[0]


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"log": 5}, "log must be observations, actions and next observations"),
        ({"log": ([[0.0], [0.0]], [0, 1], [[0.0], [0.0]])}, "log must hold steps that lead somewhere"),
        ({"env": 3}, "env must be a Gymnasium environment"),
        ({"n_updates": 0}, "n_updates must be"),
        ({"horizon": 0}, "horizon must be"),
        ({"reach": -1.0}, "reach must be"),
        ({"gamma": 2.0}, "gamma must"),
        ({"n_actions": 1}, "n_actions must be"),
        ({"goal_dimensions": 2}, "goal_dimensions must be"),
        ({"env": Counter()}, None),
    ],
)
def test_refusals(change: dict[str, Any], match: str | None) -> None:
    settings = {"log": corridor(50), **SMALL, **change}
    if match is None:
        wide = ([[0.0, 0.0], [1.0, 0.0]], [0, 1], [[1.0, 0.0], [0.0, 0.0]])
        settings["log"], match = wide, "env must observe 2 numbers, as the log; got 1"
    with pytest.raises(InvalidInput, match=match):
        fp.deep.learn_controller(settings.pop("log"), **settings)
