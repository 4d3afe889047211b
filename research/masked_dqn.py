"""DQN with a Q-network that reads masks from a Dict observation, and what watches it: see `research.sb3_masks`."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import torch
from gymnasium import spaces
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.torch_layers import CombinedExtractor
from stable_baselines3.dqn.policies import DQNPolicy, QNetwork

# Of the steps: how long ε falls from 1 to 0.05, and the last part, in which episodes are measured.
EXPLORING, LATE = 0.5, 0.2


class MaskInObservation(gym.Wrapper[Any, Any, Any, Any]):
    """An environment with options whose observation holds the mask too."""

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        super().__init__(env)
        mask = spaces.MultiBinary(int(env.action_space.n))  # type: ignore[attr-defined]
        self.observation_space = spaces.Dict(observation=env.observation_space, action_mask=mask)

    def reset(self, **given: Any) -> tuple[Any, dict[str, Any]]:
        """Begin an episode."""
        observation, info = self.env.reset(**given)
        return {"observation": observation, "action_mask": info["action_mask"]}, info

    def step(self, action: int) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Take one decision."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return {"observation": observation, "action_mask": info["action_mask"]}, reward, terminated, truncated, info


class WithoutMask(CombinedExtractor):  # type: ignore[misc]
    """Everything of a Dict observation but the mask."""

    def __init__(self, space: spaces.Dict, **given: Any) -> None:
        super().__init__(spaces.Dict({name: part for name, part in space.items() if name != "action_mask"}), **given)


class MaskedNetwork(QNetwork):  # type: ignore[misc]
    """Values of actions, lowest where the mask forbids one."""

    def forward(self, obs: Any) -> torch.Tensor:
        """Return the values."""
        values: torch.Tensor = super().forward(obs)
        # While it is trained, the value of the action that was taken is asked for, which may have been forbidden.
        return values if self.training else values.masked_fill(obs["action_mask"] == 0, -1e9)


class MaskedPolicy(DQNPolicy):  # type: ignore[misc]
    """The policy of DQN with such networks."""

    def make_q_net(self) -> MaskedNetwork:
        """Return a network."""
        given = self._update_features_extractor(self.net_args, features_extractor=None)
        network: MaskedNetwork = MaskedNetwork(**given).to(self.device)
        return network


class Watch(BaseCallback):  # type: ignore[misc]
    """Counts primitive steps, and ends the training after ``n_steps`` of them."""

    def __init__(self, n_steps: int) -> None:
        super().__init__()
        self.n_steps = n_steps
        self.taken = self.began = 0
        self.first: int | None = None
        self.late: list[int] = []

    def _on_step(self) -> bool:
        (info,) = self.locals["infos"]
        self.taken += info["duration"]
        if self.locals["dones"][0]:
            if self.first is None and not info["TimeLimit.truncated"]:
                self.first = self.taken
            if self.taken > (1.0 - LATE) * self.n_steps:
                self.late.append(self.taken - self.began)
            self.began = self.taken
        return self.taken < self.n_steps

    def epsilon(self, _: float) -> float:
        """Return ε."""
        return max(0.05, 1.0 - 0.95 * self.taken / (EXPLORING * self.n_steps))
