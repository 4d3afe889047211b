"""Durations in the agents of Stable-Baselines3: a process of two states by hand, and a corridor with an option."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from numpy.typing import NDArray

pytest.importorskip("stable_baselines3")
pytest.importorskip("sb3_contrib")

import torch
from sb3_contrib import MaskablePPO
from stable_baselines3 import A2C, DQN, PPO
from stable_baselines3.common.buffers import NStepReplayBuffer, ReplayBuffer
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv

import farpoint as fp
from farpoint.deep import DurationCallback, DurationReplayBuffer, DurationRolloutBuffer, MaskableDurationRolloutBuffer
from farpoint.errors import InvalidInput

# Two states: from A to B in 1 step with reward 1, from B to A in 3 steps with reward 2. Their values are given, not
# true ones. All numbers below have few binary digits.
HALF = 0.5
A, B = 0, 1
DURATION = {A: 1, B: 3}
REWARD = {A: 1.0, B: 2.0}
VALUE = {A: 8.0, B: 16.0}


class TwoStates(gym.Env[Any, Any]):
    """A and B in turn, in one of three forms of observation; cut by a time limit, or ended, after ``n_decisions``."""

    n_actions, option_probability = 1, 0.25

    def __init__(self, form: str = "box", n_decisions: int = 2, terminates: bool = False) -> None:
        self.form, self.n_decisions, self.terminates = form, n_decisions, terminates
        box = gym.spaces.Box(0.0, 1.0, (2,))
        spaces = {"box": box, "discrete": gym.spaces.Discrete(2), "dict": gym.spaces.Dict(state=box)}
        self.observation_space = spaces[form]
        self.action_space = gym.spaces.Discrete(2)

    def observe(self) -> Any:
        if self.form == "discrete":
            return self.state
        seen = np.eye(2, dtype=np.float32)[self.state]
        return {"state": seen} if self.form == "dict" else seen

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.state, self.taken = A, 0
        return self.observe(), {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        before = self.state
        self.state, self.taken = 1 - before, self.taken + 1
        over, info = (
            self.taken == self.n_decisions,
            {"duration": DURATION[before], "discount": HALF ** DURATION[before]},
        )
        return self.observe(), REWARD[before], over and self.terminates, over and not self.terminates, info

    def action_masks(self) -> NDArray[np.bool_]:
        return np.ones(2, dtype=bool)


def values_of(observations: Any) -> NDArray[np.float64]:
    """Return the values of a batch of one-hot observations."""
    states = (observations["state"] if isinstance(observations, dict) else observations).numpy()
    return np.where(states[:, 0] == 1.0, VALUE[A], VALUE[B])


def filled(form: str, n_decisions: int, n_added: int, *, terminates: bool = False, **settings: Any) -> ReplayBuffer:
    """Return a buffer with the first transitions of the process."""
    env = TwoStates(form, n_decisions, terminates)
    settings = {"n_envs": 1, "buffer_size": 64, **settings}
    buffer = DurationReplayBuffer(
        observation_space=env.observation_space, action_space=env.action_space, device="cpu", **settings
    )
    observation, _ = env.reset()
    for _ in range(n_added):
        following, reward, terminated, truncated, info = env.step(0)
        before, after = (
            {name: value[None] for name, value in part.items()} if form == "dict" else part[None]
            for part in (observation, following)
        )
        done = terminated or truncated
        infos = [{**info, "TimeLimit.truncated": truncated}]
        buffer.add(before, after, np.zeros((1, 1)), np.array([reward]), np.array([done]), infos)
        observation = env.reset()[0] if done else following
    return buffer


def targets(buffer: ReplayBuffer) -> dict[int, set[float]]:
    """Return the targets that are drawn for each state, R + (1 − ended) d V(s′), as DQN computes them."""
    np.random.seed(0)  # noqa: NPY002 - buffers draw from it
    batch = buffer.sample(200)
    following = values_of(batch.next_observations)
    ended, discounts, rewards = (part.numpy().ravel() for part in (batch.dones, batch.discounts, batch.rewards))
    wanted = rewards + (1.0 - ended) * discounts * following
    states = np.where(values_of(batch.observations) == VALUE[A], A, B)
    return {state: set(wanted[states == state].round(6).tolist()) for state in (A, B)}


FORMS = [("box", {}), ("dict", {}), ("box", {"optimize_memory_usage": True, "handle_timeout_termination": False})]
# Without end: from A 1 + ½ · 16; 1 + ½ · 2 + 1/16 · 8; 1 + ½ · 2 + 1/16 · 1 + 1/32 · 16. From B 2 + ⅛ · 8;
# 2 + ⅛ · 1 + 1/16 · 16; 2 + ⅛ · 1 + 1/16 · 2 + 1/128 · 8.
ENDLESS = {1: (9.0, 3.0), 2: (2.5, 3.125), 3: (2.5625, 2.3125)}


@pytest.mark.parametrize(("form", "settings"), FORMS)
@pytest.mark.parametrize("n_steps", [1, 2, 3])
def test_targets_by_hand(form: str, settings: dict[str, Any], n_steps: int) -> None:
    # The newest transition, from B, has no second step: its target is that of one step; the one before, from A, that
    # of two.
    expected = {A: {ENDLESS[n_steps][0], ENDLESS[min(n_steps, 2)][0]}, B: {ENDLESS[n_steps][1], ENDLESS[1][1]}}
    buffer = filled(form, 1_000, 40, n_steps=n_steps, **settings)
    assert targets(buffer) == expected


@pytest.mark.parametrize(("form", "settings"), FORMS)
def test_targets_of_a_full_buffer_do_not_join_new_and_old(form: str, settings: dict[str, Any]) -> None:
    # 5 rows hold the transitions 38 to 42 of 43: from A, B, A, B, A. From A three steps, two (none here) and one.
    buffer = filled(form, 1_000, 43, n_steps=3, buffer_size=5, **settings)
    full = {A: {ENDLESS[3][0], ENDLESS[1][0]}, B: {ENDLESS[3][1], ENDLESS[2][1]}}
    if settings:
        # Where observations are kept once, the oldest transition has lost its own and is not drawn: from A.
        full[A] = {ENDLESS[3][0], ENDLESS[1][0]}
    assert targets(buffer) == full


@pytest.mark.parametrize("form", ["box", "dict"])
@pytest.mark.parametrize("n_steps", [1, 2, 3])
def test_targets_where_episodes_end(form: str, n_steps: int) -> None:
    # Episodes are A, B. Terminated: from B 2, from A 1 + ½ · 16, or 1 + ½ · 2 from two steps on.
    ended = {A: {9.0 if n_steps == 1 else 2.0}, B: {2.0}}
    assert targets(filled(form, 2, 40, terminates=True, n_steps=n_steps)) == ended
    # Cut by a time limit: the value of A after it counts, γ³ times.
    cut = {A: {ENDLESS[min(n_steps, 2)][0]}, B: {ENDLESS[1][1]}}
    assert targets(filled(form, 2, 40, n_steps=n_steps)) == cut
    # Without the handling of time limits, as in Stable-Baselines3, they end an episode like a goal.
    assert targets(filled(form, 2, 40, n_steps=n_steps, handle_timeout_termination=False)) == ended


def test_copies_are_not_mixed() -> None:
    box, actions = gym.spaces.Box(-9.0, 9.0, (1,)), gym.spaces.Discrete(2)
    buffer = DurationReplayBuffer(20, box, actions, "cpu", 2, n_steps=2)
    for step in range(10):
        observations, infos = np.array([[1.0], [2.0]]), [{"discount": 0.5}, {"discount": 0.25}]
        buffer.add(observations, observations, np.zeros(2), np.array([step, 8.0 * step]), np.zeros(2), infos)
    batch = buffer.sample(100)
    # The newest has one step only, so that its discount is d, not d².
    pairs = {(float(row), float(discount)) for row, discount in zip(batch.observations, batch.discounts, strict=True)}
    assert pairs == {(1.0, 0.25), (1.0, 0.5), (2.0, 0.0625), (2.0, 0.25)}
    # r + d (r + 1), or with one step r = 9: between 0.5 and 12.5; of the second copy 8 r + ¼ · 8 (r + 1).
    assert set(batch.rewards[batch.observations == 1.0].tolist()) <= {step + 0.5 * (step + 1) for step in range(9)} | {
        9.0
    }
    assert set(batch.rewards[batch.observations == 2.0].tolist()) <= {10.0 * step + 2.0 for step in range(9)} | {72.0}


@pytest.mark.parametrize("n_added", [30, 47])
def test_where_every_decision_lasts_one_step_it_is_the_buffer_of_stable_baselines(n_added: int) -> None:
    # 20 rows of two copies: with 47 the newest have been written over the oldest.
    given = (40, gym.spaces.Box(-9.0, 9.0, (2,)), gym.spaces.Discrete(3), "cpu", 2)
    buffers = NStepReplayBuffer(*given, n_steps=3, gamma=GAMMA), DurationReplayBuffer(*given, n_steps=3)
    rng = np.random.default_rng(0)
    for _ in range(n_added):
        before, after, rewards = rng.normal(size=(2, 2)), rng.normal(size=(2, 2)), rng.normal(size=2)
        actions, dones = rng.integers(3, size=2), rng.random(2) < 0.2
        infos = [{"TimeLimit.truncated": bool(done and rng.random() < 0.5), "discount": GAMMA} for done in dones]
        for buffer in buffers:
            buffer.add(before, after, actions, rewards, dones, infos)
    batches = []
    for buffer in buffers:
        np.random.seed(1)  # noqa: NPY002 - buffers draw from it
        batches.append(buffer.sample(200))
    for ours, theirs in zip(batches[1], batches[0], strict=True):
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), atol=1e-6)


def with_values(agent: Any) -> Any:
    """Give an agent's critic, which is a table, the values of the two states."""
    with torch.no_grad():
        agent.policy.value_net.weight[:] = torch.tensor([[VALUE[A], VALUE[B]]])
        agent.policy.value_net.bias[:] = 0.0
    return agent


