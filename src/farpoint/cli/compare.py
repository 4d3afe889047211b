"""``farpoint compare``: the same measures for every method on one world, as a table and a figure."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.text import Text

from farpoint import measures
from farpoint.agents import LearningResult, learn, learn_episodes
from farpoint.agents.learning import check_run_length
from farpoint.cli.common import CommandConsole, print_choices, print_table, read_world
from farpoint.display import progress_bar
from farpoint.errors import InvalidInput, check_integer, check_time, check_word, listed
from farpoint.files import results_folder, write_rows
from farpoint.measures import Compared, Estimate, estimate
from farpoint.options import METHODS, OptionSet, discover
from farpoint.options.probability import resolve_option_probability
from farpoint.options.routes import steps_to
from farpoint.report.figures import METHOD_TITLES
from farpoint.report.tables import Row, numeric_rows
from farpoint.studio.protocol import MANY_STATES, OPTIONS_OF_MANY
from farpoint.worlds import World

# Targets of the learning task in a world that has none of its own.
_LEARNING_TARGETS = 10
# An episode of learning lasts this many times as long as the way to the farthest target; the paper's 100 at least.
_EPISODE_LENGTHS, _SHORTEST_EPISODE, _LONGEST_EPISODE = 5, 100, 10_000
_EPISODES = 400
# In a world with episodes: at most this many options of each method, unless a number is given, and steps per run.
_EPISODIC_OPTIONS = 10
_EPISODIC_STEPS = 300_000
_EPISODIC_TITLES = {"first_target": "steps until a target is first reached", "near_optimal": "steps until near-optimal"}


@dataclass(frozen=True)
class Settings:
    """What every method of one comparison is measured with."""

    t: float | None = None
    n_options: int | None = None
    option_probability: float | None = None
    n_runs: int = 30
    n_episodes: int = _EPISODES
    seed: int = 0

    def probability(self, options: OptionSet) -> float:
        """Return how often an option is taken: as asked for, or as often as the options say."""
        return resolve_option_probability(self.option_probability, options)


@dataclass(frozen=True)
class Measured:
    """What was measured with one method, and what an agent learned with it."""

    compared: Compared
    learning: LearningResult
    max_steps: int

    @property
    def learned(self) -> Estimate:
        """The interquartile mean of runs; cut off if the policy did not arrive after more than half of the episodes."""
        beyond = float((self.learning.curves > self.max_steps).mean())
        return replace(estimate(self.learning.run_means), capped=beyond > 0.5)


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
    resolve_option_probability(option_probability, None)
    place = read_world(world, wind, largest_component, seed)
    settings = Settings(t, n_options, option_probability, n_runs, n_episodes or _EPISODES, seed)
    with results_folder(out) if out else nullcontext() as folder:
        if place.restart is None:
            _compare_tasks(console, place, names, settings, max_steps, folder)
        elif n_episodes is None and max_steps is None:
            _compare_episodes(console, place, names, settings, folder)
        else:
            raise InvalidInput(
                "--n-episodes and --max-steps must go with a world without episodes of its own; got "
                f"{place.name}, which has episodes."
            )
    if out:
        console.print(Text(f"comparison.png and comparison.csv in {out}/"), soft_wrap=True)


def _compare_tasks(
    console: Console, world: World, methods: list[str], settings: Settings, max_steps: int | None, folder: Path | None
) -> None:
    """Print steps between states, cover time and learning, for each method."""
    with progress_bar("comparing", 3 * len(methods)) as tell:
        start, targets = _task(world, settings.seed)
        length = max_steps or _episode_length(world, start, targets)
        check_run_length(settings.n_episodes, length)
        found: list[OptionSet] = []
        for method in methods:
            tell(len(found), what=f"discovering {METHOD_TITLES[method]}")
            found.append(_discovered(world, method, settings))
        done = iter(range(len(methods), 2 * len(methods)))
        tell(len(methods), what="measuring steps")
        compared = measures.compare(
            world, found, option_probability=settings.option_probability, seed=settings.seed,
            progress=lambda row: tell(next(done) + 1, what=f"measuring after {METHOD_TITLES[row.options.method]}"),
        )  # fmt: skip
        measured: dict[str, Measured] = {}
        for row in compared.rows:
            method = row.options.method
            tell(2 * len(methods) + len(measured), what=f"learning with {METHOD_TITLES[method]}")
            measured[method] = Measured(row, _learned(world, row, settings, start, targets, length), length)
        if folder is not None:
            tell(3 * len(methods), what="drawing")
            _write(world, measured, settings, folder)
    rows = [{**_about(one.compared.options, settings), **_cells(one)} for one in measured.values()]
    print_table(console, rows, title=f"{world.name}, {world.n_states:,} states")
    over = "all states"
    if compared.sampled:
        over = f"{compared.targets.size} sampled targets ({listed(compared.targets, most=12)})"
    beyond = np.unique(np.concatenate([row.steps.out_of_reach for row in compared.rows if row.steps is not None]))
    console.print(
        f"steps: exact expected steps from one state to another, over {over}; worst: to the target that takes the "
        "longest · cover time: steps to visit every "
        f"state · learning: steps to the target over all episodes, interquartile mean of runs, at most {length:,} "
        "per episode (≥ where more than half ended there) · t: diffusion time · p: how often a random decision is an "
        "option" + (f" · ∞: targets beyond 10¹³ steps ({listed(beyond)})" if beyond.size else ""),
        highlight=False,
        style="dim",
    )
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


def _discovered(world: World, method: str, settings: Settings) -> OptionSet:
    count = settings.n_options
    if count is None and world.n_states > MANY_STATES and method != "none":
        # There would be thousands of local maxima, and each option costs a solve of the whole world.
        count = OPTIONS_OF_MANY
        if settings.t is not None:
            count = min(count, len(discover(world, t=settings.t)))
    return discover(world, method, t=settings.t, n_options=count, seed=settings.seed)


def _learned(
    world: World, row: Compared, settings: Settings, start: int, targets: NDArray[np.int64], max_steps: int
) -> LearningResult:
    return learn(
        world,
        row.options,
        start=start,
        targets=targets,
        option_probability=row.option_probability,
        n_runs=settings.n_runs,
        n_episodes=settings.n_episodes,
        max_steps=max_steps,
        seed=settings.seed,
    )


def _about(options: OptionSet, settings: Settings) -> Row:
    """Return the first cells of a row: the method, how many options, at which t, taken how often."""
    t = options.record.get("t")
    return {
        "method": METHOD_TITLES[options.method],
        "options": len(options),
        "t": None if t is None else f"{t:g}",
        "p": settings.probability(options) if len(options) else None,
    }


def _facts(options: OptionSet, settings: Settings) -> Row:
    """Return the first columns of a row of the CSV file."""
    return {
        "method": options.method,
        "n_options": len(options),
        "t": options.record.get("t"),
        "option_probability": settings.probability(options) if len(options) else None,
    }


def _cells(one: Measured) -> Row:
    """Return the measures of a row, with intervals where they were sampled."""
    steps = one.compared.steps
    assert steps is not None
    return {
        "steps, median": steps.median_estimate if steps.sampled else steps.median,
        "IQR": steps.iqr,
        "mean": steps.mean_estimate if steps.sampled else steps.mean,
        "worst": steps.worst,
        "cover time": one.compared.cover,
        "learning, IQM": one.learned,
    }


def _write(world: World, measured: dict[str, Measured], settings: Settings, folder: Path) -> None:
    from farpoint.report import save_figure
    from farpoint.report.results import draw_comparison

    figure = draw_comparison(
        world.name,
        {method: one.compared.steps for method, one in measured.items()},
        {method: one.learning for method, one in measured.items()},
    )
    save_figure(figure, folder / "comparison.png")
    rows: list[Row] = [
        {
            **_facts(one.compared.options, settings),
            **one.compared.measures(),
            "learning": one.learned,
            "max_steps": one.max_steps,
        }
        for one in measured.values()
    ]
    write_rows(folder / "comparison.csv", numeric_rows(rows))


def _compare_episodes(
    console: Console, world: World, methods: list[str], settings: Settings, folder: Path | None
) -> None:
    """Print the steps until a target is first reached and until the policy is near-optimal, for each method."""
    # No more than there are local maxima at the t that is asked for.
    count = settings.n_options or min(_EPISODIC_OPTIONS, len(discover(world, t=settings.t or 1)))
    found, numbers = [], {}
    with progress_bar("comparing", len(methods)) as tell:
        for done, method in enumerate(methods):
            tell(done, what=f"learning with {METHOD_TITLES[method]}")
            n_options = None if method == "none" else count
            options = discover(world, method, t=settings.t, n_options=n_options, seed=settings.seed)
            found.append(options)
            result = learn_episodes(
                world,
                options,
                option_probability=settings.option_probability,
                n_runs=settings.n_runs,
                seed=settings.seed,
                n_steps=_EPISODIC_STEPS,
            )
            numbers[method] = {
                name: estimate(getattr(result, name), limit=_EPISODIC_STEPS) for name in _EPISODIC_TITLES
            }
        if folder is not None:
            tell(len(methods), what="drawing")
            _write_episodes(world, found, numbers, settings, folder)
    print_table(
        console,
        [
            {
                **_about(options, settings),
                "target first reached": numbers[options.method]["first_target"],
                "near-optimal": numbers[options.method]["near_optimal"],
            }
            for options in found
        ],
        title=f"{world.name}, {world.n_states:,} states",
    )
    console.print(
        Text(
            f"environment steps, interquartile mean of {settings.n_runs} runs; at most {_EPISODIC_STEPS:,} steps per "
            "run, ≥ where that did not suffice · t: diffusion time · p: how often a random decision is an option",
            style="dim",
        )
    )
    print_choices(console, found, settings.option_probability, settings.seed)


def _write_episodes(
    world: World, found: list[OptionSet], numbers: dict[str, dict[str, Estimate]], settings: Settings, folder: Path
) -> None:
    from farpoint.report import save_figure
    from farpoint.report.results import draw_intervals

    panels = {title: {method: of[name] for method, of in numbers.items()} for name, title in _EPISODIC_TITLES.items()}
    save_figure(draw_intervals(world.name, panels), folder / "comparison.png")
    rows: list[Row] = [
        {**_facts(options, settings), **numbers[options.method], "max_steps": _EPISODIC_STEPS} for options in found
    ]
    write_rows(folder / "comparison.csv", numeric_rows(rows))
