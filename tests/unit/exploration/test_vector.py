"""Options that appear in many environments at once: copies that share an explorer, and vector environments."""

from __future__ import annotations

import gc
import pickle
import tracemalloc
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv

import farpoint as fp
from farpoint.errors import InvalidInput, WrongCheckpoint
from farpoint.exploration.memory import NONE
from farpoint.exploration.vector_loop import VectorLoop
from tests.helpers.envs import make
from tests.helpers.vector_envs import MODES, N_ENVS, VECTOR_ENVS, car, copies_of, lake, sharing
from tests.unit.exploration.test_exploring import MapEnv, same, torus

WORLD = replace(fp.World.from_graph(torus()), start=5)
by_mode = pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.value)


def island() -> gym.Env[Any, Any]:
    return MapEnv(WORLD, 60)


def discovering(env: Any = island, mode: AutoresetMode = MODES[0], **settings: Any) -> fp.DiscoveringVectorEnv:
    return fp.DiscoveringVectorEnv(copies_of(env, mode=mode), **{"n_options": 4, "option_probability": 0.2, **settings})


def check_offers(envs: fp.DiscoveringVectorEnv, observations: Any, infos: dict[str, Any]) -> None:
    """Check that copies that decide next are offered the present options, where these can start."""
    for copy in np.flatnonzero(infos["deciding"]).tolist():
        able = envs.options.can_start(envs.options.observe(None, observations[copy]))
        np.testing.assert_array_equal(infos["action_mask"][copy][envs.n_actions :], able)


def digests(envs: Any, n_calls: int, seed: int = 1) -> list[Any]:
    """Return what random decisions led to: numbers of every call."""
    _, infos = envs.reset(seed=seed)
    envs.action_space.seed(seed)
    rows = []
    for _ in range(n_calls):
        observations, rewards, terminated, truncated, infos = envs.step(
            envs.action_space.sample(tuple(infos["action_mask"]))
        )
        said = [infos[name].tolist() for name in ("duration", "option", "action_mask")]
        rows.append([observations.tolist(), rewards.tolist(), terminated.tolist(), truncated.tolist(), *said])
    return rows


# --- Copies in one process that share an explorer ---------------------------------------------------------------------


@by_mode
def test_copies_that_share_an_explorer_offer_the_same_slots_in_every_row(mode: AutoresetMode) -> None:
    envs = sharing(island, mode)
    copies: Any = envs.envs
    explorer = copies[0].explorer
    _, infos = envs.reset(seed=0)
    envs.action_space.seed(0)
    goals, n_changes, n_arrived, n_other = copies[0].options.goals.copy(), 0, 0, 0
    for _ in range(700):
        actions = envs.action_space.sample(tuple(infos["action_mask"]))
        offered = [explorer.label_of(int(goals[action - 4])) if action >= 4 else None for action in actions.tolist()]
        observations, *_, truncated, infos = envs.step(actions)
        now = copies[0].options.goals
        for number, copy in enumerate(copies):
            np.testing.assert_array_equal(copy.options.goals, now)
            final = mode is AutoresetMode.SAME_STEP and truncated[number]
            changed = (infos["final_info"] if final else infos)["changed_options"][number]
            assert changed == np.flatnonzero(now != goals).tolist()
            able = copy.options.can_start(copy.current_key)
            np.testing.assert_array_equal(infos["action_mask"][number], [1, 1, 1, 1, *able])
            # An option goes where it was said to lead, although another copy rebuilt the slots in the same row.
            if infos["duration"][number] and offered[number] is not None and not truncated[number]:
                n_arrived += 1
                assert observations[number] == offered[number]
                n_other += number > 0 and now[actions[number] - 4] != goals[actions[number] - 4]
        n_changes += bool((now != goals).any())
        goals = now.copy()
    assert explorer.n_steps == sum(copy.total_steps for copy in copies)
    assert n_changes > 10
    assert n_arrived > 100
    assert n_other > 0