class Keep(BaseCallback):  # type: ignore[misc]
    """Keeps the advantages and returns before they are shuffled for the training."""

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        buffer = self.model.rollout_buffer
        self.advantages, self.returns = buffer.advantages.copy(), buffer.returns.copy()


# λ = ½. Cut by a time limit after A, B: δ_B = 2 + ⅛ · 8 − 16 = −13 and δ_A = 1 + ½ · 16 − 8 = 1, so that A's advantage
# is 1 + ½ · ½ · −13. The fifth decision, from A, is the last of the rollout: 1 alone. Terminated: δ_B = 2 − 16 = −14.
ADVANTAGES = {False: [-2.25, -13.0, -2.25, -13.0, 1.0], True: [-2.5, -14.0, -2.5, -14.0, 1.0]}


@pytest.mark.parametrize("form", ["box", "discrete", "dict"])
@pytest.mark.parametrize("kind", [A2C, PPO, MaskablePPO])
@pytest.mark.parametrize("terminates", [False, True])
def test_advantages_by_hand(kind: Any, form: str, terminates: bool) -> None:
    env = DummyVecEnv([lambda: TwoStates(form, terminates=terminates)] * 2)
    settings: dict[str, Any] = {} if kind is A2C else {"batch_size": 10}
    agent = kind(
        "MultiInputPolicy" if form == "dict" else "MlpPolicy", env, n_steps=5, gamma=HALF, gae_lambda=HALF,
        policy_kwargs={"net_arch": []}, device="cpu", seed=0, **settings,
        rollout_buffer_class=MaskableDurationRolloutBuffer if kind is MaskablePPO else DurationRolloutBuffer,
    )  # fmt: skip
    keep = Keep()
    with_values(agent).learn(10, callback=[DurationCallback(), keep])
    expected = np.array(ADVANTAGES[terminates])
    # Values 8, 16, 8, 16, 8.
    returns = expected + np.array([VALUE[state] for state in (A, B, A, B, A)])
    for copy in range(2):
        np.testing.assert_allclose(keep.advantages[:, copy], expected, atol=1e-6)
        np.testing.assert_allclose(keep.returns[:, copy], returns, atol=1e-6)


