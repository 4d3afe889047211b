"""Networks for eigenfunctions: of coordinates, of images, or of state numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from farpoint.deep.eigenfunctions.data import COORDINATES, NUMBERS, kind_of
from farpoint.deep.tensors import one_thread
from farpoint.errors import InvalidInput

# Filters of the two convolutions, each of which halves height and width.
_FILTERS = (16, 32)
# Observations per forward pass outside of training, to bound the memory.
_ROWS_AT_ONCE = 4096


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


def network_for(observations: NDArray[Any], n_functions: int, hidden: Sequence[int], seed: int) -> FunctionNetwork:
    """Return a new network that is scaled for these observations."""
    kind = kind_of(observations)
    shape = (int(observations.max()) + 1,) if kind == NUMBERS else tuple(observations.shape[1:])
    network = new_network(kind, shape, n_functions, hidden, seed)
    network.fit_scale(observations)
    return network


def evaluate(network: FunctionNetwork, observations: NDArray[Any]) -> NDArray[np.float64]:
    """Return the outputs of the network, shape (n, n_functions)."""
    values = np.empty((len(observations), network.n_functions))
    with one_thread(), torch.no_grad():
        for begin in range(0, len(observations), _ROWS_AT_ONCE):
            rows = slice(begin, begin + _ROWS_AT_ONCE)
            values[rows] = network(network.prepare(observations[rows])).cpu().numpy()
    return values