@by_mode
@pytest.mark.parametrize("env", [island, car])
def test_the_same_seed_and_number_of_copies_give_the_same(env: Any, mode: AutoresetMode) -> None:
    for make_envs in (sharing, discovering):
        one, other = (digests(make_envs(env, mode), 300) for _ in range(2))
        assert one == other


def test_sharing_copies_follow_when_states_get_other_numbers() -> None:
    envs = sharing(car)
    copies: Any = envs.envs
    explorer = copies[0].explorer
    _, infos = envs.reset(seed=0)
    envs.action_space.seed(0)
    generations = set()
    for _ in range(600):
        *_, infos = envs.step(envs.action_space.sample(tuple(infos["action_mask"])))
        generations |= {copy.options.generation for copy in copies}
        assert {copy.options.generation for copy in copies} == {explorer.generation}
        for copy, row in zip(copies, infos["action_mask"], strict=True):
            np.testing.assert_array_equal(row[3:], copy.options.can_start(copy.current_key))
    assert len(generations) > 1
    assert explorer.n_steps == sum(copy.total_steps for copy in copies)


class Overwriting(gym.Wrapper[Any, Any, Any, Any]):
    """An environment that writes each observation over the last one."""

    def reset(self, **arguments: Any) -> Any:
        self.place, info = self.env.reset(**arguments)
        return self.place, info

    def step(self, action: Any) -> Any:
        self.place[:], *answer = self.env.step(action)
        return self.place, *answer


def test_environments_may_write_over_their_observations() -> None:
    explorers = []
    for env in (car, lambda: Overwriting(car())):
        envs = sharing(env)
        digests(envs, 400)
        explorers.append(envs.envs[0].explorer)  # type: ignore[attr-defined]
    assert explorers[0].generation > 1
    for one, other in zip(*(explorer.transitions() for explorer in explorers), strict=True):
        np.testing.assert_array_equal(one, other)


def test_an_option_on_its_way_goes_on_though_states_get_other_numbers() -> None:
    envs = discovering(car)
    explorer = envs.explorer
    _, infos = envs.reset(seed=0)
    envs.action_space.seed(0)
    generation, on_its_way = 0, 0
    for _ in range(900):
        waiting = ~infos["deciding"] & (infos["option"] >= 0)
        observations, *_, infos = envs.step(envs.action_space.sample(infos["action_mask"]))
        check_offers(envs, observations, infos)
        if explorer.generation != generation:
            generation = explorer.generation
            on_its_way += (waiting & ~infos["deciding"]).sum()
    assert generation > 0
    assert explorer.n_steps == envs.total_steps


def test_vector_environments_that_share_an_explorer_follow_when_states_get_other_numbers() -> None:
    one = discovering(car)
    explorer = one.explorer
    both = [one, discovering(car, n_options=None, option_probability=None, explorer=explorer)]
    masks = []
    for number, envs in enumerate(both):
        masks.append(envs.reset(seed=10 * number)[1]["action_mask"])
        envs.action_space.seed(number)
    for _ in range(400):
        for number, envs in enumerate(both):
            masks[number] = envs.step(envs.action_space.sample(masks[number]))[4]["action_mask"]
    assert explorer.generation > 1
    assert explorer.n_steps == sum(envs.total_steps for envs in both)
    before, _, after, _ = explorer.transitions()
    places = np.array([[explorer.label_of(state) for state in states] for states in (before, after)], dtype=float)
    # A step changes the position by at most 0.07, and a point stands for what is at most a scale away.
    assert explorer.index.scale is not None
    assert np.abs(places[1] - places[0])[:, 0].max() <= 0.07 + 2 * explorer.index.scale[0]


def test_agents_may_write_over_observations() -> None:
    def train(*, overwritten: bool) -> tuple[int, list[list[int]]]:
        envs = discovering(car)
        _, infos = envs.reset(seed=0)
        envs.action_space.seed(0)
        for _ in range(600):
            observations, *_, infos = envs.step(envs.action_space.sample(infos["action_mask"]))
            if overwritten:
                observations[:] = 0.0
        return envs.explorer.generation, [column.tolist() for column in envs.explorer.transitions()]

    untouched = train(overwritten=False)
    assert untouched[0] > 1
    assert train(overwritten=True) == untouched


