"""Do options help in real environments? Which environments, which methods, how many runs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from farpoint.errors import check_word
from farpoint.experiments.paper import METHOD_TITLES, STEP_METHODS, Experiment, Scale
from farpoint.experiments.parts import Part
from farpoint.experiments.runner import Results
from farpoint.experiments.tables import Row
from farpoint.measures.statistics import interquartile_mean

N_OPTIONS = 10
STEPS = 500_000
LAYOUT = 3


@dataclass(frozen=True)
class Environment:
    """An environment and how it is made."""

    name: str
    title: str
    env: str
    slippery: bool | None = None

    def part(self, method: str, scale: Scale) -> Part:
        """Return learning in it with the options of a method."""
        full = scale.runs >= 20
        return Part.of(
            "episodes",
            env=self.env,
            slippery=self.slippery,
            method=method,
            n_options=N_OPTIONS,
            runs=20 if full else scale.runs,
            steps=STEPS if full else 20_000,
            layout=LAYOUT,
        )


ENVIRONMENTS = (
    Environment("fourrooms", "MiniGrid FourRooms", "MiniGrid-FourRooms-v0"),
    Environment("multiroom", "MiniGrid MultiRoom-N4-S5", "MiniGrid-MultiRoom-N4-S5-v0"),
    Environment("doorkey", "MiniGrid DoorKey-8x8", "MiniGrid-DoorKey-8x8-v0"),
    Environment("frozenlake", "FrozenLake 8x8", "FrozenLake8x8-v1", slippery=False),
    Environment("slipperylake", "FrozenLake 8x8, slippery", "FrozenLake8x8-v1", slippery=True),
    Environment("taxi", "Taxi", "Taxi-v4"),
    Environment("cliff", "CliffWalking", "CliffWalking-v1"),
)


def choose_environments(names: list[str] | None) -> list[Environment]:
    """Return the environments of these names; None is all."""
    if names is None:
        return list(ENVIRONMENTS)
    known = [environment.name for environment in ENVIRONMENTS]
    wanted = {check_word("environment", name, known) for name in names}
    return [environment for environment in ENVIRONMENTS if environment.name in wanted]


def experiment_of(environment: Environment) -> Experiment:
    """Return the experiment of one environment: every method."""
    return Experiment(
        environment.name,
        environment.title,
        environment.env,
        lambda scale: [environment.part(method, scale) for method in STEP_METHODS],
    )


def environment_rows(results: Results, environment: Environment) -> list[Row]:
    """Return steps until the goal and until the way is known, for each method; the most for runs without."""
    rows: list[Row] = []
    for method in STEP_METHODS:
        part = environment.part(method, results.scale)
        arrays = results[part]
        most = dict(part.params)["steps"]
        row: Row = {"method": METHOD_TITLES[method], "options": int(arrays["n_options"])}
        for name, title in (("first_goal", "goal first reached"), ("near_optimal", "near optimal")):
            values = arrays[name]
            estimate = interquartile_mean(np.minimum(values, most))
            row[f"{title} [95 %]"] = f"{estimate.value:,.0f} [{estimate.low:,.0f}, {estimate.high:,.0f}]"
            row[f"{title}, runs"] = f"{int(np.isfinite(values).sum())} of {values.size}"
        rows.append(row)
    return rows
