"""A GPU that is none: numpy under the name of CuPy, and the kernels in plain Python, for tests on any machine."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from farpoint.diffusion import gpu


class CardArray(np.ndarray[Any, Any]):
    """An array that is brought back with ``get``, as those of CuPy."""

    def get(self) -> Any:
        return np.array(self)


class FakeCupy:
    """numpy, with arrays of the class above."""

    ndarray = CardArray
    asnumpy = staticmethod(np.asarray)
    cuda = SimpleNamespace(runtime=SimpleNamespace(memGetInfo=lambda: (10**9, 10**9)))

    def __getattr__(self, name: str) -> Any:
        function = getattr(np, name)
        if not callable(function) or isinstance(function, type):
            return function

        def on_card(*args: Any, **kwargs: Any) -> Any:
            result = function(*args, **kwargs)
            return result.view(CardArray) if isinstance(result, np.ndarray) else result

        return on_card


def use_fake_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the modules of the GPU speak to this one instead."""
    fake = FakeCupy()
    monkeypatch.setattr(gpu, "cupy", lambda: fake)
    monkeypatch.setattr(gpu, "kernel", lambda source, name: _Kernel(name))
    for name in ("cupyx", "cupyx.scipy", "cupyx.scipy.sparse"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setattr(sys.modules["cupyx.scipy.sparse"], "csr_matrix", csr_array, raising=False)


class _Kernel:
    """One kernel: what it writes, in loops that anyone can follow."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, grid: Any, block: Any, arguments: tuple[Any, ...], shared_mem: int = 0) -> None:
        assert all(size > 0 for size in (*grid, *block))
        name = f"_{self.name}" if self.name != "scores" else "_cells" if len(arguments) == 7 else "_sources"
        getattr(self, name)(*arguments)

    @staticmethod
    def _degrees(floor: Any, out: Any, stride: int, n_cells: int) -> None:
        flat, result = floor.ravel(), out.reshape(-1)
        for i in range(stride, n_cells - stride):
            if flat[i]:
                result[i] = sum(int(flat[i + apart] > 0) for apart in (-1, 1, -stride, stride))

    @staticmethod
    def _count(degrees: Any, counts: Any, n_cells: int) -> None:
        assert degrees.size == n_cells
        for d in range(1, 5):
            counts[d] += np.count_nonzero(degrees == d)

    @staticmethod
    def _cells(degrees: Any, out: Any, stride: int, rows: int, cols: int, share: float, rest: float) -> None:
        t = (int(stride) - int(cols)) // 2
        assert degrees.shape == (rows + 2 * t, cols + 2 * t)
        for row in range(rows):
            for col in range(cols):
                out[row, col] = _walked(degrees, row + t, col + t, np.arange(t + 1), share, rest)[0]

    @staticmethod
    def _sources(
        degrees: Any, sources: Any, n_sources: int, radii: Any, t: int, radius: int, stride: int, share: float,
        rest: float, out: Any, lost: Any, peaks: Any,
    ) -> None:  # fmt: skip
        assert radii.size == t + 1
        assert radii[-1] == radius
        for number in range(n_sources):
            row, col = divmod(int(sources[number]), int(stride))
            out[number], lost[number], peaks[number] = _walked(degrees, row, col, radii, share, rest)

    @staticmethod
    def _begin(scores: Any, parent: Any, peak: Any, floor: Any, n_cells: int) -> None:
        parent[:] = np.arange(n_cells)
        peak[:] = floor.ravel() > 0

    @staticmethod
    def _join(scores: Any, parent: Any, floor: Any, n_cols: int, n_cells: int, tolerance: float) -> None:
        values, open_cells = scores.ravel(), floor.ravel()
        changed = True
        while changed:
            changed = False
            for i in range(n_cells):
                for v in _neighbors(i, int(n_cols), int(n_cells)):
                    same = abs(values[i] - values[v]) <= tolerance * max(abs(values[i]), abs(values[v]))
                    if open_cells[i] and open_cells[v] and same and parent[v] < parent[i]:
                        parent[i], changed = parent[v], True

    @staticmethod
    def _settle(parent: Any, n_cells: int) -> None:
        assert parent.size == n_cells

    @staticmethod
    def _lower(scores: Any, parent: Any, peak: Any, floor: Any, n_cols: int, n_cells: int) -> None:
        values, open_cells = scores.ravel(), floor.ravel()
        for i in np.flatnonzero(open_cells):
            if parent[i] != i:
                peak[i] = 0
            for v in _neighbors(int(i), int(n_cols), int(n_cells)):
                if open_cells[v] and parent[v] != parent[i] and values[v] > values[i]:
                    peak[parent[i]] = 0


def _neighbors(i: int, n_cols: int, n_cells: int) -> list[int]:
    sides = [i - 1] * (i % n_cols > 0) + [i + 1] * (i % n_cols < n_cols - 1)
    return [v for v in (i - n_cols, i + n_cols, *sides) if 0 <= v < n_cells]


def _walked(degrees: Any, row: int, col: int, radii: Any, share: float, rest: float) -> tuple[float, float, float]:
    """Return the score of one cell, the mass that was lost, and the largest entry."""
    if degrees[row, col] == 0:
        return 0.0, 0.0, 0.0
    d = np.pad(np.asarray(degrees, dtype=float), 1)
    distance = np.abs(np.arange(d.shape[0]) - row - 1)[:, None] + np.abs(np.arange(d.shape[1]) - col - 1)
    p = (distance == 0).astype(float)
    for radius in radii[1:]:
        y = np.divide(p, d, out=np.zeros_like(p), where=d > 0)
        around = np.zeros_like(y)
        around[1:-1, 1:-1] = y[:-2, 1:-1] + y[2:, 1:-1] + y[1:-1, :-2] + y[1:-1, 2:]
        p = np.where((d > 0) & (distance <= radius), 0.5 * p + 0.5 * around, 0.0)
    return float((p**2).sum() - 2 * share * (d * p).sum() + rest), max(0.0, 1.0 - p.sum()), float(p.max())
