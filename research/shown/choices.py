"""What docs/choices.md shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from farpoint.measures import Estimate, estimate, format_number
from farpoint.report.tables import Row
from research.choices import AGENT_STEPS, MOST_STEPS, PLACES, SHOWN_PROBABILITIES, UNSEEN, VARIANTS
from research.runner import column, grouped, read_table, select


def probability_rows() -> list[Row]:
    """Return mean steps by the usual probability and by constants, as multiples of those by the best one."""
    shown: list[Row] = []
    for (world, goals, _), rows in grouped(read_table("choices-worlds"), "world", "goals", "n_options"):
        usual = select(rows, usual=True)[0]
        best = min(rows, key=lambda row: float(row["steps"]))
        ratios: Row = {"usual": usual["steps"] / best["steps"]}
        ratios |= {f"{p:g}": select(rows, p=p)[0]["steps"] / best["steps"] for p in SHOWN_PROBABILITIES}
        first: Row = {"world, goals": f"{world}, {goals}", "options": usual["n_found"]}
        shown.append(first | {"usual p": usual["p"], "best p": best["p"]} | ratios)
    names = ("usual", *(f"{p:g}" for p in SHOWN_PROBABILITIES))
    worst: Row = {"world, goals": "worst", "options": None, "usual p": None, "best p": None}
    return [*shown, worst | {name: max(float(row[name]) for row in shown) for name in names}]  # type: ignore[arg-type]


def worst_ratio(name: str) -> Callable[[], float]:
    """Return the function that returns how many times as many steps a probability takes at worst."""
    return lambda: float(probability_rows()[-1][name])  # type: ignore[arg-type]


def goal_rows() -> list[Row]:
    """Return mean steps with the goals that each way chooses."""
    return [{"options" if name == "n_options" else name: value for name, value in row.items()}
            for row in read_table("choices-goals")]  # fmt: skip


def spread_rank() -> str:
    """Return in how many rows spread goals are best or within 3 % of the best."""
    rows = read_table("choices-goals")
    ways = [name for name in rows[0] if name not in ("world", "n_options")]
    near = [row["t = 4, spread"] <= 1.03 * min(row[way] for way in ways) for row in rows]
    return f"{sum(near)} of {len(near)}"


def _first_target(rows: list[Any]) -> Estimate:
    return estimate(column(rows, "steps"), groups=[row["layout"] for row in rows], limit=MOST_STEPS)


def environment_rows() -> list[Row]:
    """Return the steps of random agents until a target is first reached: interquartile means over layouts and runs."""
    table = read_table("choices-environments")
    return [
        {"environment": name, **{v: _first_target(some).alone if (some := select(rows, variant=v)) else None
                                 for v in VARIANTS}}
        for (name,), rows in grouped(table, "environment_name")
    ]  # fmt: skip


def ratio_of(slow: Estimate, fast: Estimate) -> str:
    """Return how many times as long one takes as another; a bound where runs of one of them did not get there.

    >>> ratio_of(Estimate(300.0, capped=True), Estimate(20.0)), ratio_of(Estimate(300.0), Estimate(20.0, capped=True))
    ('≥ 15.0 ×', '≤ 15.0 ×')
    """
    sign = "about " if slow.capped and fast.capped else "≥ " if slow.capped else "≤ " if fast.capped else ""
    return f"{sign}{format_number(slow.value / fast.value)} ×"


def unseen_rows() -> list[Row]:
    """Return the default against none on layouts that the rules were not chosen on, each and together."""
    shown: list[Row] = []
    for (name,), rows in grouped(read_table("choices-unseen"), "environment_name"):
        for (layout,), some in [*grouped(rows, "layout"), (("all",), rows)]:
            none, default = (_first_target(select(some, variant=variant)) for variant in ("none", "default"))
            times = ratio_of(none, default)
            shown.append({"environment": name, "layout": layout, "none": none, "default": default, "ratio": times})
    return shown


def gain(table: str, name: str) -> Callable[[], str]:
    """Return the function that returns how many times sooner the default reaches a target than none."""

    def ratio() -> str:
        rows = select(read_table(table), environment_name=name)
        none, default = (_first_target(select(rows, variant=variant)) for variant in ("none", "default"))
        return ratio_of(none, default)

    return ratio


def _near_optimal(rows: list[Any]) -> Estimate:
    return estimate(column(rows, "near_optimal"), groups=[row["layout"] for row in rows], limit=AGENT_STEPS)


def agent_rows() -> list[Row]:
    """Return the steps until `train_tabular` is near-optimal, by how it acts and learns."""
    shown = []
    for (name,), rows in grouped(read_table("choices-agents"), "place"):
        cells: Row = {
            f"{actions}, {replay}, {exploring:g}": _near_optimal(some)
            for (actions, replay, exploring), some in grouped(rows, "actions", "replay", "exploring")
        }
        shown.append({"place": PLACES[name].title, **cells})
    return shown


def gain_of_defaults() -> str:
    """Return how many times sooner the default is near-optimal than plain Q-learning, from the least to the most."""
    ratios = []
    for _, rows in grouped(read_table("choices-agents"), "place"):
        plain, default = (
            _near_optimal(select(rows, actions=actions, replay=replay, exploring=0))
            for actions, replay in (("uniform", 0), ("least tried", 1))
        )
        ratios.append(plain.value / default.value)
    return f"{min(ratios):.1f} to {max(ratios):.1f}"


SHOWN: dict[str, Callable[[], Any]] = {
    "probabilities": probability_rows,
    "worst_usual": worst_ratio("usual"),
    "worst_0.05": worst_ratio("0.05"),
    "worst_0.02": worst_ratio("0.02"),
    "goals": goal_rows,
    "spread": spread_rank,
    "environments": environment_rows,
    "unseen": unseen_rows,
    "agents": agent_rows,
    "gain_of_defaults": gain_of_defaults,
    **{f"{table}_{name}": gain(f"choices-{table}", name) for table in ("environments", "unseen") for name in UNSEEN},
}