def test_an_evaluation_does_not_disturb_copies_that_train() -> None:
    def train(*, evaluated: bool) -> list[Any]:
        envs = sharing(island)
        first: Any = envs.envs[0]
        evaluation = fp.DiscoveringWrapper(island(), explorer=first.explorer, learn=False)
        rows = digests(envs, 200)
        if evaluated:
            evaluation.reset(seed=9)
            for _ in range(30):
                if evaluation.step(evaluation.sample_action())[3]:
                    evaluation.reset()
        return [rows, digests(envs, 100, seed=2)]

    assert train(evaluated=True) == train(evaluated=False)


@pytest.mark.filterwarnings("ignore:.*is different from the unwrapped version")
def test_gymnasium_accepts_a_shared_explorer() -> None:
    explorer = fp.Explorer.for_env(lake(), n_options=3)
    for _ in range(2):
        check_env(fp.DiscoveringWrapper(lake(), explorer=explorer), skip_render_check=True)


@pytest.mark.slow
def test_stable_baselines_takes_copies_that_share_an_explorer() -> None:
    sb3 = pytest.importorskip("stable_baselines3")
    from stable_baselines3.common.env_checker import check_env as check_sb3
    from stable_baselines3.common.vec_env import DummyVecEnv

    explorer = fp.Explorer.for_env(island(), n_options=4, option_probability=0.2)
    check_sb3(fp.DiscoveringWrapper(island(), explorer=explorer))
    envs = DummyVecEnv([lambda: fp.DiscoveringWrapper(island(), explorer=explorer)] * N_ENVS)
    agent = sb3.DQN("MlpPolicy", envs, learning_starts=200, policy_kwargs={"net_arch": [8]}, device="cpu", seed=0)
    agent.learn(1_500)
    copies = envs.envs
    # The first copy stepped last, so that all saw the same slots.
    for copy in copies:
        np.testing.assert_array_equal(copy.options.goals, explorer.goals)
    assert (explorer.goals >= 0).all()


@pytest.mark.slow
def test_wrapped_copies_start_in_new_processes() -> None:
    with closing(
        AsyncVectorEnv([partial(fp.DiscoveringWrapper, make("CliffWalking-v1"), 3)] * 2, context="spawn")
    ) as envs:
        _, infos = envs.reset(seed=0)
        assert infos["action_mask"].shape == (2, 7)
        assert envs.step([0, 1])[4]["duration"].tolist() == [1, 1]


# --- Vector environments ----------------------------------------------------------------------------------------------


@by_mode
def test_the_explorer_remembers_the_steps_of_all_copies_and_no_resets(mode: AutoresetMode) -> None:
    envs, bare = discovering(mode=mode), MapEnv(WORLD, 60)
    _, infos = envs.reset(seed=0)
    envs.action_space.seed(0)
    goals, n_arrived = envs.options.goals.copy(), 0
    towards = np.full(N_ENVS, -1)
    for _ in range(900):
        actions = envs.action_space.sample(infos["action_mask"])
        begins = infos["deciding"] & (actions >= 4)
        towards[infos["deciding"]] = -1
        towards[begins] = goals[actions[begins] - 4]
        observations, _, _, truncated, infos = envs.step(actions)
        np.testing.assert_array_equal(infos["changed_options"][0], np.flatnonzero(envs.options.goals != goals))
        goals = envs.options.goals.copy()
        np.testing.assert_array_equal(goals, envs.explorer.goals)
        # What could start where an episode was cut, for a target there.
        same_step = mode is AutoresetMode.SAME_STEP
        for copy in np.flatnonzero(truncated).tolist():
            last = infos["final_obs"][copy] if same_step else observations[copy]
            mask = (infos["final_info"] if same_step else infos)["action_mask"][copy]
            np.testing.assert_array_equal(mask, [1, 1, 1, 1, *envs.options.can_start(envs.options.observe(None, last))])
        # An option goes where it led when it was chosen.
        for copy in np.flatnonzero(infos["deciding"] & (towards >= 0) & ~truncated & (infos["duration"] > 0)).tolist():
            n_arrived += 1
            assert observations[copy] == envs.explorer.label_of(int(towards[copy]))
    assert n_arrived > 50
    explorer = envs.explorer
    assert explorer.n_steps == envs.total_steps
    before, action, after, counts = explorer.transitions()
    assert counts.sum() == explorer.n_steps
    for state, number, there in zip(before.tolist(), action.tolist(), after.tolist(), strict=True):
        bare.reset()
        bare.state = int(explorer.label_of(state))  # type: ignore[call-overload]
        assert bare.step(number)[0] == explorer.label_of(there)


