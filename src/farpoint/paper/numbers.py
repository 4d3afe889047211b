"""Single numbers from the results, which tables, figures and claims share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from farpoint.measures.statistics import Estimate, estimate
from farpoint.measures.steps_result import StepsBetweenStates
from farpoint.paper.framework import Part
from farpoint.paper.plan import Results, steps_part

Curve = NDArray[np.float64]


def typical_steps(results: Results, world: str, t: int, method: str, name: str) -> float:
    """Return one statistic of the steps between states; of random options, its median over draws."""
    per_target = results[steps_part(world, t, method, results.scale)]["per_target"]
    targets = np.arange(per_target.shape[1])
    draws = [StepsBetweenStates(steps[None, :], targets) for steps in per_target]
    return float(np.median([getattr(steps, name) for steps in draws]))


def run_means(results: Results, part: Part) -> NDArray[np.float64]:
    """Return the mean of each run of a learning part over targets and episodes."""
    return np.asarray(results[part]["curves"].mean(axis=(1, 2), dtype=np.float64))


def mean_steps(results: Results, part: Part) -> Estimate:
    """Return the mean steps to the target of a learning part, with its interval over runs."""
    return estimate(run_means(results, part), "mean")


def final_means(results: Results, part: Part, n_last: int = 50) -> NDArray[np.float64]:
    """Return the mean steps to the target of each run over the last episodes."""
    return np.asarray(results[part]["curves"][:, :, -n_last:].mean(axis=(1, 2), dtype=np.float64))


def learning_curve(results: Results, part: Part) -> tuple[Curve, Curve]:
    """Return the mean steps after each episode, and their standard deviation over targets (over runs if only one)."""
    values = results[part]["curves"].astype(np.float64)
    over = values[:, 0] if values.shape[1] == 1 else values.mean(axis=0)
    return values.mean(axis=(0, 1)), over.std(axis=0, ddof=1)
