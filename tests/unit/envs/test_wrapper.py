"""The wrapper in which options are actions, with every kind of options."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from hypothesis import given, settings
from hypothesis import strategies as st

import farpoint as fp
from farpoint.envs.transitions import Transition
from farpoint.envs.wrapper import OptionActions
from farpoint.errors import InvalidInput
from tests.helpers.array_env import ArrayEnv
from tests.helpers.counter import Counter, UpTo
from tests.helpers.envs import TAXI, Corridor, StartIn, make
from tests.helpers.world_env import WorldEnv


@given(rewards=st.lists(st.floats(-10, 10), min_size=10, max_size=10), gamma=st.floats(0, 1), goal=st.integers(1, 8))
@settings(max_examples=60)
def test_discounted_reward_and_duration_equal_a_loop_by_hand(rewards: list[float], gamma: float, goal: int) -> None:
    env = Corridor()
    env.rewards = np.array(rewards)
    world = fp.World.from_env(env)
    goal_state = world.find_state(goal)
    wrapped = fp.OptionsWrapper(env, fp.OptionSet(world, np.array([goal_state])), gamma)
    wrapped.reset(seed=0)
    observation, reward, terminated, truncated, info = wrapped.step(2)
    assert (observation, terminated, truncated) == (goal, False, False)
    assert info["duration"] == goal
    assert info["discount"] == pytest.approx(gamma**goal)
    assert info["episode_steps"] == wrapped.total_steps == goal
    assert reward == pytest.approx(sum(gamma**k * rewards[k + 1] for k in range(goal)))


@pytest.mark.parametrize("name", ["FrozenLake8x8-v1", "CliffWalking-v1"])
def test_an_option_reaches_its_goal_in_the_expected_number_of_steps(name: str) -> None:
    env = StartIn(make(name, is_slippery=False) if name.startswith("Frozen") else make(name))
    world = fp.World.from_env(env)
    options = fp.discover(world, n_options=3)
    wrapped = fp.OptionsWrapper(env, options)
    assert world.labels is not None
    for number, option in enumerate(options):
        for state in np.flatnonzero(option.initiation)[::3]:
            _, info = wrapped.reset(seed=1, options={"state": world.labels[state]})
            assert info["action_mask"][wrapped.n_actions + number] == (not option.ends[state])
            if option.ends[state]:
                continue
            observation, _, _, _, info = wrapped.step(wrapped.n_actions + number)
            assert observation == world.labels[options.goals[number]]
            assert info["duration"] == option.expected_steps[state]


def test_in_a_slippery_world_the_steps_are_right_on_average() -> None:
    env = StartIn(make("FrozenLake8x8-v1", is_slippery=True, max_episode_steps=100_000))
    world = fp.World.from_env(env)
    options = fp.discover(world, n_options=8)
    lasting = [
        (k, s) for k, o in enumerate(options) for s in np.flatnonzero(o.initiation) if 3 < o.expected_steps[s] < 200
    ]
    number, state = lasting[0]
    wrapped = fp.OptionsWrapper(env, options, max_steps=100_000)
    assert world.labels is not None
    wrapped.reset(seed=7)
    durations = []
    for _ in range(300):
        wrapped.reset(options={"state": world.labels[state]})
        durations.append(wrapped.step(wrapped.n_actions + number)[4]["duration"])
    error = np.std(durations) / np.sqrt(len(durations))
    assert abs(np.mean(durations) - options[number].expected_steps[state]) < 4 * error


@pytest.mark.filterwarnings("ignore")
def test_the_wrapper_passes_the_checker_of_gymnasium() -> None:
    env = make("FrozenLake-v1", is_slippery=False)
    check_env(fp.OptionsWrapper(env, fp.discover(fp.World.from_env(env), n_options=2)), skip_render_check=True)


def test_in_vectors_and_under_other_wrappers() -> None:
    def wrap(env: Any) -> Any:
        options = fp.discover(fp.World.from_env(env), n_options=2)
        return gym.wrappers.RecordEpisodeStatistics(fp.OptionsWrapper(env, options))

    envs = gym.make_vec("FrozenLake-v1", num_envs=2, is_slippery=False, wrappers=[wrap])
    envs.reset(seed=0)
    _, _, _, _, info = envs.step(np.array([4, 5]))
    assert info["duration"].min() > 1
    assert info["action_mask"].shape == (2, 6)
    envs.close()


def test_seeds_reproduce_whole_runs() -> None:
    env = make("MiniGrid-MultiRoom-N2-S4-v0")
    options = fp.discover(fp.World.from_env(env, seed=3), n_options=6)
    runs = []
    for _ in range(2):
        wrapped = fp.OptionsWrapper(env, options)
        wrapped.reset(seed=3)
        rng = np.random.default_rng(0)
        trace = []
        for _ in range(40):
            mask = wrapped.action_masks()
            observation, reward, terminated, truncated, info = wrapped.step(int(rng.choice(np.flatnonzero(mask))))
            trace.append((reward, info["duration"], wrapped.read(observation)))
            if terminated or truncated:
                wrapped.reset(seed=3)
        runs.append(trace)
    assert runs[0] == runs[1]


def test_what_cannot_be_done_is_refused() -> None:
    env = make("FrozenLake-v1", is_slippery=False)
    world = fp.World.from_env(env)
    options = fp.discover(world, n_options=2)
    wrapped = fp.OptionsWrapper(env, options, unavailable="refuse")
    wrapped.reset(seed=0)
    wrapped.step(4)
    assert wrapped.action_masks()[4] == 0, "an option that ends here cannot start here"
    with pytest.raises(InvalidInput, match="option 0 must be one that can start here"):
        wrapped.step(4)
    with pytest.raises(InvalidInput, match=r"action must lie in 0 … 5; got 6"):
        wrapped.step(6)
    with pytest.raises(InvalidInput, match="options must be of a world made from this environment"):
        fp.OptionsWrapper(env, fp.discover(fp.ring()))
    samples = fp.World.from_samples(np.arange(5.0)[:, None], n_neighbors=2)
    with pytest.raises(InvalidInput, match=r"Follow goals in samples with farpoint\.options\.GoalOptions"):
        fp.OptionsWrapper(env, fp.discover(samples, n_options=1))
    rooms = make("MiniGrid-MultiRoom-N2-S4-v0")
    known = fp.discover(fp.World.from_env(rooms, seed=3), n_options=2)
    other = fp.OptionsWrapper(rooms, known, unavailable="refuse")
    with pytest.warns(UserWarning, match="the same seed to reset"):
        _, info = other.reset(seed=4)
    assert info["action_mask"][7:].sum() == 0, "a layout that the options do not know"
    with pytest.raises(InvalidInput, match="option 0 must be one that can start here"):
        other.step(7)


def test_options_of_another_environment() -> None:
    cliff = make("CliffWalking-v1")
    with pytest.raises(InvalidInput, match="which has other states"):
        fp.OptionsWrapper(make("FrozenLake-v1"), fp.discover(fp.World.from_env(cliff)))
    small = fp.discover(fp.World.from_env(make("FrozenLake-v1", is_slippery=False)), n_options=2)
    large = fp.OptionsWrapper(make("FrozenLake8x8-v1", is_slippery=False), small)
    large.reset(seed=0)
    # It goes on through states that it knows, until it comes to one that its world does not have.
    observation, _, _, _, info = large.step(5)
    assert info["duration"] >= 1
    assert small.ended(int(observation))[1]
    # Options are of numbered actions, as the environment was when it was explored.
    with pytest.raises(InvalidInput, match="DiscretizeAction"):
        fp.OptionsWrapper(make("MountainCarContinuous-v0"), small)


def test_observation_wrappers_do_not_hide_the_state() -> None:
    env = gym.wrappers.FlattenObservation(make("FrozenLake-v1", is_slippery=False))
    wrapped = fp.OptionsWrapper(env, fp.discover(fp.World.from_env(env), n_options=2))
    assert wrapped.reset(seed=0)[1]["action_mask"].all()


def test_steps_are_checked() -> None:
    env = Corridor()
    world = fp.World.from_env(env)
    wrapped = fp.OptionsWrapper(env, fp.OptionSet(world, np.array([3])))
    with pytest.raises(gym.error.ResetNeeded, match="must be reset before its first step"):
        wrapped.step(2)
    wrapped.reset()
    with pytest.raises(InvalidInput, match="action must lie in 0 … 2; got -1"):
        wrapped.step(-1)
    with pytest.raises(InvalidInput, match=r"action must be a whole number; got 1\.7\."):
        wrapped.step(1.7)  # type: ignore[arg-type]


def test_a_long_option_is_cut() -> None:
    env = Corridor()
    world = fp.World.from_env(env)
    wrapped = fp.OptionsWrapper(env, fp.OptionSet(world, np.array([world.find_state(8)])), max_steps=3)
    wrapped.reset()
    assert wrapped.step(2)[0] == 3


def test_a_state_that_the_options_do_not_know_ends_them_and_can_be_left() -> None:
    # The log knows the first five cells only.
    env = Corridor()
    world = fp.World.from_log([0, 1, 2, 3, 4, 3, 2, 1], [1, 2, 3, 4, 3, 2, 1, 0], [1, 1, 1, 1, 0, 0, 0, 0])
    wrapped = fp.OptionsWrapper(env, fp.OptionSet(world, np.array([0, 4])))
    wrapped.reset()
    for _ in range(6):
        observation, _, _, _, info = wrapped.step(1)
    assert observation == 6
    assert info["action_mask"].tolist() == [1, 1, 0, 0]
    wrapped.step(0)
    wrapped.step(0)
    assert wrapped.action_masks().tolist() == [True, True, True, False]


def test_a_table_environment_with_a_key_of_ones_own() -> None:
    env = make("FrozenLake-v1", is_slippery=False)

    def place(env: Any, observation: Any) -> tuple[int, int]:
        return divmod(int(env.unwrapped.s), 4)

    world = fp.World.from_env(env, state=place)
    options = fp.discover(world, n_options=2)
    wrapped = fp.OptionsWrapper(env, options, state=place)
    wrapped.reset(seed=0)
    observation = wrapped.step(4)[0]
    assert divmod(int(observation), 4) == world.labels[options.goals[0]]  # type: ignore[index]
    with pytest.raises(InvalidInput, match="which has other states"):
        fp.OptionsWrapper(env, options)


def test_what_a_state_function_returns_need_not_be_hashable() -> None:
    env = make("FrozenLake-v1", is_slippery=False)

    def place(env: Any, observation: Any) -> Any:
        return np.array(divmod(int(observation), 4))

    options = fp.discover(fp.World.from_env(env, state=place), n_options=2)
    wrapped = fp.OptionsWrapper(env, options, state=place)
    _, info = wrapped.reset(seed=0)
    assert info["action_mask"].tolist() == [1] * 6
    observation = wrapped.step(4)[0]
    assert divmod(int(observation), 4) == options.world.labels[options.goals[0]]  # type: ignore[index]


def test_option_as_action_sums_discounted_rewards() -> None:
    env = fp.OptionsWrapper(Counter(), [UpTo(3), UpTo(9)], gamma=0.5)
    env.reset(seed=0)
    observation, reward, terminated, truncated, info = env.step(2)
    # 1 + 0.5·2 + 0.25·3, by hand.
    assert (observation[0], reward, terminated, truncated) == (3.0, 2.75, False, False)
    assert (info["duration"], info["discount"], info["reward_sum"]) == (3, 0.125, 6.0)
    assert (info["option"], info["steps"], info["action_mask"].tolist()) == (0, 3, [1, 1, 0, 1])
    _, reward, *_, info = env.step(0)
    assert (reward, info["duration"], info["discount"], info["option"], info["episode_steps"]) == (2.0, 1, 0.5, -1, 4)
    _, _, terminated, _, info = env.step(3)
    assert (terminated, info["duration"], env.total_steps) == (True, 7, 11)


def test_option_stops_with_the_episode_and_at_its_longest() -> None:
    short = fp.OptionsWrapper(Counter(limit=4), [UpTo(9)])
    short.reset()
    _, _, terminated, truncated, info = short.step(2)
    assert (terminated, truncated, info["duration"]) == (False, True, 4)
    cut = fp.OptionsWrapper(Counter(), [UpTo(9)], max_steps=5)
    cut.reset()
    observation, _, terminated, truncated, info = cut.step(2)
    assert (observation[0], terminated, truncated, info["duration"]) == (5.0, False, False, 5)


def test_option_that_cannot_start_is_refused_or_replaced() -> None:
    env = fp.OptionsWrapper(Counter(), [UpTo(0)], unavailable="refuse")
    with pytest.raises(gym.error.ResetNeeded, match="must be reset"):
        env.step(0)
    env.reset()
    with pytest.raises(InvalidInput, match=r"option 0 must be one that can start here; .* unavailable='random'"):
        env.step(2)
    with pytest.raises(InvalidInput, match="action must lie in 0 … 2; got 3"):
        env.step(3)
    lenient = fp.OptionsWrapper(Counter(), [UpTo(0)], unavailable="random")
    taken = set()
    lenient.reset(seed=0)
    for _ in range(20):
        before = lenient.unwrapped.place  # type: ignore[attr-defined]
        *_, info = lenient.step(2)
        taken.add(lenient.unwrapped.place > before)  # type: ignore[attr-defined]
        assert (info["option"], info["duration"]) == (-1, 1)
    assert taken == {True, False}
    with pytest.raises(InvalidInput, match="unavailable must be one of random, refuse; got 'ignore'"):
        fp.OptionsWrapper(Counter(), [], unavailable="ignore")


def test_actions_of_other_kinds_are_refused() -> None:
    env = Counter()
    env.action_space = gym.spaces.MultiDiscrete([2, 2])
    with pytest.raises(InvalidInput, match="discrete actions from 0; got MultiDiscrete"):
        fp.OptionsWrapper(env, [])
    # Its n is the length of an action, not their number.
    env.action_space = gym.spaces.MultiBinary(3)
    with pytest.raises(InvalidInput, match=r"discrete actions from 0; got MultiBinary\(3\)"):
        fp.record_log(env, 10)


def test_options_on_a_graph_are_actions() -> None:
    rooms = "#######\n#..#..#\n#.....#\n#..#..#\n#######"
    anywhere = fp.ContinuousMaze(rooms, step=0.3, noise=0.05, start="random")
    policy = fp.GoalPolicy.from_log(fp.envs.record_samples(anywhere, 10_000, seed=0), radius=0.4)
    options = fp.options.GoalOptions(policy, [[5.5, 3.5]])
    wrapped = fp.OptionsWrapper(fp.ContinuousMaze(rooms, step=0.3, noise=0.05), options, gamma=0.9)
    wrapped.reset(seed=0, options={"start": (1.5, 1.5)})
    observation, _, _, _, info = wrapped.step(8)
    assert np.linalg.norm(observation - options.goals[0]) <= 0.4
    # At least as many steps as the way through the door takes in a straight line.
    assert info["duration"] >= (np.hypot(2, 1) + np.hypot(2, 1) - 0.8) / 0.45


def test_every_primitive_step_is_reported_also_inside_options() -> None:
    env = fp.OptionsWrapper(Counter(), [UpTo(3)], gamma=0.5)
    seen: list[Transition] = []
    env.on_step = seen.append
    env.reset(seed=0)
    env.step(2)
    env.step(0)
    plain = [(float(s.observation[0]), s.action, s.reward, float(s.next_observation[0]), s.terminated) for s in seen]
    assert plain == [
        (0.0, 1, 1.0, 1.0, False),
        (1.0, 1, 2.0, 2.0, False),
        (2.0, 1, 3.0, 3.0, False),
        (3.0, 0, 2.0, 2.0, False),
    ]


def test_masks_answer_for_any_observation() -> None:
    env = fp.OptionsWrapper(Counter(), [UpTo(3), UpTo(5)])
    env.reset()
    assert env.mask_at(np.array([4.0])).tolist() == [True, True, False, True]
    assert env.action_masks().tolist() == [True, True, True, True]
    assert env.read(np.array([4.0]))[0] == 4.0


def test_what_options_read_can_be_made_from_the_environment() -> None:
    env = fp.OptionsWrapper(Counter(), [UpTo(3)], state=lambda env, observation: (2 * env.unwrapped.place,))
    env.reset()
    # Twice the number: the option believes to be at 4 after two steps.
    observation, _, _, _, info = env.step(2)
    assert (observation[0], info["duration"]) == (2.0, 2)


def test_the_stack_can_be_made_again_from_its_spec() -> None:
    env = make("FrozenLake-v1", is_slippery=False)
    options = fp.discover(fp.World.from_env(env), n_options=2)
    wrapped = fp.OptionsWrapper(env, options, 0.9, max_steps=7, unavailable="random")
    assert wrapped.spec is not None
    again = gym.make(wrapped.spec)
    assert isinstance(again, fp.OptionsWrapper)
    assert (again.gamma, again.max_steps, again.unavailable, len(again.options)) == (0.9, 7, "random", 2)


def test_a_random_decision_is_an_option_as_often_as_asked_for() -> None:
    env = Corridor()
    world = fp.World.from_env(env)
    wrapped = fp.OptionsWrapper(env, fp.OptionSet(world, np.array([world.find_state(goal) for goal in (0, 3, 6)])))
    wrapped.reset(seed=0)
    rng = np.random.default_rng(0)
    drawn = np.array([wrapped.sample_action(0.3, rng=rng) for _ in range(4_000)])
    # In cell 0 the first option has ended already; the two actions and the two others are equally likely among theirs.
    assert set(drawn.tolist()) == {0, 1, 3, 4}
    counts = np.bincount(drawn, minlength=5)
    assert abs(counts[3:].sum() / 4_000 - 0.3) < 4 * np.sqrt(0.3 * 0.7 / 4_000)
    assert abs(counts[0] - counts[1]) < 4 * np.sqrt(2_800)
    assert abs(counts[3] - counts[4]) < 4 * np.sqrt(1_200)
    assert wrapped.sample_action(0.0, among=np.array([False, False, True, False, False])) == 2
    assert wrapped.sample_action(1.0, among=np.array([False, True, False, False, False])) == 1
    assert wrapped.option_probability == wrapped.options.option_probability
    with pytest.raises(InvalidInput, match="option_probability must be a number from 0 to 1"):
        wrapped.sample_action(1.1)
    with pytest.raises(InvalidInput, match="among must say of each action whether it can be taken, at least one"):
        wrapped.sample_action(among=np.zeros(5, dtype=bool))
    with pytest.raises(InvalidInput, match="among must be numbers"):
        wrapped.sample_action(among=[[1, 2], [3]])  # type: ignore[arg-type]


def test_options_from_a_log_arrive_although_it_lacks_what_slipping_leads_to() -> None:
    env = WorldEnv(fp.four_rooms(wind=0.1), limit=10**6)
    world = fp.World.from_log(fp.record_log(env, 3_000, seed=0), largest_component=True)
    options = fp.discover(world, n_options=4)
    wrapped = fp.OptionsWrapper(env, options)
    assert world.labels is not None
    arrived = []
    for state in world.labels:
        for number in range(4):
            _, info = wrapped.reset(seed=0, options={"state": state})
            if info["action_mask"][wrapped.n_actions + number]:
                arrived.append(options.reached(number, wrapped.step(wrapped.n_actions + number)[0]))
    assert len(arrived) > 3 * world.n_states
    assert np.mean(arrived) >= 0.9


def test_without_options_it_is_the_environment() -> None:
    given: list[list[Any] | None] = [None, []]
    for options in given:
        plain, wrapped = make("FrozenLake-v1"), fp.OptionsWrapper(make("FrozenLake-v1"), options)
        assert wrapped.action_space == plain.action_space
        plain.reset(seed=3)
        _, info = wrapped.reset(seed=3)
        for action in (1, 2, 1, 2):
            assert wrapped.step(action)[:4] == plain.step(action)[:4]
        assert info["action_mask"].tolist() == [1, 1, 1, 1]
        assert info["option_probability"] == 0.0


def test_the_wrapper_draws_from_a_stream_of_its_own() -> None:
    class Drawing(Counter):
        def reset(self, **settings: Any) -> Any:
            super().reset(**settings)
            self.drawn = [int(self.np_random.integers(2)) for _ in range(60)]
            return np.zeros(1, np.float32), {}

    env = Drawing()
    wrapped = fp.OptionsWrapper(env, [UpTo(0)])
    wrapped.reset(seed=5)
    taken = []
    for _ in range(60):
        before = env.place
        wrapped.step(2)
        taken.append(int(env.place > before))
    assert taken != env.drawn


def test_a_reset_says_what_a_step_says() -> None:
    wrapped = fp.OptionsWrapper(Counter(), [UpTo(3)], gamma=0.5)
    _, info = wrapped.reset(seed=0)
    told = {name: info[name] for name in ("duration", "discount", "reward_sum", "option", "episode_steps")}
    assert told == {"duration": 0, "discount": 1.0, "reward_sum": 0.0, "option": -1, "episode_steps": 0}
    assert info["action_mask"].tolist() == [1, 1, 1]
    *_, after = wrapped.step(2)
    assert set(info) <= set(after)


def test_a_step_after_the_end_needs_a_reset() -> None:
    wrapped = fp.OptionsWrapper(Counter(limit=2), [UpTo(9)])
    wrapped.reset(seed=0)
    assert wrapped.step(2)[3]
    for action in (0, 2):
        with pytest.raises(gym.error.ResetNeeded, match="the episode is over"):
            wrapped.step(action)
    wrapped.reset()
    wrapped.step(0)


def test_an_environment_that_resets_itself_begins_an_episode_in_a_step() -> None:
    wrapped = fp.OptionsWrapper(gym.wrappers.Autoreset(Counter(limit=3)), [UpTo(9)])
    wrapped.reset(seed=0)
    assert wrapped.step(2)[3]
    observation, _, terminated, truncated, info = wrapped.step(2)
    assert (observation[0], terminated, truncated) == (0.0, False, False)
    assert (info["duration"], info["discount"], info["episode_steps"]) == (0, 1.0, 0)
    assert wrapped.step(2)[4]["duration"] == 3


def test_forbidden_actions_are_never_taken() -> None:
    """A counter that forbids to go up from 4: options stop there, and what is drawn at random goes down."""

    class Forbidding(Counter):
        def told(self) -> dict[str, Any]:
            return {"action_mask": np.array([1, self.place != 4], dtype=np.int8)}

        def reset(self, **settings: Any) -> Any:
            return super().reset(**settings)[0], self.told()

        def step(self, action: int) -> Any:
            assert self.told()["action_mask"][action], "forbidden"
            observation, reward, terminated, truncated, _ = super().step(action)
            return observation, reward, terminated, truncated, self.told()

    wrapped = fp.OptionsWrapper(Forbidding(), [UpTo(9), UpTo(3)])
    _, info = wrapped.reset(seed=0)
    assert info["action_mask"].tolist() == [1, 1, 1, 1]
    observation, _, _, _, info = wrapped.step(2)
    assert (observation[0], info["duration"]) == (4.0, 4)
    assert info["action_mask"].tolist() == [1, 0, 0, 0]
    # An option that cannot start, and an action that is forbidden.
    for action in (2, 1):
        observation, *_ = wrapped.step(action)
        assert observation[0] == 3.0
        wrapped.step(1)
    strict = fp.OptionsWrapper(Forbidding(), [UpTo(9)], unavailable="refuse")
    strict.reset(seed=0)
    strict.step(2)
    with pytest.raises(InvalidInput, match="action 1 must be one that is allowed here"):
        strict.step(1)


def test_taxi_keeps_its_own_mask() -> None:
    env = make(TAXI)
    wrapped = fp.OptionsWrapper(env, fp.discover(fp.World.from_env(env), n_options=3))
    rng = np.random.default_rng(0)
    observation, info = wrapped.reset(seed=1)
    for _ in range(200):
        own = env.unwrapped.action_mask(int(observation))
        assert info["action_mask"][:6].tolist() == own.tolist()
        observation, _, terminated, truncated, info = wrapped.step(int(rng.choice(np.flatnonzero(info["action_mask"]))))
        if terminated or truncated:
            observation, info = wrapped.reset()


def test_steps_inside_options_keep_their_observations_and_infos() -> None:
    wrapped = fp.OptionsWrapper(Counter(), [UpTo(3)], record=True)
    _, info = wrapped.reset(seed=0)
    assert info["steps"] == []
    *_, info = wrapped.step(2)
    assert [step.info["steps"] for step in info["steps"]] == [1, 2, 3]
    assert [(float(step.observation[0]), float(step.next_observation[0])) for step in info["steps"]] == [
        (0.0, 1.0), (1.0, 2.0), (2.0, 3.0),
    ]  # fmt: skip
    assert len(wrapped.step(0)[4]["steps"]) == 1
    # A reset is no step, whoever resets: what was taken before is not listed again.
    assert wrapped.reset()[1]["steps"] == []
    itself = fp.OptionsWrapper(gym.wrappers.Autoreset(gym.wrappers.TimeLimit(Counter(), 2)), record=True)
    itself.reset()
    assert [len(itself.step(0)[4]["steps"]) for _ in range(4)] == [1, 1, 0, 1]


def test_samples_of_the_action_space_take_options_at_their_own_rate() -> None:
    space = OptionActions(4, 16, 0.05)
    space.seed(0)
    drawn = np.array([space.sample() for _ in range(20_000)])
    # Four standard errors of a share.
    assert abs((drawn >= 4).mean() - 0.05) < 4 * np.sqrt(0.05 * 0.95 / drawn.size)
    assert set(drawn.tolist()) == set(range(20))
    assert space == gym.spaces.Discrete(20)
    assert pickle.loads(pickle.dumps(space)).option_probability == 0.05
    # Of what a mask allows: options 8 and 9 at the same rate; one kind alone where nothing else is allowed.
    mask = np.array([1] * 3 + [0] * 5 + [1] * 2 + [0] * 10, dtype=np.int8)
    masked = np.array([space.sample(mask) for _ in range(20_000)])
    assert abs((masked >= 4).mean() - 0.05) < 4 * np.sqrt(0.05 * 0.95 / masked.size)
    assert set(masked.tolist()) == {0, 1, 2, 8, 9}
    assert mask.sum() == 5, "the mask is not changed"
    assert min(space.sample(np.array([0] * 10 + [1] * 10, dtype=np.int8)) for _ in range(50)) >= 10
    assert max(space.sample(np.array([1] * 4 + [0] * 16, dtype=np.int8)) for _ in range(50)) < 4
    wrapped = fp.OptionsWrapper(Counter(), [UpTo(3), UpTo(6)])
    wrapped.option_probability = 1.0
    assert all(wrapped.action_space.sample() >= 2 for _ in range(20))


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
@pytest.mark.parametrize("name", ["FrozenLake-v1", "Pendulum-v1"])
def test_copies_take_the_same_steps(name: str, copied: Any) -> None:
    env = gym.make(name, disable_env_checker=True)
    options = None if name == "Pendulum-v1" else fp.discover(fp.World.from_env(env), n_options=2)
    wrapped = fp.OptionsWrapper(env, options)
    twin = copied(wrapped)
    for one in (wrapped, twin):
        one.reset(seed=4)
    for action in range(wrapped.n_actions + len(wrapped.options)):
        ours, theirs = wrapped.step(action), twin.step(action)
        np.testing.assert_array_equal(ours[0], theirs[0])
        assert ours[1:4] == theirs[1:4]
        if ours[2]:
            break


class Room(ArrayEnv):
    """A room whose observations are of one type after a reset and of another after a step."""

    def step(self, action: int) -> Any:
        observation, *rest = super().step(action)
        return (observation.astype(np.int32), *rest)


def recorded_room(n_steps: int = 3_000) -> dict[str, Any]:
    """The columns of a random walk, as a program of one's own would keep them."""
    env, rng = Room(), np.random.default_rng(0)
    rows: list[Any] = []
    here, _ = env.reset(seed=0)
    for _ in range(n_steps):
        action = int(rng.integers(4))
        there, *_ = env.step(action)
        rows.append((here, there, action))
        here = there
    before, after, actions = zip(*rows, strict=True)
    return {"states": np.array(before), "next_states": np.array(after), "actions": np.array(actions)}


@pytest.mark.parametrize("kind", ["arrays", "lists", "recorded", "enumerated"])
def test_options_of_a_log_of_arrays_start_in_the_live_environment(kind: str) -> None:
    columns = recorded_room()
    if kind == "lists":
        columns = {name: column.tolist() for name, column in columns.items()}
    world = {
        "arrays": lambda: fp.World.from_log(**columns),
        "lists": lambda: fp.World.from_log(**columns),
        "recorded": lambda: fp.World.from_log(fp.record_log(Room(), 3_000)),
        "enumerated": lambda: fp.World.from_env(Room()),
    }[kind]()
    assert world.n_states == 12
    wrapped = fp.OptionsWrapper(Room(), fp.discover(world, n_options=3))
    _, info = wrapped.reset(seed=0)
    option = int(np.flatnonzero(info["action_mask"][4:])[0])
    observation, *_, info = wrapped.step(4 + option)
    assert info["duration"] > 0
    assert world.find_state(observation) == wrapped.options.goals[option]  # type: ignore[attr-defined]
