"""The page on worlds too large or continuous to enumerate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from matplotlib.figure import Figure

from farpoint.experiments import coverage
from farpoint.experiments.large import (
    EXTENSIONS,
    LARGE,
    POLICIES,
    ROWS,
    SHARES,
    TIMES,
    WORLD_TITLES,
    WORLDS,
    coverage_cells,
    coverage_part,
    extension_part,
)
from farpoint.experiments.paper import METHOD_TITLES, Experiment
from farpoint.experiments.runner import Results
from farpoint.report.curves import METHOD_COLORS, tidy
from farpoint.report.page import Page, Section

_MAZE, _POINT_MAZE = coverage.SETTINGS["maze"], coverage.SETTINGS["pointmaze"]
_TEXTS = {
    "extension": (
        "Each cell: correlation of the extended score with the true one over all states · share of the true score's "
        "goals that have one of the extended score's within two moves. Means over draws of random states. The neural "
        "scores hold 11 functions only, which at small t cannot be enough."
    ),
    "eigenfunctions": "All moves of the world as data. Inside repeated eigenvalues whole eigenspaces are compared.",
    "coverage": (
        f"A log of {_MAZE.log_steps:,} random steps gives a graph of {_MAZE.n_samples} samples; each method "
        f"chooses {_MAZE.n_options} goals on it. Options follow routes on that graph with a controller that heads "
        "for the next sample, or one goal-conditioned network (DQN with hindsight replay), trained once on the goals "
        "of all methods in episodes that begin anywhere; options that fail more often than not are left out. The agent "
        "takes random actions and random options, half of each; intervals are over agents, not over logs or trainings."
    ),
    "pointmaze": (
        f"The same with a ball that keeps its momentum: {_POINT_MAZE.log_steps:,} random pushes, "
        f"{_POINT_MAZE.n_samples} samples, {_POINT_MAZE.n_options} goals of each method, routes on the samples only."
    ),
}


def large_page(results: Results, experiments: Sequence[Experiment]) -> Page:
    """Return the page: accuracy of the extensions, learned eigenfunctions, coverage."""
    figures: dict[str, tuple[str, Callable[[Results], Figure]]] = {
        "extension": ("Correlation with the true score, over the share of states that was used.", draw_extension),
        "coverage": ("Share of the maze's cells seen over steps: means, and 95 % bands over agents.", draw_coverage),
        "pointmaze": (
            "Share of the maze's cells seen over pushes: means, and 95 % bands over agents.",
            partial(draw_coverage, env="pointmaze"),
        ),
    }
    sections = []
    for experiment in experiments:
        drawn = (
            [(figures[experiment.name][0], figures[experiment.name][1](results))] if experiment.name in figures else []
        )
        sections.append(
            Section(
                experiment.name,
                experiment.title,
                experiment.place,
                _TEXTS[experiment.name],
                drawn,
                ROWS[experiment.name](results),
                results.time_of(experiment),
            )
        )
    lead = "From a representative set of states to the whole world: scores, goals and options from samples alone."
    return Page("Worlds too large to enumerate", lead, sections)


def draw_extension(results: Results) -> Figure:
    """Return the correlation over the share of the states, for each world."""
    worlds = (*WORLDS, LARGE)
    figure = Figure(figsize=(12.5, 3.4), layout="constrained")
    panels = figure.subplots(1, len(worlds), sharey=True)
    colors = {"nystrom": "#0072b2", "harmonics": "#d55e00"}
    for axes, world in zip(panels, worlds, strict=True):
        for method in EXTENSIONS:
            for t, line in zip(TIMES, ("-", "--"), strict=True):
                means = [
                    results[extension_part(world, t, share, method, results.scale)]["correlation"].mean()
                    for share in SHARES
                ]
                axes.plot(np.array(SHARES) * 100, means, line, color=colors[method], marker="o", markersize=4,
                          label=f"{method}, t = {t}")  # fmt: skip
        axes.set_title(WORLD_TITLES[world], loc="left", fontsize=11)
        axes.set_xscale("log")
        axes.set_xticks(np.array(SHARES) * 100, [f"{100 * share:g}" for share in SHARES])
        axes.minorticks_off()
        axes.set_xlabel("% of the states")
        axes.grid(alpha=0.2)
        tidy(axes)
    panels[0].set_ylabel("correlation with $f_t$")
    panels[0].set_ylim(-0.05, 1.02)
    panels[-1].legend(frameon=False, fontsize=8, loc="lower right")
    return figure


def draw_coverage(results: Results, env: str = "maze") -> Figure:
    """Return a maze with the goals of each method, and the share of it seen over steps for each policy."""
    policies = list(dict.fromkeys(policy for _, policy in coverage_cells(env)))
    figure = Figure(figsize=(4.6 + 4.2 * len(policies), 4.2), layout="constrained")
    axes_map, *panels = figure.subplots(
        1, 1 + len(policies), gridspec_kw={"width_ratios": [1.15] + [1] * len(policies)}
    )
    floor = coverage.SETTINGS[env].make().floor
    axes_map.imshow(~floor, cmap="Greys", vmin=0, vmax=1.6, extent=(0, floor.shape[1], floor.shape[0], 0))
    for method in ("eigen", "random", "diffusion"):
        goals = results[coverage_part(method, "graph", results.scale, env)]["goals"]
        axes_map.scatter(*goals.T, s=26, color=METHOD_COLORS[method], label=METHOD_TITLES[method], zorder=3)
    axes_map.set_axis_off()
    axes_map.set_title("goals on the sampled graph", loc="left", fontsize=11)
    axes_map.legend(frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, 0.02), ncol=3)
    for axes, policy in zip(panels, policies, strict=True):
        for method in coverage.METHODS:
            part = coverage_part(method, "graph" if method == "none" else policy, results.scale, env)
            shares, steps = 100 * results[part]["shares"], results[part]["checkpoints"]
            mean, error = shares.mean(axis=0), 1.96 * shares.std(axis=0, ddof=1) / np.sqrt(len(shares))
            color = METHOD_COLORS[method]
            axes.fill_between(steps, mean - error, mean + error, color=color, alpha=0.18, linewidth=0)
            axes.plot(steps, mean, color=color, linewidth=1.7, label=METHOD_TITLES[method])
        axes.set(xlabel="steps", ylabel="% of the cells seen", ylim=(0, 100), xlim=(0, steps[-1]))
        axes.set_title(POLICIES[policy], loc="left", fontsize=11)
        tidy(axes)
    panels[0].legend(frameon=False, fontsize=8, loc="lower right")
    return figure