def test_constant_gamma_gives_other_advantages() -> None:
    agent = A2C(
        "MlpPolicy",
        TwoStates(),
        n_steps=5,
        gamma=HALF,
        gae_lambda=HALF,
        policy_kwargs={"net_arch": []},
        seed=0,
        device="cpu",
    )
    keep = Keep()
    with_values(agent).learn(5, callback=keep)
    # With ½ instead of ⅛: δ_B = 2 + ½ · 8 − 16 = −10, and 1 + ¼ · −10 of A.
    np.testing.assert_allclose(keep.advantages[:, 0], [-1.5, -10.0, -1.5, -10.0, 1.0], atol=1e-6)


GAMMA = 0.9
N = 6


class Corridor(gym.Env[Any, Any]):
    """Cells 0 … 5, one-hot; actions left and right; entering 5 pays 1 and ends the episode; starts anywhere."""

    def __init__(self) -> None:
        self.observation_space = gym.spaces.Box(0.0, 1.0, (N,))
        self.action_space = gym.spaces.Discrete(2)

    def _seen(self) -> NDArray[np.float32]:
        return np.asarray(np.eye(N, dtype=np.float32)[self.place])

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[NDArray[np.float32], dict[str, Any]]:
        super().reset(seed=seed)
        self.place = int(self.np_random.integers(N - 1))
        return self._seen(), {}

    def step(self, action: int) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        self.place = max(0, self.place + (1 if action else -1))
        return self._seen(), float(self.place == N - 1), self.place == N - 1, False, {}


