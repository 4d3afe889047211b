"""DQN for environments whose actions last several steps (semi-Markov decision processes), on Stable-Baselines3.

In such an environment an action lasts k steps and its reward is r₁ + γ r₂ + … + γᵏ⁻¹ rₖ. The next state is k steps
away, so the target is reward + γᵏ max Q. Plain DQN uses γ instead of γᵏ and overestimates long actions.
"""

from __future__ import annotations

import json
import zipfile
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from stable_baselines3 import DQN
from stable_baselines3.common.buffers import ReplayBuffer

from farpoint.deep.tensors import module_arrays, optimizer_arrays, restore_module, restore_optimizer
from farpoint.errors import InvalidFile, InvalidInput
from farpoint.files import read_arrays, write_arrays

_KIND = "farpoint-smdp-dqn"
# The settings of a file that `SMDPDQN.load` takes: all that say how an agent learns, and no paths.
_SETTINGS = frozenset(
    {
        *("policy", "policy_kwargs", "learning_rate", "buffer_size", "learning_starts", "batch_size", "tau", "gamma"),
        *("train_freq", "gradient_steps", "target_update_interval", "max_grad_norm", "stats_window_size", "seed"),
        *("exploration_fraction", "exploration_initial_eps", "exploration_final_eps"),
    }
)
_COUNTS = ("num_timesteps", "_total_timesteps", "_num_timesteps_at_start", "_episode_num", "_n_updates", "_n_calls")
_SHARES = ("_current_progress_remaining", "exploration_rate")


class DurationSamples(NamedTuple):
    """A batch of transitions; ``discounts`` are γᵏ, ``masks`` say which actions are available next."""

    observations: torch.Tensor
    actions: torch.Tensor
    next_observations: torch.Tensor
    dones: torch.Tensor
    rewards: torch.Tensor
    discounts: torch.Tensor
    masks: torch.Tensor


