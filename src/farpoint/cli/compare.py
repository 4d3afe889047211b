"""``farpoint compare``: the same measures for every method on one world, as a table and a figure."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.text import Text

from farpoint.agents import LearningResult, learn
from farpoint.agents.learning import check_run_length
from farpoint.cli.cells import Cell, about_cells, fact_columns, short
from farpoint.cli.choices import print_choices
from farpoint.cli.compare_episodes import run_episodes
from farpoint.cli.console import CommandConsole
from farpoint.cli.fitting import Row, print_rows
from farpoint.cli.worlds import read_world
from farpoint.errors import InvalidInput, check_integer, check_time, check_word
from farpoint.files import results_folder, write_rows
from farpoint.measures import CoverTime, StepsBetweenStates, cover_time, steps_between_states
from farpoint.measures.statistics import interquartile_mean
from farpoint.options import METHODS, OptionSet, discover
from farpoint.options.routes import steps_to
from farpoint.report.names import METHOD_TITLES
from farpoint.simulation.tables import check_option_probability
from farpoint.worlds import World

# With more states than this the exact table of all targets takes minutes, so targets are sampled.
_ALL_TARGETS = 600
_SAMPLED_TARGETS = 60
# Targets of the learning task in a world that has none of its own.
_LEARNING_TARGETS = 10
# With more states than this, unless a number is given, this many options of each method are compared.
_MANY_STATES = 6_000
_OPTIONS_OF_MANY = 20
_LONGEST_COVER = 1_000_000
# An episode of learning lasts so many times as long as the way to the farthest target; the paper's 100 at least.
_EPISODE_LENGTHS, _SHORTEST_EPISODE, _LONGEST_EPISODE = 5, 100, 10_000
_EPISODES = 400


@dataclass(frozen=True)
class Measured:
    """What was measured with one method; no cover time if it is longer than is simulated."""

    options: OptionSet
    option_probability: float
    steps: StepsBetweenStates
    cover: CoverTime | None
    learning: LearningResult
    max_steps: int

    @property
    def learning_cell(self) -> Cell:
        """The interquartile mean of runs; cut off if the policy did not arrive after more than half of the episodes."""
        beyond = float((self.learning.curves > self.max_steps).mean())
        return Cell.of(interquartile_mean(self.learning.run_means))._replace(capped=beyond > 0.5)

    @property
    def cover_cell(self) -> Cell:
        """The cover time, or the longest that is simulated."""
        if self.cover is None:
            return Cell(float(_LONGEST_COVER), capped=True)
        return Cell(self.cover.mean, self.cover.low, self.cover.high)


@dataclass(frozen=True)
class Settings:
    """What every method of one comparison is measured with."""

    t: float | None = None
    n_options: int | None = None
    option_probability: float | None = None
    n_runs: int = 30
    n_episodes: int = _EPISODES
    seed: int = 0


def run(
    world: str,
    methods: str,
    t: float | None = None,
    n_options: int | None = None,
    option_probability: float | None = None,
    wind: float = 0.0,
    n_runs: int = 30,
    n_episodes: int | None = None,
    max_steps: int | None = None,
    seed: int = 0,
    largest_component: bool = False,
    out: Path | None = None,
) -> None:
    """Measure every method, print the table, and write the figure and the table."""
    console = CommandConsole()
    names = [check_word("method", word.strip(), METHODS) for word in methods.split(",")]
    # Before any work: a number that some measure would refuse later.
    for name, number in {"n-runs": n_runs, "n-episodes": n_episodes, "max-steps": max_steps}.items():
        if number is not None:
            check_integer(f"--{name}", number, 1)
    check_integer("--seed", seed, 0)
    if t is not None:
        check_time(t)
    if n_options is not None:
        check_integer("--n-options", n_options, 1)
    if option_probability is not None:
        check_option_probability(option_probability)
    place = read_world(world, wind, largest_component, seed)
    settings = Settings(t, n_options, option_probability, n_runs, _EPISODES if n_episodes is None else n_episodes, seed)
    with results_folder(out) if out else nullcontext() as folder:
        if place.restart is None:
            _run_tasks(console, place, names, settings, max_steps, folder)
        else:
            if n_episodes is not None or max_steps is not None:
                raise InvalidInput(
                    "--n-episodes and --max-steps must go with a world without episodes of its own; got "
                    f"{place.name}, whose episodes end as it says."
                )
            run_episodes(console, place, names, settings, folder)
    if out:
        console.print(Text(f"comparison.png and comparison.csv in {out}/"), soft_wrap=True)


def _run_tasks(
    console: Console, world: World, methods: list[str], settings: Settings, max_steps: int | None, folder: Path | None
) -> None:
    """Print steps between states, cover time and learning, for each method."""
    measured = {}
    with console.status("comparing …") as status:
        start, targets = _task(world, settings.seed)
        max_steps = max_steps or _episode_length(world, start, targets)
        check_run_length(settings.n_episodes, max_steps)
        for method in methods:
            status.update(f"measuring {METHOD_TITLES[method]} …")
            measured[method] = _measure(world, method, settings, start, targets, max_steps)
        if folder is not None:
            status.update("drawing …")
            _write(world, measured, folder)
    _print(console, world, measured)
    found = [one.options for one in measured.values()]
    print_choices(console, found, settings.option_probability, settings.seed)


def _episode_length(world: World, start: int, targets: NDArray[np.int64]) -> int:
    """Return how many steps an episode of learning may have: several times the way to the farthest target."""
    ways = [steps_to(world, int(target))[start] for target in targets]
    farthest = max((way for way in ways if np.isfinite(way)), default=0.0)
    return int(np.clip(_EPISODE_LENGTHS * farthest, _SHORTEST_EPISODE, _LONGEST_EPISODE))


def _task(world: World, seed: int) -> tuple[int, NDArray[np.int64]]:
    """Return start and targets of the learning task: the world's own, or state 0 and a few random states."""
    if world.n_states < 2:
        raise InvalidInput("world must have at least 2 states to compare methods on; got 1.")
    states = np.arange(world.n_states)
    free = states if world.targets is None else np.setdiff1d(states, world.targets)
    if free.size == 0:
        raise InvalidInput("world must have a state that is not a target, to start from; got targets only.")
    start = world.start if world.start is not None else int(free[0])
    if world.targets is not None:
        return start, world.targets
    others = np.delete(states, start)
    rng = np.random.default_rng(seed)
    return start, np.sort(rng.choice(others, size=min(_LEARNING_TARGETS, others.size), replace=False))


