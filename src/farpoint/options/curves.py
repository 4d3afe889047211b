"""How many options: mean steps over their number, and the knee of that curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from farpoint.options.exchange import exchanged_goals, greedy_goals, objective_of
from farpoint.options.goal_tables import GoalSteps, goal_steps
from farpoint.options.planning import both_ways, drawn_targets, is_crossable
from farpoint.worlds import World

# Sets are compared with the best of these probabilities.
PROBABILITIES = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
# The numbers on the curve.
NUMBERS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 64)
# With more states than this targets are sampled.
_TARGETS = 256
_WORTH_AN_EXCHANGE = 3e-3


@dataclass(frozen=True, eq=False)
class OptionsCurve:
    """What is least (mean steps, by default) over the number of options, each with its best probability.

    Attributes
    ----------
    numbers : array of int
    steps : array of float
    probabilities : array of float

    Examples
    --------
    >>> curve = OptionsCurve(np.array([1, 2, 4, 8]), np.array([400.0, 120.0, 100.0, 95.0]), np.full(4, 0.1))
    >>> curve.knee
    2
    """

    numbers: NDArray[np.int64]
    steps: NDArray[np.float64]
    probabilities: NDArray[np.float64]

    @property
    def knee(self) -> int:
        """The number at which the curve lies farthest below the line between its ends, on a logarithmic scale of steps.

        Beyond it an option more gains less than the average one did (Satopää et al., 2011).
        """
        numbers, heights = self.numbers.astype(np.float64), np.log(self.steps)
        if numbers.size < 3 or not heights[0] > heights[-1]:
            return int(self.numbers[int(np.argmin(heights))])
        along = (numbers - numbers[0]) / (numbers[-1] - numbers[0])
        fallen = (heights[0] - heights) / (heights[0] - heights[-1])
        return int(self.numbers[int(np.argmax(fallen - along))])

    def to_record(self) -> dict[str, list[float]]:
        """Return the curve as lists, for the record of an `OptionSet`."""
        return {
            "numbers": [int(number) for number in self.numbers],
            "steps": [float(value) for value in self.steps],
            "probabilities": [float(value) for value in self.probabilities],
        }


class Judged(NamedTuple):
    """The least value of each set of goals, and the probability with which it has it."""

    values: NDArray[np.float64]
    probabilities: NDArray[np.float64]


def judge_sets(
    world: World, sets: list[NDArray[np.int64]], *, objective: str = "mean", seed: int = 0, n_jobs: int = -1
) -> Judged:
    """Return the objective of options to each set of goals, with the best of a few probabilities.

    Examples
    --------
    >>> import farpoint as fp
    >>> judged = judge_sets(fp.grid((9,)), [np.array([0, 8]), np.array([3, 4])])
    >>> bool(judged.values[0] < judged.values[1])
    True
    """
    plan = world if is_crossable(world) else both_ways(world)
    candidates = np.unique(np.concatenate(sets))
    targets = drawn_targets(plan, candidates, _TARGETS, np.random.default_rng(seed))
    places = [np.searchsorted(candidates, goals) for goals in sets]
    values = np.empty((len(PROBABILITIES), len(sets)))
    for row, p in enumerate(PROBABILITIES):
        tables = goal_steps(plan, candidates, targets.states, p, n_jobs, weights=targets.weights)
        values[row] = [float(objective_of(tables.mean_steps(goals), objective, tables.weights)) for goals in places]
    return Judged(values.min(axis=0), np.array(PROBABILITIES)[values.argmin(axis=0)])


def exchanged_curve(
    world: World,
    candidates: NDArray[np.int64],
    n_most: int,
    *,
    objective: str = "mean",
    seed: int = 0,
    n_jobs: int = -1,
) -> OptionsCurve:
    """Return the curve of goals that are taken one by one among the candidates and exchanged at each of the numbers.

    Examples
    --------
    >>> import farpoint as fp
    >>> exchanged_curve(fp.grid((9,)), np.arange(9), 3).numbers
    array([1, 2, 3])
    """
    plan = world if is_crossable(world) else both_ways(world)
    targets = drawn_targets(plan, candidates, _TARGETS, np.random.default_rng(seed))
    numbers = np.array([number for number in NUMBERS if number <= n_most])
    known: dict[int, GoalSteps] = {}

    def tables_of(row: int) -> GoalSteps:
        if row not in known:
            known[row] = goal_steps(
                plan, candidates, targets.states, PROBABILITIES[row], n_jobs, weights=targets.weights
            )  # fmt: skip
        return known[row]

    row = 0
    goals = np.empty(0, dtype=np.int64)
    steps, rows = np.empty(numbers.size), np.empty(numbers.size, dtype=np.int64)
    for place, number in enumerate(numbers):
        tables = tables_of(row)
        goals, _ = greedy_goals(tables, int(number), objective, n_jobs, first=tuple(goals.tolist()))
        goals, steps[place] = exchanged_goals(tables, goals, objective, n_jobs, min_gain=_WORTH_AN_EXCHANGE)
        # More options can be taken more often, never less.
        while row + 1 < len(PROBABILITIES):
            tables = tables_of(row + 1)
            trial, value = exchanged_goals(tables, goals, objective, n_jobs, min_gain=_WORTH_AN_EXCHANGE)
            if value >= steps[place]:
                break
            goals, steps[place], row = trial, value, row + 1
            known.pop(row - 1)
        rows[place] = row
    return OptionsCurve(numbers, np.minimum.accumulate(steps), np.array(PROBABILITIES)[rows])
