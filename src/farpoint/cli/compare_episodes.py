"""``farpoint compare`` in a world with episodes: how soon a target is reached, and a policy near-optimal."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from farpoint.agents import learn_episodes
from farpoint.cli.cells import Cell, about_cells, fact_columns
from farpoint.cli.choices import print_choices
from farpoint.cli.fitting import Row, print_rows
from farpoint.files import write_rows
from farpoint.options import OptionSet, discover
from farpoint.report.names import METHOD_TITLES
from farpoint.worlds import World

if TYPE_CHECKING:
    from farpoint.cli.compare import Settings

# At most so many options of each method are compared, unless a number is given.
_EPISODIC_OPTIONS = 10
_EPISODIC_STEPS = 300_000
_TITLES = {"first_target": "steps until a target is first reached", "near_optimal": "steps until near-optimal"}
_SHORT_TITLES = {"first_target": "target first reached", "near_optimal": "near-optimal"}


def run_episodes(console: Console, world: World, methods: list[str], settings: Settings, folder: Path | None) -> None:
    """Print the steps until a target is first reached and until the policy is near-optimal, for each method."""
    # No more than there are local maxima at the t that is asked for.
    count = settings.n_options or min(_EPISODIC_OPTIONS, len(discover(world, t=settings.t or 1)))
    found, cells = {}, {}
    rows: list[Row] = []
    with console.status("comparing …") as status:
        for method in methods:
            status.update(f"learning with {METHOD_TITLES[method]} …")
            n_options = None if method == "none" else count
            options = discover(world, method, t=settings.t, n_options=n_options, seed=settings.seed)
            found[method] = options
            result = learn_episodes(
                world,
                options,
                option_probability=settings.option_probability,
                n_runs=settings.n_runs,
                seed=settings.seed,
                n_steps=_EPISODIC_STEPS,
            )
            cells[method] = {name: Cell.of_runs(getattr(result, name), _EPISODIC_STEPS) for name in _TITLES}
            shown = {_SHORT_TITLES[name]: cell for name, cell in cells[method].items()}
            rows.append({**about_cells(options, settings.option_probability), **shown})
        if folder is not None:
            status.update("drawing …")
            _write_episodes(world, found, cells, settings, folder)
    print_rows(console, world, rows)
    console.print(
        Text(
            f"environment steps, interquartile mean of {settings.n_runs} runs; at most {_EPISODIC_STEPS:,} steps per "
            "run, > where that did not suffice · t: diffusion time · p: how often a random decision is an option",
            style="dim",
        )
    )
    print_choices(console, list(found.values()), settings.option_probability, settings.seed)


def _write_episodes(
    world: World,
    found: dict[str, OptionSet],
    cells: Mapping[str, Mapping[str, Cell]],
    settings: Settings,
    folder: Path,
) -> None:
    from farpoint.report import save_figure
    from farpoint.report.comparison import draw_intervals

    panels = {title: {method: of[name] for method, of in cells.items()} for name, title in _TITLES.items()}
    save_figure(draw_intervals(world.name, panels), folder / "comparison.png")
    rows = [
        {
            **fact_columns(options, settings.option_probability),
            **cells[method]["first_target"].columns("first_target"),
            **cells[method]["near_optimal"].columns("near_optimal"),
            "max_steps": _EPISODIC_STEPS,
        }
        for method, options in found.items()
    ]
    write_rows(folder / "comparison.csv", rows)
