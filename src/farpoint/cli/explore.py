"""``farpoint explore``: what an agent sees that knows nothing beforehand, as a table, a curve and options."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.text import Text

from farpoint import exploration
from farpoint.cli.arguments import ExploreArguments, SuiteArguments
from farpoint.cli.console import CommandConsole
from farpoint.cli.own_modules import make_named_env
from farpoint.cli.progress import progress_bar
from farpoint.cli.suite import run_suite
from farpoint.cli.worlds import read_world
from farpoint.errors import InvalidInput
from farpoint.files import results_folder, write_rows
from farpoint.report.curves import tidy
from farpoint.report.names import METHOD_COLORS, METHOD_TITLES
from farpoint.report.sheets import new_figure, save_figure

_MILESTONES = (0.5, 0.9, 1.0)


def run(arguments: ExploreArguments) -> None:
    """Explore one world or environment; without one, run the suite."""
    if arguments.world is None:
        out = Path("out") if arguments.out is None else arguments.out
        run_suite(
            "explore",
            SuiteArguments(arguments.only, arguments.quick, arguments.jobs, out, arguments.engine, arguments.address),
        )
        return
    if arguments.only is not None or arguments.quick:
        raise InvalidInput("--only and --quick must go without WORLD; got both. They belong to the suite.")
    console = CommandConsole()
    env, settings = _read(arguments)
    with results_folder(arguments.out) if arguments.out else nullcontext() as folder, progress_bar() as progress:
        task = progress.add_task("exploring", total=arguments.n_steps)
        found = exploration.explore(
            env,
            arguments.n_steps,
            arguments.method,
            n_options=arguments.n_options,
            option_probability=arguments.option_probability,
            checkpoint=arguments.checkpoint,
            progress=lambda done, total: progress.update(task, completed=done, total=total),
            seed=arguments.seed,
            **settings,
        )
        if folder is not None:
            _write(found, folder)
    for name, value in _facts(found).items():
        console.print(Text(f"{name}: {value}"))
    if arguments.out:
        console.print(Text(f"coverage.png, coverage.csv and options.npz in {arguments.out}/"), soft_wrap=True)


def _read(arguments: ExploreArguments) -> tuple[Any, dict[str, Any]]:
    """Return the environment or world, and the settings that belong to its kind."""
    assert arguments.world is not None
    if arguments.world.startswith("gym:"):
        if arguments.max_episode_steps is not None:
            raise InvalidInput("--max-episode-steps must go with a world; got an environment, which has its own.")
        return make_named_env(arguments.world.removeprefix("gym:")), {"layout": arguments.layout}
    if arguments.layout is not None:
        raise InvalidInput("--layout must go with an environment (gym:ENV-ID); got a world.")
    world = read_world(arguments.world)
    # The start of a map that has none: its first state.
    world = replace(world, start=0) if world.start is None and world.starts is None else world
    return world, {"max_episode_steps": arguments.max_episode_steps}


def _facts(found: exploration.Exploration) -> dict[str, str]:
    seen = {}
    for share in _MILESTONES:
        steps = found.steps_until(int(np.ceil(share * found.n_states)))
        seen[f"{100 * share:.0f} % of these seen after"] = f"{steps:,.0f} steps"
    return {
        "world": found.name,
        "method": METHOD_TITLES[found.settings.method],
        "steps": f"{found.n_steps:,}",
        "states seen": f"{found.n_states:,}",
        **seen,
        "visits per state": f"{found.visits.min():,} to {found.visits.max():,}",
    }


def _write(found: exploration.Exploration, folder: Path) -> None:
    write_rows(
        folder / "coverage.csv",
        [{"states seen": number, "after steps": int(step)} for number, step in enumerate(found.coverage, start=1)],
    )
    figure = new_figure(6.4, 3.8)
    axes = figure.subplots()
    color = METHOD_COLORS[found.settings.method]
    axes.step(
        [*found.coverage, found.n_steps], [*range(1, found.n_states + 1), found.n_states], where="post", color=color
    )
    axes.set_xlabel("steps")
    axes.set_ylabel("states seen")
    axes.set_xlim(0, found.n_steps)
    axes.set_ylim(0, None)
    tidy(axes)
    save_figure(figure, folder / "coverage.png")
    if found.n_states > 1:
        found.options.save(folder / "options.npz")
