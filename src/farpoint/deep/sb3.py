"""What Stable-Baselines3's own agents need for actions that last several steps (semi-Markov decision processes).

A decision that lasts k steps earns r₁ + γ r₂ + … + γᵏ⁻¹ rₖ, and what follows is k steps away: its discount is γᵏ.
DQN, PPO and A2C use γ whatever k is, which overestimates long actions. Here are buffers that use what the environment
says in ``info["discount"]`` (or ``info["duration"]``), as `OptionsWrapper` does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from sb3_contrib.common.maskable.buffers import MaskableDictRolloutBuffer, MaskableRolloutBuffer
from stable_baselines3.common.buffers import DictReplayBuffer, DictRolloutBuffer, ReplayBuffer, RolloutBuffer
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.type_aliases import DictReplayBufferSamples, ReplayBufferSamples

from farpoint.errors import InvalidInput, check_fraction, check_integer

_GAMMA_ATOL = 1e-9


def _discounts(infos: list[dict[str, Any]], gamma: float | None) -> list[float]:
    """Return γᵏ of each environment's step; ``gamma`` must be the one that its rewards were discounted with."""
    discounts = []
    for info in infos:
        duration, said = info.get("duration", 1), info.get("discount")
        expected = said if gamma is None else gamma**duration
        if expected is None:
            raise InvalidInput(
                "gamma must be given where info has no discount; got None. Pass replay_buffer_kwargs={'gamma': …}."
            )
        if said is not None and abs(said - expected) > _GAMMA_ATOL:
            raise InvalidInput(
                f"gamma must be that of the wrapper; got {gamma:g} with a wrapper that discounts {duration} steps by "
                f"{said:g}. Give both the same gamma."
            )
        discounts.append(float(expected))
    return discounts


class _EitherObservation:
    """A buffer that becomes its variant for Dict observations where observations are dictionaries."""

    _for_dict: type

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        space = kwargs.get("observation_space", args[1] if len(args) > 1 else None)
        return super().__new__(cls._for_dict if isinstance(space, spaces.Dict) else cls)


