"""Goals chosen by what they are worth: greedily one by one, then exchanged while that helps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from farpoint.options.goal_tables import GoalSteps

# A target that is out of reach counts as this many steps, so that one such target is better than two.
_OUT_OF_REACH = 1e14
# An exchange must gain this share, or it is rounding.
_GAIN = 1e-9
# The integral over time is a sum over this many times, from a ten thousandth of the longest mean to fifty times that.
_TIMES = np.geomspace(1e-4, 50.0, 128)


Weights = NDArray[np.float64]


def _mean(steps: NDArray[np.float64], weights: Weights) -> NDArray[np.float64]:
    return np.tensordot(weights, steps, axes=1)


def _worst(steps: NDArray[np.float64], weights: Weights) -> NDArray[np.float64]:
    return np.asarray(steps.max(axis=0))


def _cover(steps: NDArray[np.float64], weights: Weights) -> NDArray[np.float64]:
    """Return the expected time of the last arrival, if the arrivals at targets were independent and exponential.

    E max = ∫ 1 − Π_x (1 − exp(−τ / h_x)) dτ, by the trapezoidal rule over log τ. The times are those of each set of
    goals by itself, so that its value does not depend on the sets it is computed beside.
    """
    # A target that stands for several counts as often.
    copies = weights / weights.min()
    longest = np.maximum(steps.max(axis=0), 1e-9)
    shares = np.maximum(steps / longest, 1e-12)
    total = np.zeros(steps.shape[1:])
    for time in _TIMES:
        arrived = np.log1p(-np.exp(-time / shares))
        total -= np.expm1(np.tensordot(copies, arrived, axes=1)) * time
    return np.asarray(longest * (_TIMES[0] + np.log(_TIMES[1] / _TIMES[0]) * total))


OBJECTIVES: dict[str, Callable[[NDArray[np.float64], Weights], NDArray[np.float64]]] = {
    "mean": _mean,
    "worst": _worst,
    "cover": _cover,
}


def objective_of(steps: NDArray[np.float64], objective: str, weights: Weights | None = None) -> NDArray[np.float64]:
    """Return what is to be least, of mean steps to targets along the first axis; ``weights`` of the targets sum to 1.

    ``"mean"``: their mean. ``"worst"``: the largest. ``"cover"``: the time until all targets have been visited, as if
    the arrivals were independent, which is an estimate.

    Examples
    --------
    >>> steps = np.array([10.0, 20.0, 60.0])
    >>> [float(objective_of(steps, name).round(1)) for name in ("mean", "worst", "cover")]
    [30.0, 60.0, 65.8]
    """
    weights = np.full(len(steps), 1.0 / len(steps)) if weights is None else weights
    return OBJECTIVES[objective](np.where(np.isfinite(steps), steps, _OUT_OF_REACH), weights)


def greedy_goals(
    tables: GoalSteps, n_goals: int, objective: str = "mean", n_jobs: int = -1, *, first: tuple[int, ...] = ()
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return goals taken one by one, each the best with those before it, and the objective after each.

    Goals are places among the candidates of the tables.

    Examples
    --------
    >>> import farpoint as fp
    >>> from farpoint.options.goal_tables import goal_steps
    >>> everywhere = np.arange(9)
    >>> greedy_goals(goal_steps(fp.grid((9,)), everywhere, everywhere, 0.1), 2)[0]        # no match for an exchange
    array([4, 5])
    """
    goals = list(first)
    values = []
    while len(goals) < n_goals:
        chosen = np.array(goals, dtype=np.int64)
        value = objective_of(tables.with_one_more(chosen, n_jobs), objective, tables.weights)
        value[chosen] = np.inf
        goals.append(int(value.argmin()))
        values.append(float(value.min()))
    return np.array(goals, dtype=np.int64), np.array(values)


def exchanged_goals(
    tables: GoalSteps, goals: NDArray[np.int64], objective: str = "mean", n_jobs: int = -1, *, min_gain: float = _GAIN
) -> tuple[NDArray[np.int64], float]:
    """Return the goals after exchanging one for a candidate, again and again, until none helps; and the objective.

    In each round all exchanges are judged at once; then the best one of every goal is made, the most helpful first, if
    it still helps after those before it. A round that gains a smaller share than ``min_gain`` is the last.

    Examples
    --------
    >>> import farpoint as fp
    >>> from farpoint.options.goal_tables import goal_steps
    >>> everywhere = np.arange(9)
    >>> exchanged_goals(goal_steps(fp.grid((9,)), everywhere, everywhere, 0.3), np.array([3, 4]))[0]
    array([0, 8])
    """
    goals = goals.copy()
    value = float(objective_of(tables.mean_steps(goals), objective, tables.weights))
    while True:
        values = objective_of(tables.with_one_replaced(goals, n_jobs), objective, tables.weights)
        values[:, goals] = np.inf
        best = values.argmin(axis=1)
        gains = values[np.arange(goals.size), best]
        before = value
        for place in np.argsort(gains, kind="stable"):
            if not gains[place] < value * (1.0 - _GAIN) or best[place] in goals:
                continue
            trial = goals.copy()
            trial[place] = best[place]
            new = float(objective_of(tables.mean_steps(trial), objective, tables.weights))
            if new < value * (1.0 - _GAIN):
                goals, value = trial, new
        if value > before * (1.0 - min_gain):
            return goals, value
