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
from farpoint.agents.learning import check_run_length
from farpoint.cli.arguments import CompareArguments, SuiteArguments
from farpoint.cli.choices import print_choice, print_harm
from farpoint.cli.console import CommandConsole
from farpoint.cli.suite import run_suite
from farpoint.cli.worlds import read_world
from farpoint.errors import InvalidInput, check_integer, check_time, check_word
from farpoint.files import results_folder, write_rows
from farpoint.measures import CoverTime, StepsBetweenStates, cover_time, steps_between_states
from farpoint.measures.statistics import Estimate, interquartile_mean
from farpoint.options import METHODS, OptionSet, discover
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
_EPISODIC_OPTIONS = 10
_EPISODIC_STEPS = 300_000
_LONGEST_COVER = 1_000_000
# On a narrower terminal the table is a list.
_NARROW = 110


@dataclass(frozen=True)
class Measured:
    """What was measured with one method; no cover time if it is longer than is simulated."""

    options: OptionSet
    option_probability: float
    steps: StepsBetweenStates
    cover: CoverTime | None
    learning: LearningResult


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
        _compare_episodes(console, world, methods, arguments)
        return
    with results_folder(arguments.out) if arguments.out else nullcontext() as folder:
        measured = {}
        with console.status("comparing …") as status:
            start, targets = _task(world, arguments.seed)
            for method in methods:
                status.update(f"measuring {METHOD_TITLES[method]} …")
                measured[method] = _measure(world, method, arguments, start, targets)
            if folder is not None:
                status.update("drawing …")
                _write(world, measured, folder)
    _print(console, world, measured)
    _print_choices(console, [one.options for one in measured.values()], arguments)
    if arguments.out:
        console.print(Text(f"comparison.png and comparison.csv in {arguments.out}/"), soft_wrap=True)


def _check_numbers(arguments: CompareArguments) -> None:
    """Fail before any work on a number that some measure would refuse later."""
    for name in ("n_runs", "n_episodes", "max_steps"):
        check_integer(f"--{name.replace('_', '-')}", getattr(arguments, name), 1)
    check_run_length(arguments.n_episodes, arguments.max_steps)
    check_integer("--seed", arguments.seed, 0)
    if arguments.t is not None:
        check_time(arguments.t)
    if arguments.n_options is not None:
        check_integer("--n-options", arguments.n_options, 1)
    if arguments.option_probability is not None:
        check_option_probability(arguments.option_probability)


def _compare_episodes(console: Console, world: World, methods: list[str], arguments: CompareArguments) -> None:
    """Print the steps until a target is first reached and until the policy is near-optimal, for each method."""
    count = arguments.n_options or min(_EPISODIC_OPTIONS, len(discover(world, t=1)))
    found = {}
    names = ("method", "options", "p", "target first reached [95 %]", "near-optimal [95 %]")
    table = _table(world, names)
    with console.status("comparing …") as status:
        for method in methods:
            status.update(f"learning with {METHOD_TITLES[method]} …")
            n_options = None if method == "none" else count
            options = discover(world, method, t=arguments.t, n_options=n_options, seed=arguments.seed)
            found[method] = options
            result = learn_episodes(
                world,
                options,
                option_probability=arguments.option_probability,
                n_runs=arguments.n_runs,
                seed=arguments.seed,
                n_steps=_EPISODIC_STEPS,
            )
            cells = []
            for steps in (result.first_target, result.near_optimal):
                estimate = interquartile_mean(np.minimum(steps, _EPISODIC_STEPS))
                cells.append(f"{estimate.value:,.0f} [{estimate.low:,.0f}, {estimate.high:,.0f}]")
            chance = _chance(options, arguments.option_probability)
            table.add_row(METHOD_TITLES[method], str(len(options)), chance, *(Text(cell) for cell in cells))
    console.print(table)
    console.print(
        Text(
            f"environment steps, interquartile mean of runs; at most {_EPISODIC_STEPS:,} steps per run · "
            "p: how often a random decision is an option",
            style="dim",
        )
    )
    _print_choices(console, list(found.values()), arguments)


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
    world: World, method: str, arguments: CompareArguments, start: int, targets: NDArray[np.int64]
) -> Measured:
    count = arguments.n_options
    if count is None and world.n_states > _MANY_STATES and method != "none":
        # There would be thousands of local maxima, and each option costs a solve of the whole world.
        count = _OPTIONS_OF_MANY
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
            max_steps=arguments.max_steps,
            seed=arguments.seed,
        ),
    )


def _rows(measured: dict[str, Measured]) -> list[dict[str, str]]:
    rows = []
    for method, one in measured.items():
        cover = f"{one.cover.mean:,.0f} [{one.cover.low:,.0f}, {one.cover.high:,.0f}]" if one.cover else None
        rows.append(
            {
                "method": METHOD_TITLES[method],
                "options": str(len(one.options)),
                "p": _chance(one.options, one.option_probability),
                **_steps(one.steps),
                "cover time [95 %]": cover or f"> {_LONGEST_COVER:,}",
                "learning, IQM [95 %]": str(interquartile_mean(one.learning.run_means)),
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


def _chance(options: OptionSet, given: float | None) -> str:
    if len(options) == 0:
        return "–"
    return f"{options.option_probability if given is None else given:.3g}"


def _print_choices(console: Console, found: list[OptionSet], arguments: CompareArguments) -> None:
    """Print how options were chosen, and a warning for each method whose options harm."""
    for options in found:
        print_choice(console, options)
    for options in found:
        print_harm(console, options, arguments.option_probability, arguments.seed)


def _table(world: World, names: tuple[str, ...]) -> Table:
    table = Table(title=f"{world.name}, {world.n_states:,} states", box=None, padding=(0, 2), header_style="bold")
    for name in names:
        table.add_column(name, justify="left" if name == "method" else "right")
    return table


def _print(console: Console, world: World, measured: dict[str, Measured]) -> None:
    rows = _rows(measured)
    if console.width < _NARROW:
        for row in rows:
            console.print(Text("\n".join(f"{name}: {value}" for name, value in row.items()) + "\n"))
    else:
        table = _table(world, tuple(rows[0]))
        for row in rows:
            # As plain text: rich would read an interval in brackets as markup.
            table.add_row(*(Text(value) for value in row.values()))
        console.print(table)
    steps = next(iter(measured.values())).steps
    over = f"{steps.targets.size} sampled targets" if steps.sampled else "all states"
    console.print(
        f"steps: exact expected steps from one state to another, over {over} · cover time: steps to visit every state "
        "· learning: steps to the target over all episodes, interquartile mean of runs · "
        "p: how often a random decision is an option",
        highlight=False,
        style="dim",
    )


def _write(world: World, measured: dict[str, Measured], folder: Path) -> None:
    from farpoint.report import save_figure
    from farpoint.report.comparison import draw_comparison

    figure = draw_comparison(
        world.name,
        {method: one.steps.per_target for method, one in measured.items()},
        {method: (one.learning.curve, one.learning.spread) for method, one in measured.items()},
    )
    save_figure(figure, folder / "comparison.png")
    write_rows(folder / "comparison.csv", _rows(measured))
