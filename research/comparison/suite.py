"""The suite that ranks all methods: one experiment per family of worlds."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from farpoint.paper.framework import Experiment, Suite, Summary
from research.comparison.computation import KINDS
from research.comparison.pages import draw_profiles, family_rows, known_families, ranking_rows
from research.comparison.plan import FAMILIES, FULL, N_OPTIONS, QUICK, Results, Scale, parts_of


def summarize(results: Results, experiments: Sequence[Experiment[Scale]]) -> Summary:
    """Return the ranking over all worlds that were measured."""
    families = known_families([experiment.name for experiment in experiments])
    caption = (
        "Performance profiles: in which share of the worlds a method needs at most so many times what the best one "
        "needs. Bands (of ten worlds or more): 95 %, worlds resampled within each family."
    )
    rows = ranking_rows(results, families)
    lines = [" | ".join(row), " | ".join("---" for _ in row)] if (row := rows[0] if rows else {}) else []
    lines += [" | ".join(str(value) for value in row.values()) for row in rows]
    return Summary((caption, draw_profiles(results, families)), rows, "\n".join(f"| {line} |" for line in lines))


EXPERIMENTS: tuple[Experiment[Scale], ...] = tuple(
    Experiment(
        family,
        title[0].upper() + title[1:],
        "ten options of each method, fewer in small worlds",
        parts=partial(parts_of, family),
        rows=partial(family_rows, family=family),
        needs={"sknetwork": "farpoint[graphs]"} | ({"networkx": "networkx"} if family == "graphs" else {}),
    )
    for family, title in FAMILIES.items()
)

SUITE = Suite(
    name="compare",
    title="All methods, many worlds",
    lead=(
        f"Every method finds {N_OPTIONS} options without a reward; the same agents then use them, each set with its "
        "own best option probability by exact mean steps (in environments, by the rule of docs/choices.md). Steps "
        "between states are exact; cover times, learning and first targets are simulated. Seconds to discover depend "
        "on the machine."
    ),
    experiments=EXPERIMENTS,
    kinds=KINDS,
    full=FULL,
    quick=QUICK,
    summary=summarize,
)
