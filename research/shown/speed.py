"""What docs/scale.md shows of the speed of scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from farpoint.measures import format_number
from farpoint.report.figures import new_figure
from farpoint.report.results import tidy
from farpoint.report.tables import Row
from research.runner import Picture, grouped, read_table, select
from research.speed import GOALS_SIDE, PEERS, ROOM_SIDE, SIDES, SIZE_PEERS, TIME_PEERS, TIMES_SIDE, TWO_TIMES_SIDE, T

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
_GROWTH_FROM = 50_000


def measured(peer: str, **wanted: Any) -> dict[str, Any] | None:
    """Return the first measurement of a program with these values; None where it took too long or too much memory."""
    rows = select(read_table("speed-scores"), peer=peer, **{"room": None, "goals": None, **wanted})
    return rows[0] if rows else None


def _cell(one: dict[str, Any] | None, ours: dict[str, Any] | None) -> str | None:
    """Return seconds, and in brackets how many times those of Farpoint."""
    if one is None:
        return None
    ratio = "" if ours is None or one == ours else f" ({format_number(one['seconds'] / ours['seconds'])} ×)"
    return f"{format_number(one['seconds'])}{ratio}"


def size_rows() -> list[Row]:
    """Return the seconds of each program over sizes, and the memory of ours."""
    ours = {side: one for side in SIDES if (one := measured("farpoint", side=side, t=T)) is not None}
    head = f"seconds (ratio), t = {T}"
    rows: list[Row] = []
    for peer in SIZE_PEERS:
        cells: Row = {
            f"{one['n_states']:,} states": _cell(measured(peer, side=side, t=T), one) for side, one in ours.items()
        }
        rows.append({head: PEERS[peer].title, **cells})
    memory: Row = {
        f"{one['n_states']:,} states": f"{one['extra_bytes'] / one['n_states']:.0f} B" for one in ours.values()
    }
    return [*rows, {head: "Farpoint, memory per state beyond the world", **memory}]


def time_rows() -> list[Row]:
    """Return the seconds of each program over t."""
    series = select(read_table("speed-scores"), peer="farpoint", side=TIMES_SIDE, room=None, goals=None)
    times = sorted({row["t"] for row in series})
    rows: list[Row] = []
    for peer in TIME_PEERS:
        cells: Row = {
            f"t = {t}": _cell(measured(peer, side=TIMES_SIDE, t=t, sides=TIMES_SIDE), _ours_at(t)) for t in times
        }
        rows.append({f"seconds (ratio), {series[0]['n_states']:,} states": PEERS[peer].title, **cells})
    return rows


def _ours_at(t: int) -> dict[str, Any] | None:
    return measured("farpoint", side=TIMES_SIDE, t=t, sides=TIMES_SIDE)


def ratio(one: dict[str, Any] | None, other: dict[str, Any] | None) -> str:
    """Return how many times the seconds of another measurement one took; a dash where one is missing."""
    return "–" if one is None or other is None else f"{format_number(one['seconds'] / other['seconds'])} ×"


def growth() -> str:
    """Return the exponent with which the time of the exact score grows with the number of states."""
    rows = [row for row in read_table("speed-scores") if row["peer"] == "farpoint" and row["times"] == T]
    points = [(row["n_states"], row["seconds"]) for row in rows if not row["room"] and not row["goals"]]
    sizes, seconds = np.log([point for point in points if point[0] >= _GROWTH_FROM]).T
    return f"{np.polyfit(sizes, seconds, 1)[0]:.2f}"


def largest_of_powers() -> dict[str, Any]:
    """Return the largest world on which scipy's sparse powers were measured."""
    rows = select(read_table("speed-scores"), peer="powers", t=T)
    return max(rows, key=lambda row: int(row["n_states"]))


def goals(world: str, name: str) -> Callable[[], str]:
    """Return the function that returns how many goals were found."""
    return lambda: format_number(select(read_table("speed-goals"), world=world)[0][name])


def with_goals(name: str) -> float:
    """Return a number of the measurement of scores and goals together."""
    one = measured("farpoint", side=GOALS_SIDE, t=T, goals=True)
    assert one is not None
    return float(one[name])


