"""Exploring from scratch, every step counted: the tables of docs/exploring.md.

explore-seen: steps until a place has been seen. explore-neo: the same by the protocol of NEO. explore-views: MiniGrid
from full observations and from its own view. explore-learning, explore-environments: a task learned on the way.
explore-later: tasks that come after one exploration. explore-wrapper: an agent of its own under DiscoveringWrapper.

The option probability of each method is the best of four in ten runs that no table shows, in each place anew.
"""

from __future__ import annotations

from research.exploration import plan
from research.exploration.later import measure_later
from research.exploration.learning import measure_learning
from research.exploration.seen import measure_neo, measure_seen, parts_of_neo
from research.exploration.views import measure_view, parts_of_views
from research.exploration.wrapped import measure_wrapped
from research.runner import Table

_WRAPPED = tuple(plan.WRAPPED_PLACES.values())

TABLES = (
    Table(
        "explore-seen",
        measure_seen,
        plan.first_parts(plan.SEEN_PLACES, plan.METHODS),
        then=plan.shown_parts(plan.SEEN_PLACES, "most", "n_unseen"),
    ),
    Table("explore-neo", measure_neo, parts_of_neo),
    Table("explore-views", measure_view, parts_of_views),
    Table(
        "explore-learning",
        measure_learning,
        plan.first_parts(plan.LEARNING_PLACES, plan.LEARNERS),
        then=plan.shown_parts(plan.LEARNING_PLACES, "near_optimal", "first"),
    ),
    Table(
        "explore-environments",
        measure_learning,
        plan.first_parts(plan.ENVIRONMENT_PLACES, plan.LEARNERS),
        then=plan.shown_parts(plan.ENVIRONMENT_PLACES, "near_optimal", "first"),
    ),
    Table(
        "explore-later",
        measure_later,
        plan.first_parts(plan.LATER_PLACES, plan.LATER_METHODS),
        then=plan.shown_parts(plan.LATER_PLACES, "near_optimal", "first"),
    ),
    Table(
        "explore-wrapper",
        measure_wrapped,
        plan.first_parts(_WRAPPED, plan.WRAPPED_METHODS),
        then=plan.shown_parts(_WRAPPED, "near_optimal", "first"),
    ),
)
