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
from farpoint.cli.arguments import CompareArguments, SuiteArguments
from farpoint.cli.cells import Cell, about_cells, fact_columns, short
from farpoint.cli.choices import print_choices
from farpoint.cli.compare_episodes import run_episodes
from farpoint.cli.console import CommandConsole
from farpoint.cli.fitting import Row, print_rows
from farpoint.cli.suite import run_suite
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


def run(arguments: CompareArguments) -> None:
    """Measure every method, print the table, and write the figure and the table; without a world, run the suite."""
    if arguments.world is None:
        out = Path("out") if arguments.out is None else arguments.out
        run_suite(
            "compare",
            SuiteArguments(arguments.only, arguments.quick, arguments.jobs, out, arguments.engine, arguments.address),
        )
        return
    if arguments.only is not None or arguments.quick:
        raise InvalidInput("--only and --quick must go without WORLD; got both. They belong to the suite.")
    console = CommandConsole()
    methods = [check_word("method", word.strip(), METHODS) for word in arguments.methods.split(",")]
    _check_numbers(arguments)
    world = read_world(arguments.world, arguments.wind, arguments.largest_component, arguments.seed)
    if world.restart is not None:
        with results_folder(arguments.out) if arguments.out else nullcontext() as folder:
            run_episodes(console, world, methods, arguments, folder)
        _print_files(console, arguments)
        return
    with results_folder(arguments.out) if arguments.out else nullcontext() as folder:
        measured = {}
        with console.status("comparing …") as status:
            start, targets = _task(world, arguments.seed)
            max_steps = arguments.max_steps or _episode_length(world, start, targets)
            for method in methods:
                status.update(f"measuring {METHOD_TITLES[method]} …")
                measured[method] = _measure(world, method, arguments, start, targets, max_steps)
            if folder is not None:
                status.update("drawing …")
                _write(world, measured, folder)
    _print(console, world, measured)
    print_choices(console, [one.options for one in measured.values()], arguments)
    _print_files(console, arguments)


def _print_files(console: Console, arguments: CompareArguments) -> None:
    if arguments.out:
        console.print(Text(f"comparison.png and comparison.csv in {arguments.out}/"), soft_wrap=True)


def _episode_length(world: World, start: int, targets: NDArray[np.int64]) -> int:
    """Return how many steps an episode of learning may have: several times the way to the farthest target."""
    ways = [steps_to(world, int(target))[start] for target in targets]
    farthest = max((way for way in ways if np.isfinite(way)), default=0.0)
    return int(np.clip(_EPISODE_LENGTHS * farthest, _SHORTEST_EPISODE, _LONGEST_EPISODE))


def _check_numbers(arguments: CompareArguments) -> None:
    """Fail before any work on a number that some measure would refuse later."""
    for name in ("n_runs", "n_episodes", "max_steps"):
        if getattr(arguments, name) is not None:
            check_integer(f"--{name.replace('_', '-')}", getattr(arguments, name), 1)
    check_run_length(arguments.n_episodes, arguments.max_steps or _LONGEST_EPISODE)
    check_integer("--seed", arguments.seed, 0)
    if arguments.t is not None:
        check_time(arguments.t)
    if arguments.n_options is not None:
        check_integer("--n-options", arguments.n_options, 1)
    if arguments.option_probability is not None:
        check_option_probability(arguments.option_probability)


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
    world: World, method: str, arguments: CompareArguments, start: int, targets: NDArray[np.int64], max_steps: int
) -> Measured:
    count = arguments.n_options
    if count is None and world.n_states > _MANY_STATES and method != "none":
        # There would be thousands of local maxima, and each option costs a solve of the whole world.
        count = _OPTIONS_OF_MANY
        if arguments.t is not None:
            count = min(count, len(discover(world, t=arguments.t)))
    options = discover(world, method, t=arguments.t, n_options=count, seed=arguments.seed)
    chance = options.option_probability if arguments.option_probability is None else arguments.option_probability
    try:
        cover = cover_time(
            world,
            options,
            start=start,
            option_probability=chance,
            seed=arguments.seed,
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
        steps_between_states(world, options, n_targets=n_targets, option_probability=chance, seed=arguments.seed),
        cover,
        learn(
            world,
            options,
            start=start,
            targets=targets,
            option_probability=chance,
            n_runs=arguments.n_runs,
            n_episodes=arguments.n_episodes,
            max_steps=max_steps,
            seed=arguments.seed,
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