class DurationReplayBuffer(_EitherObservation, ReplayBuffer):
    """A replay buffer whose targets are discounted by γᵏ, where k is the duration of an action.

    For DQN (and any agent that reads the discounts of its samples) and flat or Dict observations. A target over n
    decisions is R₁ + d₁ R₂ + d₁ d₂ R₃ + … + d₁ … dₙ V(s′), where d = γᵏ is each decision's own discount; it is shorter
    where the episode ends, or the newest transition is reached. Time limits and ``optimize_memory_usage`` are handled
    as in Stable-Baselines3.

    Parameters
    ----------
    *args, **kwargs
        As for the replay buffer of Stable-Baselines3, which passes them itself.
    n_steps : int
        Decisions that a target looks ahead. Give it here, in ``replay_buffer_kwargs``: an agent's own ``n_steps`` is
        ignored where a buffer is given.
    gamma : float, optional
        Default: that of the wrapper, from ``info["discount"]``. Needed where ``info`` has none; must be equal to it
        otherwise. The agent's own ``gamma`` is not used with this buffer.

    Examples
    --------
    >>> import gymnasium as gym, farpoint as fp
    >>> from stable_baselines3 import DQN
    >>> env = fp.DiscoveringWrapper(gym.make("CliffWalking-v1", max_episode_steps=200), n_options=4)
    >>> settings = {"replay_buffer_class": fp.deep.DurationReplayBuffer, "replay_buffer_kwargs": {"n_steps": 3}}
    >>> agent = DQN("MlpPolicy", env, seed=0, device="cpu", **settings).learn(300)
    >>> samples = agent.replay_buffer.sample(32)
    >>> bool((samples.discounts <= 0.99).all())
    True
    """

    def __init__(self, *args: Any, n_steps: int = 1, gamma: float | None = None, **kwargs: Any) -> None:
        self.n_steps = check_integer("n_steps", n_steps, 1)
        self.gamma = None if gamma is None else check_fraction("gamma", gamma)
        super().__init__(*args, **kwargs)
        self.discounts = np.ones((self.buffer_size, self.n_envs))

    def add(self, obs: Any, next_obs: Any, action: Any, reward: Any, done: Any, infos: list[dict[str, Any]]) -> None:
        """Add one transition per environment."""
        self.discounts[self.pos] = _discounts(infos, self.gamma)
        super().add(obs, next_obs, action, reward, done, infos)

    def _get_samples(self, batch_inds: NDArray[np.int64], env: Any = None) -> Any:
        copies = np.random.randint(self.n_envs, size=len(batch_inds))  # noqa: NPY002 - as in the base class
        times = (batch_inds[:, None] + np.arange(self.n_steps)) % self.buffer_size
        at = (times, copies[:, None])
        # After the newest transition comes the oldest, which has nothing to do with it.
        stops = (self.dones[at] > 0) | (times == (self.pos - 1) % self.buffer_size)
        counts = _before(~stops)
        discounts = np.where(counts, self.discounts[at], 1.0)
        # R = Σⱼ d₁ … dⱼ₋₁ Rⱼ over the decisions before the first stop, and that one
        rewards = (_before(discounts) * counts * self._normalize_reward(self.rewards[at], env)).sum(axis=1)
        last = (times[np.arange(len(times)), counts.sum(axis=1) - 1], copies)
        following, shift = (self.observations, 1) if self.optimize_memory_usage else (self.next_observations, 0)
        named = isinstance(self.observations, Mapping)
        observations, next_observations = (
            self._normalize_obs(
                {name: rows[where] for name, rows in values.items()} if isinstance(values, Mapping) else values[where],
                env,
            )
            for values, where in (
                (self.observations, (batch_inds, copies)),
                (following, ((last[0] + shift) % self.buffer_size, copies)),
            )
        )
        ended = self.dones[last] * (1.0 - self.timeouts[last])
        columns = (ended, rewards, discounts.prod(axis=1))
        dones, rewards, discounts = (self.to_torch(column.astype(np.float32).reshape(-1, 1)) for column in columns)
        return (DictReplayBufferSamples if named else ReplayBufferSamples)(
            observations=self._tensors(observations),
            actions=self.to_torch(self.actions[batch_inds, copies]),
            next_observations=self._tensors(next_observations),
            dones=dones,
            rewards=rewards,
            discounts=discounts,
        )

    def _tensors(self, values: Any) -> Any:
        if isinstance(values, Mapping):
            return {name: self.to_torch(rows) for name, rows in values.items()}
        return self.to_torch(values)


def _before(factors: NDArray[Any]) -> NDArray[Any]:
    """Return the product of all factors before each one of a row.

    >>> _before(np.array([[0.5, 0.5, 0.1]]))
    array([[1.  , 0.5 , 0.25]])
    """
    products = np.cumprod(factors, axis=1).astype(factors.dtype)
    return np.concatenate([np.ones_like(products[:, :1]), products[:, :-1]], axis=1)


class _DictDurationReplayBuffer(DurationReplayBuffer, DictReplayBuffer):
    pass


DurationReplayBuffer._for_dict = _DictDurationReplayBuffer