class RightToThree:
    """Right as far as cell 3."""

    def can_start(self, observation: Any) -> bool:
        return int(np.argmax(observation)) < 3

    def act(self, observation: Any) -> int | None:
        return 1 if self.can_start(observation) else None

    def ended(self, observation: Any) -> bool:
        return not self.can_start(observation)


def corridor(gamma: float = GAMMA) -> Any:
    return fp.OptionsWrapper(Corridor(), [RightToThree()], gamma=gamma)


def by_hand() -> NDArray[np.float64]:
    """Q of left, right and the option (nan where it cannot start), from V(s) = γ^(4 − s)."""
    value = GAMMA ** (4.0 - np.arange(5))
    q = np.full((5, 3), np.nan)
    for cell in range(5):
        q[cell, 0] = GAMMA * value[max(cell - 1, 0)]
        q[cell, 1] = 1.0 if cell == 4 else GAMMA * value[cell + 1]
        if cell < 3:
            q[cell, 2] = GAMMA ** (3 - cell) * value[3]
    return q


def learned(**settings: Any) -> NDArray[np.float64]:
    agent = DQN(
        "MlpPolicy", Monitor(corridor()), gamma=GAMMA, learning_rate=lambda left: 0.03 * left, learning_starts=200,
        batch_size=128, train_freq=2, target_update_interval=50, exploration_initial_eps=1.0, exploration_final_eps=1.0,
        # One weight per cell and action: a table.
        buffer_size=4_000, policy_kwargs={"net_arch": []}, seed=0, device="cpu", **settings,
    )  # fmt: skip
    agent.learn(4_000)
    with torch.no_grad():
        values = agent.q_net(torch.eye(N)[:5]).numpy()
    return np.asarray(values, dtype=np.float64)


def test_dqn_learns_the_values_computed_by_hand() -> None:
    expected = by_hand()
    known = ~np.isnan(expected)
    assert np.abs(learned(replay_buffer_class=DurationReplayBuffer) - expected)[known].max() < 0.02


def test_plain_dqn_overestimates_actions_that_last_long() -> None:
    # With plain DQN the option from 0 is worth γ V(3) = 0.81 (or more, since V is too large), not γ³ V(3) = 0.656.
    assert learned()[0, 2] > by_hand()[0, 2] + 0.1


def test_discounts_are_kept_with_their_transitions() -> None:
    settings = {"replay_buffer_class": DurationReplayBuffer, "replay_buffer_kwargs": {"gamma": GAMMA}}
    agent = DQN(
        "MlpPolicy", corridor(), gamma=GAMMA, learning_starts=0, seed=1, buffer_size=500, device="cpu", **settings
    )
    buffer = agent.learn(300).replay_buffer
    before = buffer.observations[:300, 0].argmax(axis=1)
    after = buffer.next_observations[:300, 0].argmax(axis=1)
    # Where the option cannot start, a random action is taken.
    option = (buffer.actions[:300, 0, 0] == 2) & (before < 3)
    assert option.any()
    np.testing.assert_allclose(buffer.discounts[:300, 0], np.where(option, GAMMA ** (after - before), GAMMA))
    # A log can be read from it as from any other.
    assert fp.worlds.read_log(buffer).rewards.size == 300


@pytest.mark.parametrize("learning_starts", [0, 400])
def test_dqn_explores_at_the_rate_of_the_wrapper(learning_starts: int) -> None:
    env = corridor()
    env.option_probability = 0.05
    agent = DQN(
        "MlpPolicy", env, gamma=GAMMA, learning_starts=learning_starts, train_freq=1_000, seed=0, device="cpu",
        exploration_initial_eps=1.0, exploration_final_eps=1.0, buffer_size=400,
        replay_buffer_class=DurationReplayBuffer,
    )  # fmt: skip
    share = (agent.learn(400).replay_buffer.actions[:, 0, 0] == 2).mean()
    assert 0.0 < share < 0.05 + 4 * np.sqrt(0.05 * 0.95 / 400)