def draw() -> Figure:
    """Return time over states, memory over states and time over t, all logarithmic."""
    table = [row for row in read_table("speed-scores") if not row["room"] and not row["goals"]]
    sizes, times = [row for row in table if row["times"] == T], [row for row in table if row["sides"] == TIMES_SIDE]
    figure = new_figure(13, 4.2)
    panels = figure.subplots(1, 3)
    _draw(panels[0], sizes, SIZE_PEERS, "n_states", "seconds", f"time, t = {T}")
    _draw(panels[1], sizes, SIZE_PEERS, "n_states", "extra_bytes", f"memory, t = {T}")
    _draw(panels[2], times, TIME_PEERS, "t", "seconds", f"time, {times[0]['n_states']:,} states")
    return figure


def _draw(axes: Axes, table: list[Any], peers: tuple[str, ...], x: str, y: str, title: str) -> None:
    for (peer,), rows in grouped(table, "peer"):
        if peer not in peers:
            continue
        color, marker, line = _LOOKS[peer]
        # Less than a mebibyte is within the noise.
        heights = [max(row[y], 2**20) / 2**20 if y == "extra_bytes" else row[y] for row in rows]
        axes.plot([row[x] for row in rows], heights, color=color, marker=marker, linestyle=line, markersize=4.5,
                  linewidth=1.6, label=PEERS[peer].title)  # fmt: skip
    names = {"n_states": "states", "extra_bytes": "MiB above the world's own"}
    axes.set(xscale="log", yscale="log", xlabel=names.get(x, x), ylabel=names.get(y, y))
    axes.set_title(title, loc="left", fontsize=11)
    axes.grid(which="major", alpha=0.25, linewidth=0.6)
    tidy(axes)
    if y == "seconds":
        axes.legend(frameon=False, fontsize=8)


SHOWN: dict[str, Callable[[], Any]] = {
    "sizes": size_rows,
    "times": time_rows,
    "figure": lambda: Picture("Time and memory over states, and time over t, against other programs", draw),
    "growth": growth,
    "largest_seconds": lambda: (measured("farpoint", side=SIDES[-1], t=T) or {})["seconds"],
    "largest_states": lambda: f"{(measured('farpoint', side=SIDES[-1], t=T) or {})['n_states']:,}",
    "powers": lambda: ratio(largest_of_powers(), measured("farpoint", side=largest_of_powers()["side"], t=T)),
    "powers_states": lambda: f"{largest_of_powers()['n_states']:,}",
    "goals_states": lambda: f"{with_goals('n_states'):,.0f}",
    "goals_seconds": lambda: with_goals("seconds"),
    "goals_memory": lambda: f"{with_goals('peak_bytes') / 2**30:.2f} GiB",
    "two_times": lambda: ratio(
        measured("farpoint", side=TWO_TIMES_SIDE, t=13), measured("farpoint", side=TWO_TIMES_SIDE, t=4)
    ),
    "two_times_states": lambda: f"{(measured('farpoint', side=TWO_TIMES_SIDE, t=4) or {})['n_states']:,}",
    "thousandth": lambda: ratio(
        measured("thousandth", side=TIMES_SIDE, t=100), measured("farpoint", side=TIMES_SIDE, t=13)
    ),
    "thousandth_exact": lambda: ratio(
        measured("farpoint", side=TIMES_SIDE, t=100), measured("thousandth", side=TIMES_SIDE, t=100)
    ),
    "room": lambda: ratio(
        measured("simpleoptions", side=ROOM_SIDE, t=T, room=True), measured("farpoint", side=ROOM_SIDE, t=T, room=True)
    ),
    "agreement": lambda: f"{100 * select(read_table('speed-goals'), world='agreement')[0]['share']:.2f} %",
    "agreement_goals": goals("agreement", "farpoint"),
    **{f"{name}_{who}": goals(world, who) for name, world in (("grid", "20 × 20 grid"), ("cylinder", "24 × 8 cylinder"))
       for who in ("farpoint", "simpleoptions")},
}  # fmt: skip
