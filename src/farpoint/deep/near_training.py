"""What trainings of a controller for near goals share: hindsight, on a log and on what was tried since.

The goal of a logged step is what was observed a few steps later, so that every step teaches the way to places nearby. A
training is a list of blocks of updates; everything that decides the rest of it is kept between two blocks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from farpoint.deep.tensors import Arrays, module_arrays, optimizer_arrays, restore_module, restore_optimizer
from farpoint.files import PieceFolder
from farpoint.options.learned_actor import LearnedActor
from farpoint.options.learned_controller import LearnedController
from farpoint.options.learned_options import GoalNetwork

# Updates between two checkpoints.
BLOCK = 200
STATE = "state"
# A target network follows its network by this share per update.
_FOLLOW = 0.005
# Share of a batch that is drawn from what was tried, once there is any.
_TRIED = 0.25
# Frequencies of the input, in radians per typical distance of a goal: walls are seen from a goal's distance away.
_FREQUENCY_SCALE = 1.5
# The learning rate is constant for this share of the updates and then decreases linearly to a hundredth of itself.
_CONSTANT_UNTIL, _FINAL_RATE = 0.5, 0.01

# Returns, for an observation and a goal, the action to try: as it is learned from, and as the environment takes it.
Explorer = Callable[[NDArray[Any], NDArray[Any], np.random.Generator], tuple[Any, Any]]


@dataclass(frozen=True)
class NearSettings:
    """Everything besides the log and the environment that determines the result of a training."""

    n_updates: int
    n_tries: int
    horizon: int
    reach: float
    goal_dimensions: int
    gamma: float
    hidden: tuple[int, ...]
    n_waves: int
    learning_rate: float
    batch_size: int
    seed: int


@dataclass(frozen=True, eq=False)
class Stretches:
    """Steps in the order in which they were taken.

    ``taken`` are the actions: their numbers, or rows of numbers from -1 to 1. ``last`` is, for each step, the last one
    that was taken without a break after it.
    """

    before: NDArray[np.float32]
    taken: NDArray[Any]
    after: NDArray[np.float32]
    last: NDArray[np.int64]

    @classmethod
    def of(cls, before: NDArray[Any], taken: NDArray[Any], after: NDArray[Any]) -> Stretches:
        """Return steps, joined where one begins at what was observed at the end of the one before.

        >>> Stretches.of(np.array([[0.0], [1.0], [5.0]]), np.zeros(3, np.int64), np.array([[1.0], [2.0], [6.0]])).last
        array([1, 1, 2])
        """
        ends = np.append((before[1:] != after[:-1]).any(axis=1), True)
        last = np.flatnonzero(ends)[np.cumsum(ends) - ends]
        return cls(before.astype(np.float32), taken, after.astype(np.float32), last)

    def goals(self, rows: NDArray[np.int64], ahead: NDArray[np.int64], width: int) -> NDArray[np.float32]:
        """Return the first ``width`` numbers of what was observed after each step and so many more."""
        return self.after[np.minimum(rows + ahead, self.last[rows]), :width]


class NearNetwork(nn.Module):
    """The network of a learned controller in torch: observation and relative goal, random Fourier features, layers."""

    center: Tensor
    scale: Tensor
    frequencies: Tensor

    def __init__(
        self, center: NDArray[Any], scale: NDArray[Any], frequencies: NDArray[Any], widths: list[int], seed: int
    ) -> None:
        super().__init__()
        for name, array in (("center", center), ("scale", scale), ("frequencies", frequencies)):
            self.register_buffer(name, torch.as_tensor(array.astype(np.float32)))
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(seed)
            sizes = [len(center) + 2 * len(frequencies), *widths]
            self.layers = nn.ModuleList([nn.Linear(width, following) for width, following in pairwise(sizes)])

    def forward(self, observations: Tensor, goals: Tensor) -> Tensor:
        """Return the outputs, one row per observation."""
        x = (torch.cat([observations, goals - observations[:, : goals.shape[1]]], dim=1) - self.center) * self.scale
        if len(self.frequencies):
            waves = x @ self.frequencies.T
            x = torch.cat([x, torch.sin(waves), torch.cos(waves)], dim=1)
        for layer in self.layers[:-1]:
            x = torch.relu(layer(x))
        values: Tensor = self.layers[-1](x)
        return values

    def plain(self) -> GoalNetwork:
        """Return the same network in numpy."""
        layers = [layer for layer in self.layers if isinstance(layer, nn.Linear)]
        return GoalNetwork(
            **{name: getattr(self, name).numpy().copy() for name in ("center", "scale", "frequencies")},
            weights=tuple(layer.weight.detach().numpy().copy() for layer in layers),
            biases=tuple(layer.bias.detach().numpy().copy() for layer in layers),
        )


def input_for(steps: Stretches, settings: NearSettings) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return center, scale and frequencies of a network's input that suit these steps and goals."""
    rng = np.random.default_rng([settings.seed, 1])
    rows = rng.integers(len(steps.before), size=10_000)
    width = settings.goal_dimensions
    goals = steps.goals(rows, rng.integers(settings.horizon, size=rows.size), width)
    away = goals - steps.before[rows, :width]
    distance = np.maximum(np.sqrt((away.astype(np.float64) ** 2).mean(axis=0)), 1e-12)
    low, high = steps.before.min(axis=0).astype(np.float64), steps.before.max(axis=0).astype(np.float64)
    half = np.maximum((high - low) / 2.0, 1e-12)
    center = np.concatenate([low + half, np.zeros(width)])
    scale = 1.0 / np.concatenate([half, distance])
    frequencies = rng.normal(0.0, _FREQUENCY_SCALE, (settings.n_waves, center.size))
    # In radians per distance of a goal, for the observation too, whose unit is half of all that was observed.
    frequencies[:, :width] *= np.maximum(half[:width] / distance, 1.0)
    # Many numbers together turn as fast as two.
    frequencies *= np.sqrt(min(1.0, 4.0 / center.size))
    return center, scale, frequencies


