"""What all of torch here shares: one thread, and states of modules and optimizers as named numpy arrays, and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]


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
