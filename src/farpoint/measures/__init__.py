"""How good options are: exact steps between states, cover time, visitation."""

from farpoint.measures.steps import StepsBetweenStates, steps_between_states
from farpoint.measures.walks import CoverTime, SampledSteps, cover_time, sample_steps_between_states, visitation

__all__ = [
    "CoverTime",
    "SampledSteps",
    "StepsBetweenStates",
    "cover_time",
    "sample_steps_between_states",
    "steps_between_states",
    "visitation",
]
