"""Training of eigenfunctions: networks, objectives, and a loop that can be interrupted.

The result does not depend on the number of cores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from os import PathLike
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from farpoint.deep.training_data import COORDINATES, NUMBERS, TrainingData, kind_of
from farpoint.errors import InvalidInput
from farpoint.files import Checkpoint

# Filters of the two convolutions, each of which halves height and width.
_FILTERS = (16, 32)
# Observations per forward pass outside of training, to bound the memory.
_ROWS_AT_ONCE = 4096
# The optimal dual variables are at most 4 in size (β = −2 ν, ν ≤ 2): the limit only stops a training that diverges.
_LARGEST_DUAL = 100.0
# Steps between two entries of the history, which are also the steps between two checkpoints.
BLOCK = 100
_STATE = "state"
# The learning rate is constant for this share of the steps and then decreases linearly to this share of itself.
_CONSTANT_UNTIL, _FINAL_RATE = 0.5, 0.01

Arrays = dict[str, NDArray[Any]]


# --- Networks ---------------------------------------------------------------------------------------------------------


class FunctionNetwork(nn.Module):
    """Several functions of an observation; scaling the observations is part of the network.

    Parameters
    ----------
    kind : {"numbers", "coordinates", "pixels"}
    shape : tuple of int
        Shape of one observation; for state numbers, how many states there are.
    n_functions : int
    hidden : sequence of int
        Widths of the hidden layers.
    """

    center: Tensor
    scale: Tensor

    def __init__(self, kind: str, shape: tuple[int, ...], n_functions: int, hidden: Sequence[int]) -> None:
        super().__init__()
        self.kind, self.shape, self.n_functions, self.hidden = kind, shape, n_functions, tuple(hidden)
        # Coordinates may be far from 0: they are centered in double precision, before they are rounded to single.
        form = {"size": shape, "dtype": torch.float64} if kind == COORDINATES else {"size": ()}
        self.register_buffer("center", torch.zeros(**form))
        self.register_buffer("scale", torch.ones(**form))
        layers: list[nn.Module] = []
        width = int(np.prod(shape))
        if kind not in (COORDINATES, NUMBERS):
            channels, height, width = _channels_first(shape)
            for filters in _FILTERS:
                layers += [nn.Conv2d(channels, filters, 3, stride=2, padding=1), nn.ReLU()]
                channels, height, width = filters, (height + 1) // 2, (width + 1) // 2
            layers.append(nn.Flatten())
            width = channels * height * width
        for size in hidden:
            layers += [nn.Linear(width, size), nn.ReLU()]
            width = size
        self.layers = nn.Sequential(*layers, nn.Linear(width, n_functions))

    def fit_scale(self, observations: NDArray[Any]) -> None:
        """Set the scaling that maps coordinates to -1 … 1 and images of bytes to 0 … 1."""
        if self.kind == COORDINATES:
            low, high = observations.min(axis=0), observations.max(axis=0)
            half = (high.astype(np.float64) - low) / 2
            self.center.copy_(torch.from_numpy(low + half))
            self.scale.copy_(torch.from_numpy(np.where(half > 0, half, 1.0)))
        elif observations.dtype == np.uint8:
            self.scale.fill_(255.0)

    def prepare(self, observations: NDArray[Any]) -> Tensor:
        """Return observations as the input of `forward`; fail on observations of another shape."""
        if kind_of(observations) != self.kind or (self.kind != NUMBERS and observations.shape[1:] != self.shape):
            expected = f"(n, {', '.join(map(str, self.shape))})" if self.kind != NUMBERS else "(n,)"
            raise InvalidInput(
                f"observations must have shape {expected}, as in training; got {tuple(observations.shape)}."
            )
        if self.kind == NUMBERS and observations.max() >= self.shape[0]:
            raise InvalidInput(
                f"observations must be states 0 … {self.shape[0] - 1}, as in training; got {observations.max()}."
            )
        if self.kind == COORDINATES:
            observations = (np.asarray(observations, dtype=np.float64) - self.center.cpu().numpy()) / (
                self.scale.cpu().numpy()
            )
        dtype = np.int64 if self.kind == NUMBERS else np.uint8 if observations.dtype == np.uint8 else np.float32
        return torch.from_numpy(np.ascontiguousarray(observations, dtype=dtype)).to(self.center.device)

    def forward(self, observations: Tensor) -> Tensor:
        """Return the values, shape (n, n_functions)."""
        if self.kind == NUMBERS:
            inputs = nn.functional.one_hot(observations, self.shape[0]).to(self.center.dtype)
        elif self.kind == COORDINATES:
            inputs = observations
        else:
            inputs = (observations.to(self.center.dtype) - self.center) / self.scale
            inputs = inputs[:, None] if inputs.ndim == 3 else inputs
            inputs = inputs.permute(0, 3, 1, 2) if _channels_last(self.shape) else inputs
        values: Tensor = self.layers(inputs)
        return values


def _channels_last(shape: tuple[int, ...]) -> bool:
    """Return whether channels are the last axis: they are the shorter of the first and the last."""
    return len(shape) == 3 and shape[2] < shape[0]


def _channels_first(shape: tuple[int, ...]) -> tuple[int, int, int]:
    if len(shape) == 2:
        return 1, shape[0], shape[1]
    return (shape[2], shape[0], shape[1]) if _channels_last(shape) else (shape[0], shape[1], shape[2])


def new_network(
    kind: str, shape: tuple[int, ...], n_functions: int, hidden: Sequence[int], seed: int = 0
) -> FunctionNetwork:
    """Return a network with initial weights that depend on the seed alone; torch's global generator is not used."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        return FunctionNetwork(kind, shape, n_functions, hidden)