class _DurationAdvantages(_EitherObservation):
    """Advantages whose discount is each decision's own: ``discounts``, which `DurationCallback` writes."""

    def reset(self) -> None:
        """Forget everything."""
        super().reset()  # type: ignore[misc]
        self.discounts = np.full((self.buffer_size, self.n_envs), np.nan)  # type: ignore[attr-defined]

    def compute_returns_and_advantage(self, last_values: torch.Tensor, dones: NDArray[Any]) -> None:
        """Compute the advantages A = Σⱼ (∏ d λ) δⱼ with δ = R + d V(s′) − V(s), where d is γᵏ of each decision."""
        buffer: Any = self
        if np.isnan(self.discounts).any():
            raise InvalidInput(
                "callback must be a DurationCallback where the rollout buffer has durations; got none. Call "
                "agent.learn(n, callback=fp.deep.DurationCallback())."
            )
        next_values = last_values.detach().cpu().numpy().flatten()
        going, trace = 1.0 - np.asarray(dones, dtype=np.float32), 0.0
        for step in reversed(range(buffer.buffer_size)):
            carried = self.discounts[step] * going
            # δ = R + d V(s′) − V(s);   A = δ + d λ A′
            delta = buffer.rewards[step] + carried * next_values - buffer.values[step]
            trace = delta + carried * buffer.gae_lambda * trace
            buffer.advantages[step] = trace
            next_values, going = buffer.values[step], 1.0 - buffer.episode_starts[step]
        buffer.returns = buffer.advantages + buffer.values


class DurationRolloutBuffer(_DurationAdvantages, RolloutBuffer):
    """A rollout buffer for PPO and A2C whose advantages are discounted by γᵏ, where k is the duration of an action.

    The λ of the advantages counts decisions, the discount counts steps. Observations may be flat or Dict. Needs a
    `DurationCallback`, because a rollout buffer is not told what ``info`` says.

    Parameters
    ----------
    *args, **kwargs
        As for the rollout buffer of Stable-Baselines3, which passes them itself.

    Examples
    --------
    >>> import gymnasium as gym, farpoint as fp
    >>> from stable_baselines3 import PPO
    >>> env = fp.DiscoveringWrapper(gym.make("CliffWalking-v1", max_episode_steps=200), n_options=4)
    >>> agent = PPO("MlpPolicy", env, n_steps=64, rollout_buffer_class=fp.deep.DurationRolloutBuffer, device="cpu")
    >>> agent.learn(128, callback=fp.deep.DurationCallback()).num_timesteps
    128
    """


class _DictDurationRolloutBuffer(DurationRolloutBuffer, DictRolloutBuffer):
    pass


DurationRolloutBuffer._for_dict = _DictDurationRolloutBuffer


class MaskableDurationRolloutBuffer(_DurationAdvantages, MaskableRolloutBuffer):
    """The `DurationRolloutBuffer` for MaskablePPO of sb3-contrib, which takes only options that can start.

    Parameters
    ----------
    *args, **kwargs
        As for the rollout buffer of sb3-contrib, which passes them itself.

    Examples
    --------
    >>> import gymnasium as gym, farpoint as fp
    >>> from sb3_contrib import MaskablePPO
    >>> env = fp.DiscoveringWrapper(gym.make("CliffWalking-v1", max_episode_steps=200), n_options=4)
    >>> buffer = fp.deep.MaskableDurationRolloutBuffer
    >>> agent = MaskablePPO("MlpPolicy", env, n_steps=64, rollout_buffer_class=buffer, device="cpu")
    >>> agent.learn(128, callback=fp.deep.DurationCallback()).num_timesteps
    128
    """


class _MaskableDictDurationRolloutBuffer(MaskableDurationRolloutBuffer, MaskableDictRolloutBuffer):
    # The buffer of flat observations is no base of the other here, and would come first.
    get = MaskableDictRolloutBuffer.get
    _get_samples = MaskableDictRolloutBuffer._get_samples


MaskableDurationRolloutBuffer._for_dict = _MaskableDictDurationRolloutBuffer


