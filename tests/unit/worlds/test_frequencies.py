from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import farpoint as fp
from farpoint.errors import InvalidInput, NotConnected
from farpoint.report.notebook import facts_of
from tests.helpers.envs import make
from tests.helpers.worlds import described


def check_same_graph(log: fp.World, world: fp.World, tolerance: float = 0.0) -> None:
    assert log.labels is not None
    assert world.labels is not None
    order = np.array([log.find_state(label) for label in world.labels], dtype=np.int64)
    np.testing.assert_allclose(log.adjacency.toarray()[np.ix_(order, order)], world.adjacency.toarray(), atol=tolerance)


def test_a_long_walk_recovers_a_deterministic_environment_and_its_goals() -> None:
    env = make("FrozenLake-v1", is_slippery=False, max_episode_steps=20)
    log = fp.World.from_log(fp.record_log(env, 20_000, seed=2))
    assert log.restart is not None
    # How often the time limit strikes is measured too.
    assert log.restart.min() > 1e-3
    world = fp.World.from_env(env, restart=float(log.restart.min()))
    check_same_graph(log, world)
    ours, theirs = fp.discover(log, t=4, form="symmetrized"), fp.discover(world, t=4, form="symmetrized")
    assert {log.labels[s] for s in ours.goals} == {world.labels[s] for s in theirs.goals}  # type: ignore[index]


def test_a_long_walk_recovers_a_slippery_environment() -> None:
    env = make("FrozenLake-v1", is_slippery=True)
    log = fp.World.from_log(fp.record_log(env, 200_000, seed=1))
    check_same_graph(log, fp.World.from_env(env), tolerance=0.08)


class Moves(gym.Wrapper[Any, Any, Any, Any]):
    """Only turning and going forward: the other actions change nothing in these rooms."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.action_space = gym.spaces.Discrete(3)


@pytest.mark.slow
def test_a_long_walk_recovers_minigrid_fourrooms() -> None:
    env = Moves(make("MiniGrid-FourRooms-v0", max_steps=100_000, disable_env_checker=True))
    # Nobody looks at the pictures, which take most of the time: the state is that of the simulator.
    env.unwrapped.gen_obs = dict  # type: ignore[attr-defined]
    log = fp.World.from_log(fp.record_log(env, 200_000, seed=5, layout=3, state=fp.envs.simulator_state))
    assert log.restart is not None
    world = fp.World.from_env(env, seed=3, restart=float(log.restart.min()))
    assert log.n_states == world.n_states
    check_same_graph(log, world)
    # Which of two equally far directions stands for a corner depends on the numbering; the cells do not.
    cells = [
        {world.labels[s][1:3] for s in fp.discover(world, t=4, form="symmetrized").goals}  # type: ignore[index]
        for world in (log, world)
    ]
    assert cells[0] == cells[1]


def test_pairs_without_actions_are_weighted_by_how_often() -> None:
    world = fp.World.from_log(["a", "b", "a", "b"], ["b", "a", "b", "a"])
    assert world.labels == ("a", "b")
    np.testing.assert_array_equal(world.adjacency.toarray(), [[0, 2], [2, 0]])


def test_frequencies_of_actions_are_their_chances() -> None:
    world = fp.World.from_log([0, 0, 0, 0, 1, 2], [1, 1, 1, 2, 0, 0], [5, 5, 5, 5, 0, 0])
    expected = np.array([[0, 0.75, 0.25], [1, 0, 0], [1, 0, 0]])
    np.testing.assert_allclose(world.transitions.toarray(), expected)
    assert world.actions is not None
    assert world.actions.tolist() == [5, 0, 0]


def test_logs_that_lead_one_way() -> None:
    states, next_states = [0, 1, 0, 2], [1, 0, 2, 3]
    with pytest.raises(NotConnected, match=r"3 components \(sizes 2, 1, 1\).*symmetrize=True"):
        fp.World.from_log(states, next_states, largest_component=False)
    part = fp.World.from_log(states, next_states)
    assert part.labels == (0, 1)
    assert part.notes == ("kept 2 of 4 states: the largest of 3 parts that the log crosses in both directions.",)
    assert facts_of(part)["notes"] == part.notes[0]
    whole = fp.World.from_log(states, next_states, symmetrize=True)
    assert whole.n_states == 4
    assert whole.symmetric
    # Episodes have a direction, and are left out: not without a word.
    episodes = fp.World.from_log(states, next_states, symmetrize=True, terminated=[0, 1, 0, 1])
    assert episodes.restart is None
    assert episodes.notes == (
        "left out 2 episodes, 2 of which ended: symmetrize=True counts every step backwards too.",
    )


def test_labels_of_any_kind_and_width() -> None:
    for states, after in (
        (np.array(["a", "b"]), np.array(["b", "a"], dtype="<U9")),
        (np.array(["a", "b"], dtype=object), ["b", "a"]),
        (np.array([[0, 0], [0, 1]], dtype=np.int32), np.array([[0, 1], [0, 0]], dtype=np.int64)),
    ):
        assert fp.World.from_log(states, after).n_states == 2


def test_rows_of_an_array_are_states() -> None:
    cells = np.array([[0, 0], [0, 1], [1, 1]])
    world = fp.World.from_log(cells[[0, 1, 2, 1]], cells[[1, 2, 1, 0]])
    assert world.n_states == 3


def test_an_end_at_a_place_that_is_passed_through_is_a_state_of_its_own() -> None:
    # 1 is entered four times and ends one episode; 2 is entered once and ends it; the time limit cut one of six steps.
    before, after = [0, 1, 0, 1, 0, 0], [1, 0, 1, 2, 1, 1]
    ended, cut, begins = ([step in steps for step in range(6)] for steps in ((3, 4), (5,), (0, 4, 5)))
    world = fp.World.from_log(before, after, [7] * 6, terminated=ended, truncated=cut, begins=begins)
    assert world.labels == (0, 1, 2, ("end", 1))
    np.testing.assert_array_equal(world.restart, [1 / 6, 1 / 6, 1.0, 1.0])
    np.testing.assert_array_equal(world.starts, [1.0, 0.0, 0.0, 0.0])
    # From 0 four steps: three on to 1, one to the end there. From 1 one back and one to 2.
    np.testing.assert_array_equal(world.transitions.toarray(), [[0, 3 / 4, 0, 1 / 4], [1 / 2, 0, 1 / 2, 0]])
    assert np.diff(world.choice_ptr).tolist() == [1, 1, 0, 0]
    # No observation stands for the end.
    assert world.find_state(1) == 1
    assert world.find_state(("end", 1)) is None


def test_a_first_state_that_is_only_ended_in_elsewhere_is_passed_through() -> None:
    # 0 → 1, where it ends; then an episode begins in 1 and leads to 2, which only ends.
    world = fp.World.from_log([0, 1], [1, 2], terminated=[True, True], begins=[True, True])
    assert world.labels == (0, 1, 2, ("end", 1))
    np.testing.assert_array_equal(world.restart, [0.0, 0.0, 1.0, 1.0])


@pytest.mark.parametrize("seed", range(3))
def test_the_world_does_not_depend_on_the_order_of_the_log(seed: int) -> None:
    log = fp.record_log(make("FrozenLake-v1", max_episode_steps=9), 400, seed=seed)
    order = np.random.default_rng(seed).permutation(400)
    rows = {"observations": np.array(log.observations), "next_observations": np.array(log.next_observations)}
    rows |= {name: getattr(log, name) for name in ("actions", "terminated", "truncated", "begins")}
    shuffled = fp.World.from_log({name: column[order] for name, column in rows.items()})
    assert described(shuffled) == described(fp.World.from_log(log))


def test_of_a_log_with_episodes_too_only_what_it_crosses_is_kept() -> None:
    # The first episode leaves 9 for good, and no episode begins there again... but restarts lead back to it.
    steps: Any = [9, 0, 0], [0, 1, 1]
    crossed = fp.World.from_log(*steps, terminated=[False, True, True])
    assert crossed.n_states == 3
    assert crossed.notes == ()
    # 9 was never a first state: nothing leads there.
    ends: dict[str, Any] = {"terminated": [False, True, True], "begins": [False, True, True]}
    world = fp.World.from_log(*steps, **ends, largest_component=True)
    assert world.labels == (0, 1)
    np.testing.assert_array_equal(world.starts, [1.0, 0.0])
    assert world.notes == ("kept 2 of 3 states: the largest of 2 parts that the log crosses in both directions.",)
    with pytest.raises(NotConnected, match=r"2 components \(sizes 2, 1\)"):
        fp.World.from_log(*steps, **ends, largest_component=False)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            (np.full((3, 2), 0.5), np.zeros((3, 2))),
            "to identify a state exactly; got 0.5. Use World.from_samples",
        ),
        (([0, 1], [1]), "equally long and not empty; got 2 and 1"),
        (([], []), "equally long and not empty"),
        (([0],), r"log must have next observations; got \[0\]. Pass next_states"),
        (([0, 1], None, [0, 1]), "next_observations must be given with observations; got None. Or mark"),
        (([0, 1], [1, 0], [0]), r"actions must be one per step \(2\); got shape"),
        (([0, 1], [1, 0], [0.5, 1.5]), "actions must be whole numbers; got float64"),
        (([0, 1], [1, 0], [-1, 1]), "actions must be whole numbers of at least 0"),
        (([0.1, 0.2], [0.2, 0.1]), "got 0.1. Use World.from_samples"),
        (([0, 1], [1, 2]), "no way back to any"),
        (([{0}, {1}], [{1}, {0}]), "hashable key; got set"),
    ],
)
def test_bad_logs(arguments: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        fp.World.from_log(*arguments)


def test_an_episode_that_begins_was_cut_if_it_did_not_terminate() -> None:
    # 0 → 1 → 2 and cut; 0 → 1 and ended.
    world = fp.World.from_log([0, 1, 0], [1, 2, 1], begins=[1, 0, 1], terminated=[0, 0, 1])
    assert world.restart is not None
    # Of three steps one was cut. 1 is passed through too, so its end is a state of its own.
    assert world.labels == (0, 1, 2, ("end", 1))
    np.testing.assert_allclose(world.restart, [1 / 3, 1 / 3, 1 / 3, 1.0])
