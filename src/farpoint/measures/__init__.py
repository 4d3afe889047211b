"""How good options are: exact steps between states, cover time, visitation."""

from farpoint.measures.probability import best_option_probability
from farpoint.measures.statistics import Estimate, estimate, format_number
from farpoint.measures.steps import steps_between_states
from farpoint.measures.steps_result import StepsBetweenStates
from farpoint.measures.visits import first_visits
from farpoint.measures.walks import CoverTime, SampledSteps, cover_time, sample_steps_between_states, visitation

__all__ = [
    "CoverTime",
    "Estimate",
    "SampledSteps",
    "StepsBetweenStates",
    "best_option_probability",
    "cover_time",
    "estimate",
    "first_visits",
    "format_number",
    "sample_steps_between_states",
    "steps_between_states",
    "visitation",
]
