"""The tables of the benchmark, and what its numbers say."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from farpoint.report.tables import Row
from research.bench.cells import Cell, Measured
from research.bench.measuring import COUNTED_WORLDS
from research.bench.peers import PEERS
from research.bench.plan import (
    COUNTS,
    Results,
    T,
    agreement_part,
    measurements,
    size_parts,
    time_parts,
)


def size_rows(results: Results) -> list[Row]:
    """Return the seconds of each program over sizes, and in brackets how many times those of Farpoint."""
    plan, measured = results.scale, measurements(results, size_parts(results.scale))
    ours = {side: measured[cell] for side in plan.sizes if (cell := Cell("farpoint", side, T)) in measured}
    rows: list[Row] = []
    for peer in plan.peers:
        row: Row = {f"seconds (ratio), t = {T}": PEERS[peer].title}
        for side, one in ours.items():
            row[f"{one.n_states:,} states"] = _cell(measured.get(Cell(peer, side, T)), one)
        rows.append(row)
    memory: Row = {f"seconds (ratio), t = {T}": "Farpoint, memory per state beyond the world"}
    rows.append(
        memory | {f"{one.n_states:,} states": f"{one.extra_bytes / one.n_states:.0f} B" for one in ours.values()}
    )
    return rows


def time_rows(results: Results) -> list[Row]:
    """Return the seconds of each program over times, and in brackets how many times those of Farpoint."""
    plan, measured = results.scale, measurements(results, time_parts(results.scale))
    if not measured:
        return []
    head = f"seconds (ratio), {next(iter(measured.values())).n_states:,} states"
    rows: list[Row] = []
    for peer in plan.time_peers:
        row: Row = {head: PEERS[peer].title}
        for t in plan.times:
            ours = measured.get(Cell("farpoint", plan.times_side, t))
            row[f"t = {t}"] = _cell(measured.get(Cell(peer, plan.times_side, t)), ours)
        rows.append(row)
    return rows


def _cell(one: Measured | None, ours: Measured | None) -> str:
    if one is None:
        return "–"
    ratio = "" if ours is None or one is ours else f" ({_short(one.seconds / ours.seconds)} ×)"
    return f"{_short(one.seconds)}{ratio}"


def _short(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.1f}" if number >= 10 else f"{number:.2g}"


def measurement_rows(results: Results) -> list[Row]:
    """Return every measurement."""
    return [
        {
            "peer": one.cell.peer,
            "states": one.n_states,
            "t": one.cell.t,
            "goals too": str(one.cell.goals),
            "seconds": f"{one.seconds:.6f}",
            "extra bytes": one.extra_bytes,
            "peak bytes": one.peak_bytes,
        }
        for one in measurements(results).values()
    ]


def comparison_rows(results: Results) -> list[Row]:
    """Return what the numbers say, one sentence per row."""
    return [{"comparison": sentence} for sentence in sentences(results)]


def sentences(results: Results) -> list[str]:
    """Return what the numbers say; a comparison of which one side was not measured is left out."""
    plan, measured = results.scale, measurements(results)
    agreement = results[agreement_part(plan)]
    exponent, since = growth(measured, plan.growth_from), "10⁵ states" if plan.growth_from else "the smallest"
    said = [] if exponent is None else [f"Time grows like n^{exponent:.2f} from {since} on."]
    n_goals, percent = int(agreement["n_goals"]), 100 * float(agreement["share"])
    said.append(f"t = {plan.times[-1]} to 0.1 %: {percent:.2f} % of {n_goals:,} goals agree with the exact ones.")
    with_goals = measured.get(Cell("farpoint", plan.goals_side, T, goals=True))
    if with_goals is not None:
        said.append(
            f"Score and goals of {with_goals.n_states:,} states: {with_goals.seconds:.1f} s, at most "
            f"{with_goals.peak_bytes / 2**30:.2f} GiB for the whole process, the making of the world included."
        )
    for one, other, text in _comparisons(results):
        if one in measured and other in measured:
            ratio = measured[one].seconds / measured[other].seconds
            said.append(text.format(ratio=ratio, states=measured[other].n_states))
    if plan.count_goals:
        counts = results[COUNTS]
        said += [
            f"{name}: {ours} goals; simpleoptions finds {theirs}."
            for name, ours, theirs in zip(COUNTED_WORLDS, counts["farpoint"], counts["simpleoptions"], strict=True)
        ]
    return said


def _comparisons(results: Results) -> list[tuple[Cell, Cell, str]]:
    """Return pairs of measurements with the sentence on their ratio."""
    plan = results.scale
    largest = max((c.side for c in measurements(results) if c.peer == "powers" and c.t == T), default=0)
    pairs = [
        (
            Cell("powers", largest, T),
            Cell("farpoint", largest, T),
            "{ratio:.1f} × faster than scipy's W⁴ at {states:,} states, the largest that both reach.",
        )
    ]
    if plan.two_times_side is not None:
        pairs.append(
            (
                Cell("farpoint", plan.two_times_side, 13),
                Cell("farpoint", plan.two_times_side, 4),
                "t = 13 takes {ratio:.1f} × the time of t = 4 at {states:,} states.",
            )
        )
    pairs.append(
        (
            Cell("thousandth", plan.times_side, 100),
            Cell("farpoint", plan.times_side, 13),
            "t = 100 to 0.1 % takes {ratio:.1f} × the time of t = 13 at {states:,} states.",
        )
    )
    if plan.room_side is not None:
        pairs.append(
            (
                Cell("simpleoptions", plan.room_side, T, room=True),
                Cell("farpoint", plan.room_side, T, room=True),
                "{ratio:,.0f} × faster than simpleoptions computes its score at {states:,} states "
                f"({plan.room_side} × {plan.room_side} room).",
            )
        )
    return pairs


def growth(measured: Mapping[Cell, Measured], n_states: int) -> float | None:
    """Return the exponent with which the time of the exact score grows from ``n_states`` states on, t = 4.

    None if fewer than two sizes were measured.
    """
    points = [
        (one.n_states, one.seconds)
        for cell, one in measured.items()
        if cell.peer == "farpoint" and cell.t == T and not cell.room and not cell.goals and one.n_states >= n_states
    ]
    if len(points) < 2:
        return None
    sizes, seconds = np.log(np.array(points)).T
    return float(np.polyfit(sizes, seconds, 1)[0])
