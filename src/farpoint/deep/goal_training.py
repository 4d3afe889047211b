"""The training behind `learn_option_policies`: Stable-Baselines3's DQN with hindsight replay, chunk by chunk.

Between two chunks nothing counts but the weights, the optimizer and the replay buffer: trials are cut, environments are
reset and all generators are seeded from the seed and the chunk's number. So a training that goes on from a file ends
as one that was never interrupted.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from numpy.typing import NDArray
from stable_baselines3 import DQN
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.vec_env import DummyVecEnv
from stable_baselines3.her.her_replay_buffer import HerReplayBuffer

from farpoint.deep.array_files import read_arrays, write_arrays
from farpoint.deep.goal_env import GoalEnv, GoalOf, flat
from farpoint.deep.policies import GoalNetwork
from farpoint.errors import InvalidFile, InvalidInput

FORMAT = "farpoint-option-training"
VERSION = 1
_LARGEST_BUFFER = 200_000
# Random actions: all of them at first, one in ten when so much of the training is done.
_LAST_RANDOM, _RANDOM_UNTIL = 0.1, 0.4
# Standard deviation of the frequencies, in waves of the scaled input.
_WAVE_SCALE = 3.0


class GoalFeatures(BaseFeaturesExtractor):  # type: ignore[misc]
    """The scaled observation and goal, and waves of them: the input of `GoalNetwork`."""

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


class EndingReplayBuffer(HerReplayBuffer):  # type: ignore[misc]
    """Hindsight replay in which a trial ends at the goal that hindsight gave it.

    Stable-Baselines3 keeps the end of the trial as it was, so that values at a relabelled goal would be bootstrapped
    from beyond it.
    """

    def _get_virtual_samples(self, *args: Any, **kwargs: Any) -> Any:
        samples = super()._get_virtual_samples(*args, **kwargs)
        return samples._replace(dones=(samples.rewards >= 0.0).float())

    def cut(self) -> None:
        """End the trials that are still going on, as a time limit would."""
        for number in np.flatnonzero(self._current_ep_start != self.pos):
            self.dones[self.pos - 1, number] = True
            self.timeouts[self.pos - 1, number] = True
            self._compute_episode_length(int(number))


def make_envs(
    env: gym.Env[Any, Any] | Callable[[], gym.Env[Any, Any]],
    goals: NDArray[np.float32],
    settings: dict[str, Any],
    goal_of: GoalOf | None,
) -> list[GoalEnv]:
    """Return as many environments with goals as are asked for, each on a copy of its own."""
    try:
        copies = [env() if not isinstance(env, gym.Env) else copy.deepcopy(env) for _ in range(settings["n_envs"])]
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
    shape = flat(observation if goal_of is None else goal_of(observation)).shape
    if goals.shape[1:] != shape:
        raise InvalidInput(
            f"goals must have {shape[0]} numbers each, as what they are compared with; got shape {goals.shape}."
        )
    names = ("radius", "max_length", "wander")
    return [GoalEnv(one, goals, goal_of=goal_of, **{name: settings[name] for name in names}) for one in copies]


def train(
    envs: list[GoalEnv], settings: dict[str, Any], checkpoint: Path | None, progress: Callable[[int, int], None]
) -> GoalNetwork:
    """Return the network after all steps, from the checkpoint on if there is one."""
    with _own_randomness():
        model = _model(envs, settings)
        about = {**settings, "n_features": model.observation_space["observation"].shape[0]}
        about["n_actions"] = int(model.action_space.n)
        if checkpoint is not None and checkpoint.exists():
            _restore(model, about, checkpoint)
        while model.num_timesteps < settings["steps"]:
            part = model.num_timesteps // settings["chunk"]
            model.set_random_seed(int(np.random.SeedSequence([settings["seed"], part]).generate_state(1)[0]) >> 1)
            model._last_obs = None
            left = settings["steps"] - model.num_timesteps
            model.learn(min(settings["chunk"], left), log_interval=None, reset_num_timesteps=False)
            model.replay_buffer.cut()
            if checkpoint is not None:
                _keep(model, about, checkpoint)
            progress(min(model.num_timesteps, settings["steps"]), settings["steps"])
        return _network(model)


@contextmanager
def _own_randomness() -> Iterator[None]:
    """Leave the generators of others as they are: Stable-Baselines3 draws from the global ones."""
    states = random.getstate(), np.random.get_state(), torch.get_rng_state()  # noqa: NPY002
    threads = torch.get_num_threads()
    # Small networks are faster so, and the sums do not depend on how many cores there are.
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
        random.setstate(states[0])
        np.random.set_state(states[1])  # noqa: NPY002
        torch.set_rng_state(states[2])


def _model(envs: list[GoalEnv], settings: dict[str, Any]) -> Any:
    center, scale = _scaling(envs[0], settings["seed"])
    rng = np.random.default_rng([settings["seed"], 1])
    frequencies = rng.normal(0.0, _WAVE_SCALE, (settings["n_waves"], len(center)))
    steps, n_envs = int(settings["steps"]), int(settings["n_envs"])
    # One trial must be over before hindsight can look back on it.
    first_trials = (settings["max_length"] + 1) * n_envs
    model = DQN(
        "MultiInputPolicy",
        DummyVecEnv([lambda env=env: env for env in envs]),
        learning_rate=settings["learning_rate"],
        buffer_size=min(_LARGEST_BUFFER, steps + n_envs * (2 + steps // settings["chunk"])),
        learning_starts=max(first_trials, min(2000, steps // 10)),
        batch_size=settings["batch_size"],
        gamma=settings["gamma"],
        train_freq=1,
        gradient_steps=1,
        target_update_interval=200 * n_envs,
        replay_buffer_class=EndingReplayBuffer,
        replay_buffer_kwargs={"n_sampled_goal": 4},
        policy_kwargs={
            "net_arch": settings["hidden"],
            "features_extractor_class": GoalFeatures,
            "features_extractor_kwargs": {
                "center": center,
                "scale": scale,
                "frequencies": frequencies.astype(np.float32),
            },
        },
        seed=settings["seed"],
        device="cpu",
    )

    def share_of_random_actions(_: float) -> float:
        done = min(1.0, float(model.num_timesteps) / (_RANDOM_UNTIL * steps))
        return 1.0 + done * (_LAST_RANDOM - 1.0)

    # By the steps of the whole training; Stable-Baselines3 knows only the chunk.
    model.exploration_schedule = share_of_random_actions
    return model


def _scaling(env: GoalEnv, seed: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return center and scale that bring observations and goals to about −1 … 1."""
    space = env.env.observation_space
    assert isinstance(space, gym.spaces.Box)
    low, high = flat(space.low), flat(space.high)
    goal_low, goal_high = low, high
    # Some write "no bound" as the largest float.
    bounded = (np.abs(low) < _LARGEST_BOUND).all() and (np.abs(high) < _LARGEST_BOUND).all()
    if not bounded or env.goal_of is not None:
        seen = [env.reset(seed=seed + trial)[0] for trial in range(64)]
        observations = np.array([told["observation"] for told in seen])
        goals = np.concatenate([env.goals, [told["achieved_goal"] for told in seen]])
        if env.goal_of is None:
            observations = np.concatenate([observations, env.goals])
        low, high = observations.min(axis=0), observations.max(axis=0)
        goal_low, goal_high = goals.min(axis=0), goals.max(axis=0)
    least = np.concatenate([low, goal_low]).astype(np.float64)
    most = np.concatenate([high, goal_high]).astype(np.float64)
    half = (most - least) / 2.0
    return (least + half).astype(np.float32), (1.0 / np.where(half > 0.0, half, 1.0)).astype(np.float32)