class DurationReplayBuffer(ReplayBuffer):
    """A replay buffer that also stores how long each action lasted and which actions were available next.

    Both are read from ``info``: ``duration`` (default: 1) and ``action_mask`` (default: all actions).
    """

    def __init__(self, *args: Any, gamma: float, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.optimize_memory_usage:
            raise InvalidInput("optimize_memory_usage must be False with SMDPDQN; got True.")
        self.gamma = gamma
        self.durations = np.ones((self.buffer_size, self.n_envs), dtype=np.int32)
        self.masks = np.ones((self.buffer_size, self.n_envs, int(self.action_space.n)), dtype=bool)

    def add(self, obs: Any, next_obs: Any, action: Any, reward: Any, done: Any, infos: list[dict[str, Any]]) -> None:
        """Add one transition per environment."""
        for number, info in enumerate(infos):
            duration = int(info.get("duration", 1))
            # Rewards and values must be discounted by the same γ to be added.
            if "discount" in info and abs(info["discount"] - self.gamma**duration) > 1e-9:
                raise InvalidInput(
                    f"gamma must be that of the wrapper; got {self.gamma:g} with a wrapper that discounts {duration} "
                    f"steps by {info['discount']:g}. Give both the same gamma."
                )
            self.durations[self.pos, number] = duration
            # After the last step of an episode no action is available; there the mask has no effect.
            mask = np.asarray(info.get("action_mask", True), dtype=bool)
            self.masks[self.pos, number] = mask if mask.any() else True
        super().add(obs, next_obs, action, reward, done, infos)

    def _get_samples(self, batch_inds: NDArray[np.int64], env: Any = None) -> DurationSamples:
        # All fields of a sample are read with the same random choice of environment.
        numbers = np.random.randint(0, self.n_envs, size=len(batch_inds))  # noqa: NPY002 - as in the base class
        at = (batch_inds, numbers)
        ended = self.dones[at] * (1.0 - self.timeouts[at])
        rewards = self._normalize_reward(self.rewards[at].reshape(-1, 1), env)
        discounts = np.power(self.gamma, self.durations[at], dtype=np.float32)
        arrays = (
            self._normalize_obs(self.observations[at], env),
            self.actions[at],
            self._normalize_obs(self.next_observations[at], env),
            ended.reshape(-1, 1),
            rewards,
            discounts.reshape(-1, 1),
            self.masks[at],
        )
        return DurationSamples(*map(self.to_torch, arrays))


class SMDPDQN(DQN):
    """DQN whose target is discounted by γᵏ, where k is the duration of the action (``info["duration"]``).

    For `OptionsWrapper`, with or without further wrappers around it; in other environments every action lasts one step
    and this is plain DQN. Training neither chooses unavailable actions nor bootstraps from them
    (``info["action_mask"]``); for `predict`, pass the mask as ``action_masks``. ``gamma`` must be that of the wrapper.
    Files of agents hold numbers and plain settings only: loading one runs no code from it.

    Parameters
    ----------
    policy, env, **kwargs
        As for the DQN of Stable-Baselines3, but without dictionary observations and multi-step returns.

    Examples
    --------
    >>> import gymnasium as gym, farpoint as fp
    >>> env = gym.make("FrozenLake-v1", is_slippery=False)
    >>> options = fp.discover(fp.World.from_env(env), n_options=2)
    >>> agent = fp.SMDPDQN("MlpPolicy", fp.OptionsWrapper(env, options, gamma=0.9), gamma=0.9, seed=0, device="cpu")
    >>> agent.learn(200).num_timesteps
    200
    """

    def __init__(self, policy: Any, env: Any, **kwargs: Any) -> None:
        if kwargs.get("replay_buffer_class") is not None or kwargs.get("n_steps", 1) != 1:
            raise InvalidInput(
                "replay_buffer_class and n_steps must be left out; got one of them. SMDPDQN has its own replay buffer."
            )
        self._kept = {name: value for name, value in {"policy": policy, **kwargs}.items() if name in _SETTINGS}
        kwargs["replay_buffer_class"] = DurationReplayBuffer
        given = kwargs.get("replay_buffer_kwargs") or {}
        kwargs["replay_buffer_kwargs"] = {**given, "gamma": kwargs.setdefault("gamma", 0.99)}
        self._choices = np.random.default_rng(kwargs.get("seed"))
        super().__init__(policy, env, **kwargs)

    def save(self, path: str | PathLike[str]) -> None:
        """Save the networks, the optimizer, the settings and the counts of steps to a file.

        The replay buffer, the state of the random generators and the logger are not kept, nor are settings that are
        functions or classes, such as a schedule: those must be given again to `load`.

        Raises
        ------
        OutputError
            If the file cannot be written.
        """
        plain = {name: value for name, value in self._kept.items() if _is_plain(value)}
        facts = {
            "settings": plain,
            "left_out": sorted(self._kept.keys() - plain.keys()),
            "spaces": _spaces(self),
            **{name: int(getattr(self, name)) for name in _COUNTS},
            **{name: float(getattr(self, name)) for name in _SHARES},
        }
        write_arrays(path, _KIND, facts, module_arrays("policy", self.policy) | optimizer_arrays(self.policy.optimizer))

    @classmethod
    def load(cls, path: str | PathLike[str], env: Any, *, device: str = "auto", **settings: Any) -> SMDPDQN:
        """Return the agent in a file that `save` wrote.

        Parameters
        ----------
        path : path
        env : environment
            With the spaces of the environment that the agent was trained in.
        device : str
        **settings
            Replace those in the file.

        Raises
        ------
        InvalidFile
            If the file is missing, damaged or of another kind; those of Stable-Baselines3 are refused, because reading
            them can run code.
        InvalidInput
            If the environment has other spaces, or a setting that the file does not hold is missing.

        Examples
        --------
        >>> import tempfile, gymnasium as gym, farpoint as fp
        >>> env = gym.make("FrozenLake-v1", is_slippery=False)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     fp.SMDPDQN("MlpPolicy", env, seed=0, device="cpu").learn(8).save(f"{folder}/agent.npz")
        ...     fp.SMDPDQN.load(f"{folder}/agent.npz", env, device="cpu").num_timesteps
        8
        """
        _refuse_pickles(path)
        facts, arrays = read_arrays(path, _KIND)
        damaged = f"{path} must be a whole agent; it is damaged (something in it is missing or does not fit)."
        kept, left_out = facts.get("settings"), facts.get("left_out")
        if not isinstance(kept, dict) or not isinstance(left_out, list) or not _SETTINGS.issuperset(kept):
            raise InvalidFile(damaged)
        missing = [name for name in left_out if name not in settings]
        if missing:
            raise InvalidInput(
                f"{', '.join(missing)} must be given to load, because a file holds no functions or classes; got none."
            )
        if isinstance(kept.get("train_freq"), list):
            kept["train_freq"] = tuple(kept["train_freq"])
        given = {**kept, **settings}
        try:
            agent = cls(given.pop("policy"), env, **given, device=device)
        except (KeyError, TypeError, ValueError, RuntimeError, MemoryError) as error:
            if isinstance(error, InvalidInput):
                raise
            raise InvalidFile(damaged) from error
        if _spaces(agent) != facts.get("spaces"):
            raise InvalidInput(
                f"env must have the spaces of the saved agent, {facts.get('spaces')}; got {_spaces(agent)}."
            )
        try:
            restore_module("policy", agent.policy, arrays)
            restore_optimizer(agent.policy.optimizer, arrays)
            for name in (*_COUNTS, *_SHARES):
                setattr(agent, name, (int if name in _COUNTS else float)(facts[name]))
        except (KeyError, TypeError, ValueError, RuntimeError) as error:
            raise InvalidFile(damaged) from error
        return agent

    def save_replay_buffer(self, path: Any) -> NoReturn:
        """Fail: see `load_replay_buffer`."""
        self.load_replay_buffer(path)

    def load_replay_buffer(self, path: Any, truncate_last_traj: bool = True) -> NoReturn:
        """Fail: Stable-Baselines3 keeps replay buffers as pickles, and reading a pickle can run code."""
        raise InvalidInput(
            f"replay buffer must be filled by learning; got the file {path}. Files of replay buffers can run code."
        )

    def _setup_model(self) -> None:
        if isinstance(self.observation_space, spaces.Dict):
            raise InvalidInput(f"observations must not be dictionaries; got {self.observation_space}. Flatten them.")
        super()._setup_model()

    def train(self, gradient_steps: int, batch_size: int = 100) -> None:
        """Take gradient steps towards reward + γᵏ max Q."""
        self.policy.set_training_mode(True)
        self._update_learning_rate(self.policy.optimizer)
        losses = []
        for _ in range(gradient_steps):
            batch = self.replay_buffer.sample(batch_size, env=self._vec_normalize_env)
            with torch.no_grad():
                following = self.q_net_target(batch.next_observations)
                following = following.masked_fill(~batch.masks.bool(), -torch.inf).max(dim=1, keepdim=True).values
                # y = R + γᵏ max_a Q(s', a)
                target = batch.rewards + (1.0 - batch.dones) * batch.discounts * following
            current = torch.gather(self.q_net(batch.observations), 1, batch.actions.long())
            loss = torch.nn.functional.smooth_l1_loss(current, target)
            losses.append(loss.item())
            self.policy.optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.policy.parameters(), self.max_grad_norm)
            self.policy.optimizer.step()
        self._n_updates += gradient_steps
        self.logger.record("train/n_updates", self._n_updates, exclude="tensorboard")
        self.logger.record("train/loss", np.mean(losses))

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = False,
        action_masks: Any = None,
    ) -> tuple[NDArray[Any], Any]:
        """Return actions, chosen among those that ``action_masks`` allows if it is given."""
        if action_masks is None:
            return super().predict(observation, state, episode_start, deterministic)
        self.policy.set_training_mode(False)
        tensor, many = self.policy.obs_to_tensor(observation)
        masks = np.asarray(action_masks, dtype=bool).reshape(len(tensor), -1)
        if not deterministic and self._choices.random() < self.exploration_rate:
            actions = self._any_of(masks)
        else:
            with torch.no_grad():
                values = self.q_net(tensor).cpu().numpy()
            actions = np.where(masks, values, -np.inf).argmax(axis=1)
        return (actions if many else actions[0]), state

    def _sample_action(
        self, learning_starts: int, action_noise: Any = None, n_envs: int = 1
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        if not self.env.has_attr("action_masks"):
            return super()._sample_action(learning_starts, action_noise, n_envs)
        masks = np.stack(self.env.env_method("action_masks"))
        if self.num_timesteps < learning_starts:
            actions = self._any_of(masks)
        else:
            actions, _ = self.predict(self._last_obs, action_masks=masks)
        return actions, actions

    def _any_of(self, masks: NDArray[np.bool_]) -> NDArray[np.int64]:
        return np.array([self._choices.choice(np.flatnonzero(mask)) for mask in masks])


def _is_plain(value: object) -> bool:
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return False
    return True


def _spaces(agent: SMDPDQN) -> str:
    return f"{agent.observation_space} and {agent.action_space}"


def _refuse_pickles(path: str | PathLike[str]) -> None:
    """Fail if the file is one of Stable-Baselines3, or of torch."""
    try:
        if not Path(path).is_file() or not zipfile.is_zipfile(path):
            return
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (OSError, ValueError, zipfile.BadZipFile):
        return
    if any(name == "data" or name.endswith((".pth", ".pkl")) for name in names):
        raise InvalidFile(
            f"{path} must be a file that SMDPDQN.save wrote; got one of Stable-Baselines3, which can run code. "
            "Save the agent again."
        )
