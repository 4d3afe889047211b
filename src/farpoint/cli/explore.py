"""``farpoint explore``: what an agent sees that knows nothing beforehand, as a table, a curve and options."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.text import Text

from farpoint import exploration
from farpoint.cli.common import CommandConsole, make_named_env, read_world
from farpoint.errors import InvalidInput
from farpoint.files import results_folder, write_rows
from farpoint.report.figures import METHOD_COLORS, METHOD_TITLES, new_figure, save_figure
from farpoint.report.results import tidy

_MILESTONES = (0.5, 0.9, 1.0)


def run(
    world: str,
    n_steps: int = 20_000,
    method: str = "diffusion",
    n_options: int = 5,
    option_probability: float | None = None,
    max_episode_steps: int | None = None,
    layout: int | None = None,
    seed: int = 0,
    checkpoint: Path | None = None,
    out: Path | None = None,
) -> None:
    """Explore one world or environment."""
    console = CommandConsole()
    env, settings = _read(world, max_episode_steps, layout)
    with results_folder(out) if out else nullcontext() as folder:
        found = exploration.explore(
            env,
            n_steps,
            method,
            n_options=n_options,
            option_probability=option_probability,
            checkpoint=checkpoint,
            seed=seed,
            **settings,
        )
        if folder is not None:
            _write(found, folder)
    for name, value in _facts(found).items():
        console.print(Text(f"{name}: {value}"))
    if out:
        console.print(Text(f"coverage.png, coverage.csv and options.npz in {out}/"), soft_wrap=True)


def _read(word: str, max_episode_steps: int | None, layout: int | None) -> tuple[Any, dict[str, Any]]:
    """Return the environment or world, and the settings that belong to its kind."""
    if word.startswith("gym:"):
        if max_episode_steps is not None:
            raise InvalidInput("--max-episode-steps must go with a world; got an environment, which has its own.")
        return make_named_env(word.removeprefix("gym:")), {"layout": layout}
    if layout is not None:
        raise InvalidInput("--layout must go with an environment (gym:ENV-ID); got a world.")
    world = read_world(word)
    # The start of a map that has none: its first state.
    world = replace(world, start=0) if world.start is None and world.starts is None else world
    return world, {"max_episode_steps": max_episode_steps}


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
