"""The GPU: whether there is one, and CuPy, which speaks to it."""

from __future__ import annotations

from functools import cache
from typing import Any

from farpoint.errors import InvalidInput, MissingExtra


@cache
def cupy() -> Any:
    """Return the module CuPy; fail where it is not installed or finds no GPU."""
    try:
        import cupy as module
    except ImportError as error:
        raise MissingExtra("cupy must be installed for device='gpu'. Run: pip install 'farpoint[gpu]'") from error
    try:
        count = module.cuda.runtime.getDeviceCount()
    except module.cuda.runtime.CUDARuntimeError as error:
        raise InvalidInput(f"device must be a GPU that CUDA can use; got none ({error}).") from error
    if count == 0:
        raise InvalidInput("device must be a GPU that CUDA can use; got none.")
    return module


def has_gpu() -> bool:
    """Return whether scores can be computed on a GPU here.

    >>> isinstance(has_gpu(), bool)
    True
    """
    try:
        cupy()
    except (InvalidInput, MissingExtra):
        return False
    return True


@cache
def kernel(source: str, name: str) -> Any:
    """Return a compiled kernel; CuPy keeps it on disk too."""
    return cupy().RawKernel(source, name, options=("-std=c++14",))
