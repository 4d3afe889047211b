"""``farpoint compare``: the same measures for every method on one world, as a table and a figure."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from rich.text import Text

from farpoint.agents import LearningResult, learn, learn_episodes
from farpoint.cli.output import results_folder
from farpoint.cli.worlds import read_world
from farpoint.errors import InvalidInput, check_word
from farpoint.experiments.paper import METHOD_TITLES
from farpoint.measures import CoverTime, StepsBetweenStates, cover_time, steps_between_states
from farpoint.measures.statistics import Estimate, interquartile_mean
from farpoint.options import METHODS, discover
from farpoint.worlds import World

# Beyond this the exact table of all targets takes minutes: measure on sampled targets instead.
_ALL_TARGETS = 600
_SAMPLED_TARGETS = 60
_GOALS = 10
# Beyond this, unless a number is asked for, so many options of each method are compared.
_MANY_STATES = 6_000
_OPTIONS_OF_MANY = 20
_EPISODIC_OPTIONS = 10
_EPISODIC_STEPS = 300_000
_LONGEST_COVER = 1_000_000
# Below this width the table is a list.
_NARROW = 110


@dataclass(frozen=True)
class Compared:
    """What was measured of one method."""

    n_options: int
    steps: StepsBetweenStates
    cover: CoverTime | None
    learning: LearningResult


@dataclass(frozen=True)
class CompareOptions:
    """What the command line asked for."""

    world: str
    methods: str
    t: float | None
    n_options: int | None
    wind: float
    runs: int
    episodes: int
    max_steps: int
    seed: int
    largest_component: bool
    out: Path | None


def run(asked: CompareOptions) -> None:
    """Carry out the command."""
    console = Console()
    methods = [check_word("method", word.strip(), METHODS) for word in asked.methods.split(",")]
    domain = read_world(asked.world, asked.wind, asked.largest_component, asked.seed)
    if domain.restart is not None:
        _compare_episodes(console, domain, methods, asked)
        return
    with results_folder(asked.out) if asked.out else nullcontext() as folder:
        compared = {}
        with console.status("comparing …") as status:
            start, goals = _task(domain, asked.seed)
            for method in methods:
                status.update(f"measuring {METHOD_TITLES[method]} …")
                compared[method] = _measure(domain, method, asked, start, goals)
            if folder is not None:
                status.update("drawing …")
                _draw(domain, compared, folder)
    _print(console, domain, compared)
    if asked.out:
        console.print(Text(f"comparison.png and comparison.csv in {asked.out}/"))


def _compare_episodes(console: Console, domain: World, methods: list[str], asked: CompareOptions) -> None:
    """Print how soon the goal of an environment is reached, and how soon its way is known, with each method."""
    count = asked.n_options or min(_EPISODIC_OPTIONS, len(discover(domain, t=1)))
    table = Table(title=f"{domain.name}, {domain.n_states:,} states", box=None, padding=(0, 2), header_style="bold")
    for name in ("method", "options", "goal first reached [95 %]", "near optimal [95 %]"):
        table.add_column(name, justify="left" if name == "method" else "right")
    with console.status("comparing …") as status:
        for method in methods:
            status.update(f"learning with {METHOD_TITLES[method]} …")
            options = discover(
                domain, method, t=asked.t, n_options=None if method == "none" else count, seed=asked.seed
            )
            result = learn_episodes(domain, options, runs=asked.runs, seed=asked.seed, steps=_EPISODIC_STEPS)
            cells = []
            for steps in (result.first_goal, result.near_optimal):
                estimate = interquartile_mean(np.minimum(steps, _EPISODIC_STEPS))
                cells.append(f"{estimate.value:,.0f} [{estimate.low:,.0f}, {estimate.high:,.0f}]")
            table.add_row(METHOD_TITLES[method], str(len(options)), *(Text(cell) for cell in cells))
    console.print(table)
    console.print(Text(f"environment steps, interquartile mean of runs; {_EPISODIC_STEPS:,} is the most", style="dim"))


def _task(domain: World, seed: int) -> tuple[int, NDArray[np.int64]]:
    """Return where learning starts and which goals it learns: the world's own, or state 0 and a few random states."""
    if domain.n_states < 2:
        raise InvalidInput("world must have at least 2 states to be compared on; got 1.")
    free = (
        np.arange(domain.n_states) if domain.goals is None else np.setdiff1d(np.arange(domain.n_states), domain.goals)
    )
    if free.size == 0:
        raise InvalidInput("world must have a state that is not a goal, to start from; got goals only.")
    start = domain.start if domain.start is not None else int(free[0])
    if domain.goals is not None:
        return start, domain.goals
    others = np.delete(np.arange(domain.n_states), start)
    rng = np.random.default_rng(seed)
    return start, np.sort(rng.choice(others, size=min(_GOALS, others.size), replace=False))


