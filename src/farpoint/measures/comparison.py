"""The same measures for several sets of options on one world, and whether options harm.

The command, the Studio and research compare by these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from farpoint.blas import one_blas_thread
from farpoint.display import Tabular
from farpoint.errors import InvalidInput, check_function, check_integer
from farpoint.measures.sparse_steps import mean_steps
from farpoint.measures.statistics import Estimate, estimate
from farpoint.measures.steps import StepsBetweenStates, steps_between_states, usual_n_targets
from farpoint.measures.walks import check_start, covering_walks, first_visits, random_agent
from farpoint.options import OptionSet
from farpoint.options.option_set import check_same_world
from farpoint.options.probability import resolve_option_probability
from farpoint.worlds import World, WorldLike, as_world

# Enough to tell a world in which options harm from one in which they help.
_N_TARGETS = 20
# Up to this many states dense systems are as fast, and wait for no compiler.
_FEW_STATES = 300
# Beyond these, on two cores, it takes longer than some seconds: states times options; states of a map; and states of
# another world, whose sparse factors may fill up.
_MOST_TO_FOLLOW, _MOST_CELLS, _MOST_STATES = 2_000_000, 100_000, 3_000
_N_STEPS, _N_RUNS = 100_000, 100
# So many standard errors apart, simulated means are different.
_APART = 3.0


@dataclass(frozen=True, eq=False)
class Compared:
    """What was measured with one set of options.

    Attributes
    ----------
    options : OptionSet
    option_probability : float
        Probability that a decision is an option; 0 without options.
    steps : StepsBetweenStates, optional
        Exact expected steps between states; None in a world with episodes and targets.
    cover : Estimate, optional
        Mean steps until every state was visited, a lower bound where ``max_steps`` ended a walk; None with ``steps``.
    first_target : Estimate, optional
        In a world with episodes and targets: interquartile mean of the steps until a target is first reached.

    Examples
    --------
    >>> import farpoint as fp
    >>> world = fp.four_rooms()
    >>> compared, = fp.measures.compare(world, [fp.discover(world, n_options=6)], n_runs=20).rows
    >>> compared.steps.mean < compared.steps.worst
    True
    """

    options: OptionSet
    option_probability: float
    steps: StepsBetweenStates | None = None
    cover: Estimate | None = None
    first_target: Estimate | None = None

    def measures(self) -> dict[str, Any]:
        """Return the measures by name: numbers, and estimates with their intervals."""
        if self.steps is None:
            return {"first_target": self.first_target}
        return {
            "steps_median": self.steps.median_estimate,
            "steps_iqr": self.steps.iqr,
            "steps_mean": self.steps.mean_estimate,
            "steps_worst": self.steps.worst,
            "cover_time": self.cover,
        }


@dataclass(frozen=True, eq=False)
class Comparison(Tabular):
    """Several sets of options by the same measures, in the order in which they were given.

    Attributes
    ----------
    rows : tuple of Compared
    targets : array of int
        The states that steps are measured to, the same for every set.
    sampled : bool
        Whether these were drawn at random.

    Examples
    --------
    >>> import farpoint as fp
    >>> world = fp.four_rooms()
    >>> found = fp.measures.compare(world, [fp.discover(world, name, n_options=6) for name in ("diffusion", "random")])
    >>> found.columns()["method"], found.sampled
    (['diffusion', 'random'], False)
    """

    rows: tuple[Compared, ...]
    targets: NDArray[np.int64]
    sampled: bool

    def columns(self) -> dict[str, Any]:
        """Return one row per set: its method, number and probability, and each measure with its interval."""
        columns: dict[str, list[Any]] = {}
        for row in self.rows:
            cells: dict[str, Any] = {
                "method": row.options.method,
                "n_options": len(row.options),
                "option_probability": row.option_probability,
            }
            for name, value in row.measures().items():
                cells |= value.columns(name) if isinstance(value, Estimate) else {name: value}
            for name, value in cells.items():
                columns.setdefault(name, []).append(value)
        return columns


def compare(
    world: WorldLike,
    sets: Sequence[OptionSet],
    *,
    option_probability: float | None = None,
    n_targets: int | None = None,
    n_runs: int = 50,
    max_steps: int = 1_000_000,
    seed: int = 0,
    n_jobs: int = -1,
    progress: Callable[[Compared], Any] | None = None,
) -> Comparison:
    """Measure several sets of options on one world, all to the same targets.

    In a world with episodes and targets: steps until a target is first reached. Elsewhere: exact expected steps between
    states, and the time to visit every state.

    Parameters
    ----------
    world : World
    sets : sequence of OptionSet
        An empty set (``discover(world, "none")``) stands for primitive choices only.
    option_probability : float, optional
        Probability that a decision is an option; default: of each set its own, `OptionSet.option_probability`.
    n_targets : int, optional
        How many states to draw as targets; default: all, or 100 where that takes long for the largest set.
    n_runs, max_steps : int
        Simulated walks, and after how many steps one ends.
    seed, n_jobs : int
    progress : function of Compared, optional
        Called with what was measured of each set as soon as it is known.

    Raises
    ------
    NotConnected
        If some state cannot be reached from some other, in a world without episodes or targets.

    Examples
    --------
    >>> import farpoint as fp
    >>> world = fp.maze()
    >>> found = fp.measures.compare(world, [fp.discover(world, n_options=10), fp.discover(world, "none")], n_runs=20)
    >>> helped, alone = (row.steps for row in found.rows)
    >>> helped.mean < alone.mean, helped.worst < alone.worst
    (True, True)
    """
    world = as_world(world)
    if not isinstance(sets, Sequence) or isinstance(sets, OptionSet) or not sets:
        raise InvalidInput(f"sets must be a list of option sets, at least one; got {sets!r}.")
    for options in sets:
        check_same_world(world, options)
    n_runs, max_steps = check_integer("n_runs", n_runs, 2), check_integer("max_steps", max_steps, 1)
    check_function("progress", progress)
    if n_targets is None:
        n_targets = usual_n_targets(world, max(len(options) for options in sets))
    rows = []
    for options in sets:
        chance = resolve_option_probability(option_probability, options)
        if world.restart is not None and world.targets is not None and world.targets.size:
            first = _first_target(world, options, chance, n_runs, max_steps, seed, n_jobs)
            row = Compared(options, chance, first_target=first)
        else:
            # The same seed draws the same targets for every set.
            steps = steps_between_states(
                world, options, n_targets=n_targets, option_probability=chance, seed=seed, n_jobs=n_jobs
            )
            row = Compared(options, chance, steps, _cover(world, options, chance, n_runs, max_steps, seed, n_jobs))
        rows.append(row)
        if progress is not None:
            progress(row)
    measured = rows[0].steps
    if measured is None:
        assert world.targets is not None
        return Comparison(tuple(rows), world.targets, sampled=False)
    return Comparison(tuple(rows), measured.targets, measured.sampled)


def _first_target(
    world: World, options: OptionSet, chance: float, n_runs: int, max_steps: int, seed: int, n_jobs: int
) -> Estimate:
    visits = first_visits(
        world, options, option_probability=chance, n_steps=max_steps, n_runs=n_runs, seed=seed, n_jobs=n_jobs
    )
    return estimate(visits[:, world.targets].min(axis=1), limit=max_steps, seed=seed)


def _cover(
    world: World, options: OptionSet, chance: float, n_runs: int, max_steps: int, seed: int, n_jobs: int
) -> Estimate:
    agent = random_agent(world, options, chance)
    walks = covering_walks(agent, check_start(world, None), n_runs, max_steps, seed, n_jobs)
    return estimate(np.where(walks < 0, np.inf, walks), "mean", limit=max_steps, seed=seed)


class Effect(NamedTuple):
    """Mean steps with options and without, what they are steps to, and the standard error of their difference."""

    helped: float
    alone: float
    measure: str
    error: float = 0.0

    @property
    def harms(self) -> bool:
        """Whether the options make things worse than none, beyond chance."""
        return self.helped > self.alone + _APART * self.error


@one_blas_thread()
def effect_of(
    world: World, options: OptionSet, *, option_probability: float | None = None, seed: int = 0
) -> Effect | None:
    """Return the mean steps of a random agent with options and without; None where that takes long or is undefined.

    In a world with episodes and targets: until a target is first reached, by simulation, a run that does not get there
    within 100 000 steps counted as that many. In a world in which every state can be reached from every other: between
    states, exactly, to 20 sampled targets; None where states times options are more than 2 000 000, and beyond 100 000
    states of a map or 3 000 of another world.

    Examples
    --------
    >>> import farpoint as fp
    >>> from farpoint.measures.comparison import effect_of
    >>> world = fp.maze()
    >>> options = fp.discover(world, n_options=6)
    >>> effect_of(world, options, option_probability=0.5).harms, effect_of(world, options).harms
    (True, False)
    """
    chance = resolve_option_probability(option_probability, options, may_be_one=True)
    if world.restart is not None:
        if world.targets is None or world.targets.size == 0:
            return None
        firsts = [
            first_visits(world, chosen, option_probability=chance, n_steps=_N_STEPS, n_runs=_N_RUNS, seed=seed)
            for chosen in (options, None)
        ]
        steps = np.array([np.minimum(first[:, world.targets].min(axis=1), _N_STEPS) for first in firsts])
        error = float(np.sqrt((steps.var(axis=1, ddof=1) / _N_RUNS).sum()))
        helped, alone = steps.mean(axis=1).tolist()
        return Effect(helped, alone, "steps until a target is first reached", error)
    n_states, most = world.n_states, _MOST_STATES if world.floor is None else _MOST_CELLS
    if n_states > most or n_states * len(options) > _MOST_TO_FOLLOW:
        return None
    if connected_components(world.adjacency, connection="strong")[0] > 1:
        return None
    targets = np.sort(np.random.default_rng(seed).choice(n_states, size=min(_N_TARGETS, n_states), replace=False))
    helped, alone = (_mean_steps(world, chosen, targets, chance) for chosen in (options, None))
    return Effect(helped, alone, "steps between states")


def _mean_steps(world: World, options: OptionSet | None, targets: NDArray[np.int64], chance: float) -> float:
    if world.n_states <= _FEW_STATES:
        return float(steps_between_states(world, options, targets=targets, option_probability=chance).mean)
    return float(mean_steps(world, options, targets, chance, -1).mean())
