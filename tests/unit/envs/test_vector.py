"""Options as actions in many environments at once."""

from __future__ import annotations

import pickle
from contextlib import closing
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.vector.utils import batch_space

import farpoint as fp
from farpoint.envs.wrapper import OptionActions
from farpoint.errors import InvalidInput
from tests.helpers.envs import Corridor, fully_observed, make
from tests.helpers.vector_envs import MODES, N_ENVS, car, copies_of, lake, options

GAMMA = 0.9


def corridor(limit: int | None = None) -> gym.Env[Any, Any]:
    """Ten cells in a row; entering cell k pays k."""
    env = Corridor()
    env.rewards = np.arange(10.0)
    return env if limit is None else gym.wrappers.TimeLimit(env, limit)


def to_cell(cell: int) -> fp.OptionSet:
    world = fp.World.from_env(corridor())
    return fp.OptionSet(world, np.array([world.find_state(cell)]))


def decisions(envs: Any, count: int, seed: int = 3) -> list[list[tuple[Any, ...]]]:
    """Return the first decisions of every copy and what they led to; each copy draws its own from its masks.

    Read as the page says: by ``deciding`` where it is there, else one row is one decision.
    """
    rngs = [np.random.default_rng([seed, copy]) for copy in range(N_ENVS)]
    same_step = envs.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    done: list[list[tuple[Any, ...]]] = [[] for _ in rngs]
    over, actions, starts = np.zeros(N_ENVS, dtype=bool), np.zeros(N_ENVS, dtype=int), [0] * N_ENVS
    observations, infos = envs.reset(seed=seed)
    while min(map(len, done)) < count:
        for copy in np.flatnonzero(infos.get("deciding", ~over)).tolist():
            allowed = np.flatnonzero(infos["action_mask"][copy])
            actions[copy], starts[copy] = rngs[copy].choice(allowed), observations[copy]
        observations, rewards, terminated, truncated, infos = envs.step(actions)
        begun, ended = over, terminated | truncated
        over = ended if not same_step else over
        for copy in range(N_ENVS):
            if begun[copy] or not (infos["deciding"][copy] or ended[copy] if "deciding" in infos else True):
                continue
            final = same_step and ended[copy]
            said = infos["final_info"] if final else infos
            arrived = infos["final_obs"][copy] if final else observations[copy]
            numbers = [said[name][copy] for name in ("duration", "reward_sum", "discount", "option", "episode_steps")]
            mask = tuple(said["action_mask"][copy])
            row = (starts[copy], actions[copy], rewards[copy], arrived, terminated[copy], truncated[copy])
            done[copy].append((*row, *numbers, mask))
    return [rows[:count] for rows in done]


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.value)
@pytest.mark.parametrize("kind", ["sync", "async"])
def test_copies_decide_as_wrapped_copies_do(kind: str, mode: AutoresetMode) -> None:
    found = options()
    wrapped = SyncVectorEnv([lambda: fp.OptionsWrapper(lake(), found, GAMMA)] * N_ENVS, autoreset_mode=mode)
    expected = decisions(wrapped, 400)
    with closing(fp.OptionsVectorEnv(copies_of(lake, kind, mode), found, GAMMA)) as envs:
        assert decisions(envs, 400) == expected
    taken = [row[9] for rows in expected for row in rows]
    # Two of the options can start on the lake, and last.
    assert {-1, 0, 1} == set(taken)
    assert max(row[6] for rows in expected for row in rows) > 5


def test_a_copy_in_the_middle_of_an_option_waits() -> None:
    envs = fp.OptionsVectorEnv(SyncVectorEnv([corridor] * 2), to_cell(3), GAMMA)
    observations, infos = envs.reset(seed=0)
    assert infos["deciding"].tolist() == [True, True]
    assert (infos["duration"].tolist(), infos["discount"].tolist()) == ([0, 0], [1.0, 1.0])
    for step in (1, 2):
        # Whatever a copy on its way is told, it goes on.
        observations, rewards, *_, infos = envs.step([2 if step == 1 else 0, 0])
        assert observations.tolist() == [step, 0]
        assert rewards.tolist() == [0.0, 0.0]
        assert infos["deciding"].tolist() == [False, True]
        assert infos["action_mask"].tolist() == [[0, 0, 1], [1, 1, 1]]
        assert (infos["duration"].tolist(), infos["discount"].tolist()) == ([0, 1], [1.0, GAMMA])
        assert infos["option"].tolist() == [0, -1]
    observations, rewards, *_, infos = envs.step([0, 0])
    # Entering cells 1, 2, 3: 1 + 0.9 · 2 + 0.81 · 3.
    assert rewards == pytest.approx([5.23, 0.0])
    assert infos["deciding"].tolist() == [True, True]
    assert infos["duration"].tolist() == [3, 1]
    assert infos["reward_sum"].tolist() == [6.0, 0.0]
    assert infos["discount"] == pytest.approx([0.729, 0.9])
    assert infos["episode_steps"].tolist() == [3, 3]
    assert envs.total_steps == 6
    # At the goal the option cannot start.
    assert infos["action_mask"].tolist() == [[1, 1, 0], [1, 1, 1]]


