"""The world that was seen is drawn as the map that it is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import farpoint as fp
from farpoint.worlds.state_index import positions_of_pairs
from tests.helpers.array_env import ArrayEnv
from tests.helpers.envs import make

ROOM = "S...\n....\n...."


class TupleEnv(ArrayEnv):
    """The same room, whose observations are tuples."""

    def observation(self) -> Any:
        return self.place


def text_of(found: fp.Exploration) -> str:
    assert found.world.n_states == found.n_states
    assert found.world.draw().axes[0].images, "a map"
    return found.world.to_text()


def worlds_that_are_rooms() -> dict[str, Any]:
    world = fp.World.from_map(ROOM)
    return {
        "map": world,
        "map as an environment": fp.envs.WorldEnv(world, max_episode_steps=50),
        "wrapped": gym.wrappers.TimeLimit(fp.envs.WorldEnv(world), 50),
        "arrays as labels": ArrayEnv(3, 4),
        "tuples as labels": TupleEnv(3, 4),
    }


@pytest.mark.parametrize("kind", worlds_that_are_rooms())
def test_what_was_explored_is_a_map(kind: str) -> None:
    found = fp.explore(worlds_that_are_rooms()[kind], 2_000)
    assert text_of(found) == fp.World.from_map(ROOM).to_text()
    assert found.options.to_text().count("*") == len(found.options)


def test_positions_are_those_of_the_world() -> None:
    maze = fp.maze()
    found = fp.explore(maze, 3_000, max_episode_steps=100, seed=1)
    assert maze.positions is not None
    assert found.positions is not None
    np.testing.assert_array_equal(found.positions, np.asarray(maze.positions)[found.labels])
    own = np.array(found.world.labels, dtype=np.int64)
    np.testing.assert_array_equal(np.asarray(found.world.positions), np.asarray(maze.positions)[own])


def test_environments_that_know_their_rows_and_columns_are_maps() -> None:
    lake = fp.explore(gym.make("FrozenLake-v1", is_slippery=False), 3_000)
    np.testing.assert_array_equal(lake.positions, [divmod(label, 4) for label in lake.labels])
    # A key of one's own is not taken for the number of a state.
    coarse = fp.explore(gym.make("FrozenLake-v1"), 500, state=lambda env, observation: int(observation) // 8)
    assert coarse.positions is None
    grid = fp.explore(make("MiniGrid-Empty-5x5-v0"), 1_000, layout=0, state=fp.envs.simulator_state)
    np.testing.assert_array_equal(grid.positions, [(label[2], label[1]) for label in grid.labels])


def test_a_continuous_maze_is_drawn_where_it_is() -> None:
    env = fp.ContinuousMaze("S..\n...")
    found = fp.explore(env, 500)
    assert found.positions is not None
    rows, columns = found.positions.T
    np.testing.assert_allclose(env.locate(np.array(found.labels)), np.stack([columns, rows], axis=1))
    np.testing.assert_array_equal(np.asarray(found.world.positions).shape, (found.world.n_states, 2))


def test_a_world_of_other_labels_has_no_positions() -> None:
    ring = fp.World.from_log(["a", "b", "c"], ["b", "c", "a"])
    found = fp.explore(fp.World.from_matrix(ring.transitions, ring.choice_ptr, labels=ring.labels, start=0), 50)
    assert found.positions is None
    assert found.world.positions is None


def test_a_world_as_an_environment_that_is_enumerated_keeps_its_map() -> None:
    world = fp.World.from_map(ROOM)
    assert fp.World.from_env(fp.envs.WorldEnv(world)).to_text() == world.to_text()
    assert fp.envs.WorldEnv(fp.World.from_map(ROOM)).position_of_state(5) == (1, 1)
    graph = fp.World.from_graph([[0, 1], [1, 0]])
    assert fp.envs.WorldEnv(replace(graph, start=0)).position_of_state(0) is None


@pytest.mark.parametrize(
    "labels", [[(True, False), (0, 1)], [(1, 2, 3)], [(0.5, 1)], [1, 2], [], [(0, 0), (2**40, 2**40)], [(2**70, 0)]]
)
def test_other_labels_are_no_rows_and_columns(labels: list[Any]) -> None:
    assert positions_of_pairs(labels) is None
