"""The page on real environments."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from farpoint.experiments.environments import N_OPTIONS, STEPS, Environment, environment_rows, experiment_of
from farpoint.experiments.paper import METHOD_TITLES, STEP_METHODS
from farpoint.experiments.runner import Results
from farpoint.measures.statistics import interquartile_mean
from farpoint.report.curves import METHOD_COLORS, tidy
from farpoint.report.page import Page, Section

_WHERE_NOT = (
    "In the MiniGrid worlds diffusion options do not help, or hinder. FourRooms: their goals are corners, "
    "the goal cell is not one, and since it ends the episode no route passes through it, so that time "
    "spent on options is not spent near it. MultiRoom: the score (there the walk's own form, the world "
    "having more than 2 500 states) has its maxima in the small closed room in which episodes begin, so "
    "that the options lead nowhere new."
)


def environments_page(results: Results, environments: Sequence[Environment]) -> Page:
    """Return the page: one figure of all environments, one table of each."""
    overview = Section(
        "overview",
        "All environments",
        "interquartile means of runs with 95 % intervals",
        _WHERE_NOT,
        [("Environment steps until the goal is first reached, and until the greedy policy is near optimal.",
          draw_environments(results, environments))],
    )  # fmt: skip
    sections = [
        Section(
            environment.name,
            environment.title,
            f"{environment.env}, {_n_states(results, environment):,} states",
            rows=environment_rows(results, environment),
            seconds=results.time_of(experiment_of(environment)),
        )
        for environment in environments
    ]
    lead = (
        f"Intra-option Q-learning with up to {N_OPTIONS} options, as many of each method, found without reward from "
        "the environment's own transitions (no steps are spent on discovery). Learning is simulated on those, "
        f"at most {STEPS:,} steps a run. No option leads into a state in which the episode ends."
    )
    return Page("Do options help in real environments?", lead, [overview, *sections])


def _n_states(results: Results, environment: Environment) -> int:
    return int(results[environment.part("none", results.scale)]["n_states"])


def draw_environments(results: Results, environments: Sequence[Environment]) -> Figure:
    """Return both measures for every environment and method, on a logarithmic scale."""
    figure = Figure(figsize=(11.5, 0.85 * len(environments) + 1.4), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for axes, (name, title) in zip(
        panels, (("first_goal", "goal first reached"), ("near_optimal", "near optimal")), strict=True
    ):
        for place, environment in enumerate(environments):
            for offset, method in enumerate(STEP_METHODS):
                part = environment.part(method, results.scale)
                most = dict(part.params)["steps"]
                estimate = interquartile_mean(np.minimum(results[part][name], most))
                y = place + 0.15 * (offset - 2)
                color = METHOD_COLORS[method]
                axes.plot([estimate.low, estimate.high], [y, y], color=color, linewidth=2)
                axes.plot(
                    estimate.value,
                    y,
                    "o",
                    color=color,
                    markersize=6,
                    label=METHOD_TITLES[method] if place == 0 else None,
                )
        axes.set_xscale("log")
        axes.set_xlabel(f"environment steps until: {title}")
        tidy(axes)
        axes.grid(axis="x", color="#00000012")
    panels[0].set_yticks(range(len(environments)), [environment.title for environment in environments])
    panels[0].invert_yaxis()
    panels[1].legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure
