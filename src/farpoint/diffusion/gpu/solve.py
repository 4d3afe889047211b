"""The local solver's plans, computed on a GPU."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from farpoint.diffusion.gpu.device import cupy, has_gpu
from farpoint.diffusion.gpu.graphs import score_graph
from farpoint.diffusion.gpu.maps import score_map
from farpoint.diffusion.scores.bounds import rounding_bound
from farpoint.diffusion.scores.local import LocalScores
from farpoint.diffusion.scores.request import ScoreRequest

# Below, the processor is done before the map has reached the card.
_FEWEST_STATES = 1_000_000


def worth_it(plan: LocalScores, request: ScoreRequest) -> bool:
    """Return whether ``device="auto"`` takes the GPU: a large map, nothing that only the processor does, and a card."""
    return (
        plan.walk.floor is not None
        and plan.walk.n_states > _FEWEST_STATES
        and request.checkpoint is None
        and request.progress is None
        and has_gpu()
    )


def plan_scores(plan: LocalScores) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Return the scores of all states, and bounds on their errors where there is a tolerance."""
    cupy()
    floor, tolerance = plan.walk.floor, plan.tolerance
    if floor is None:
        values = score_graph(plan.walk, plan.t)
    else:
        scores = score_map(floor, plan.t, tolerance=tolerance)
        values = (scores if isinstance(scores, np.ndarray) else scores.get())[floor]
    if tolerance is None:
        return values, None
    rounding = rounding_bound(values, plan.t, 4, 2 * plan.t**2 + 2 * plan.t + 1, plan.walk.pi_squared)
    # Scores so small that they round more have that as their bound.
    return values, np.maximum(tolerance * values, rounding)