@by_mode
def test_copies_whose_episode_begins_go_where_the_present_options_lead(mode: AutoresetMode) -> None:
    # Rebuilt often, and episodes end at different times: some begin in a call in which the steps of others rebuild.
    n_both = n_arrived = 0
    for seed in range(10):
        envs = discovering(lambda: make("FrozenLake-v1", is_slippery=False), mode, remake_every=3)
        _, infos = envs.reset(seed=seed)
        envs.action_space.seed(seed)
        promised: list[Any] = [None] * N_ENVS
        for _ in range(60):
            actions = envs.action_space.sample(infos["action_mask"])
            for copy in np.flatnonzero(infos["deciding"]).tolist():
                slot = int(actions[copy]) - 4
                promised[copy] = envs.explorer.label_of(int(envs.options.goals[slot])) if slot >= 0 else None
            observations, *_, infos = envs.step(actions)
            check_offers(envs, observations, infos)
            for copy in np.flatnonzero(infos["deciding"] & (infos["duration"] > 0)).tolist():
                n_arrived += promised[copy] is not None
                assert promised[copy] in (None, observations[copy])
            n_both += any(infos["deciding"] & (infos["duration"] == 0)) and infos["changed_options"][0] != []
    assert n_both > 10
    assert n_arrived > 50


def test_copies_in_other_processes_do_the_same() -> None:
    with closing(fp.DiscoveringVectorEnv(copies_of(lake, "async"), 4, option_probability=0.2)) as envs:
        assert digests(envs, 150) == digests(discovering(lake), 150)


def test_training_and_evaluation_share_an_explorer() -> None:
    envs = discovering(lake)
    digests(envs, 300)
    evaluation = discovering(lake, n_options=None, option_probability=None, explorer=envs.explorer, learn=False)
    n_steps = envs.explorer.n_steps
    digests(evaluation, 100)
    assert envs.explorer.n_steps == n_steps
    one = fp.DiscoveringWrapper(lake(), explorer=envs.explorer, learn=False)
    np.testing.assert_array_equal(one.options.goals, evaluation.options.goals)


@pytest.mark.parametrize("env", [island, car])
def test_copies_go_on_alike_after_pickling(env: Any) -> None:
    envs = discovering(env)
    digests(envs, 130)
    other = pickle.loads(pickle.dumps(envs))
    rng = np.random.default_rng(0)
    for _ in range(200):
        actions = rng.integers(3, size=N_ENVS)
        one, two = envs.step(actions), other.step(actions)
        for a, b in zip(one[:4], two[:4], strict=True):
            np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(one[4]["action_mask"], two[4]["action_mask"])
    assert envs.explorer.n_steps == other.explorer.n_steps


OWN_FILES = [
    tracemalloc.Filter(True, f"{Path(module.__file__).parent}/*")  # type: ignore[arg-type]
    for module in (fp, gym, np)
]


