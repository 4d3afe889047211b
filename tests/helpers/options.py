"""Options of every kind, each with an environment to follow them in: a new kind is one more line of `OPTIONS`."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np

import farpoint as fp
from farpoint.options import METHODS, GoalOptions, OptionList, Options
from tests.helpers.counter import Counter, UpTo
from tests.helpers.envs import make
from tests.helpers.world_env import WorldEnv
from tests.helpers.worlds import WORLDS

# The environments that these worlds were made from; the others are played as `WorldEnv`.
_ENVIRONMENTS: dict[str, Callable[[], Any]] = {
    "frozen_lake": lambda: make("FrozenLake-v1", is_slippery=False),
    "slippery_lake": lambda: make("FrozenLake-v1", is_slippery=True),
    "slippery_log": lambda: make("FrozenLake-v1", is_slippery=True),
    "cliff": lambda: make("CliffWalking-v1", max_episode_steps=200),
    "door_key": lambda: make("MiniGrid-DoorKey-5x5-v0"),
}
_PLAYED = ("four_rooms", "windy", "karate", "two_ends", "log_without_actions", "temporal_samples", "restarting")
_MAZE = "....\n.##.\n...."


@dataclass(frozen=True, eq=False)
class OptionsCase:
    """Options, an environment, what the options read at many places, and how they read it (None: as they do)."""

    options: Options[Any]
    env: Callable[[], gym.Env[Any, Any]]
    observations: list[Any]
    state: Callable[[Any, Any], Hashable] | None = None
    # Whether the options know all that can happen, so that they reach their goals.
    complete: bool = True

    def read(self, env: Any, observation: Any) -> Any:
        """Return what the options read."""
        return (self.state or self.options.observe)(env, observation)

    def wrapped(self, **settings: Any) -> fp.OptionsWrapper:
        """Return a new environment in which the options are actions."""
        return fp.OptionsWrapper(self.env(), self.options, state=self.state, **settings)


def _label(world: fp.World, env: Any, observation: int) -> Hashable:
    assert world.labels is not None
    label: Hashable = world.labels[observation]
    return label


def _on_states(method: str, name: str) -> OptionsCase:
    world = WORLDS[name]()
    if world.labels is None:
        world = replace(world, labels=tuple(range(world.n_states)))
    assert world.labels is not None
    # Every farpoint option is chosen among all states by the steps that it saves, so that few are enough.
    options = fp.discover(world, method, n_options=4 if method == "farpoint" else None, seed=3)
    some = [world.labels[state] for state in np.linspace(0, world.n_states - 1, 40).astype(int)]
    observations = [*dict.fromkeys([*some, *(world.labels[goal] for goal in options.goals)])]
    if name in _ENVIRONMENTS:
        return OptionsCase(options, _ENVIRONMENTS[name], observations, complete=name != "slippery_log")
    return OptionsCase(options, partial(WorldEnv, world), observations, partial(_label, world))


def _on_a_graph() -> OptionsCase:
    """Return options to goals that are found on a graph of samples, which are not those of the policy's cells."""
    env = partial(fp.ContinuousMaze, _MAZE, noise=0.02, start="random")
    log = fp.envs.record_samples(env(), 6_000, seed=2)
    world = fp.World.from_samples(log, n_states=60, neighbors="temporal", seed=1)
    assert world.observations is not None
    policy = fp.GoalPolicy.from_log(log, radius=0.4, reversible=True)
    options = GoalOptions(policy, world.observations[fp.discover(world, n_options=4).goals])
    return OptionsCase(options, env, [*log.observations[::150], *options.goals])


def goal_policy() -> fp.GoalPolicy:
    """Return a policy for any goal of a small maze."""
    env = fp.ContinuousMaze(_MAZE, noise=0.02, start="random")
    return fp.GoalPolicy.from_log(fp.envs.record_samples(env, 6_000, seed=2), cell=0.4, radius=0.4)


def _to_far_points() -> OptionsCase:
    env = partial(fp.ContinuousMaze, _MAZE, noise=0.02, start="random")
    options = goal_policy().options(4)
    return OptionsCase(options, env, [*env().random_walk(4_000, seed=2)[0][::100], *options.goals])


def _explored() -> OptionsCase:
    env = partial(fp.ContinuousMaze, _MAZE, start="random")
    found = fp.explore(env(), 3_000, seed=1)
    assert found.samples is not None
    options = found.options[:4]
    assert options.world.observations is not None
    goals = options.world.observations[options.goals]
    return OptionsCase(options, env, [*found.samples.observations[::100], *goals], complete=False)


def _numbers() -> list[Any]:
    return [np.array([number], dtype=np.float32) for number in np.arange(0.0, 10.0, 0.25)]


def _along_a_line() -> GoalOptions:
    """Return options for `Counter`: up below the goal and down above it."""
    there = np.arange(10.0)
    before = np.concatenate([there[:-1], there[:0:-1]] * 2)[:, None]
    after = np.concatenate([there[1:], there[-2::-1]] * 2)[:, None]
    log = fp.Log(before, (after > before)[:, 0].astype(int), after, truncated=np.tile(np.arange(9) == 8, 4))
    return GoalOptions(fp.GoalPolicy.from_log(log, cell=1.0, radius=0.5), [[2.0], [5.0], [8.0]])


def picture_metric() -> fp.envs.PictureMetric:
    """Return the metric of a pixel that walks along a row of eight."""
    taken = np.random.default_rng(0).integers(2, size=300)
    places = [0]
    for action in taken.tolist():
        places.append(min(7, max(0, places[-1] + 2 * action - 1)))
    pictures = np.eye(8, dtype=np.uint8).reshape(8, 1, 8) * 255
    log = fp.envs.PictureLog(pictures, np.array(places[:-1]), taken, np.array(places[1:]))
    return fp.envs.learn_metric(log, n_functions=3, n_landmarks=8)


# Every method in a world without chance, in one with chance, and in one with one-way moves and episodes; one method in
# all worlds; and some in worlds where they go ways of their own.
_VARIED = ("four_rooms", "windy", "restarting")
_WORLDS = dict.fromkeys(METHODS, _VARIED) | {
    "diffusion": (*_ENVIRONMENTS, *_PLAYED),
    "farpoint": (*_VARIED, "karate", "door_key"),
    "bottleneck": (*_VARIED, "two_ends"),
}

OPTIONS: dict[str, Callable[[], OptionsCase]] = {
    f"{method}-{world}": partial(_on_states, method, world) for method, worlds in _WORLDS.items() for world in worlds
} | {
    "goals of a graph": _on_a_graph,
    "far points of a log": _to_far_points,
    "explored": _explored,
    "list": lambda: OptionsCase(OptionList([UpTo(3), UpTo(6), UpTo(9)]), Counter, _numbers()),
    "mixed list": lambda: OptionsCase(OptionList([UpTo(4), *_along_a_line()]), Counter, _numbers()),
}
