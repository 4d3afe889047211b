"""The suite that ranks all methods: a ranking over all worlds, and a section per family of worlds."""

from __future__ import annotations

from functools import partial

from farpoint.paper.page import Section, Study
from research.comparison.pages import draw_profiles, family_rows, ranking_rows
from research.comparison.plan import FAMILIES, FULL, N_OPTIONS, QUICK

_NEEDS = {"sknetwork": "farpoint[graphs]"}
SECTIONS: tuple[Section, ...] = (
    Section(
        "ranking",
        "Ranking",
        "all families of worlds",
        rows=ranking_rows,
        figures=draw_profiles,
        needs=_NEEDS | {"networkx": "networkx"},
    ),
    *(
        Section(
            family,
            title[0].upper() + title[1:],
            "ten options of each method, fewer in small worlds",
            rows=partial(family_rows, family=family),
            needs=_NEEDS | ({"networkx": "networkx"} if family == "graphs" else {}),
        )
        for family, title in FAMILIES.items()
    ),
)

SUITE = Study(
    name="compare",
    title="All methods, many worlds",
    lead=(
        f"Every method finds {N_OPTIONS} options without a reward; the same agents then use them, each set with its "
        "own best option probability by exact mean steps (in environments, by the rule of docs/choices.md). Steps "
        "and decisions between states are exact; cover times, learning and first targets are simulated. Seconds to "
        "discover depend on the machine."
    ),
    sections=SECTIONS,
    full=FULL,
    quick=QUICK,
)
