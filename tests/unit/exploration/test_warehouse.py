"""A user's warehouse: a reward that random actions never see, learned from scratch with defaults only."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import farpoint as fp
from farpoint.worlds.state_index import is_end
from research.warehouse import states, value_of, warehouse

GAMMA, N_STEPS, SEEDS = 0.99, 30_000, range(5)
# In 200 steps; found by backward induction over the 244 states.
BEST = value_of(None, GAMMA)


def test_there_are_two_rooms_before_the_shelf() -> None:
    assert len(states()) == 244
    assert 0.5 < BEST < GAMMA**40
    assert value_of({}, GAMMA) < 1e-6, "random actions deliver nothing"


@pytest.mark.slow
@pytest.mark.parametrize("actions", ["least tried", "uniform"])
def test_without_options_no_reward_is_seen(actions: str) -> None:
    for seed in SEEDS:
        agent = fp.train_tabular(warehouse(), N_STEPS, actions=actions, seed=seed)
        assert not any(agent.episode_rewards)


@pytest.mark.slow
def test_learning_from_scratch_is_near_optimal_with_defaults() -> None:
    for seed in SEEDS:
        result = fp.learn_from_scratch(warehouse(), N_STEPS, seed=seed)
        best = {}
        for label, values in zip(result.exploration.labels, result.values, strict=True):
            seen = dict(label)
            best[(seen["row"], seen["col"]), bool(seen["carrying"])] = np.flatnonzero(values == values.max()).tolist()
        assert value_of(best, GAMMA) > 0.9 * BEST


@pytest.mark.slow
def test_a_tabular_agent_with_options_that_appear_is_near_optimal_with_defaults() -> None:
    for seed in SEEDS:
        env = fp.DiscoveringWrapper(warehouse(), seed=seed)
        agent = fp.train_tabular(env, N_STEPS, seed=seed)
        frozen = fp.DiscoveringWrapper(warehouse(), explorer=env.explorer, learn=False)
        returns = [delivered(frozen, agent, seed=1_000 + episode) for episode in range(200)]
        assert np.mean(returns) > 0.9 * BEST


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_options_from_a_log_arrive_from_nearly_everywhere(seed: int) -> None:
    found = fp.explore(warehouse(), N_STEPS, seed=seed)
    for world in (found.world, fp.World.from_log(found.log)):
        options = fp.discover(world, n_options=5, form="symmetrized")
        assert world.labels is not None
        starts: list[Any] = [label for label in world.labels if not is_end(label)]
        rng, arrived = np.random.default_rng(0), list[bool]()
        for trial in range(200):
            option, start = int(rng.integers(len(options))), starts[rng.integers(len(starts))]
            if options.can_start(start)[option]:
                arrived.append(arrives(options, option, dict(start), trial))
        assert len(arrived) > 100
        assert np.mean(arrived) >= 0.9


def arrives(options: fp.OptionSet, option: int, start: dict[str, int], seed: int) -> bool:
    """Whether an option reaches its goal from a state within an episode."""
    env, rng = warehouse(), np.random.default_rng(seed)
    env.reset(seed=seed)
    base: Any = env.unwrapped
    base.cell, base.carrying = (start["row"], start["col"]), bool(start["carrying"])
    key, over = options.observe(env, base.observe()), False
    while not over:
        action = options.act(option, key, rng)
        if action is None:
            break
        observation, _, terminated, truncated, _ = env.step(action)
        key, over = options.observe(env, observation), terminated or truncated
    return options.reached(option, key)


def delivered(env: fp.OptionsWrapper, agent: fp.agents.TabularAgent, seed: int) -> float:
    """The discounted reward of one episode of best decisions, options among them."""
    env.reset(seed=seed)
    discount, total = 1.0, 0.0
    over: Any = False
    while not over:
        _, reward, terminated, truncated, info = env.step(agent.act(env.current_key, env.action_masks()))
        total, discount = total + discount * reward, discount * info["discount"]
        over = terminated or truncated
    return total
