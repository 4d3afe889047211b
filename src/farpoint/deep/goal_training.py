"""Training of goal-conditioned policies: the DQN of Stable-Baselines3 with hindsight replay, chunk by chunk.

Only the weights, the optimizer and the replay buffer carry over from one chunk to the next: trials are cut off,
environments are reset, and all generators are seeded from the seed and the number of the chunk. So a training that
continues from a checkpoint ends exactly like one that was not interrupted.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from os import PathLike
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from numpy.typing import NDArray
from stable_baselines3 import DQN
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.vec_env import DummyVecEnv
from stable_baselines3.her.her_replay_buffer import HerReplayBuffer

from farpoint.deep.goal_env import GoalEnv
from farpoint.deep.tensors import Arrays, module_arrays, one_thread, optimizer_arrays, restore_module, restore_optimizer
from farpoint.errors import InvalidInput
from farpoint.files import PieceFolder
from farpoint.options.learned_options import GoalNetwork, GoalOf, flat, goal_features

_STATE = "state"
_LARGEST_BUFFER = 200_000
# The share of random actions decreases linearly from 1 to _FINAL_RANDOM over this share of the training.
_FINAL_RANDOM, _RANDOM_UNTIL = 0.1, 0.4
# Standard deviation of the frequencies, in radians per unit of the scaled input.
_FREQUENCY_SCALE = 3.0
# Some environments write "unbounded" as the largest float; a bound above this is treated as none.
_LARGEST_BOUND = 1e6
_BUFFER = ("actions", "rewards", "dones", "timeouts", "ep_start", "ep_length")
_COUNTS = ("num_timesteps", "_n_calls", "_n_updates", "_episode_num")


@dataclass(frozen=True)
class GoalSettings:
    """Everything besides the environment and the goals that determines the result of a training."""

    radius: float
    n_steps: int
    seed: int
    max_steps: int
    wander: int
    hidden: tuple[int, ...]
    n_waves: int
    gamma: float
    learning_rate: float
    batch_size: int
    n_envs: int
    chunk_steps: int


class GoalFeatures(BaseFeaturesExtractor):
    """The input of the first layer of `GoalNetwork`: the scaled observation and goal, and random Fourier features."""

    def __init__(
        self,
        observation_space: gym.spaces.Dict,
        center: NDArray[np.float32],
        scale: NDArray[np.float32],
        frequencies: NDArray[np.float32],
    ) -> None:
        super().__init__(observation_space, features_dim=len(center) + 2 * len(frequencies))
        self.register_buffer("center", torch.as_tensor(center))
        self.register_buffer("scale", torch.as_tensor(scale))
        self.register_buffer("frequencies", torch.as_tensor(frequencies))

    def forward(self, observations: dict[str, torch.Tensor]) -> torch.Tensor:
        """Return the input of the first layer."""
        together: torch.Tensor = torch.cat([observations["observation"], observations["desired_goal"]], dim=1)
        x: torch.Tensor = (together - self.center) * self.scale
        if not len(self.frequencies):
            return x
        waves = x @ self.frequencies.T
        return torch.cat([x, torch.sin(waves), torch.cos(waves)], dim=1)


class EndingReplayBuffer(HerReplayBuffer):
    """Hindsight replay in which a trial with a relabeled goal ends where that goal is reached.

    Stable-Baselines3 keeps the original end of the trial, so that values at a relabeled goal would be bootstrapped from
    states beyond it.
    """

    def _get_virtual_samples(self, *args: Any, **kwargs: Any) -> Any:
        samples = super()._get_virtual_samples(*args, **kwargs)
        return samples._replace(dones=(samples.rewards >= 0.0).float())

    def cut(self) -> None:
        """End the unfinished trials, as a time limit would."""
        for number in np.flatnonzero(self._current_ep_start != self.pos):
            self.dones[self.pos - 1, number] = True
            self.timeouts[self.pos - 1, number] = True
            self._compute_episode_length(int(number))


def make_envs(
    env: gym.Env[Any, Any] | Callable[[], gym.Env[Any, Any]],
    goals: NDArray[np.float32],
    settings: GoalSettings,
    goal_of: GoalOf | None,
) -> list[GoalEnv]:
    """Return ``n_envs`` environments with goals, each on its own copy."""
    try:
        copies = [env() if not isinstance(env, gym.Env) else copy.deepcopy(env) for _ in range(settings.n_envs)]
    except TypeError as error:
        raise InvalidInput(
            f"env must be an environment that can be copied; got {env!r} ({error}). Pass a function that makes one."
        ) from error
    first = copies[0]
    if not isinstance(first.action_space, gym.spaces.Discrete) or first.action_space.start != 0:
        raise InvalidInput(f"environment must have discrete actions from 0; got {first.action_space}.")
    if not isinstance(first.observation_space, gym.spaces.Box):
        raise InvalidInput(f"environment must have observations in a Box; got {first.observation_space}.")
    observation = first.observation_space.sample()
    shape = goal_features(observation, goal_of).shape
    if goals.shape[1:] != shape:
        raise InvalidInput(
            f"goals must have {shape[0]} numbers each, like the features they are compared with; got shape "
            f"{goals.shape}."
        )
    radius, max_steps, wander = settings.radius, settings.max_steps, settings.wander
    return [GoalEnv(one, goals, radius=radius, max_steps=max_steps, wander=wander, goal_of=goal_of) for one in copies]


def train(
    envs: list[GoalEnv],
    settings: GoalSettings,
    checkpoint: str | PathLike[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> GoalNetwork:
    """Return the trained network; continue from the checkpoint if there is one."""
    first = envs[0]
    about = {"goals": first.goals.tolist(), "n_features": first.n_features, "n_actions": first.n_actions}
    folder = PieceFolder(checkpoint, "training", {**asdict(settings), **about})
    with _separate_randomness():
        model = make_model(envs, settings)
        state = folder.load(_STATE)
        if state is not None:
            _restore_model(model, state)
        while model.num_timesteps < settings.n_steps:
            chunk = model.num_timesteps // settings.chunk_steps
            model.set_random_seed(int(np.random.SeedSequence([settings.seed, chunk]).generate_state(1)[0]) >> 1)
            # Makes Stable-Baselines3 reset the environments.
            model._last_obs = None
            left = settings.n_steps - model.num_timesteps
            model.learn(min(settings.chunk_steps, left), log_interval=None, reset_num_timesteps=False)
            model.replay_buffer.cut()
            if checkpoint is not None:
                folder.save(_STATE, _model_arrays(model))
            if progress is not None:
                progress(min(model.num_timesteps, settings.n_steps), settings.n_steps)
        return network_of(model)


@contextmanager
def _separate_randomness() -> Iterator[None]:
    """Restore the global random generators, which Stable-Baselines3 uses, after the block."""
    states = random.getstate(), np.random.get_state(), torch.get_rng_state()  # noqa: NPY002
    try:
        with one_thread():
            yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])  # noqa: NPY002
        torch.set_rng_state(states[2])


def make_model(envs: list[GoalEnv], settings: GoalSettings) -> Any:
    """Return the untrained agent of Stable-Baselines3."""
    center, scale = input_scaling(envs[0], settings.seed)
    rng = np.random.default_rng([settings.seed, 1])
    frequencies = rng.normal(0.0, _FREQUENCY_SCALE, (settings.n_waves, len(center)))
    n_steps, n_envs = settings.n_steps, settings.n_envs
    # Hindsight replay can sample only once a trial is complete.
    first_trials = (settings.max_steps + 1) * n_envs
    model = DQN(
        "MultiInputPolicy",
        DummyVecEnv([lambda env=env: env for env in envs]),
        learning_rate=settings.learning_rate,
        buffer_size=min(_LARGEST_BUFFER, n_steps + n_envs * (2 + n_steps // settings.chunk_steps)),
        learning_starts=max(first_trials, min(2000, n_steps // 10)),
        batch_size=settings.batch_size,
        gamma=settings.gamma,
        train_freq=1,
        gradient_steps=1,
        target_update_interval=200 * n_envs,
        replay_buffer_class=EndingReplayBuffer,
        replay_buffer_kwargs={"n_sampled_goal": 4},
        policy_kwargs={
            "net_arch": list(settings.hidden),
            "features_extractor_class": GoalFeatures,
            "features_extractor_kwargs": {
                "center": center,
                "scale": scale,
                "frequencies": frequencies.astype(np.float32),
            },
        },
        seed=settings.seed,
        device="cpu",
    )

    def share_of_random_actions(_: float) -> float:
        done = min(1.0, float(model.num_timesteps) / (_RANDOM_UNTIL * n_steps))
        return 1.0 + done * (_FINAL_RANDOM - 1.0)

    # The argument that Stable-Baselines3 passes is the progress within a chunk, not within the training.
    model.exploration_schedule = share_of_random_actions
    return model


def input_scaling(env: GoalEnv, seed: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the center and scale that map observations and goals to about −1 … 1.

    Unbounded observations are scaled by those seen after resets.
    """
    space = env.env.observation_space
    assert isinstance(space, gym.spaces.Box)
    low, high = flat(space.low), flat(space.high)
    goal_low, goal_high = low, high
    bounded = (np.abs(low) < _LARGEST_BOUND).all() and (np.abs(high) < _LARGEST_BOUND).all()
    if not bounded or env.goal_of is not None:
        seen = [env.reset(seed=seed + trial)[0] for trial in range(64)]
        observations = np.array([one["observation"] for one in seen])
        goals = np.concatenate([env.goals, [one["achieved_goal"] for one in seen]])
        if env.goal_of is None:
            observations = np.concatenate([observations, env.goals])
        low, high = observations.min(axis=0), observations.max(axis=0)
        goal_low, goal_high = goals.min(axis=0), goals.max(axis=0)
    least = np.concatenate([low, goal_low]).astype(np.float64)
    most = np.concatenate([high, goal_high]).astype(np.float64)
    half = (most - least) / 2.0
    return (least + half).astype(np.float32), (1.0 / np.where(half > 0.0, half, 1.0)).astype(np.float32)