def test_an_option_that_the_end_cuts_is_told_where_the_mode_puts_it() -> None:
    for mode in MODES:
        envs = fp.OptionsVectorEnv(SyncVectorEnv([lambda: corridor(2)], autoreset_mode=mode), to_cell(5), GAMMA)
        envs.reset(seed=0)
        envs.step([2])
        observations, rewards, _, truncated, infos = envs.step([0])
        assert truncated[0]
        # 1 + 0.9 · 2.
        assert rewards[0] == pytest.approx(2.8)
        if mode is AutoresetMode.NEXT_STEP:
            assert (observations[0], infos["duration"][0]) == (2, 2)
            # The next call only resets; the mask is that of the last state, for a target after a time limit.
            assert not infos["deciding"][0]
            assert infos["action_mask"].tolist() == [[1, 1, 1]]
            observations, rewards, _, truncated, infos = envs.step([1])
            assert (rewards[0], truncated[0]) == (0.0, False)
        else:
            assert infos["final_obs"][0] == 2
            assert (infos["final_info"]["duration"][0], infos["final_info"]["option"][0]) == (2, 0)
            assert infos["final_info"]["discount"][0] == pytest.approx(0.81)
            assert infos["final_info"]["action_mask"].tolist() == [[1, 1, 1]]
        assert (observations[0], infos["duration"][0], infos["discount"][0]) == (0, 0, 1.0)
        assert infos["deciding"][0]
        assert infos["episode_steps"][0] == 0


@pytest.mark.parametrize("chance", [0.05, 0.4])
def test_samples_take_options_at_their_own_rate(chance: float) -> None:
    envs = fp.OptionsVectorEnv(copies_of(lake), options())
    envs.option_probability = chance
    wrapper = fp.OptionsWrapper(lake(), options())
    wrapper.option_probability = chance
    wrapped = SyncVectorEnv([lambda: wrapper] * N_ENVS)
    mask = np.array([[1, 0, 1, 1, 0, 1, 0], [0, 0, 0, 0, 0, 1, 0], [1, 1, 0, 0, 0, 0, 0]], dtype=np.int8)
    for space in (envs.action_space, wrapped.action_space):
        space.seed(0)
        drawn = np.array([space.sample() for _ in range(4_000)])
        # Four standard errors of a share.
        assert abs((drawn >= 4).mean() - chance) < 4 * np.sqrt(chance * (1 - chance) / drawn.size)
        assert set(drawn.ravel().tolist()) == set(range(7))
        masked = np.array([space.sample(tuple(mask)) for _ in range(2_000)])
        assert abs((masked[:, 0] == 5).mean() - chance) < 4 * np.sqrt(chance * (1 - chance) / 2_000)
        assert [set(column.tolist()) for column in masked.T] == [{0, 2, 3, 5}, {5}, {0, 1}]
        # Half of the times each of two, four standard errors.
        assert abs((masked[:, 2] == 0).mean() - 0.5) < 4 * np.sqrt(0.25 / 2_000)
    for single in (envs.single_action_space, wrapped.single_action_space):
        single.seed(0)
        singles = np.array([single.sample() for _ in range(4_000)])
        assert abs((singles >= 4).mean() - chance) < 4 * np.sqrt(chance * (1 - chance) / 4_000)


def test_the_batched_space_is_that_of_as_many_discrete_ones() -> None:
    space: Any = batch_space(OptionActions(4, 3, 0.1), 2)
    assert space == batch_space(gym.spaces.Discrete(7), 2) == pickle.loads(pickle.dumps(space))
    assert space.sample(probability=(np.eye(7)[3], np.eye(7)[6])).tolist() == [3, 6]
    # As in other spaces: the first where nothing is allowed.
    assert space.sample(np.zeros((2, 7))).tolist() == [0, 0]
    with pytest.raises(InvalidInput, match="mask must have 7 entries for each of 2 copies"):
        space.sample(np.ones((3, 7)))


class Narrow(Corridor):
    """Allows to go right only from an even cell."""

    def reset(self, **arguments: Any) -> Any:
        observation, _ = super().reset(**arguments)
        return observation, self.allowed()

    def step(self, action: int) -> Any:
        assert action == 0 or self.cell % 2 == 0
        *answer, _ = super().step(action)
        return *answer, self.allowed()

    def allowed(self) -> dict[str, Any]:
        return {"action_mask": np.array([1, self.cell % 2 == 0], dtype=np.int8)}


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.value)
def test_masks_of_the_environments_are_respected_where_episodes_end(mode: AutoresetMode) -> None:
    made = SyncVectorEnv([lambda: gym.wrappers.TimeLimit(Narrow(), 1)] * 2, autoreset_mode=mode)
    envs = fp.OptionsVectorEnv(made, to_cell(3), GAMMA)
    envs.reset(seed=0)
    *_, truncated, infos = envs.step([1, 0])
    assert truncated.all()
    last = infos["final_info"] if mode is AutoresetMode.SAME_STEP else infos
    # From cell 1 neither a step to the right nor the option, which begins with one; from cell 0 both.
    assert last["action_mask"].tolist() == [[1, 0, 0], [1, 1, 1]]
    if mode is AutoresetMode.SAME_STEP:
        assert infos["action_mask"].tolist() == [[1, 1, 1], [1, 1, 1]]


def test_masks_of_the_environments_are_respected() -> None:
    envs = fp.OptionsVectorEnv(SyncVectorEnv([Narrow] * 2), to_cell(3), GAMMA)
    _, infos = envs.reset(seed=0)
    assert infos["action_mask"].tolist() == [[1, 1, 1]] * 2
    observations, *_, infos = envs.step([2, 1])
    # The option stops before an action that is forbidden.
    assert observations.tolist() == [1, 1]
    assert infos["duration"].tolist() == [1, 1]
    assert infos["action_mask"].tolist() == [[1, 0, 0]] * 2
    *_, infos = envs.step([1, 2])
    # What is forbidden is a random action that is allowed.
    assert infos["option"].tolist() == [-1, -1]


def test_continuous_actions_and_other_options() -> None:
    class Push:
        """Pushes right until fast."""

        def can_start(self, observation: Any) -> bool:
            return bool(observation[2] < 1.0)

        def act(self, observation: Any) -> Any:
            return None if observation[2] >= 1.0 else np.array([2.0], dtype=np.float32)

        def ended(self, observation: Any) -> bool:
            return bool(observation[2] >= 1.0)

    envs = fp.OptionsVectorEnv(gym.make_vec("Pendulum-v1", num_envs=2, vectorization_mode="sync"), [Push()])
    assert envs.single_action_space == gym.spaces.Discrete(2)
    _, infos = envs.reset(seed=0)
    for _ in range(30):
        observations, *_, infos = envs.step(envs.action_space.sample(infos["action_mask"]))
    assert observations.shape == (2, 3)
    assert infos["action_mask"][:, 1].tolist() == [
        int(deciding and observation[2] < 1.0) if deciding else int(option == 0)
        for deciding, observation, option in zip(infos["deciding"], observations, infos["option"], strict=True)
    ]


def test_options_that_change_their_mind_are_asked_every_time() -> None:
    class Moody:
        """Starts wherever it is allowed to: what can start is not a property of the state."""

        allowed = True

        def can_start(self, observation: Any) -> bool:
            return self.allowed

        def act(self, observation: Any) -> int:
            return 0

        def ended(self, observation: Any) -> bool:
            return True

    option = Moody()
    envs = fp.OptionsVectorEnv(SyncVectorEnv([corridor] * 2), [option])
    assert envs.reset()[1]["action_mask"].tolist() == [[1, 1, 1]] * 2
    option.allowed = False
    # Left of cell 0 is a wall: the same states again.
    observations, *_, infos = envs.step([0, 0])
    assert observations.tolist() == [0, 0]
    assert infos["action_mask"].tolist() == [[1, 1, 0]] * 2


def test_agents_may_write_over_observations() -> None:
    class ToTheRight:
        """Pushes right until the car is beyond the bottom of its valley."""

        def can_start(self, observation: Any) -> bool:
            return bool(observation[0] < -0.5)

        def act(self, observation: Any) -> int | None:
            return 2 if self.can_start(observation) else None

        def ended(self, observation: Any) -> bool:
            return not self.can_start(observation)

    def drive(*, overwritten: bool) -> list[Any]:
        envs = fp.OptionsVectorEnv(copies_of(car), [ToTheRight()])
        envs.option_probability = 0.5
        _, infos = envs.reset(seed=0)
        envs.action_space.seed(0)
        rows = []
        for _ in range(150):
            observations, *_, infos = envs.step(envs.action_space.sample(infos["action_mask"]))
            rows.append([observations.tolist(), infos["option"].tolist(), infos["duration"].tolist()])
            if overwritten:
                observations[:] = 0.0
        return rows

    untouched = drive(overwritten=False)
    assert max(max(durations) for _, _, durations in untouched) > 5
    assert drive(overwritten=True) == untouched