# Continuous observations are kept until their scale is final, here for 25,600 steps.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "warm_up"),
    [("sync of OptionsWrapper", 2_000), ("sync of DiscoveringWrapper", 2_000), ("OptionsVectorEnv of sync", 2_000),
     ("DiscoveringVectorEnv of sync", 2_000), ("DiscoveringVectorEnv of sync, continuous", 9_000)],
)  # fmt: skip
def test_memory_does_not_grow_with_steps(name: str, warm_up: int) -> None:
    envs, sizes = VECTOR_ENVS[name](MODES[0]), []
    _, infos = envs.reset(seed=1)
    envs.action_space.seed(0)
    tracemalloc.start()
    for n_calls in (warm_up, 3_000, 3_000):
        for _ in range(n_calls):
            infos = envs.step(envs.action_space.sample(tuple(infos["action_mask"])))[4]
        gc.collect()
        # Not what threads that other tests left behind allocate in their own packages.
        kept = tracemalloc.take_snapshot().filter_traces(OWN_FILES)
        sizes.append(sum(one.size for one in kept.statistics("filename")))
    tracemalloc.stop()
    # At least 8,000 steps each time: one more number per step would be 64,000 bytes. Of two times, because such threads
    # may use one of these packages during one.
    assert np.diff(sizes).min() < 32_000


def test_environments_that_are_batched_natively() -> None:
    def poles() -> Any:
        return gym.make_vec("CartPole-v1", num_envs=4, vectorization_mode="vector_entry_point")

    found = fp.explore(poles(), 1_500, seed=1)
    same(fp.explore(poles(), 1_500, seed=1), found)
    one = make("CartPole-v1").unwrapped
    log = found.samples
    assert log is not None
    one.reset()
    for before, action, after in zip(log.observations, log.actions, log.next_observations, strict=True):
        one.state, one.steps_beyond_terminated = before.astype(np.float64), None
        np.testing.assert_allclose(one.step(int(action))[0], after, atol=1e-5)
    envs = fp.DiscoveringVectorEnv(poles(), 4, option_probability=0.2)
    rows = digests(envs, 300)
    assert rows == digests(fp.DiscoveringVectorEnv(poles(), 4, option_probability=0.2), 300)
    assert envs.explorer.n_steps == envs.total_steps
    assert max(max(row[4]) for row in rows) > 1