def follow(target: nn.Module, network: nn.Module) -> None:
    """Bring a target network a little nearer to its network."""
    with torch.no_grad():
        for slow, fast in zip(target.parameters(), network.parameters(), strict=True):
            slow.lerp_(fast, _FOLLOW)


class NearTraining(ABC):
    """A training between two updates; ``modules`` and the optimizer are what it changes."""

    modules: Mapping[str, nn.Module]
    optimizer: torch.optim.Optimizer

    def __init__(self, log: Stretches, settings: NearSettings) -> None:
        self.settings, self.log = settings, log
        self.rng = np.random.default_rng([settings.seed, 2])
        self.tried: Stretches | None = None
        self.done = 0

    @abstractmethod
    def controller(self, record: Mapping[str, Any]) -> LearnedController | LearnedActor:
        """Return what was learned so far."""

    @abstractmethod
    def explorer(self) -> Explorer:
        """Return what chooses actions that are worth a try, by what was learned so far."""

    @abstractmethod
    def update(self) -> None:
        """Take one gradient step."""

    def arrays(self) -> Arrays:
        """Return the state, for a checkpoint."""
        tried = {} if self.tried is None else {f"tried.{name}": part for name, part in vars(self.tried).items()}
        modules = [module_arrays(name, module) for name, module in self.modules.items()]
        # The state of the generator: whole numbers of 128 bits, in parts of 64.
        state = self.rng.bit_generator.state["state"]
        words = [value >> shift & (2**64 - 1) for value in (state["state"], state["inc"]) for shift in (64, 0)]
        return {
            **{name: array for arrays in modules for name, array in arrays.items()},
            **optimizer_arrays(self.optimizer),
            **tried,
            "generator": np.array(words, dtype=np.uint64),
            "done": np.array(self.done),
        }

    def restore(self, folder: PieceFolder) -> None:
        """Continue from the checkpoint in this folder, if there is one."""
        arrays = folder.load(STATE)
        if arrays is None:
            return
        for name, module in self.modules.items():
            restore_module(name, module, arrays)
        restore_optimizer(self.optimizer, arrays)
        if "tried.before" in arrays:
            self.tried = Stretches(*(arrays[f"tried.{name}"] for name in ("before", "taken", "after", "last")))
        words = [int(word) for word in arrays["generator"]]
        numbers = {"state": words[0] << 64 | words[1], "inc": words[2] << 64 | words[3]}
        self.rng.bit_generator.state = {**self.rng.bit_generator.state, "state": numbers}
        self.done = int(arrays["done"])

    def add(self, tried: Stretches) -> None:
        """Learn from these steps too."""
        if self.tried is None:
            self.tried = tried
            return
        parts = [np.concatenate([getattr(one, name) for one in (self.tried, tried)]) for name in vars(tried)]
        parts[-1][len(self.tried.last) :] += len(self.tried.last)
        self.tried = Stretches(*parts)

    def run(self, n_updates: int) -> None:
        """Take gradient steps."""
        for _ in range(n_updates):
            left = min(1.0, (1.0 - self.done / self.settings.n_updates) / (1.0 - _CONSTANT_UNTIL))
            for group in self.optimizer.param_groups:
                group["lr"] = self.settings.learning_rate * (_FINAL_RATE + (1.0 - _FINAL_RATE) * left)
            self.update()
            self.done += 1

    def batch(self) -> tuple[NDArray[Any], ...]:
        """Return observations, actions, next observations and goals, some of what was tried."""
        size = self.settings.batch_size
        from_tried = 0 if self.tried is None else int(_TRIED * size)
        parts = [self.sample(self.log, size - from_tried)]
        if self.tried is not None and from_tried:
            parts.append(self.sample(self.tried, from_tried))
        return tuple(np.concatenate(arrays) for arrays in zip(*parts, strict=True))

    def sample(self, steps: Stretches, size: int) -> tuple[NDArray[Any], ...]:
        """Return some steps, each with a goal that was observed soon after it."""
        rows = self.rng.integers(len(steps.before), size=size)
        ahead = self.rng.integers(self.settings.horizon, size=size)
        goals = steps.goals(rows, ahead, self.settings.goal_dimensions)
        return steps.before[rows], steps.taken[rows], steps.after[rows], goals
