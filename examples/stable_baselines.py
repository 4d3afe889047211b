"""Train Stable-Baselines3's own DQN and PPO on an environment whose actions include discovered options.

Agents with and without options are given the same number of environment steps: an option that takes k steps counts k.

Run: pip install 'farpoint[deep]', then python examples/stable_baselines.py [--steps 40000]
"""

from __future__ import annotations

import argparse

import gymnasium as gym
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.monitor import Monitor

import farpoint as fp


class EnvironmentSteps(BaseCallback):
    """Ends the training after a number of environment steps, however many decisions they are."""

    def __init__(self, budget: int) -> None:
        super().__init__()
        self.budget = budget
        self.taken = 0

    def _on_step(self) -> bool:
        self.taken += sum(info.get("duration", 1) for info in self.locals["infos"])
        return self.taken < self.budget


def make(with_options: bool) -> gym.Env:  # type: ignore[type-arg]
    """Return FrozenLake 8x8, with four options or without."""
    env = gym.make("FrozenLake-v1", map_name="8x8", is_slippery=False)
    options = fp.discover(fp.World.from_env(env), n_options=4) if with_options else None
    # DQN and PPO do not use masks: where an option cannot start, a random action is taken.
    return Monitor(fp.OptionsWrapper(env, options, gamma=0.99))


def main() -> None:
    """Train each algorithm with and without options and print what it has learned."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=40_000, help="environment steps of each training")
    budget = parser.parse_args().steps
    for algorithm in (DQN, PPO):
        for with_options in (False, True):
            env = make(with_options)
            callbacks: list[BaseCallback] = [EnvironmentSteps(budget)]
            if algorithm is DQN:
                # What follows an option of k steps is discounted by γᵏ.
                agent = DQN("MlpPolicy", env, seed=0, replay_buffer_class=fp.deep.DurationReplayBuffer)
            else:
                agent = PPO("MlpPolicy", env, seed=0, rollout_buffer_class=fp.deep.DurationRolloutBuffer)
                # Untrained, it takes options as often as the wrapper says.
                fp.deep.set_option_probability(agent)
                callbacks.append(fp.deep.DurationCallback())
            agent.learn(budget, callback=callbacks)
            reward, _ = evaluate_policy(agent, env, n_eval_episodes=20, deterministic=False)
            words = "with options" if with_options else "without options"
            print(
                f"{algorithm.__name__} {words}: mean reward {reward:.2f} after {callbacks[0].taken:,} environment steps"
            )


if __name__ == "__main__":
    main()
