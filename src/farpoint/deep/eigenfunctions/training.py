"""The training loop of eigenfunctions: interruptible, and the same for the same seed on any number of cores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from os import PathLike
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from farpoint.deep.checkpoints import TrainingFolder, optimizer_tensors, restore_optimizer
from farpoint.deep.eigenfunctions.data import TrainingData
from farpoint.deep.eigenfunctions.networks import FunctionNetwork, make_network
from farpoint.deep.eigenfunctions.objectives import Allo, Batch, Ggdo, sampled_batch, whole_batch
from farpoint.errors import InvalidInput

FORM = "farpoint-training"
# Steps between two records, each of which is also a checkpoint and a call of `progress`.
BLOCK = 100
# The learning rate stays for the first half and then falls in a straight line to this share of itself.
_FALLS_FROM, _FALLS_TO = 0.5, 0.01
# Rows that the network sees at once outside of training.
_ROWS_AT_ONCE = 4096


@dataclass(frozen=True)
class Settings:
    """Everything that decides what a training ends with, besides its data."""

    objective: str
    n_functions: int
    n_spare: int
    steps: int
    batch_size: int
    learning_rate: float
    dual_rate: float
    barrier: float
    hidden: tuple[int, ...]
    seed: int

    @property
    def n_outputs(self) -> int:
        """Functions that the network learns, the spare ones counted."""
        return self.n_functions + self.n_spare


@contextmanager
def one_thread() -> Iterator[None]:
    """Run the block on one thread of the processor: the order of additions, hence every bit, depends on how many."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def pick_device(device: str) -> torch.device:
    """Return the device of this name; ``auto`` is a GPU where there is one."""
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        chosen = torch.device(device)
        torch.empty(0, device=chosen)
    except (RuntimeError, AssertionError) as error:
        raise InvalidInput(f"device must be auto, cpu or a device that torch has here; got {device!r}.") from error
    return chosen


class _Sampler:
    """Values of the network on a batch: of all pairs where they are few, otherwise of two samples of them."""

    def __init__(self, data: TrainingData, batch_size: int, network: FunctionNetwork) -> None:
        device = network.center.device
        self.network = network
        self.table = network.prepare(data.observations)
        self.before, self.after = torch.from_numpy(data.before), torch.from_numpy(data.after)
        self.batch_size = batch_size
        self.whole = len(data.before) <= batch_size
        # With fewer observations than a step would look up, each is computed once and looked up.
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
        # Drawn on the processor, so that the draws are the same on every device.
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
    device: str = "auto",
    checkpoint: str | PathLike[str] | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> tuple[FunctionNetwork, NDArray[np.float64]]:
    """Return the trained network and, for each block of steps, the mean loss, energy and violation."""
    folder = TrainingFolder(checkpoint, FORM, {**asdict(settings), "data": data.digest})
    chosen = pick_device(device)
    with one_thread():
        network = make_network(data.observations, settings.n_outputs, settings.hidden, settings.seed).to(chosen)
        return network, _steps(network, data, settings, folder, progress)


def _steps(
    network: FunctionNetwork,
    data: TrainingData,
    settings: Settings,
    folder: TrainingFolder,
    progress: Callable[[int, int], None],
) -> NDArray[np.float64]:
    device = network.center.device
    optimizer = torch.optim.Adam(network.parameters(), lr=settings.learning_rate)
    kind = Allo if settings.objective == "allo" else Ggdo
    objective = kind(settings.n_outputs, settings.barrier, settings.dual_rate, device)
    generator = torch.Generator().manual_seed(settings.seed)
    history: list[NDArray[np.float64]] = []
    done = 0
    kept = folder.load()
    if kept is not None:
        network.load_state_dict(_part(kept, "network."))
        restore_optimizer(optimizer, kept)
        objective.duals = kept["duals"].to(device)
        generator.set_state(kept["generator"])
        history = list(kept["history"].numpy())
        done = int(kept["done"])
    sampler = _Sampler(data, settings.batch_size, network)
    progress(done, settings.steps)
    while done < settings.steps:
        block = min(BLOCK, settings.steps - done)
        record = torch.zeros(3, device=device)
        for step in range(done, done + block):
            for group in optimizer.param_groups:
                group["lr"] = settings.learning_rate * _rate(step / settings.steps)
            batch = sampler.batch(generator, objective.stop)
            loss, error = objective.loss(batch)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            objective.after_step(error)
            record += torch.stack([loss.detach(), batch.energies.detach().sum(), error.abs().max()])
        done += block
        history.append((record.cpu().numpy() / block).astype(np.float64))
        if not np.isfinite(history[-1]).all():
            raise InvalidInput(
                f"learning_rate must be small enough for the loss to stay finite; got {settings.learning_rate:g}, and "
                f"it was lost within {done} steps."
            )
        folder.save(
            {
                **{f"network.{name}": tensor for name, tensor in network.state_dict().items()},
                **optimizer_tensors(optimizer),
                "duals": objective.duals,
                "generator": generator.get_state(),
                "history": torch.from_numpy(np.array(history)),
                "done": torch.tensor(done),
            }
        )
        progress(done, settings.steps)
    return np.array(history)


def _rate(share_done: float) -> float:
    """Return the share of the learning rate that holds when this share of the steps is done."""
    left = min(1.0, (1.0 - share_done) / (1.0 - _FALLS_FROM))
    return _FALLS_TO + (1.0 - _FALLS_TO) * left


def _part(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def evaluate(network: FunctionNetwork, observations: NDArray[Any]) -> NDArray[np.float64]:
    """Return the values of the network, shape (n, n_functions)."""
    values = np.empty((len(observations), network.n_functions))
    with torch.no_grad():
        for begin in range(0, len(observations), _ROWS_AT_ONCE):
            rows = slice(begin, begin + _ROWS_AT_ONCE)
            values[rows] = network(network.prepare(observations[rows])).cpu().numpy()
    return values


def restore_network(
    kind: str, shape: Sequence[int], n_outputs: int, hidden: Sequence[int], tensors: dict[str, Tensor]
) -> FunctionNetwork:
    """Return the network whose weights these tensors are."""
    with torch.random.fork_rng(devices=[]):
        network = FunctionNetwork(kind, tuple(int(length) for length in shape), n_outputs, hidden)
    network.load_state_dict(_part(tensors, "network."))
    return network