@pytest.mark.parametrize("kind", [A2C, PPO, MaskablePPO])
def test_the_untrained_policy_takes_options_at_the_given_rate(kind: Any) -> None:
    env = fp.DiscoveringWrapper(gym.make("CliffWalking-v1"), n_options=16)
    agent = kind("MlpPolicy", env, seed=0, device="cpu")

    def share() -> float:
        everywhere = agent.policy.obs_to_tensor(np.arange(48))[0]
        with torch.no_grad():
            return float(agent.policy.get_distribution(everywhere).distribution.probs[:, 4:].sum(dim=1).mean())

    # 16 options beside 4 actions; the first weights are small, not 0.
    assert share() == pytest.approx(0.8, abs=0.01)
    for given, expected in ((None, 0.05), (0.3, 0.3)):
        fp.deep.set_option_probability(agent, given)
        assert share() == pytest.approx(expected, abs=0.01)


def test_it_works_without_options() -> None:
    env = fp.OptionsWrapper(Corridor(), gamma=GAMMA)
    agent = PPO("MlpPolicy", env, gamma=GAMMA, n_steps=32, batch_size=32, rollout_buffer_class=DurationRolloutBuffer)
    fp.deep.set_option_probability(agent)
    assert (agent.learn(32, callback=DurationCallback()).rollout_buffer.discounts == GAMMA).all()


@pytest.mark.parametrize("form", ["box", "dict"])
def test_agents_and_buffers_can_be_saved(form: str, tmp_path: Path) -> None:
    policy = "MultiInputPolicy" if form == "dict" else "MlpPolicy"
    settings = {"replay_buffer_class": DurationReplayBuffer, "replay_buffer_kwargs": {"n_steps": 2}, "buffer_size": 50}
    agent = DQN(policy, TwoStates(form), gamma=HALF, seed=0, device="cpu", **settings).learn(20)
    agent.save(tmp_path / "agent")
    agent.save_replay_buffer(tmp_path / "buffer")
    loaded = DQN.load(tmp_path / "agent", TwoStates(form), device="cpu")
    loaded.load_replay_buffer(tmp_path / "buffer")
    assert isinstance(loaded.replay_buffer, DurationReplayBuffer)
    np.testing.assert_array_equal(loaded.replay_buffer.discounts, agent.replay_buffer.discounts)
    assert targets(loaded.replay_buffer) == targets(agent.replay_buffer)
    loaded.learn(5)


def test_wrong_use_is_named() -> None:
    duration = {"replay_buffer_class": DurationReplayBuffer}
    with pytest.raises(
        InvalidInput, match=r"gamma must be that of the wrapper; got 0\.9 with a wrapper that discounts"
    ):
        DQN("MlpPolicy", corridor(0.5), replay_buffer_kwargs={"gamma": 0.9}, device="cpu", **duration).learn(5)
    with pytest.raises(InvalidInput, match="gamma must be given where info has no discount"):
        DQN("MlpPolicy", Corridor(), device="cpu", **duration).learn(5)
    with pytest.raises(InvalidInput, match="n_steps must be"):
        DQN("MlpPolicy", corridor(), replay_buffer_kwargs={"n_steps": 0}, device="cpu", **duration)
    rollouts = {"n_steps": 8, "device": "cpu"}
    with pytest.raises(InvalidInput, match="agent must have a DurationRolloutBuffer"):
        A2C("MlpPolicy", corridor(), **rollouts).learn(8, callback=DurationCallback())
    agent = A2C("MlpPolicy", corridor(), gamma=GAMMA, rollout_buffer_class=DurationRolloutBuffer, **rollouts)
    with pytest.raises(InvalidInput, match="callback must be a DurationCallback"):
        agent.learn(8)
    with pytest.raises(InvalidInput, match="agent must be PPO, A2C or MaskablePPO with discrete actions; got"):
        fp.deep.set_option_probability(DQN("MlpPolicy", corridor(), device="cpu"))
    for chance, says in ((0.0, "above 0 and below 1"), (1.5, "from 0 to 1")):
        with pytest.raises(InvalidInput, match=f"option_probability must be .*{says}"):
            fp.deep.set_option_probability(agent, chance)
    with pytest.raises(InvalidInput, match=r"gamma must be that of the wrapper; got 0\.99"):
        A2C("MlpPolicy", corridor(), rollout_buffer_class=DurationRolloutBuffer, **rollouts).learn(
            8, callback=DurationCallback()
        )
