"""PPO in one file to read from top to bottom, in the style of CleanRL, with options that appear while it learns.

Eight copies of an environment share one explorer, so slot k is the same option in all of them. What an agent of your
own needs is marked with "options:" below: the masks, the rate at which untrained decisions are options, and γᵏ.

    pip install 'farpoint[deep,envs]' tensorboard
    python examples/train_cleanrl_style.py
    python examples/train_cleanrl_style.py --n-options 0      # the same agent without options
    tensorboard --logdir runs
"""

from __future__ import annotations

import argparse
import math
import time
from itertools import pairwise

import gymnasium as gym
import numpy as np
import torch
from minigrid.wrappers import FullyObsWrapper, ImgObsWrapper, ReseedWrapper
from torch import nn
from torch.distributions import Categorical
from torch.utils.tensorboard import SummaryWriter

import farpoint as fp

# --- Settings ---------------------------------------------------------------------------------------------------------

parser = argparse.ArgumentParser(description="PPO with options that appear on the way.")
parser.add_argument("--env-id", default="MiniGrid-FourRooms-v0")
parser.add_argument("--layout", type=int, default=0, help="where the walls, doors and goals are")
parser.add_argument("--n-steps", type=int, default=200_000, help="environment steps in all, those inside options too")
parser.add_argument("--n-envs", type=int, default=8, help="copies of the environment")
parser.add_argument("--n-options", type=int, default=16, help="slots for options; 0: none")
parser.add_argument("--option-probability", type=float, default=0.05, help="of an untrained decision being an option")
parser.add_argument("--rollout", type=int, default=256, help="decisions of each copy between updates")
parser.add_argument("--n-epochs", type=int, default=4)
parser.add_argument("--batch-size", type=int, default=256)
parser.add_argument("--learning-rate", type=float, default=2.5e-4)
parser.add_argument("--gamma", type=float, default=0.99, help="discount of one environment step")
parser.add_argument("--gae-lambda", type=float, default=0.95, help="of one decision")
parser.add_argument("--clip", type=float, default=0.2)
parser.add_argument("--entropy", type=float, default=0.01)
parser.add_argument("--value", type=float, default=0.5)
parser.add_argument("--log-dir", default=None, help="of TensorBoard; default: runs/ and the time")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()

torch.manual_seed(args.seed)
torch.set_num_threads(1)
rng = np.random.default_rng(args.seed)
writer = SummaryWriter(args.log_dir or f"runs/{args.env_id}-{args.n_options}-{args.seed}-{int(time.time())}")

# --- The environments: one explorer for all ---------------------------------------------------------------------------


def make() -> gym.Env:  # type: ignore[type-arg]
    """Return one copy."""
    return ImgObsWrapper(FullyObsWrapper(ReseedWrapper(gym.make(args.env_id), seeds=[args.layout])))


method = "diffusion" if args.n_options else "none"
explorer = fp.Explorer.for_env(
    make(), n_options=max(args.n_options, 1), method=method, option_probability=args.option_probability, seed=args.seed
)
envs = gym.vector.SyncVectorEnv(
    [lambda: fp.DiscoveringWrapper(make(), gamma=args.gamma, explorer=explorer)] * args.n_envs,
    # A copy whose episode is over begins the next one in the same call: every row is one decision.
    autoreset_mode=gym.vector.AutoresetMode.SAME_STEP,
)
shape, n_actions, n_choices = envs.single_observation_space.shape, explorer.n_actions, int(envs.single_action_space.n)

# --- The agent --------------------------------------------------------------------------------------------------------


class Agent(nn.Module):
    """Two networks: one prefers actions, one values observations."""

    def __init__(self) -> None:
        super().__init__()

        def network(n_outputs: int, gain: float) -> nn.Sequential:
            sizes, layers = [int(np.prod(shape)), 64, 64, n_outputs], [nn.Flatten()]
            for place, (width, following) in enumerate(pairwise(sizes)):
                layer = nn.Linear(width, following)
                nn.init.orthogonal_(layer.weight, gain if place == 2 else math.sqrt(2))
                nn.init.zeros_(layer.bias)
                layers += [layer, nn.Tanh()]
            return nn.Sequential(*layers[:-1])

        self.actor, self.critic = network(n_choices, 0.01), network(1, 1.0)
        # options: an untrained policy would take each option as often as each action.
        p, n_slots = args.option_probability, n_choices - n_actions
        with torch.no_grad():
            self.actor[-1].bias[n_actions:] = math.log(p * n_actions / ((1.0 - p) * n_slots))

    def policy(self, observations: torch.Tensor, masks: torch.Tensor) -> Categorical:
        """Return the distribution over the actions and options that can be taken."""
        # options: what cannot start has probability 0.
        return Categorical(logits=self.actor(observations).masked_fill(~masks, -1e9))