def _measure(
    world: World, method: str, settings: Settings, start: int, targets: NDArray[np.int64], max_steps: int
) -> Measured:
    count = settings.n_options
    if count is None and world.n_states > _MANY_STATES and method != "none":
        # There would be thousands of local maxima, and each option costs a solve of the whole world.
        count = _OPTIONS_OF_MANY
        if settings.t is not None:
            count = min(count, len(discover(world, t=settings.t)))
    options = discover(world, method, t=settings.t, n_options=count, seed=settings.seed)
    chance = options.option_probability if settings.option_probability is None else settings.option_probability
    try:
        cover = cover_time(
            world,
            options,
            start=start,
            option_probability=chance,
            seed=settings.seed,
            max_steps=_LONGEST_COVER,
            n_runs=50,
        )
    except InvalidInput:
        # Some state is nearly out of reach; the table says so.
        cover = None
    # The same seed draws the same targets for every method.
    n_targets = None if world.n_states <= _ALL_TARGETS else _SAMPLED_TARGETS
    return Measured(
        options,
        chance,
        steps_between_states(world, options, n_targets=n_targets, option_probability=chance, seed=settings.seed),
        cover,
        learn(
            world,
            options,
            start=start,
            targets=targets,
            option_probability=chance,
            n_runs=settings.n_runs,
            n_episodes=settings.n_episodes,
            max_steps=max_steps,
            seed=settings.seed,
        ),
        max_steps,
    )


def _rows(measured: dict[str, Measured]) -> list[Row]:
    return [
        {
            **about_cells(one.options, one.option_probability),
            **_steps(one.steps),
            "cover time": one.cover_cell,
            "learning, IQM": one.learning_cell,
        }
        for one in measured.values()
    ]


def _steps(steps: StepsBetweenStates) -> Row:
    """Return the cells of the steps between states, with intervals where the targets were sampled."""
    if not steps.sampled:
        return {"steps, median": short(steps.median), "IQR": short(steps.iqr), "mean": short(steps.mean)}
    return {
        "steps, median": Cell.of(steps.median_estimate),
        "IQR": short(steps.iqr),
        "mean": Cell.of(steps.mean_estimate),
    }


def _print(console: Console, world: World, measured: dict[str, Measured]) -> None:
    print_rows(console, world, _rows(measured))
    steps, most = next(iter(measured.values())).steps, next(iter(measured.values())).max_steps
    over = f"{steps.targets.size} sampled targets" if steps.sampled else "all states"
    console.print(
        f"steps: exact expected steps from one state to another, over {over} · cover time: steps to visit every state "
        f"· learning: steps to the target over all episodes, interquartile mean of runs, at most {most:,} per episode "
        "(> where more than half ended there) · t: diffusion time · p: how often a random decision is an option",
        highlight=False,
        style="dim",
    )


def _write(world: World, measured: dict[str, Measured], folder: Path) -> None:
    from farpoint.report import save_figure
    from farpoint.report.comparison import draw_comparison

    figure = draw_comparison(
        world.name,
        {method: one.steps for method, one in measured.items()},
        {method: one.learning for method, one in measured.items()},
    )
    save_figure(figure, folder / "comparison.png")
    write_rows(folder / "comparison.csv", [_numbers(one) for one in measured.values()])


def _numbers(one: Measured) -> dict[str, object]:
    """Return a row of the CSV file: a column for each number, another for each end of its interval."""
    return {
        **fact_columns(one.options, one.option_probability),
        **Cell.of(one.steps.median_estimate).columns("steps_median"),
        "steps_iqr": one.steps.iqr,
        **Cell.of(one.steps.mean_estimate).columns("steps_mean"),
        **one.cover_cell.columns("cover_time"),
        **one.learning_cell.columns("learning"),
        "max_steps": one.max_steps,
    }
