"""The training loop of eigenfunctions; it can be interrupted, and its result does not depend on the number of cores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from os import PathLike

import numpy as np
import torch
from numpy.typing import NDArray

from farpoint.deep.eigenfunctions.data import TrainingData
from farpoint.deep.eigenfunctions.networks import FunctionNetwork, network_for
from farpoint.deep.eigenfunctions.objectives import Allo, Batch, Ggdo, sampled_batch, whole_batch
from farpoint.deep.tensors import Arrays, module_arrays, one_thread, optimizer_arrays, restore_module, restore_optimizer
from farpoint.errors import InvalidInput
from farpoint.files import PieceFolder

# Steps between two entries of the history, which are also the steps between two checkpoints.
BLOCK = 100
_STATE = "state"
# The learning rate is constant for this share of the steps and then decreases linearly to this share of itself.
_CONSTANT_UNTIL, _FINAL_RATE = 0.5, 0.01


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
    device: str = "auto",
    checkpoint: str | PathLike[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[FunctionNetwork, NDArray[np.float64]]:
    """Return the trained network and the mean loss, energy and constraint violation per block of steps."""
    chosen = pick_device(device)
    folder = PieceFolder(checkpoint, "training", {**asdict(settings), "data": data.digest})
    with one_thread():
        network = network_for(data.observations, settings.n_outputs, settings.hidden, settings.seed).to(chosen)
        training = _Training(network, data, settings)
        training.restore(folder)
        if progress is not None:
            progress(training.done, settings.n_steps)
        while training.done < settings.n_steps:
            training.run(min(BLOCK, settings.n_steps - training.done))
            if checkpoint is not None:
                folder.save(_STATE, training.arrays())
            if progress is not None:
                progress(training.done, settings.n_steps)
        return network, np.array(training.history)


class _Training:
    """A training between two steps."""

    def __init__(self, network: FunctionNetwork, data: TrainingData, settings: Settings) -> None:
        self.settings = settings
        self.network = network
        self.device = network.center.device
        self.optimizer = torch.optim.Adam(network.parameters(), lr=settings.learning_rate)
        kind = Allo if settings.objective == "allo" else Ggdo
        self.objective = kind(settings.n_outputs, settings.barrier, settings.dual_rate, self.device)
        self.generator = torch.Generator().manual_seed(settings.seed)
        self.sampler = _Sampler(data, settings.batch_size, network)
        self.history: list[NDArray[np.float64]] = []
        self.done = 0

    def arrays(self) -> Arrays:
        """Return the state, for a checkpoint."""
        return {
            **module_arrays("network", self.network),
            **optimizer_arrays(self.optimizer),
            "duals": self.objective.duals.cpu().numpy(),
            "generator": self.generator.get_state().numpy(),
            "history": np.array(self.history),
            "done": np.array(self.done),
        }

    def restore(self, folder: PieceFolder) -> None:
        """Continue from the checkpoint in this folder, if there is one."""
        arrays = folder.load(_STATE)
        if arrays is None:
            return
        restore_module("network", self.network, arrays)
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
