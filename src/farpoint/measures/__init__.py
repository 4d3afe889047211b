"""How good options are: exact steps between states, cover time, visitation."""

from farpoint.measures.aggregation import Aggregation, Bounds, aggregate
from farpoint.measures.comparison import Compared, Comparison, compare
from farpoint.measures.decisions import decisions_between_states
from farpoint.measures.statistics import Estimate, estimate, format_number
from farpoint.measures.steps import StepsBetweenStates, best_option_probability, steps_between_states
from farpoint.measures.walks import CoverTime, cover_time, first_visits, visitation

__all__ = [
    "Aggregation",
    "Bounds",
    "Compared",
    "Comparison",
    "CoverTime",
    "Estimate",
    "StepsBetweenStates",
    "aggregate",
    "best_option_probability",
    "compare",
    "cover_time",
    "decisions_between_states",
    "estimate",
    "first_visits",
    "format_number",
    "steps_between_states",
    "visitation",
]
