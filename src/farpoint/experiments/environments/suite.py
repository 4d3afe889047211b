"""The suite on Gymnasium environments: one experiment per environment, and one figure and table of them all."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from farpoint.experiments.environments.computation import KINDS
from farpoint.experiments.environments.plan import (
    ENVIRONMENTS,
    FULL,
    METHODS,
    N_OPTIONS,
    QUICK,
    Environment,
    Results,
    Scale,
)
from farpoint.experiments.framework import Experiment, Suite, Summary
from farpoint.measures.statistics import Estimate, interquartile_mean
from farpoint.report.curves import interval_dot, tidy
from farpoint.report.names import METHOD_COLORS, METHOD_TITLES
from farpoint.report.sheets import new_figure
from farpoint.report.tables import Row

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MEASURES = {"first_target": "target first reached", "near_optimal": "near-optimal"}
_CAPTION = (
    "Environment steps until a target is first reached, and until the greedy policy is near-optimal: interquartile "
    "means of runs with 95 % intervals."
)


def environment_rows(results: Results, environment: Environment) -> list[Row]:
    """Return the steps until the goal and until a near-optimal policy, for each method."""
    rows: list[Row] = []
    for method in METHODS:
        arrays = results[environment.part(method, results.scale)]
        row: Row = {"method": METHOD_TITLES[method], "options": int(arrays["n_options"])}
        for name, title in _MEASURES.items():
            estimate, values = _estimate(results, environment, method, name), arrays[name]
            row[f"{title} [95 %]"] = f"{estimate.value:,.0f} [{estimate.low:,.0f}, {estimate.high:,.0f}]"
            row[f"{title}, runs"] = f"{int(np.isfinite(values).sum())} of {values.size}"
        rows.append(row)
    return rows


def _estimate(results: Results, environment: Environment, method: str, name: str) -> Estimate:
    """Return the interquartile mean of a measure; runs that did not get there count with the most steps of a run."""
    values = results[environment.part(method, results.scale)][name]
    return interquartile_mean(np.minimum(values, results.scale.n_steps))


def draw_environments(results: Results, environments: Sequence[Environment]) -> Figure:
    """Return both measures for every environment and method, on a logarithmic scale."""
    figure = new_figure(11.5, 0.85 * len(environments) + 1.4)
    panels = figure.subplots(1, 2, sharey=True)
    for axes, (name, title) in zip(panels, _MEASURES.items(), strict=True):
        for place, environment in enumerate(environments):
            for offset, method in enumerate(METHODS):
                estimate = _estimate(results, environment, method, name)
                y = place + 0.15 * (offset - 2)
                label = METHOD_TITLES[method] if place == 0 else None
                color = METHOD_COLORS[method]
                interval_dot(axes, y, estimate.value, estimate.low, estimate.high, color=color, label=label)
        axes.set_xscale("log")
        axes.set_xlabel(f"environment steps until: {title}")
        tidy(axes)
        axes.grid(axis="x", color="#00000012")
    panels[0].set_yticks(range(len(environments)), [environment.title for environment in environments])
    panels[0].invert_yaxis()
    panels[1].legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def summarize(results: Results, experiments: Sequence[Experiment[Scale]]) -> Summary:
    """Return one figure and one table of all environments that were run."""
    names = {experiment.name for experiment in experiments}
    chosen = [environment for environment in ENVIRONMENTS if environment.name in names]
    sizes = [
        f"{environment.title} {int(results[environment.part('none', results.scale)]['n_states']):,}"
        for environment in chosen
    ]
    return Summary(
        figure=(_CAPTION, draw_environments(results, chosen)),
        rows=[{"environment": one.title, **row} for one in chosen for row in environment_rows(results, one)],
        note=(
            f"A random decision is an option with probability {_chance(results.scale)}. "
            f"Numbers of states: {', '.join(sizes)}."
        ),
    )


def _chance(scale: Scale) -> str:
    if scale.option_probability is not None:
        return f"{scale.option_probability:g}"
    return "1 / (1 + 2 d²), d² the mean squared distance to the nearest goal, or 2 per episode if that is more"


def _experiment(environment: Environment) -> Experiment[Scale]:
    minigrid = environment.env.startswith("MiniGrid")
    return Experiment(
        environment.name,
        environment.title,
        environment.env,
        parts=environment.parts,
        rows=partial(environment_rows, environment=environment),
        needs={"minigrid": "farpoint[envs]"} if minigrid else {},
    )


SUITE = Suite(
    name="envs",
    title="Do options help in real environments?",
    lead=(
        f"Intra-option Q-learning with up to {N_OPTIONS} options, the same number of each method, discovered without "
        "reward from the environment's own transitions (no steps are spent on discovery). Learning is simulated on "
        f"these transitions, at most {FULL.n_steps:,} steps per run. No option leads into a state in which the episode "
        "ends."
    ),
    experiments=[_experiment(environment) for environment in ENVIRONMENTS],
    kinds=KINDS,
    full=FULL,
    quick=QUICK,
    summary=summarize,
)
