"""Options on the states of continuous observations: of a log, and of what was explored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import farpoint as fp
from farpoint.errors import InvalidInput
from farpoint.worlds import Log
from farpoint.worlds.state_index import is_end


def one_way(n_steps: int = 400) -> Log:
    """Return steps around a ring of twelve places that is only walked forwards, by action 1; action 0 stays."""
    taken = np.random.default_rng(0).integers(2, size=n_steps)
    places = np.concatenate([[0], np.cumsum(taken)]) % 12
    circle = np.stack([np.cos(places * np.pi / 6), np.sin(places * np.pi / 6)], axis=1).round(9)
    return Log(circle[:-1], taken, circle[1:])


def far_points(log: Any, scale: Any, n_options: int) -> fp.OptionSet:
    return fp.discover(fp.World.from_log(log, scale=scale), n_options=n_options, form="symmetrized")


def test_moves_are_taken_in_the_direction_in_which_they_were_seen() -> None:
    log = one_way()
    options = far_points(log, 0.1, 1)
    assert options.world.n_states == 12
    assert options.world.observations is not None
    goal = options.world.observations[options.goals[0]]
    before = np.flatnonzero(np.linalg.norm(log.observations - goal, axis=1) > 0.1)
    # From everywhere else forwards, the long way around if need be: nothing leads back.
    assert {options.act(0, log.observations[row]) for row in before.tolist()} == {1}


def test_a_state_reaches_as_far_as_its_scale_says() -> None:
    # In the first number 0 and 0.4 are one state; the second number is not looked at.
    log = Log(
        [[0.0, 9.0], [0.4, 2.0], [1.0, 5.0], [0.0, 7.0]], [0, 0, 1, 0], [[0.4, 2.0], [1.0, 5.0], [0.0, 7.0], [1.0, 0.0]]
    )
    world = fp.World.from_log(log, scale=[0.5, np.inf])
    assert world.labels == ((0.0, 9.0), (1.0, 5.0))
    assert [world.find_state([x, 50.0]) for x in (-3.0, 0.3, 0.7)] == [0, 0, 1]
    np.testing.assert_array_equal(world.nearest_states([[0.1, 5.0], [0.9, 9.0]]), [0, 1])


def test_it_is_saved_with_its_scale(tmp_path: Path) -> None:
    world = fp.World.from_log(one_way(), scale=0.1)
    world.save(tmp_path / "ring")
    again = fp.World.load(tmp_path / "ring.npz")
    assert again.scale is not None
    assert again.scale.tolist() == [0.1, 0.1]
    assert again.find_state([0.9, 0.4]) == world.find_state([0.9, 0.4])
    with pytest.raises(InvalidInput, match="scale must go with observations"):
        fp.World(world.source, scale=np.ones(2))


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"log": 3}, "log must have next observations; got 3"),
        ({"scale": -1.0}, "scale must be one number above 0"),
        ({"scale": [1.0, 2.0, 3.0]}, "scale must be one number above 0, or 2 of them"),
        ({"log": Log(["a", "b"], [0, 1], ["b", "a"])}, "observations must be numbers"),
    ],
)
def test_refusals(change: dict[str, Any], match: str) -> None:
    settings: dict[str, Any] = {"log": one_way(), "scale": 0.1, **change}
    with pytest.raises(InvalidInput, match=match):
        fp.World.from_log(settings["log"], scale=settings["scale"])


def test_an_environment_with_a_wall() -> None:
    env = fp.ContinuousMaze("...\n.#.\n.#.", start="random", max_steps=100)
    log = fp.envs.record_samples(env, 6_000, seed=0)
    options = far_points(log, 0.4, 2)
    assert fp.envs.option_success(env, options, n_trials=10).min() >= 0.8


def test_options_of_an_environment_whose_episodes_end() -> None:
    # The target ends episodes; most places near it are passed through as well.
    env = fp.ContinuousMaze("S...\n....\n...G", start="random", max_steps=200)
    found = fp.explore(env, 6_000, seed=0, scale=0.7)
    world = found.world
    assert world.labels is not None
    ends = [state for state, label in enumerate(world.labels) if is_end(label)]
    assert ends
    # No observation is at an end; it is where the place is passed through.
    for state in ends:
        assert world.observations is not None
        passed = world.find_state(world.labels[state][1])  # type: ignore[index]
        assert passed is not None
        assert passed == world.find_state(world.observations[state]) != state
        assert world.find_state(world.labels[state]) is None
    # An option to a place beside the target may pass through it, which ends the episode.
    assert fp.envs.option_success(env, found.options, n_trials=10).mean() >= 0.5


@pytest.mark.parametrize("vector", [False, True])
def test_what_was_explored_has_options_for_the_environment(vector: bool) -> None:
    env = fp.ContinuousMaze("S.....G", max_steps=100)
    found = fp.explore(env, 3_000, seed=0)
    wrap = (
        (lambda: fp.OptionsVectorEnv(gym.vector.SyncVectorEnv([lambda: env]), found.options))
        if vector
        else (lambda: fp.OptionsWrapper(env, found.options))
    )
    _, info = wrap().reset(seed=0)
    assert np.ravel(info["action_mask"])[8:].any()


def test_a_tabular_agent_learns_with_them() -> None:
    env = fp.ContinuousMaze("S.....G", max_steps=100)
    found = fp.explore(env, 3_000, seed=0)
    agent = fp.train_tabular(fp.OptionsWrapper(env, found.options), 3_000, seed=0)
    # Its states are those of the options.
    assert set(agent.index.labels) <= set(found.world.labels or ())
    assert np.mean(agent.episode_rewards[-5:]) > 0
