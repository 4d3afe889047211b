"""Learning under `DiscoveringWrapper` by an agent that knows nothing of options: tabular Q-learning, step by step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, eye_array
from scipy.sparse.linalg import spsolve

from farpoint.agents import train_tabular
from farpoint.agents.tabular import TabularAgent
from farpoint.agents.task import Task, optimal_value
from farpoint.envs.world_env import WorldEnv
from farpoint.exploration import DiscoveringWrapper
from farpoint.simulation.tables import Episodes, episodes_of
from farpoint.worlds import World
from research.exploration.places import make_place
from research.exploration.plan import N_OPTIONS, WRAPPED_PLACES, explorer_of, finite, seeds_of
from research.runner import Row

_N_EVALUATIONS = 60
_NEAR, _GAMMA = 0.9, 0.99
# As `policy_values`, which has no time limit.
_NO_LIMIT = 2**62
# Step size and exploring episodes of `learn_from_scratch`, which learns from all that it remembers.
_AGENT = {"algorithm": "intra-option", "alpha": 0.1, "exploring_episodes": 0.2, "replay": 10}


def measure_wrapped(
    place: str, method: str, probability: float | None, stage: str, n_runs: int, limit: int
) -> list[Row]:
    """Return when each run first reached the target, and when its best actions were near-optimal."""
    where = WRAPPED_PLACES[place]
    rows = []
    for seed in seeds_of(stage, n_runs):
        layout = seed % where.n_layouts
        found = learned_under_wrapper(
            make_place(where.world, layout), method=method, probability=probability,
            n_options=N_OPTIONS, n_steps=limit, episode=where.episode or 0, seed=seed,
        )  # fmt: skip
        rows.append({"seed": seed, "layout": layout, **found})
    return rows


def learned_under_wrapper(
    world: World,
    *,
    method: str,
    probability: float | None,
    n_options: int,
    n_steps: int,
    episode: int,
    seed: int,
    **agent: Any,
) -> Row:
    """Return the steps until the first reward, and until the best actions were near-optimal; None for never.

    ``agent``: other settings of `train_tabular`.
    """
    how = explorer_of(method)
    env = DiscoveringWrapper(
        WorldEnv(world, max_episode_steps=episode), n_options, _GAMMA, method=how["method"],
        option_probability=probability, seed=seed,
    )  # fmt: skip
    watch = _Watch(world, n_steps)
    train_tabular(env, n_steps, seed=seed, callback=watch, **{**_AGENT, "actions": how["actions"], **agent})
    return {
        **finite({"first": watch.first_target, "near_optimal": watch.near_optimal}),
        "n_seen": env.explorer.n_states,
    }


class _Watch:
    """Looks at an agent while it learns, and stops it when its best actions are near-optimal."""

    def __init__(self, world: World, n_steps: int) -> None:
        assert world.targets is not None
        self.world = world
        self.first_target = self.near_optimal = float("inf")
        self._is_target = np.isin(np.arange(world.n_states), world.targets)
        self._starts = starts_of(world)
        starts, start_cdf, _ = episodes_of(world, _NO_LIMIT)
        task = Task.towards(world, world.targets, Episodes(starts, start_cdf, _NO_LIMIT))
        self._good_enough = _NEAR * optimal_value(world, task, _GAMMA)
        self._moments: Iterator[int] = iter(np.geomspace(100, n_steps, _N_EVALUATIONS).astype(int).tolist())
        self._next = next(self._moments)
        self._n_episodes = 0

    def __call__(self, agent: TabularAgent) -> bool:
        """Return whether to go on."""
        if not np.isfinite(self.first_target) and len(agent.episode_rewards) > self._n_episodes:
            self._n_episodes = len(agent.episode_rewards)
            if agent.episode_rewards[-1] > 0.0:
                self.first_target = float(agent.n_steps)
        while agent.n_steps >= self._next:
            # Before the first reward all actions are alike.
            if np.isfinite(self.first_target) and self._return(agent) >= self._good_enough:
                self.near_optimal = float(agent.n_steps)
                return False
            self._next = next(self._moments, np.iinfo(np.int64).max)
        return True

    def _return(self, agent: TabularAgent) -> float:
        values = np.zeros((self.world.n_states, agent.n_actions))
        values[np.array(agent.index.labels)] = agent.values[:, : agent.n_actions]
        return float(policy_values(self.world, values, self._is_target, _GAMMA) @ self._starts)


def starts_of(world: World) -> NDArray[np.float64]:
    """Return the probability of each state that an episode begins there."""
    return np.arange(world.n_states) == world.start if world.starts is None else world.starts


def policy_values(
    world: World, action_values: NDArray[Any], is_target: NDArray[np.bool_], gamma: float
) -> NDArray[np.float64]:
    """Return the discounted reward from each state of taking the best actions, each of several equally often.

    An action that a state lacks does nothing. Exact: v = P (1 at targets, else γ v), a system of linear equations.

    >>> import farpoint as fp
    >>> values = np.array([[0, 0, 0, 0], [0, 0, 1, 0], [0, 1, 0, 0]])
    >>> policy_values(fp.World.from_map("S.G"), values, np.arange(3) == 2, 0.5)
    array([0.2, 1. , 0.5])
    """
    assert world.actions is not None
    n = world.n_states
    best = action_values == action_values.max(axis=1, keepdims=True)
    share = best / best.sum(axis=1, keepdims=True)
    taken = share[world.choice_states, world.actions]
    chosen = csr_array((taken, (world.choice_states, np.arange(world.n_choices))), shape=(n, world.n_choices))
    lacking = 1.0 - np.asarray(chosen.sum(axis=1))
    moves = csr_array(chosen @ world.transitions + eye_array(n).multiply(lacking[:, None]))
    goes_on = csr_array(moves.multiply(gamma * ~is_target))
    return np.asarray(spsolve((eye_array(n) - goes_on).tocsc(), moves @ is_target.astype(float)))