def test_without_options_it_is_the_environment() -> None:
    bare, envs = copies_of(lake), fp.OptionsVectorEnv(copies_of(lake))
    for one in (bare, envs):
        one.reset(seed=1)
    bare.action_space.seed(0)
    for _ in range(60):
        actions = bare.action_space.sample()
        expected, answer = bare.step(actions), envs.step(actions)
        for a, b in zip(expected[:4], answer[:4], strict=True):
            np.testing.assert_array_equal(a, b)


def test_simulators_are_read_where_they_can_be() -> None:
    def grid() -> Any:
        return make("MiniGrid-Empty-5x5-v0", max_episode_steps=20)

    found = fp.discover(fp.World.from_env(grid()), n_options=3)
    envs = fp.OptionsVectorEnv(SyncVectorEnv([grid] * 2), found)
    _, infos = envs.reset(seed=3)
    assert infos["action_mask"][:, 7:].any()
    wrapped = fp.OptionsWrapper(grid(), found)
    np.testing.assert_array_equal(infos["action_mask"][1], wrapped.reset(seed=4)[1]["action_mask"])
    with pytest.raises(InvalidInput, match="must be of a world whose states are observations; got states of the sim"):
        fp.OptionsVectorEnv(SyncVectorEnv([grid] * 2, autoreset_mode=AutoresetMode.SAME_STEP), found)


def test_copies_go_on_alike_after_pickling() -> None:
    envs = fp.OptionsVectorEnv(SyncVectorEnv([lake] * 2), options())
    envs.reset(seed=0)
    envs.action_space.seed(0)
    for _ in range(5):
        envs.step(envs.action_space.sample())
    other = pickle.loads(pickle.dumps(envs))
    for _ in range(40):
        actions = envs.action_space.sample()
        one, two = envs.step(actions), other.step(actions)
        for a, b in zip(one[:4], two[:4], strict=True):
            np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(one[4]["action_mask"], two[4]["action_mask"])


def test_mistakes_are_refused() -> None:
    with pytest.raises(InvalidInput, match="envs must be a Gymnasium vector environment; got"):
        fp.OptionsVectorEnv(lake())  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match=r"must be NEXT_STEP or SAME_STEP .* got <AutoresetMode.DISABLED"):
        fp.OptionsVectorEnv(copies_of(lake, mode=AutoresetMode.DISABLED))
    undeclared = copies_of(lake)
    del undeclared.metadata["autoreset_mode"]
    with pytest.raises(InvalidInput, match="got None"):
        fp.OptionsVectorEnv(undeclared)
    with pytest.raises(InvalidInput, match="DiscretizeAction"):
        fp.OptionsVectorEnv(SyncVectorEnv([lambda: make("MountainCarContinuous-v0")] * 2), options())
    with pytest.raises(InvalidInput, match="options must be of a world made from this environment"):
        fp.OptionsVectorEnv(copies_of(lake), fp.discover(fp.four_rooms(), n_options=2))
    with pytest.raises(InvalidInput, match="sample must be left out where actions are discrete"):
        fp.OptionsVectorEnv(copies_of(lake), sample=lambda rng: 0)
    envs = fp.OptionsVectorEnv(copies_of(lake), options(), unavailable="refuse")
    with pytest.raises(gym.error.ResetNeeded, match="must be reset before their first step"):
        envs.step([0, 0, 0])
    with pytest.raises(InvalidInput, match="must not hold 'reset_mask'"):
        envs.reset(options={"reset_mask": np.ones(3, dtype=bool)})
    with pytest.raises(InvalidInput, match="seed must be a number, or a list of 3, one per copy"):
        envs.reset(seed=[1, 2])
    with pytest.raises(InvalidInput, match="options must be a dict or None; got int"):
        envs.reset(options=3)  # type: ignore[arg-type]
    _, infos = envs.reset(seed=0)
    with pytest.raises(InvalidInput, match=r"actions must have one entry per copy \(3\); got shape \(2,\)"):
        envs.step([0, 0])
    with pytest.raises(InvalidInput, match=r"action must lie in 0 … 6; got 7"):
        envs.step([0, 7, 0])
    cannot = 4 + int(np.flatnonzero(infos["action_mask"][1, 4:] == 0)[0])
    with pytest.raises(InvalidInput, match="must be one that can start here"):
        envs.step([0, cannot, 0])
    # Nothing was done: the copies are where they began.
    assert envs.total_steps == 0


def test_a_world_of_other_states_is_noticed() -> None:
    world = fp.World.from_env(fully_observed("MiniGrid-Empty-5x5-v0"))
    with pytest.raises(InvalidInput, match="options must be of a world made from this environment"):
        fp.OptionsVectorEnv(copies_of(lake), fp.discover(world, n_options=2))