def network_of(model: Any) -> GoalNetwork:
    """Return the Q-network of an agent in numpy."""
    features = model.q_net.features_extractor
    layers = [layer for layer in model.q_net.q_net if isinstance(layer, torch.nn.Linear)]
    return GoalNetwork(
        **{name: getattr(features, name).numpy().copy() for name in ("center", "scale", "frequencies")},
        weights=tuple(layer.weight.detach().numpy().copy() for layer in layers),
        biases=tuple(layer.bias.detach().numpy().copy() for layer in layers),
    )


def _model_arrays(model: Any) -> Arrays:
    """Return the state of an agent between two chunks."""
    buffer = model.replay_buffer
    used = buffer.buffer_size if buffer.full else buffer.pos
    arrays = module_arrays("policy", model.policy) | optimizer_arrays(model.policy.optimizer)
    arrays |= {f"buffer.{name}": getattr(buffer, name)[:used] for name in _BUFFER}
    arrays |= {f"before.{key}": value[:used] for key, value in buffer.observations.items()}
    arrays |= {f"after.{key}": value[:used] for key, value in buffer.next_observations.items()}
    arrays |= {name: np.array(getattr(model, name)) for name in _COUNTS}
    return arrays | {"pos": np.array(buffer.pos), "full": np.array(buffer.full)}


def _restore_model(model: Any, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Give an agent the state that `_model_arrays` returned."""
    restore_module("policy", model.policy, arrays)
    restore_optimizer(model.policy.optimizer, arrays)
    buffer = model.replay_buffer
    buffer.pos, buffer.full = int(arrays["pos"]), bool(arrays["full"])
    used = buffer.buffer_size if buffer.full else buffer.pos
    for name in _BUFFER:
        getattr(buffer, name)[:used] = arrays[f"buffer.{name}"]
    for key in buffer.observations:
        buffer.observations[key][:used] = arrays[f"before.{key}"]
        buffer.next_observations[key][:used] = arrays[f"after.{key}"]
    buffer._current_ep_start[:] = buffer.pos
    for name in _COUNTS:
        setattr(model, name, int(arrays[name]))
    # Stable-Baselines3 updates it only after the first step.
    model.exploration_rate = model.exploration_schedule(0)
