"""What masks are worth to DQN: the table sb3-masks of docs/tutorials/training.md.

DQN of Stable-Baselines3 takes the best of all values, also of options that cannot start ("junk": there a random action
is taken, so that they have values as well). Against it stands a Q-network that reads masks from a Dict observation and
gives what cannot start the lowest value, both when it acts and in targets.

    python -m research.sb3_masks --jobs 1
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import farpoint as fp
from research.exploration.places import make_place
from research.runner import Part, Row, Table, main

GAMMA, N_OPTIONS, N_STEPS, N_SEEDS = 0.95, 16, 12_000, 5
MAX_STEPS = 200


def measure(masks: str, seed: int) -> Row:
    """Return when the target of 4Rooms was first reached, and the mean length of the last episodes."""
    import torch
    from stable_baselines3 import DQN

    from research.masked_dqn import MaskedPolicy, MaskInObservation, Watch, WithoutMask

    torch.set_num_threads(1)
    world = make_place("four_rooms", seed)
    env: Any = fp.DiscoveringWrapper(fp.envs.WorldEnv(world, max_episode_steps=MAX_STEPS), N_OPTIONS, GAMMA, seed=seed)
    settings: dict[str, Any] = {"learning_rate": 1e-3, "buffer_size": 50_000, "learning_starts": 500, "batch_size": 64}
    policy: Any = "MlpPolicy"
    if masks == "read":
        env, policy = MaskInObservation(env), MaskedPolicy
        settings["policy_kwargs"] = {"features_extractor_class": WithoutMask}
    agent = DQN(
        policy, env, gamma=GAMMA, train_freq=1, target_update_interval=100, seed=seed, device="cpu",
        replay_buffer_class=fp.deep.DurationReplayBuffer, **settings,
    )  # fmt: skip
    watch = Watch(N_STEPS)
    agent.exploration_schedule = watch.epsilon
    agent.learn(N_STEPS, callback=watch)
    return {"first": watch.first, "length": float(np.mean(watch.late))}


def parts(quick: bool) -> Iterator[Part]:
    for seed in range(1 if quick else N_SEEDS):
        yield from ({"masks": masks, "seed": seed} for masks in ("junk", "read"))


TABLES = (Table("sb3-masks", measure, parts),)

if __name__ == "__main__":
    main("research.sb3_masks")