def _network(model: Any) -> GoalNetwork:
    features = model.q_net.features_extractor
    layers = [layer for layer in model.q_net.q_net if isinstance(layer, torch.nn.Linear)]
    return GoalNetwork(
        **{name: getattr(features, name).numpy().copy() for name in ("center", "scale", "frequencies")},
        weights=tuple(layer.weight.detach().numpy().copy() for layer in layers),
        biases=tuple(layer.bias.detach().numpy().copy() for layer in layers),
    )


_LARGEST_BOUND = 1e6
_BUFFER = ("actions", "rewards", "dones", "timeouts", "ep_start", "ep_length")
_COUNTS = ("num_timesteps", "_n_calls", "_n_updates", "_episode_num")


def _keep(model: Any, about: dict[str, Any], path: Path) -> None:
    buffer = model.replay_buffer
    used = buffer.buffer_size if buffer.full else buffer.pos
    header = {
        "format": FORMAT,
        "version": VERSION,
        "about": about,
        "pos": int(buffer.pos),
        "full": bool(buffer.full),
        "counts": {name: int(getattr(model, name)) for name in _COUNTS},
    }
    arrays = {f"policy.{name}": value.numpy() for name, value in model.policy.state_dict().items()}
    for number, entry in model.policy.optimizer.state_dict()["state"].items():
        arrays |= {f"optimizer.{number}.{name}": value.numpy() for name, value in entry.items()}
    arrays |= {f"buffer.{name}": getattr(buffer, name)[:used] for name in _BUFFER}
    arrays |= {f"before.{key}": value[:used] for key, value in buffer.observations.items()}
    arrays |= {f"after.{key}": value[:used] for key, value in buffer.next_observations.items()}
    write_arrays(path, header, arrays)


def _restore(model: Any, about: dict[str, Any], path: Path) -> None:
    header, arrays = read_arrays(path, FORMAT, VERSION)
    if header.get("about") != about:
        raise InvalidFile(
            f"{path} must be the checkpoint of this training; got one with other goals, steps, seed or settings. Give "
            "each training a file of its own."
        )
    try:
        policy = {name: torch.as_tensor(arrays[f"policy.{name}"]) for name in model.policy.state_dict()}
        model.policy.load_state_dict(policy)
        optimizer = model.policy.optimizer
        state: dict[int, dict[str, torch.Tensor]] = {}
        for name in arrays:
            if name.startswith("optimizer."):
                _, number, entry = name.split(".")
                state.setdefault(int(number), {})[entry] = torch.as_tensor(arrays[name])
        optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
        buffer = model.replay_buffer
        used = buffer.buffer_size if header["full"] else header["pos"]
        for name in _BUFFER:
            getattr(buffer, name)[:used] = arrays[f"buffer.{name}"]
        for key in buffer.observations:
            buffer.observations[key][:used] = arrays[f"before.{key}"]
            buffer.next_observations[key][:used] = arrays[f"after.{key}"]
        buffer.pos, buffer.full = int(header["pos"]), bool(header["full"])
        buffer._current_ep_start[:] = buffer.pos
        for name in _COUNTS:
            setattr(model, name, int(header["counts"][name]))
        # Otherwise it would be that of the very beginning until the first step is over.
        model.exploration_rate = model.exploration_schedule(0)
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        raise InvalidFile(f"{path} must hold the training whole; it is damaged ({error}).") from error