def test_states_are_what_a_function_says() -> None:
    envs = discovering(lake, state=lambda env, observation: observation // 4)
    digests(envs, 100)
    assert envs.explorer.n_states <= 4
    simulated = discovering(lake, state=fp.envs.simulator_state)
    digests(simulated, 50)
    assert simulated.explorer.keyed_by == "simulator"
    with pytest.raises(InvalidInput, match="where the simulators cannot be read"):
        discovering(lake, MODES[1], state=fp.envs.simulator_state)


# --- explore ----------------------------------------------------------------------------------------------------------


@by_mode
@pytest.mark.parametrize("env", [island, car])
def test_an_exploration_of_many_copies_is_the_same_for_a_seed_and_goes_on(
    env: Any, mode: AutoresetMode, tmp_path: Path
) -> None:
    whole = fp.explore(copies_of(env, mode=mode), 1_300, seed=2)
    # These write the next observations over the last ones.
    overwritten = fp.explore(SyncVectorEnv([env] * N_ENVS, copy=False, autoreset_mode=mode), 1_300, seed=2)
    same(overwritten, whole)
    if env is car:
        assert overwritten.samples is not None
        assert whole.samples is not None
        np.testing.assert_array_equal(overwritten.samples.observations, whole.samples.observations)
        # States got other numbers while copies were on their way, and every step begins where the last one ended.
        log = whole.log
        goes_on = np.flatnonzero(~log.begins[1:])
        assert [log.observations[step + 1] for step in goes_on] == [log.next_observations[step] for step in goes_on]
    fp.explore(copies_of(env, mode=mode), 700, seed=2, checkpoint=tmp_path)
    same(fp.explore(copies_of(env, mode=mode), 1_300, seed=2, checkpoint=tmp_path), whole)
    if mode is MODES[0]:
        with closing(copies_of(env, "async")) as elsewhere:
            same(fp.explore(elsewhere, 1_300, seed=2), whole)
        same(fp.explore(env, 1_300, n_envs=N_ENVS, seed=2), whole)
    with pytest.raises(WrongCheckpoint):
        fp.explore(copies_of(env, mode=mode, count=2), 1_300, seed=2, checkpoint=tmp_path)


def test_a_checkpoint_of_environments_that_answered_otherwise_is_refused(tmp_path: Path) -> None:
    other = replace(fp.World.from_graph(torus()), start=6)
    fp.explore(copies_of(island), 400, seed=2, checkpoint=tmp_path)
    with pytest.raises(WrongCheckpoint, match=r"environments must answer as when .* got something else in step 0\."):
        fp.explore(copies_of(lambda: MapEnv(other, 60)), 600, seed=2, checkpoint=tmp_path)


def test_a_rebuild_interrupts_the_options_whose_goal_changed_and_no_others() -> None:
    explorer = fp.Explorer.for_env(island(), n_options=4, option_probability=0.9)
    loop = VectorLoop(copies_of(island), explorer, 2_000, 0, None)
    n_kept = n_interrupted = 0
    for step in range(100, 2_000, 30):
        loop.advance(step)
        before = loop.state()["options"].copy()
        interrupted = np.isin(before, loop.remake())
        np.testing.assert_array_equal(loop.state()["options"], np.where(interrupted, NONE, before))
        n_kept, n_interrupted = n_kept + (~interrupted & (before != NONE)).sum(), n_interrupted + interrupted.sum()
    assert n_kept > 10
    assert n_interrupted > 10


def test_the_log_has_the_episodes_of_one_copy_after_those_of_another() -> None:
    found = fp.explore(island, 1_000, n_envs=3, seed=0)
    log, bare = found.log, MapEnv(WORLD, 60)
    assert found.n_steps == len(log) == 1_000
    # 1,000 steps of three copies, episodes of 60: 333 or 334 steps each, 6 episodes of which the end cuts one.
    assert log.begins.sum() == log.truncated.sum() == 18
    for number in range(1_000):
        if log.begins[number]:
            assert log.observations[number] == 5
        else:
            assert log.observations[number] == log.next_observations[number - 1]
        bare.reset()
        bare.state = int(log.observations[number])
        assert bare.step(int(log.actions[number]))[0] == log.next_observations[number]
    # The first time of every state, counted over the copies in turn.
    assert found.coverage[0] == 0
    assert (np.diff(found.coverage) >= 0).all()
    assert found.world.n_states == found.n_states


def test_rewards_and_ends_are_those_of_the_copy() -> None:
    found = fp.explore(lambda: make("FrozenLake-v1", is_slippery=False), 3_000, n_envs=4, seed=1)
    log = found.log
    holes = {5, 7, 11, 12}
    np.testing.assert_array_equal(log.terminated, np.isin(log.next_observations, [*holes, 15]))
    np.testing.assert_array_equal(log.rewards, np.equal(log.next_observations, 15))
    assert found.positions is not None
    assert found.name == "FrozenLake-v1"


def test_every_copy_has_a_goal_of_its_own() -> None:
    assert fp.explore(island, 200, n_envs=8).settings.n_options == 8
    assert fp.explore(island, 200, n_envs=2).settings.n_options == 5
    assert fp.explore(island, 200, n_envs=8, n_options=3).settings.n_options == 3


def test_mistakes_are_refused() -> None:
    with pytest.raises(InvalidInput, match="n_envs must be given with a function"):
        fp.explore(island, 100)
    with pytest.raises(InvalidInput, match="env must be a function that makes an environment where n_envs is given"):
        fp.explore(island(), 100, n_envs=2)
    with pytest.raises(InvalidInput, match="n_envs must be at least 1"):
        fp.explore(island, 100, n_envs=0)
    with pytest.raises(InvalidInput, match="max_episode_steps and layout must go with one world or environment"):
        fp.explore(island, 100, n_envs=2, layout=3)
    with pytest.raises(InvalidInput, match="env must be one environment here"):
        fp.learn_from_scratch(copies_of(island), 100)
    with pytest.raises(InvalidInput, match="explorer must be of an environment with 4 actions; got 3"):
        discovering(lake, n_options=None, option_probability=None, explorer=fp.Explorer.for_env(car()))
    with pytest.raises(InvalidInput, match="environment must have discrete actions from 0"):
        fp.DiscoveringVectorEnv(gym.make_vec("Pendulum-v1", num_envs=2))
