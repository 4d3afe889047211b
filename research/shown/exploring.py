"""What docs/exploring.md and README show of exploring and learning from scratch.

Only the runs that are shown count: those that a probability was chosen in have another ``stage``. A place is shown once
all its methods are there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from farpoint.measures import Estimate, estimate
from farpoint.report.figures import METHOD_COLORS, METHOD_TITLES, new_figure
from farpoint.report.results import interval_dot, tidy
from farpoint.report.tables import Count, Row
from research.exploration import plan
from research.exploration.plan import Place
from research.runner import Picture, column, grouped, read_table, select

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Runs = dict[str, list[Any]]
# What each table should hold.
PLACES: dict[str, tuple[Sequence[Place], Sequence[str]]] = {
    "seen": (plan.SEEN_PLACES, plan.METHODS),
    "neo": (plan.NEO_PLACES, plan.NEO_METHODS),
    "learning": (plan.LEARNING_PLACES, plan.LEARNERS),
    "environments": (plan.ENVIRONMENT_PLACES, plan.LEARNERS),
    "later": (plan.LATER_PLACES, plan.LATER_METHODS),
    "wrapper": (tuple(plan.WRAPPED_PLACES.values()), plan.WRAPPED_METHODS),
    "views": (plan.VIEW_PLACES, tuple(plan.VIEWS)),
}
_MEASURES = {
    "most": "steps until 90 % of the states were seen",
    "first": "steps until the target is first reached",
    "near_optimal": "steps until near-optimal",
}
_COUNTED = (
    "interquartile means with 95 % intervals over layouts and runs, those that did not get there counted with all "
    "their steps (→ where it is more)"
)


def runs_of(table: str) -> dict[Place, Runs]:
    """Return the shown runs of each place by method (by view for views), of the places that are complete."""
    places, methods = PLACES[table]
    kind = "view" if table == "views" else "method"
    shown = select(read_table(f"explore-{table}"), stage=plan.SHOWN)
    found = {place: {key[0]: rows for key, rows in grouped(select(shown, place=place.name), kind)} for place in places}
    return {place: runs for place, runs in found.items() if set(runs) >= set(methods)}


def missing(table: str) -> str:
    """Return which places are not there yet, and the command that runs them."""
    todo = [place for place in PLACES[table][0] if place not in runs_of(table)]
    if not todo:
        return "nothing"
    names = ",".join(place.name for place in todo)
    command = f"python -m research.exploration explore-{table} --only {names}"
    return f"{_listed([place.title for place in todo])} (`{command}`)"


def steps_of(rows: list[Any], measure: str) -> Estimate:
    """Return the steps of runs: layouts are drawn first, then runs."""
    return estimate(column(rows, measure), groups=[row["layout"] for row in rows], limit=rows[0]["limit"])


def steps(table: str, place: str, method: str, measure: str) -> str:
    """Return the steps of one method in one place."""
    runs = {where.name: runs for where, runs in runs_of(table).items()}
    return str(steps_of(runs[place][method], measure))


def times(others: list[Any], ours: list[Any], measure: str) -> Estimate:
    """Return how many times as many steps others take as we do, run by run: each has the same layout, or tasks, there.

    At least as many, if it is the others that did not get there.
    """
    pairs = [np.minimum(column(rows, measure), rows[0]["limit"]) for rows in (others, ours)]
    found = estimate(np.log(pairs[0] / pairs[1]), groups=[row["layout"] for row in ours])
    value, low, high = (math.exp(one) for one in (found.value, found.low, found.high))
    return Estimate(value, low, high, capped=steps_of(others, measure).capped)


def ratios(table: str, method: str, measure: str) -> dict[str, Estimate]:
    """Return how many times as many steps a method takes as diffusion options, by the title of the place.

    Where neither got there in three quarters of its runs, nothing can be said.
    """
    found = {place.title: (runs[method], runs["diffusion"]) for place, runs in runs_of(table).items()}
    return {
        title: times(*pair, measure)
        for title, pair in found.items()
        if not all(steps_of(rows, measure).capped for rows in pair)
    }


def sooner(table: str, method: str, measure: str) -> str:
    """Return how many times sooner diffusion options get there than a method, where the interval is above 1."""
    found = ratios(table, method, measure)
    above = sorted((one for one in found.values() if one.low > 1), key=lambda one: one.value)
    where = f"in {len(above)} of {len(found)}"
    if not above:
        return f"sooner {where}"
    least, most = (one.alone for one in (above[0], above[-1]))
    return f"{least} × sooner {where}" if len(above) == 1 else f"{least} × to {most} × sooner {where}"


def not_sooner(table: str, method: str, measure: str) -> str:
    """Return where the interval holds 1, and where a method gets there sooner than diffusion options."""
    found = ratios(table, method, measure)
    behind = [title for title, one in found.items() if one.high < 1]
    return _level_or_behind([title for title, one in found.items() if one.low <= 1 <= one.high], behind, len(found))


def counted(table: str, method: str, measure: str) -> str:
    """Return in how many places the interval holds 1, or lies below it."""
    found = ratios(table, method, measure).values()
    level, behind = sum(one.low <= 1 <= one.high for one in found), sum(one.high < 1 for one in found)
    texts = [f"{text} in {number} of {len(found)}" for text, number in (("level", level), ("behind", behind)) if number]
    return " and ".join(texts) or f"sooner in {len(found)} of {len(found)}"


def too_few(table: str, measure: str) -> str:
    """Return the places in which too few runs of any method got there for a comparison, and how many did."""
    found = []
    for place in _unreached(table, measure):
        runs = runs_of(table)[place]
        counts = {
            method: Count(sum(row[measure] is not None for row in rows), len(rows)) for method, rows in runs.items()
        }
        texts = [f"{METHOD_TITLES[method]} {counts[method]}" for method in PLACES[table][1]]
        some = any(count.number for count in counts.values())
        found.append(f"{place.title} ({'; '.join(texts)})" if some else place.title)
    return _listed(found or ["none"])


def share_rows() -> list[Row]:
    """Return the share of the states that was seen at the end, in places of which nobody saw nine tenths."""
    places, found = _unreached("seen", "most"), runs_of("seen")
    rows: list[Row] = []
    for method in plan.METHODS:
        shares: Row = {}
        for place in places:
            runs = found[place][method]
            seen = [100 * (1 - row["n_unseen"] / row["n_states"]) for row in runs]
            shares[f"{place.title}, %"] = estimate(seen, groups=[row["layout"] for row in runs])
        rows.append({"": METHOD_TITLES[method], **shares})
    return rows


def _unreached(table: str, measure: str) -> list[Place]:
    return [
        place for place, runs in runs_of(table).items() if all(steps_of(rows, measure).capped for rows in runs.values())
    ]


def _level_or_behind(level: list[str], behind: list[str], n_places: int) -> str:
    if len(level) == n_places:
        return "level in all of them"
    texts = [f"level in {_listed(level)}"] if level else []
    texts += [f"behind in {_listed(behind)}"] if behind else []
    return " and ".join(texts) or "level in none"


def _listed(names: list[str]) -> str:
    comma = "; " if any(", " in name for name in names) else ", "
    return names[0] if len(names) == 1 else f"{comma.join(names[:-1])} and {names[-1]}"


def draw(table: str, *measures: str) -> Figure:
    """Return the steps of every method in every place, a panel for each measure, on a logarithmic scale."""
    found, methods = runs_of(table), PLACES[table][1]
    figure = new_figure(4.6 * len(measures) + 3.4, 0.55 * len(found) + 1.4)
    panels = figure.subplots(1, len(measures), sharey=True, squeeze=False)[0]
    for axes, measure in zip(panels, measures, strict=True):
        for height, runs in enumerate(found.values()):
            for offset, method in enumerate(methods):
                # In an environment that cannot be enumerated nobody knows what is optimal.
                if all(row[measure] is None for one in runs.values() for row in one):
                    continue
                one = steps_of(runs[method], measure)
                y = height + 0.8 * ((offset + 0.5) / len(methods) - 0.5)
                label = METHOD_TITLES[method] if height == 0 else None
                interval_dot(axes, y, one.value, one.low, one.high, color=METHOD_COLORS[method], label=label)
                if one.capped:
                    axes.annotate("→", (one.value, y), (4, 0), textcoords="offset points", va="center", fontsize=8)
        axes.set_xscale("log")
        axes.set_xlabel(_MEASURES[measure])
        tidy(axes)
        axes.grid(axis="x", color="#00000012")
    panels[0].set_yticks(range(len(found)), [place.title for place in found])
    panels[0].invert_yaxis()
    panels[-1].legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def picture(table: str, *measures: str) -> Picture:
    """Return the figure of a table."""
    what = " and ".join(_MEASURES[measure] for measure in measures)
    return Picture(f"{what[0].upper()}{what[1:]}: {_COUNTED}", partial(draw, table, *measures))


def neo_rows() -> list[Row]:
    """Return the steps until nine tenths were seen by the protocol of NEO."""
    found = runs_of("neo")
    rows: list[Row] = []
    for method in plan.NEO_METHODS:
        cells: Row = {place.title: steps_of(runs[method], "most") for place, runs in found.items()}
        rows.append({"": METHOD_TITLES[method], **cells})
    return rows


def later_rows() -> list[Row]:
    """Return the steps of all tasks with diffusion options, and how many times as many the others take."""
    rows: list[Row] = []
    for place, runs in runs_of("later").items():
        row: Row = {"world": place.title, "diffusion": steps_of(runs["diffusion"], "near_optimal")}
        for method in plan.LATER_METHODS[1:]:
            row[f"{METHOD_TITLES[method]}, ×"] = times(runs[method], runs["diffusion"], "near_optimal")
        rows.append(row)
    return rows


def fewer(method: str) -> str:
    """Return by how much fewer steps later tasks take with diffusion options, where the interval is above 1."""
    found = ratios("later", method, "near_optimal")
    shares = sorted(100 * (1 - 1 / one.value) for one in found.values() if one.low > 1)
    where = f"in {len(shares)} of {len(found)} worlds"
    if not shares:
        return f"fewer steps {where}"
    least, most = (f"{share:.0f} %" for share in (shares[0], shares[-1]))
    return f"{least if least == most else f'{least} to {most}'} fewer steps {where}"


def view_rows() -> list[Row]:
    """Return the steps until the goal of an environment was first reached, by what is observed."""
    titles = {"full": "full observations", "own": "own 7 × 7 view", "none": "primitive actions"}
    return [
        {"environment": place.title, **{title: steps_of(runs[view], "first") for view, title in titles.items()}}
        for place, runs in runs_of("views").items()
    ]


def reached(place: str, view: str) -> str:
    """Return in how many of its runs an environment's goal was reached, by what is observed."""
    runs = {where.name: runs for where, runs in runs_of("views").items()}[place][view]
    return str(Count(sum(row["first"] is not None for row in runs), len(runs)))