def evaluate(network: FunctionNetwork, observations: NDArray[Any]) -> NDArray[np.float64]:
    """Return the outputs of the network, shape (n, n_functions)."""
    values = np.empty((len(observations), network.n_functions))
    with one_thread(), torch.no_grad():
        for begin in range(0, len(observations), _ROWS_AT_ONCE):
            rows = slice(begin, begin + _ROWS_AT_ONCE)
            values[rows] = network(network.prepare(observations[rows])).cpu().numpy()
    return values


# --- Objectives -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Batch:
    """What an objective needs to know about a batch: ⟨u_i, L u_i⟩, and ⟨u_j, sg u_k⟩ from two independent samples.

    If the batch is the whole data set, both products are equal and exact.
    """

    energies: Tensor
    products: tuple[Tensor, Tensor]


def whole_batch(values: Tensor, before: Tensor, after: Tensor, shares: Tensor, mass: Tensor, stop: bool) -> Batch:
    """Return the batch of all pairs from the values at all observations."""
    energies = 0.5 * (shares[:, None] * (values[before] - values[after]) ** 2).sum(0)
    product = (values * mass[:, None]).T @ (values.detach() if stop else values)
    return Batch(energies, (product, product))


def sampled_batch(before: tuple[Tensor, Tensor], after: tuple[Tensor, Tensor], stop: bool) -> Batch:
    """Return the batch of two independent samples of pairs from the values at their ends."""
    energies = sum((0.25 * ((u - v) ** 2).mean(0) for u, v in zip(before, after, strict=True)), torch.zeros(()))
    products = []
    for u, v in zip(before, after, strict=True):
        ends = torch.cat([u, v])
        products.append(ends.T @ (ends.detach() if stop else ends) / len(ends))
    return Batch(energies, (products[0], products[1]))


