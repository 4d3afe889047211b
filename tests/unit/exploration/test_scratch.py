"""Learning in worlds and environments of which nothing is known."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

import farpoint as fp
from farpoint.errors import InvalidInput
from farpoint.exploration.memory import add_state, new_memory
from farpoint.exploration.values import Values, known_action
from tests.helpers.envs import TAXI
from tests.unit.exploration.test_exploring import MapEnv, same, torus

TORUS = replace(fp.World.from_graph(torus()), start=5)
TARGET = 70


class TargetEnv(MapEnv):
    """The same world with a reward of 1 at a target, where the episode ends."""

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        state, _, _, truncated, info = super().step(action)
        return state, float(state == TARGET), state == TARGET, truncated, info


@pytest.mark.parametrize("method", ["diffusion", "novelty", "random", "none"])
def test_an_environment_is_learned_as_the_world_that_it_is(method: str) -> None:
    # Never near enough: a world stops when it is near-optimal, an environment does not know.
    compiled = fp.learn_from_scratch(TORUS, 4_000, method, targets=[TARGET], max_episode_steps=60, near=1.0, seed=3)
    n_steps = compiled.exploration.n_steps
    stepped = fp.learn_from_scratch(TargetEnv(TORUS, 60), n_steps, method, seed=3)
    same(compiled.exploration, stepped.exploration)
    np.testing.assert_array_equal(compiled.values, stepped.values)
    assert compiled.first_reward == stepped.first_reward < np.inf
    assert np.isnan(stepped.near_optimal)


def test_values_are_those_of_the_best_way_in_what_was_seen() -> None:
    world, target, gamma = fp.maze(), 40, 0.95
    result = fp.learn_from_scratch(
        world, 3_050, "none", targets=[target], max_episode_steps=200, gamma=gamma, near=1.0, seed=2
    )
    steps, labels = result.exploration.steps, result.exploration.labels
    # Moves are certain: a reward of 1 after d known moves is worth γ^(d − 1).
    backwards = csr_array((np.ones(steps.before.size), (steps.after, steps.before)), shape=(len(labels), len(labels)))
    distance = dijkstra(backwards, unweighted=True, indices=labels.index(target))
    expected = np.zeros_like(result.values)
    for here, action, there in zip(steps.before, steps.actions, steps.after, strict=True):
        expected[here, action] = gamma ** distance[there]
    assert result.values.max() == 1.0
    np.testing.assert_allclose(result.values, expected, atol=1e-7)


def test_no_value_exceeds_what_can_be_had() -> None:
    world, target = fp.four_rooms(), 90
    result = fp.learn_from_scratch(world, 30_000, targets=[target], max_episode_steps=100, near=1.0, gamma=0.9)
    distance = dijkstra(world.adjacency, unweighted=True, indices=target)[result.exploration.labels]
    others = distance > 0
    # A reward of 1 after d steps is worth γ^(d − 1).
    assert (result.values.max(axis=1)[others] <= 0.9 ** (distance[others] - 1) + 1e-12).all()
    assert result.values.max() > 0.5


def test_what_is_near_optimal_is_reached_and_stays_on_the_shortest_way() -> None:
    world = replace(fp.grid((12,)), start=0)
    result = fp.learn_from_scratch(world, 5_000, targets=[11], max_episode_steps=100, near=0.999)
    assert result.first_reward < result.near_optimal <= 5_000
    state = 0
    for _ in range(11):
        action = result.values[result.exploration.labels.index(state)].argmax()
        state = int(world.transitions[[world.choice_ptr[state] + action]].indices[0])
    assert state == 11


def test_learning_the_same_seed_gives_the_same_agent() -> None:
    one, other = (fp.learn_from_scratch("maze", 3_000, max_episode_steps=100, seed=4) for _ in range(2))
    same(one.exploration, other.exploration)
    np.testing.assert_array_equal(one.values, other.values)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"targets": [999]}, "targets"),
        ({"layout": 3}, "state, layout and scale must go with an environment"),
        ({"epsilon": 1.5}, "epsilon"),
    ],
)
def test_bad_arguments_of_a_world(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        fp.learn_from_scratch(fp.maze(), 100, **arguments)


def test_bad_arguments_of_an_environment() -> None:
    with pytest.raises(InvalidInput, match="must go with a world"):
        fp.learn_from_scratch(gym.make("FrozenLake-v1"), 100, max_episode_steps=5)
    with pytest.raises(InvalidInput, match="targets must be given"):
        fp.learn_from_scratch(fp.open_room(3, 3), 100)


def trap() -> fp.World:
    """Four states: 0 and 1 go back and forth, 1 also leads to 2, which leads nowhere else, and 0 to 3, the end."""
    moves = np.zeros((4, 4))
    moves[0, 1] = moves[1, 0] = moves[1, 2] = moves[2, 2] = moves[0, 3] = 1.0
    return fp.World.from_graph(moves)


def test_best_decisions_that_go_in_circles_are_not_waited_for() -> None:
    # Without a limit on episodes; γ = 1 discounts nothing to nothing.
    result = fp.learn_from_scratch(fp.maze(), 20_000, seed=0)
    assert result.near_optimal < np.inf
    trapped = fp.learn_from_scratch(replace(trap(), start=0), 1_000, targets=[3], gamma=1.0)
    assert trapped.exploration.n_steps >= 100


def test_an_episode_does_not_begin_where_it_is_over() -> None:
    world = replace(trap(), start=3)
    assert np.diff(world.choice_ptr)[3] == 0
    with pytest.raises(InvalidInput, match="start must be a state with choices; got 3"):
        fp.explore(world, 20)
    with pytest.raises(InvalidInput, match="start must be a state with choices; got 3"):
        fp.learn_from_scratch(world, 20, targets=[1])


@pytest.mark.parametrize("arguments", [{"targets": [1], "start": 2}, {"gamma": 0.0, "start": 1}, {"near": 0}])
def test_a_task_without_a_reward_is_refused(arguments: dict[str, Any]) -> None:
    start = arguments.pop("start", 0)
    with pytest.raises(InvalidInput, match=r"task without reward|near must be above 0"):
        fp.learn_from_scratch(replace(trap(), start=start), 200, **{"targets": [3], **arguments})


def test_a_world_has_the_time_limit_of_its_environment() -> None:
    world = fp.World.from_env(gym.make(TAXI))
    steps = fp.explore(world, 5_000, "none").steps
    lengths = np.diff(np.append(-1, np.flatnonzero(steps.ended)))
    assert lengths.max() == 200


def test_a_reward_soon_reaches_every_state_from_which_a_way_is_known() -> None:
    world = replace(fp.grid((12,)), start=0)
    first = int(fp.learn_from_scratch(world, 5_000, targets=[11], near=1.0).first_reward)
    # So much later the options are made anew, and everything is learned once more.
    result = fp.learn_from_scratch(world, first + 101, targets=[11], near=1.0)
    assert (result.values.max(axis=1)[np.array(result.exploration.labels) != 11] > 0).all()


def test_an_only_action_is_not_taken_for_a_known_best() -> None:
    memory = new_memory(2)
    end, fork = add_state(memory, 1, 0), add_state(memory, 2, 0)
    values = Values.none(2).with_room(memory)
    values.actions[fork, 1] = 1.0
    assert known_action(memory, values, end) == -1
    assert known_action(memory, values, fork) == 1


def test_a_result_says_how_often_options_were_taken() -> None:
    settings: dict[str, Any] = {"max_episode_steps": 100}
    used = fp.learn_from_scratch(fp.maze(), 300, option_probability=0.2, **settings)
    assert ", option_probability=0.2" in repr(used)
    assert "option_probability" not in repr(fp.learn_from_scratch(fp.maze(), 300, "none", **settings))