def _measure(domain: World, method: str, asked: CompareOptions, start: int, goals: NDArray[np.int64]) -> Compared:
    count = asked.n_options
    if count is None and domain.n_states > _MANY_STATES and method != "none":
        # As many as there are local maxima would be thousands, of which each costs a solve of the whole world.
        count = _OPTIONS_OF_MANY
    options = discover(domain, method, t=asked.t, n_options=count, seed=asked.seed)
    try:
        cover = cover_time(domain, options, start=start, seed=asked.seed, most_steps=_LONGEST_COVER, runs=50)
    except InvalidInput:  # some state is nearly out of reach: that is what the table shows
        cover = None
    # The same seed draws the same targets for every method.
    n_targets = None if domain.n_states <= _ALL_TARGETS else _SAMPLED_TARGETS
    return Compared(
        len(options),
        steps_between_states(domain, options, n_targets=n_targets, seed=asked.seed),
        cover,
        learn(
            domain,
            options,
            start=start,
            goals=goals,
            runs=asked.runs,
            episodes=asked.episodes,
            max_steps=asked.max_steps,
            seed=asked.seed,
        ),
    )


def _rows(compared: dict[str, Compared]) -> list[dict[str, str]]:
    rows = []
    for method, found in compared.items():
        cover = found.cover
        rows.append(
            {
                "method": METHOD_TITLES[method],
                "options": str(found.n_options),
                **_steps(found.steps),
                "cover time [95 %]": _interval(cover) if cover else f"> {_LONGEST_COVER:,}",
                "learning, IQM [95 %]": str(interquartile_mean(found.learning.run_means)),
            }
        )
    return rows


def _steps(steps: StepsBetweenStates) -> dict[str, str]:
    """Return the cells of the steps between states, with intervals where the targets were sampled."""
    if not steps.sampled:
        return {"steps, median": _short(steps.median), "IQR": _short(steps.iqr), "mean": _short(steps.mean)}
    return {
        "steps, median [95 %]": _with_interval(steps.median_estimate),
        "IQR": _short(steps.iqr),
        "mean [95 %]": _with_interval(steps.mean_estimate),
    }


def _with_interval(estimate: Estimate) -> str:
    return f"{_short(estimate.value)} [{_short(estimate.low)}, {_short(estimate.high)}]"


def _short(number: float) -> str:
    if number < 10:
        return f"{number:.1f}"
    return f"{number:,.0f}" if number < 1e7 else "∞" if np.isinf(number) else f"{number:.1e}"


def _interval(cover: CoverTime) -> str:
    return f"{cover.mean:,.0f} [{cover.low:,.0f}, {cover.high:,.0f}]"


def _print(console: Console, domain: World, compared: dict[str, Compared]) -> None:
    rows = _rows(compared)
    table = Table(title=f"{domain.name}, {domain.n_states:,} states", box=None, padding=(0, 2), header_style="bold")
    for name in rows[0]:
        table.add_column(name, justify="left" if name == "method" else "right")
    # Plain text: an interval in brackets is no markup.
    for row in rows:
        table.add_row(*(Text(value) for value in row.values()))
    if console.width < _NARROW:
        for row in rows:
            console.print(Text("\n".join(f"{name}: {value}" for name, value in row.items()) + "\n"))
    else:
        console.print(table)
    steps = next(iter(compared.values())).steps
    over = f"{steps.targets.size} sampled targets" if steps.sampled else "all states"
    console.print(
        f"steps: exact expected steps from a state to another, over {over} · cover time: steps to visit every state · "
        "learning: steps to the goal over all episodes, interquartile mean of runs",
        highlight=False,
        style="dim",
    )


def _draw(domain: World, compared: dict[str, Compared], folder: Path) -> None:
    import csv

    from farpoint.report import save_figure
    from farpoint.report.comparison import draw_comparison

    figure = draw_comparison(
        domain.name,
        {method: found.steps.per_goal for method, found in compared.items()},
        {method: (found.learning.curve, found.learning.spread) for method, found in compared.items()},
    )
    save_figure(figure, folder / "comparison.png")
    rows = _rows(compared)
    with (folder / "comparison.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