class Allo:
    """The augmented Lagrangian of Gomez, Bowling and Machado (2024).

    max over β, min over u of Σ ⟨u_i, L u_i⟩ + Σ_{k≤j} β_jk (⟨u_j, sg u_k⟩ − δ_jk) + b Σ_{k≤j} (⟨u_j, sg u_k⟩ − δ_jk)²,
    where sg stops the gradient, so that u_j adapts to the functions before it but not they to it. The only stable point
    are the eigenfunctions in order, with β_jj = −2 ν_j.
    """

    stop = True

    def __init__(self, n_functions: int, barrier: float, dual_rate: float, device: torch.device) -> None:
        self.barrier, self.dual_rate = barrier, dual_rate
        self.identity = torch.eye(n_functions, device=device)
        self.duals = torch.zeros(n_functions, n_functions, device=device)

    def loss(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Return the loss and the constraint violation."""
        first, second = (torch.tril(product - self.identity) for product in batch.products)
        error = 0.5 * (first + second)
        loss = batch.energies.sum() + (self.duals * error).sum() + self.barrier * (first * second).sum()
        return loss, error.detach()

    def after_step(self, error: Tensor) -> None:
        """Update the dual variables by gradient ascent."""
        self.duals = (self.duals + self.dual_rate * error).clamp(-_LARGEST_DUAL, _LARGEST_DUAL)


class Ggdo:
    """The generalized graph drawing objective of Wang and others (2021).

    min over u of Σ_{l=1}^d [Σ_{i≤l} ⟨u_i, L u_i⟩ + b Σ_{j,k≤l} (⟨u_j, u_k⟩ − δ_jk)²]: function i has the
    coefficient d − i + 1, the pair j, k the coefficient d − max(j, k) + 1. All are divided by d, so that the loss has
    the same scale as that of `Allo`.
    """

    stop = False

    def __init__(self, n_functions: int, barrier: float, dual_rate: float, device: torch.device) -> None:
        self.barrier = barrier
        self.identity = torch.eye(n_functions, device=device)
        coefficients = torch.arange(n_functions, 0, -1, device=device) / n_functions
        self.coefficients = coefficients
        self.pairs = torch.minimum(coefficients[:, None], coefficients[None, :])
        # Not used; present so that all objectives have the same state.
        self.duals = torch.zeros(n_functions, n_functions, device=device)

    def loss(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Return the loss and the constraint violation."""
        first, second = (product - self.identity for product in batch.products)
        loss = (self.coefficients * batch.energies).sum() + self.barrier * (self.pairs * first * second).sum()
        return loss, 0.5 * (first + second).detach()

    def after_step(self, error: Tensor) -> None:
        """Do nothing: this objective has no dual variables."""


OBJECTIVES: dict[str, type[Allo] | type[Ggdo]] = {"allo": Allo, "ggdo": Ggdo}


# --- The loop ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Settings:
    """Everything besides the data that determines the result of a training."""

    objective: str
    n_functions: int
    n_spare: int
    n_steps: int
    batch_size: int
    learning_rate: float
    dual_rate: float
    barrier: float
    hidden: tuple[int, ...]
    seed: int

    @property
    def n_outputs(self) -> int:
        """Number of functions that the network learns, including the spare ones."""
        return self.n_functions + self.n_spare


def pick_device(device: str) -> torch.device:
    """Return the device of this name; ``auto`` is a GPU if there is one."""
    if not isinstance(device, (str, torch.device)):
        raise InvalidInput(f"device must be a name, such as cpu; got {device!r}.")
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        chosen = torch.device(device)
        torch.empty(0, device=chosen)
    except (RuntimeError, AssertionError) as error:
        raise InvalidInput(f"device must be auto, cpu or a device that torch has here; got {device!r}.") from error
    return chosen


class _Sampler:
    """Makes batches: of all pairs if they fit into one batch, otherwise of two independent samples of them."""

    def __init__(self, data: TrainingData, batch_size: int, network: FunctionNetwork) -> None:
        device = network.center.device
        self.network = network
        self.table = network.prepare(data.observations)
        self.before, self.after = torch.from_numpy(data.before), torch.from_numpy(data.after)
        self.batch_size = batch_size
        self.whole = len(data.before) <= batch_size
        # With few distinct observations it is cheaper to evaluate each of them once than every entry of the sample.
        self.look_up = len(data.observations) <= 4 * batch_size
        if self.whole:
            self.before, self.after = self.before.to(device), self.after.to(device)
            self.shares = torch.from_numpy(data.shares).to(device, torch.float32)
            self.mass = torch.from_numpy(data.mass).to(device, torch.float32)
        else:
            self.until = torch.from_numpy(np.cumsum(data.shares))

    def batch(self, generator: torch.Generator, stop: bool) -> Batch:
        if self.whole:
            return whole_batch(self.network(self.table), self.before, self.after, self.shares, self.mass, stop)
        # Drawn on the CPU, so that the samples are the same on every device.
        chance = torch.rand(2 * self.batch_size, generator=generator, dtype=torch.float64)
        pair = torch.searchsorted(self.until, chance * self.until[-1]).clamp_(max=len(self.until) - 1)
        rows = torch.cat([self.before[pair], self.after[pair]]).to(self.table.device)
        values = self.network(self.table)[rows] if self.look_up else self.network(self.table[rows])
        first, second, third, fourth = values.split(self.batch_size)
        return sampled_batch((first, second), (third, fourth), stop)


def train(
    data: TrainingData,
    settings: Settings,
    *,
    device: str,
    checkpoint: str | PathLike[str] | None,
    progress: Callable[[int], None],
) -> tuple[FunctionNetwork, NDArray[np.float64]]:
    """Return the trained network and the mean loss, energy and constraint violation per block of steps."""
    chosen = pick_device(device)
    folder = Checkpoint(checkpoint, "training", {**asdict(settings), "data": data.digest})
    with one_thread():
        kind = kind_of(data.observations)
        shape = (int(data.observations.max()) + 1,) if kind == NUMBERS else tuple(data.observations.shape[1:])
        network = new_network(kind, shape, settings.n_outputs, settings.hidden, settings.seed)
        network.fit_scale(data.observations)
        training = _Training(network.to(chosen), data, settings)
        training.restore(folder)
        progress(training.done)
        while training.done < settings.n_steps:
            training.run(min(BLOCK, settings.n_steps - training.done))
            folder.save(_STATE, training.arrays())
            progress(training.done)
        return network, np.array(training.history)


class _Training:
    """A training between two steps."""

    def __init__(self, network: FunctionNetwork, data: TrainingData, settings: Settings) -> None:
        self.settings = settings
        self.network = network
        self.device = network.center.device
        self.optimizer = torch.optim.Adam(network.parameters(), lr=settings.learning_rate)
        self.objective = OBJECTIVES[settings.objective](
            settings.n_outputs, settings.barrier, settings.dual_rate, self.device
        )
        self.generator = torch.Generator().manual_seed(settings.seed)
        self.sampler = _Sampler(data, settings.batch_size, network)
        self.history: list[NDArray[np.float64]] = []
        self.done = 0

    def arrays(self) -> Arrays:
        """Return the state, for a checkpoint."""
        return {
            **network_arrays(self.network),
            **optimizer_arrays(self.optimizer),
            "duals": self.objective.duals.cpu().numpy(),
            "generator": self.generator.get_state().numpy(),
            "history": np.array(self.history),
            "done": np.array(self.done),
        }

    def restore(self, folder: Checkpoint) -> None:
        """Continue from the checkpoint in this folder, if there is one."""
        arrays = folder.load(_STATE)
        if arrays is None:
            return
        restore_network(self.network, arrays)
        restore_optimizer(self.optimizer, arrays)
        self.objective.duals = torch.as_tensor(arrays["duals"]).to(self.device)
        self.generator.set_state(torch.as_tensor(arrays["generator"]))
        self.history = list(arrays["history"])
        self.done = int(arrays["done"])

    def run(self, n_steps: int) -> None:
        """Take gradient steps and append their means to the history."""
        record = torch.zeros(3, device=self.device)
        for step in range(self.done, self.done + n_steps):
            for group in self.optimizer.param_groups:
                group["lr"] = self.settings.learning_rate * _rate(step / self.settings.n_steps)
            batch = self.sampler.batch(self.generator, self.objective.stop)
            loss, error = self.objective.loss(batch)
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            self.optimizer.step()
            self.objective.after_step(error)
            record += torch.stack([loss.detach(), batch.energies.detach().sum(), error.abs().max()])
        self.done += n_steps
        self.history.append((record.cpu().numpy() / n_steps).astype(np.float64))
        if not np.isfinite(self.history[-1]).all():
            raise InvalidInput(
                f"learning_rate must be small enough for the loss to stay finite; got {self.settings.learning_rate:g}, "
                f"with an infinite loss within {self.done} steps. Use a smaller one."
            )


def _rate(share_done: float) -> float:
    """Return the factor of the learning rate after this share of the steps."""
    left = min(1.0, (1.0 - share_done) / (1.0 - _CONSTANT_UNTIL))
    return _FINAL_RATE + (1.0 - _FINAL_RATE) * left


# --- States as arrays -------------------------------------------------------------------------------------------------


@contextmanager
def one_thread() -> Iterator[None]:
    """Run the block on one thread: the order of additions, and so the rounding, depends on the number of threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def network_arrays(network: nn.Module) -> Arrays:
    """Return the parameters and buffers of a network as named arrays.

    >>> sorted(network_arrays(nn.Linear(2, 1)))
    ['network.bias', 'network.weight']
    """
    return {f"network.{name}": tensor.detach().cpu().numpy() for name, tensor in network.state_dict().items()}


def restore_network(network: nn.Module, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Give a network the state that `network_arrays` returned."""
    start = "network."
    state = {name.removeprefix(start): torch.as_tensor(arrays[name]) for name in arrays if name.startswith(start)}
    network.load_state_dict(state)


def optimizer_arrays(optimizer: torch.optim.Optimizer) -> Arrays:
    """Return the state of an optimizer."""
    return {
        f"optimizer.{number}.{name}": torch.as_tensor(value).detach().cpu().numpy()
        for number, entries in optimizer.state_dict()["state"].items()
        for name, value in entries.items()
    }


def restore_optimizer(optimizer: torch.optim.Optimizer, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Give an optimizer the state that `optimizer_arrays` returned."""
    state: dict[int, dict[str, torch.Tensor]] = {}
    for key, array in arrays.items():
        if key.startswith("optimizer."):
            _, number, name = key.split(".")
            state.setdefault(int(number), {})[name] = torch.as_tensor(array)
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
