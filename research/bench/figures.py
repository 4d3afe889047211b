"""The figure of the benchmark: time over states, memory over states and time over t."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from farpoint.report.curves import tidy
from farpoint.report.sheets import new_figure
from research.bench.cells import Measured
from research.bench.peers import PEERS
from research.bench.plan import Results, T, measurements, size_parts, time_parts

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LOOKS = {
    "farpoint": ("#0072b2", "o", "-"),
    "thousandth": ("#56b4e9", "o", "--"),
    "probes": ("#009e73", "^", "--"),
    "powers": ("#d55e00", "s", "-"),
    "eigh": ("#7f7f7f", "D", "-"),
    "pygsp": ("#cc79a7", "v", "-"),
    "simpleoptions": ("#e69f00", "X", "-"),
}


@dataclass(frozen=True)
class _Panel:
    """One set of axes: what is measured of which programs, and the place of a measurement."""

    title: str
    x: str
    y: str
    measured: Sequence[Measured]
    peers: Sequence[str]
    point: Callable[[Measured], tuple[float, float]]


def draw_bench(results: Results, names: Collection[str]) -> Figure:
    """Return the panels of the experiments of these names ("sizes", "times"), all logarithmic."""
    panels: list[_Panel] = []
    if "sizes" in names:
        panels += _size_panels(results)
    if "times" in names:
        panels.append(_time_panel(results))
    figure = new_figure(13 / 3 * len(panels), 4.2)
    for axes, panel in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        _draw(axes, panel)
    return figure


def _size_panels(results: Results) -> list[_Panel]:
    measured, peers = list(measurements(results, size_parts(results.scale)).values()), results.scale.peers
    memory = "MiB above the world's own"
    return [
        _Panel(f"time, t = {T}", "states", "seconds", measured, peers, lambda one: (one.n_states, one.seconds)),
        # Less than a mebibyte is within the noise.
        _Panel(f"memory, t = {T}", "states", memory, measured, peers,
               lambda one: (one.n_states, max(one.extra_bytes, 2**20) / 2**20)),
    ]  # fmt: skip


def _time_panel(results: Results) -> _Panel:
    measured, peers = list(measurements(results, time_parts(results.scale)).values()), results.scale.time_peers
    title = f"time, {measured[0].n_states:,} states" if measured else "time"
    return _Panel(title, "t", "seconds", measured, peers, lambda one: (one.cell.t, one.seconds))


def _draw(axes: Axes, panel: _Panel) -> None:
    for name in panel.peers:
        points = sorted(panel.point(one) for one in panel.measured if one.cell.peer == name)
        if points:
            color, marker, line = _LOOKS[name]
            axes.plot(*zip(*points, strict=True), color=color, marker=marker, linestyle=line, markersize=4.5,
                      linewidth=1.6, label=PEERS[name].title)  # fmt: skip
    axes.set(xscale="log", yscale="log", xlabel=panel.x, ylabel=panel.y)
    axes.set_title(panel.title, loc="left", fontsize=11)
    axes.grid(which="major", alpha=0.25, linewidth=0.6)
    tidy(axes)
    if panel.y == "seconds":
        axes.legend(frameon=False, fontsize=8)
