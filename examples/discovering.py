"""Q-learning with options that appear while the agent learns, in one file to read from top to bottom.

Nothing is known about the environment beforehand, and every step counts: `DiscoveringWrapper` remembers what it sees,
finds far and rare states in it, and offers options that lead there as further actions.

    pip install 'farpoint[envs]'
    python examples/discovering.py
    python examples/discovering.py --n-options 0      # the same agent without options
"""

from __future__ import annotations

import argparse
from collections import defaultdict

import gymnasium as gym
import numpy as np
from minigrid.wrappers import FullyObsWrapper, ImgObsWrapper, ReseedWrapper

import farpoint as fp

# --- Settings ---------------------------------------------------------------------------------------------------------

parser = argparse.ArgumentParser(description="Q-learning with options that appear on the way.")
parser.add_argument("--env-id", default="MiniGrid-MultiRoom-N4-S5-v0")
parser.add_argument("--layout", type=int, default=3, help="where the walls, doors and keys are")
parser.add_argument("--n-steps", type=int, default=60_000, help="environment steps in all, those inside options too")
parser.add_argument("--n-options", type=int, default=8, help="slots for options; 0: none")
parser.add_argument("--option-probability", type=float, default=0.05, help="of a random decision being an option")
parser.add_argument("--alpha", type=float, default=0.2, help="learning rate")
parser.add_argument("--gamma", type=float, default=0.99, help="discount")
parser.add_argument("--epsilon", type=float, default=0.1, help="share of random decisions")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()

# --- The environment --------------------------------------------------------------------------------------------------

env = fp.DiscoveringWrapper(
    ImgObsWrapper(FullyObsWrapper(ReseedWrapper(gym.make(args.env_id), seeds=[args.layout]))),
    n_options=max(args.n_options, 1),
    method="diffusion" if args.n_options else "none",
    option_probability=args.option_probability,
    gamma=args.gamma,
    seed=args.seed,
)
rng = np.random.default_rng(args.seed)
values: dict[object, np.ndarray] = defaultdict(lambda: np.zeros(env.n_actions))


# --- Learning: one value per action, updated after every step, also those inside options ------------------------------


def learn(step: fp.envs.Transition) -> None:
    """Update the value of an action after one step of the environment."""
    future = 0.0 if step.terminated else values[step.next_observation].max()
    here = values[step.observation]
    here[step.action] += args.alpha * (step.reward + args.gamma * future - here[step.action])


env.on_step = learn

# --- Acting: the best action where one is known, otherwise explore, now and then by an option -------------------------

env.reset()
successes, episodes, report_at = 0, 0, 10_000
while env.total_steps < args.n_steps:
    here = values[env.current_key]
    best = np.flatnonzero(here == here.max())
    known = best.size == 1 and rng.random() >= args.epsilon
    action = int(best[0]) if known else env.sample_action(rng=rng)
    _, reward, terminated, truncated, _ = env.step(action)
    if terminated or truncated:
        episodes, successes = episodes + 1, successes + (reward > 0)
        env.reset()
    if env.total_steps >= report_at:
        print(f"{env.total_steps:>8,} steps: goal reached in {successes} of {episodes} episodes")
        successes = episodes = 0
        report_at += 10_000

# --- What was found ---------------------------------------------------------------------------------------------------

filled = int((env.options.goals >= 0).sum())
print(f"{env.explorer.n_states:,} states seen in {env.total_steps:,} steps; {filled} options at the end.")
