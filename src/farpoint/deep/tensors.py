"""What all of torch here shares: one thread, and states of modules and optimizers as named numpy arrays, and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from farpoint.errors import InvalidInput
from farpoint.worlds.arrays import whole_numbers

Arrays = dict[str, NDArray[Any]]
_MOST_LAYERS, _WIDEST = 32, 2**16


def check_widths(hidden: Sequence[int]) -> tuple[int, ...]:
    """Return the widths of hidden layers.

    >>> check_widths([128, 128])
    (128, 128)
    """
    widths = whole_numbers("hidden", hidden, np.int64)
    if widths.ndim != 1 or widths.size > _MOST_LAYERS or not ((widths >= 1) & (widths <= _WIDEST)).all():
        raise InvalidInput(f"hidden must be at most {_MOST_LAYERS} widths from 1 to {_WIDEST}; got {hidden!r}.")
    return tuple(widths.tolist())


@contextmanager
def one_thread() -> Iterator[None]:
    """Run the block on one thread: the order of additions, and so the rounding, depends on the number of threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def module_arrays(prefix: str, module: torch.nn.Module) -> Arrays:
    """Return the parameters and buffers of a module, each name preceded by ``prefix`` and a dot.

    >>> sorted(module_arrays("network", torch.nn.Linear(2, 1)))
    ['network.bias', 'network.weight']
    """
    return {f"{prefix}.{name}": tensor.detach().cpu().numpy() for name, tensor in module.state_dict().items()}


def restore_module(prefix: str, module: torch.nn.Module, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Give a module the state that `module_arrays` returned."""
    start = f"{prefix}."
    state = {name.removeprefix(start): torch.as_tensor(arrays[name]) for name in arrays if name.startswith(start)}
    module.load_state_dict(state)


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