def probabilities(table: str) -> str:
    """Return the option probabilities that were chosen for diffusion options, and in how many places."""
    chosen = [runs["diffusion"][0]["probability"] for runs in runs_of(table).values()]
    return _listed([f"{p:g} in {chosen.count(p)}" for p in sorted(set(chosen))])


SHOWN: dict[str, Callable[[], Any]] = {
    "seen": lambda: picture("seen", "most"),
    "learning": lambda: picture("learning", "first", "near_optimal"),
    "environments": lambda: picture("environments", "first", "near_optimal"),
    "wrapper": lambda: picture("wrapper", "first", "near_optimal"),
    "neo": neo_rows,
    "later": later_rows,
    "views": view_rows,
    "seen_maze": lambda: steps("seen", "maze", "diffusion", "most"),
    "seen_maze40": lambda: steps("seen", "maze40", "diffusion", "most"),
    "views_full": lambda: reached("multiroom4", "full"),
    "views_own": lambda: reached("multiroom4", "own"),
    "seen_probabilities": lambda: probabilities("seen"),
    **{f"later_{method}": partial(fewer, method) for method in plan.LATER_METHODS[1:]},
    **{
        f"later_{method}_level": partial(not_sooner, "later", method, "near_optimal")
        for method in plan.LATER_METHODS[1:]
    },
    **{f"{table}_missing": partial(missing, table) for table in PLACES},
    "seen_shares": share_rows,
    **{
        f"{table}_too_few": partial(too_few, table, measure)
        for table, measure in (("seen", "most"), ("learning", "near_optimal"), ("wrapper", "near_optimal"))
    },
    **{
        f"{table}_{method}{end}": partial(function, table, method, measure)
        for table, measure in (
            ("seen", "most"),
            ("learning", "near_optimal"),
            ("environments", "near_optimal"),
            ("wrapper", "near_optimal"),
        )
        for method in PLACES[table][1][1:]
        for end, function in (("", sooner), ("_level", not_sooner), ("_counted", counted))
    },
}
