"""The benchmark as a figure and as a page of text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from farpoint.experiments.bench import Measured, Plan
from farpoint.experiments.peers import PEERS
from farpoint.report.curves import tidy

_LOOKS = {
    "farpoint": ("#0072b2", "o", "-"),
    "thousandth": ("#56b4e9", "o", "--"),
    "probes": ("#009e73", "^", "--"),
    "powers": ("#d55e00", "s", "-"),
    "eigh": ("#7f7f7f", "D", "-"),
    "pygsp": ("#cc79a7", "v", "-"),
    "simpleoptions": ("#e69f00", "X", "-"),
}


def draw_bench(measured: Sequence[Measured], plan: Plan) -> Figure:
    """Return time over states, memory over states and time over t, all logarithmic."""
    figure = Figure(figsize=(13, 4.2), layout="constrained")
    over_n, memory, over_t = figure.subplots(1, 3)
    by_size = [one for one in measured if one.cell.t == 4 and one.cell.side in plan.sizes and not one.cell.goals]
    by_time = [one for one in measured if one.cell.side == plan.times_side and not one.cell.goals]
    _lines(over_n, by_size, plan.peers, lambda one: (one.n_states, one.seconds))
    _lines(memory, by_size, plan.peers, lambda one: (one.n_states, max(one.extra_bytes, 2**20) / 2**20))
    _lines(over_t, by_time, plan.time_peers, lambda one: (one.cell.t, one.seconds))
    n_states = by_time[0].n_states
    for axes, x, y, title in (
        (over_n, "states", "seconds", "time, t = 4"),
        (memory, "states", "MiB above the world's own", "memory, t = 4"),
        (over_t, "t", "seconds", f"time, {n_states:,} states"),
    ):
        axes.set(xscale="log", yscale="log", xlabel=x, ylabel=y)
        axes.set_title(title, loc="left", fontsize=11)
        axes.grid(which="major", alpha=0.25, linewidth=0.6)
        tidy(axes)
    over_n.legend(frameon=False, fontsize=8)
    over_t.legend(frameon=False, fontsize=8)
    return figure


def _lines(axes: Axes, measured: Sequence[Measured], peers: Sequence[str], point: object) -> None:
    for name in peers:
        points = sorted(point(one) for one in measured if one.cell.peer == name)  # type: ignore[operator]
        if points:
            color, marker, line = _LOOKS[name]
            axes.plot(*zip(*points, strict=True), color=color, marker=marker, linestyle=line, markersize=4.5,
                      linewidth=1.6, label=PEERS[name].title)  # fmt: skip


def bench_tables(measured: Sequence[Measured], plan: Plan) -> str:
    """Return the two tables as Markdown: seconds, and in brackets how many times Farpoint's exact score."""
    by_size = {(one.cell.peer, one.cell.side): one for one in measured if one.cell.t == 4 and not one.cell.goals}
    states = {side: by_size["farpoint", side].n_states for side in plan.sizes}
    lines = ["| seconds (ratio), t = 4 | " + " | ".join(f"{states[side]:,} states" for side in plan.sizes) + " |"]
    lines.append("|---|" + "---:|" * len(plan.sizes))
    for name in plan.peers:
        cells = [_cell(by_size.get((name, side)), by_size["farpoint", side]) for side in plan.sizes]
        lines.append(f"| {PEERS[name].title} | " + " | ".join(cells) + " |")
    cells = [f"{by_size['farpoint', side].extra_bytes / states[side]:.0f} B" for side in plan.sizes]
    lines.append("| Farpoint, memory a state beyond the world | " + " | ".join(cells) + " |")
    by_time = {
        (one.cell.peer, one.cell.t): one for one in measured if one.cell.side == plan.times_side and not one.cell.goals
    }
    n_states = by_time["farpoint", plan.times[0]].n_states
    lines += ["", f"| seconds (ratio), {n_states:,} states | " + " | ".join(f"t = {t}" for t in plan.times) + " |"]
    lines.append("|---|" + "---:|" * len(plan.times))
    for name in plan.time_peers:
        cells = [_cell(by_time.get((name, t)), by_time.get(("farpoint", t))) for t in plan.times]
        lines.append(f"| {PEERS[name].title} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cell(one: Measured | None, ours: Measured | None) -> str:
    if one is None:
        return "–"
    ratio = "" if ours is None or one is ours else f" ({_short(one.seconds / ours.seconds)} ×)"
    return f"{_short(one.seconds)}{ratio}"


def _short(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.1f}" if number >= 10 else f"{number:.2g}"


def growth(measured: Sequence[Measured], least: int) -> float:
    """Return the exponent with which the exact score's time grows from ``least`` states on, t = 4."""
    points = sorted(
        (one.n_states, one.seconds)
        for one in measured
        if one.cell.peer == "farpoint" and one.cell.t == 4 and one.cell.side > 0 and not one.cell.goals
        and one.n_states >= least
    )  # fmt: skip
    sizes, seconds = np.log(np.array(points)).T
    return float(np.polyfit(sizes, seconds, 1)[0])