class DurationCallback(BaseCallback):
    """Writes the discount of every decision, γᵏ, to the rollout buffer of PPO, A2C or MaskablePPO.

    Where a time limit ends an episode these agents add γ V(s′) to the last reward; with this callback they add
    γᵏ V(s′). The agent's ``gamma`` must be that of the wrapper.

    Examples
    --------
    >>> import gymnasium as gym, farpoint as fp
    >>> from stable_baselines3 import A2C
    >>> env = fp.OptionsWrapper(gym.make("CliffWalking-v1"), gamma=0.9)
    >>> agent = A2C("MlpPolicy", env, gamma=0.9, rollout_buffer_class=fp.deep.DurationRolloutBuffer, device="cpu")
    >>> float(agent.learn(5, callback=fp.deep.DurationCallback()).rollout_buffer.discounts[0, 0])
    0.9
    """

    def _init_callback(self) -> None:
        if not isinstance(getattr(self.model, "rollout_buffer", None), _DurationAdvantages):
            raise InvalidInput(
                f"agent must have a DurationRolloutBuffer, or a MaskableDurationRolloutBuffer; got {self.model!r:.80}. "
                "Pass rollout_buffer_class=fp.deep.DurationRolloutBuffer."
            )

    def _on_step(self) -> bool:
        agent: Any = self.model
        infos, rewards = self.locals["infos"], self.locals["rewards"]
        buffer, discounts = agent.rollout_buffer, _discounts(infos, agent.gamma)
        buffer.discounts[buffer.pos] = discounts
        for copy, info in enumerate(infos):
            after = info.get("terminal_observation")
            if self.locals["dones"][copy] and after is not None and info.get("TimeLimit.truncated", False):
                with torch.no_grad():
                    value = float(agent.policy.predict_values(agent.policy.obs_to_tensor(after)[0])[0])
                # γ V(s′) is added by the agent itself, after this.
                rewards[copy] += (discounts[copy] - agent.gamma) * value
        return True


def set_option_probability(agent: Any, option_probability: float | None = None) -> None:
    """Let the untrained policy of PPO, A2C or MaskablePPO take an option with this probability.

    Such an agent never calls ``action_space.sample()``. Untrained it takes every action alike: with 4 actions and 16
    options 80 % of its decisions are options. This sets the bias of the action layer: that of the K options to
    log(p A / ((1 − p) K)), that of the A primitive actions to 0. With masks (MaskablePPO) this is the rate where all
    options can start; where fewer can, it is lower.

    Parameters
    ----------
    agent : PPO, A2C or MaskablePPO
        Of an environment wrapped in `OptionsWrapper` or `DiscoveringWrapper`.
    option_probability : float, optional
        Above 0 and below 1. Default: that of the wrapper.

    Examples
    --------
    >>> import gymnasium as gym, farpoint as fp
    >>> from stable_baselines3 import PPO
    >>> agent = PPO("MlpPolicy", fp.DiscoveringWrapper(gym.make("CliffWalking-v1")), device="cpu", seed=0)
    >>> fp.deep.set_option_probability(agent)                     # 0.05, that of the wrapper
    >>> observation = agent.policy.obs_to_tensor(np.array([36]))[0]
    >>> chances = agent.policy.get_distribution(observation).distribution.probs
    >>> round(chances[0, 4:].sum().item(), 3)
    0.05
    """
    layer = getattr(getattr(agent, "policy", None), "action_net", None)
    if not isinstance(layer, torch.nn.Linear):
        raise InvalidInput(f"agent must be PPO, A2C or MaskablePPO with discrete actions; got {agent!r:.80}.")
    env = agent.get_env()
    n_actions = int(env.get_attr("n_actions")[0])
    n_options = layer.out_features - n_actions
    chance = env.get_attr("option_probability")[0] if option_probability is None else option_probability
    chance = check_fraction("option_probability", chance)
    if n_options == 0:
        return
    if not 0.0 < chance < 1.0:
        raise InvalidInput(f"option_probability must be above 0 and below 1; got {chance:g}.")
    with torch.no_grad():
        layer.bias[:n_actions] = 0.0
        # K e^b / (A + K e^b) = p
        layer.bias[n_actions:] = math.log(chance * n_actions / ((1.0 - chance) * n_options))
