"""RLlib's PPO on an environment whose actions include discovered options, with a mask and two workers.

Every option is one decision, however many steps it takes. RLlib has one γ per decision, which would make an option of
twenty steps as cheap as one step; γ = 1 with a price for every step is exact, and it is what this example does. See
docs/rllib.md for a γ below 1.

RLlib pins its version of Gymnasium, so that it wants an environment of its own:

    python -m venv rllib
    rllib/bin/pip install farpoint "ray[rllib]==2.60.0" torch
    rllib/bin/python examples/rllib.py
    rllib/bin/python examples/rllib.py --n-options 0      # the same agent without options
"""

from __future__ import annotations

import argparse
from typing import Any

import gymnasium as gym
import numpy as np
import ray
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from ray.tune.registry import register_env

import farpoint as fp

PRICE = 0.01


class ForRLlib(gym.Wrapper[Any, Any, Any, Any]):
    """The observation as one number per state, with the action mask beside it, and a price for every step."""

    def __init__(self, env: fp.OptionsWrapper) -> None:
        super().__init__(env)
        assert isinstance(env.observation_space, gym.spaces.Discrete)
        assert isinstance(env.action_space, gym.spaces.Discrete)
        self.n_states, self.n_choices = int(env.observation_space.n), int(env.action_space.n)
        self.observation_space = gym.spaces.Dict(
            {
                "observations": gym.spaces.Box(0.0, 1.0, (self.n_states,), np.float32),
                "action_mask": gym.spaces.Box(0.0, 1.0, (self.n_choices,), np.float32),
            }
        )
        # RLlib asks for a plain Discrete space.
        self.action_space = gym.spaces.Discrete(self.n_choices)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode."""
        observation, info = self.env.reset(seed=seed, options=options)
        return self._observed(observation, info), info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take one decision, which lasts for ``info["duration"]`` steps."""
        observation, reward, terminated, truncated, info = self.env.step(int(action))
        return self._observed(observation, info), float(reward) - PRICE * info["duration"], terminated, truncated, info

    def _observed(self, observation: Any, info: dict[str, Any]) -> dict[str, Any]:
        state = np.zeros(self.n_states, dtype=np.float32)
        state[int(observation)] = 1.0
        return {"observations": state, "action_mask": info["action_mask"].astype(np.float32)}


def make(settings: dict[str, Any]) -> ForRLlib:
    """Return FrozenLake 8x8 with ``n_options`` options; every worker discovers the same ones."""
    env = gym.make("FrozenLake-v1", map_name="8x8", is_slippery=False)
    n_options = settings["n_options"]
    options = fp.discover(fp.World.from_env(env), n_options=n_options) if n_options else None
    return ForRLlib(fp.OptionsWrapper(env, options, gamma=1.0))


def main() -> None:
    """Train, and print how many steps an episode takes, those inside options too."""
    parser = argparse.ArgumentParser(description="PPO of RLlib with options and an action mask.")
    parser.add_argument("--n-options", type=int, default=6, help="0: none")
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--workers", type=int, default=2, help="processes that step environments")
    args = parser.parse_args()
    ray.init(num_cpus=args.workers + 1, include_dashboard=False, log_to_driver=False)
    register_env("lake with options", make)
    config = (
        PPOConfig()
        .environment("lake with options", env_config={"n_options": args.n_options})
        .env_runners(num_env_runners=args.workers)
        .rl_module(rl_module_spec=RLModuleSpec(module_class=ActionMaskingTorchRLModule))
        .training(
            gamma=1.0, lambda_=0.95, lr=1e-3, train_batch_size_per_learner=1_000, minibatch_size=250, num_epochs=8
        )
        .debugging(seed=0)
    )
    agent = config.build_algo()
    for number in range(1, args.iterations + 1):
        found = agent.train()["env_runners"]
        print(
            f"{number}: {found['num_env_steps_sampled_lifetime']:,.0f} decisions so far; an episode has "
            f"{found['episode_len_mean']:.0f} and returns {found['episode_return_mean']:.2f}",
            flush=True,
        )
    agent.stop()
    ray.shutdown()


if __name__ == "__main__":
    main()