def tensor_of(observations: np.ndarray) -> torch.Tensor:
    """Return observations in numbers of about 1; an image of MiniGrid holds whole numbers up to 10."""
    return torch.as_tensor(np.asarray(observations, dtype=np.float32) / 10.0)


agent = Agent()
optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)

# --- Training ---------------------------------------------------------------------------------------------------------

size = (args.rollout, args.n_envs)
observations = torch.zeros((*size, *shape))
masks = torch.zeros((*size, n_choices), dtype=torch.bool)
actions = torch.zeros(size, dtype=torch.long)
log_probs, rewards, discounts, values, ended = (torch.zeros(size) for _ in range(5))

raw, infos = envs.reset(seed=args.seed)
observation, mask = tensor_of(raw), torch.as_tensor(infos["action_mask"] > 0)
taken, decisions, options, began, episodes, report_at = 0, 0, 0, time.time(), [], 20_000
while taken < args.n_steps:
    for step in range(args.rollout):
        with torch.no_grad():
            policy = agent.policy(observation, mask)
            choice = policy.sample()
            values[step] = agent.critic(observation).flatten()
        observations[step], masks[step], actions[step] = observation, mask, choice
        log_probs[step] = policy.log_prob(choice)
        raw, reward, terminated, truncated, infos = envs.step(choice.numpy())
        over = terminated | truncated
        duration, discount = np.array(infos["duration"]), np.array(infos["discount"], dtype=float)
        reward = np.array(reward, dtype=float)
        if over.any():
            # Where an episode ended, infos are those of the next one; what the decision did is in final_info.
            final = infos["final_info"]
            duration[over], discount[over] = final["duration"][over], final["discount"][over]
            for copy in np.flatnonzero(truncated & ~terminated):
                # options: a time limit is no end. The value after it counts γᵏ times.
                with torch.no_grad():
                    reward[copy] += discount[copy] * agent.critic(tensor_of(infos["final_obs"][copy])[None]).item()
        # options: the wrapper has discounted the rewards inside an option already; what follows is worth γᵏ.
        rewards[step], discounts[step] = torch.as_tensor(reward), torch.as_tensor(discount)
        ended[step] = torch.as_tensor(over)
        observation, mask = tensor_of(raw), torch.as_tensor(infos["action_mask"] > 0)
        # options: count environment steps, not decisions.
        taken += int(duration.sum())
        episodes += [(taken, reached) for reached in terminated[over].tolist()]
        decisions, options = decisions + args.n_envs, options + int((choice >= n_actions).sum())

    # Generalized advantages: δ = R + γᵏ V(s′) − V(s),  A = δ + γᵏ λ A′
    advantages, trace = torch.zeros(size), torch.zeros(args.n_envs)
    with torch.no_grad():
        following = agent.critic(observation).flatten()
    for step in reversed(range(args.rollout)):
        carried = discounts[step] * (1.0 - ended[step])
        delta = rewards[step] + carried * following - values[step]
        advantages[step] = trace = delta + carried * args.gae_lambda * trace
        following = values[step]
    returns = advantages + values

    flat = [part.flatten(0, 1) for part in (observations, masks, actions, log_probs, advantages, returns)]
    for _ in range(args.n_epochs):
        for rows in torch.as_tensor(rng.permutation(size[0] * size[1])).split(args.batch_size):
            seen, allowed, chosen, before, advantage, wanted = (part[rows] for part in flat)
            policy = agent.policy(seen, allowed)
            ratio = (policy.log_prob(chosen) - before).exp()
            advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
            clipped = ratio.clamp(1.0 - args.clip, 1.0 + args.clip)
            policy_loss = -torch.min(ratio * advantage, clipped * advantage).mean()
            value_loss = (agent.critic(seen).flatten() - wanted).square().mean()
            entropy = policy.entropy().mean()
            loss = policy_loss + args.value * value_loss - args.entropy * entropy
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()

    success = float(np.mean([reached for _, reached in episodes[-100:]])) if episodes else 0.0
    writer.add_scalar("charts/success", success, taken)
    writer.add_scalar("charts/options per decision", options / decisions, taken)
    writer.add_scalar("charts/states seen", explorer.n_states, taken)
    writer.add_scalar("charts/steps per second", taken / (time.time() - began), taken)
    writer.add_scalar("losses/policy", policy_loss.item(), taken)
    writer.add_scalar("losses/value", value_loss.item(), taken)
    writer.add_scalar("losses/entropy", entropy.item(), taken)
    if taken >= report_at or taken >= args.n_steps:
        print(f"{taken:>9,} steps, {decisions:,} decisions: goal reached in {success:.0%} of the last 100 episodes")
        report_at += 20_000

writer.close()
print(f"{explorer.n_states:,} states seen; {int((explorer.goals >= 0).sum())} options at the end.")
