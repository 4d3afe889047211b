"""Exploring a world of which nothing is known: it can only be stepped and reset."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from farpoint.blas import one_blas_thread
from farpoint.display import Drawn, Framed
from farpoint.display.progress import shows_progress
from farpoint.errors import InvalidInput, WrongCheckpoint, check_function, check_integer
from farpoint.exploration.env_runs import EnvRun
from farpoint.exploration.explorer import ExploreSettings
from farpoint.exploration.memory import NONE
from farpoint.exploration.runs import begin_run
from farpoint.exploration.sampled_options import SampledOptions
from farpoint.exploration.sampled_runs import SampledRun
from farpoint.exploration.steps import TERMINATED, TRUNCATED, Steps
from farpoint.exploration.values import NO_LEARNING
from farpoint.exploration.world_runs import WorldRun
from farpoint.files import PieceFolder
from farpoint.options import OptionSet, discover
from farpoint.worlds import Log, SampleLog, World

_STATE = "state"
_SECONDS_BETWEEN_SAVES = 10.0


@dataclass(frozen=True, eq=False, repr=False)
class Exploration(Drawn, Framed):
    """What an exploration found.

    Attributes
    ----------
    steps : Steps
        Every step, with states numbered in the order in which they were first seen.
    labels : list
        The key of each state.
    actions : array of int
        The action of every step.
    visits : array of int, shape (n_states,)
        How often each state was visited.
    coverage : array of int, shape (n_states,)
        After how many steps the first, the second, … state was first seen.
    goals : array of int
        Where the options led at the end.
    samples : SampleLog, optional
        Of an environment with continuous observations: every step, as observed. Labels are then the representative
        observations.
    scale : array of float, optional
        Of such an environment: how far a state reaches in each number of an observation.
    positions : array, shape (n_states, n_dimensions), optional
        Where each state is drawn: of a map, MiniGrid and toy-text environments, and of labels that are pairs of whole
        numbers, its row and column.

    Examples
    --------
    >>> import farpoint as fp
    >>> found = fp.explore(fp.maze(), 3000, max_episode_steps=100, seed=1)
    >>> found
    Exploration(... states in 3000 steps)
    >>> found.log, found.n_states <= fp.maze().n_states
    (Log(3000 steps), True)
    >>> found.world.on_grid                                    # it draws itself as a map
    True
    """

    steps: Steps
    labels: list[Any]
    actions: NDArray[np.int32]
    visits: NDArray[np.int64]
    coverage: NDArray[np.int64]
    goals: NDArray[np.int64]
    settings: ExploreSettings
    name: str
    samples: SampleLog | None = None
    scale: NDArray[np.float64] | None = None
    positions: NDArray[Any] | None = None

    @property
    def n_states(self) -> int:
        """Number of states seen."""
        return int(self.visits.size)

    @property
    def n_steps(self) -> int:
        """Number of steps taken."""
        return int(self.actions.size)

    @cached_property
    def log(self) -> Log:
        """Every step, in the environment's own terms."""
        names = self.labels

        def named(states: NDArray[Any]) -> list[Any]:
            return [names[state] for state in states.tolist()]

        steps = self.steps
        return Log(
            named(steps.before),
            named(steps.after),
            self.actions.astype(np.int64),
            steps.ended == TERMINATED,
            named(steps.first_states),
            int((steps.ended == TRUNCATED).sum()),
        )

    @cached_property
    def world(self) -> World:
        """The world that was seen, with the frequencies of the log as its probabilities."""
        world = World.from_log(self.log, largest_component=True, name=self.name)
        if self.positions is None:
            return world
        assert world.labels is not None
        place = {label: number for number, label in enumerate(self.labels)}
        return replace(world, positions=self.positions[[place[label] for label in world.labels]])

    @cached_property
    def options(self) -> OptionSet:
        """Options for later tasks: to far points of the world that was seen, as `discover` chooses them."""
        if self.n_states < 2:
            raise InvalidInput("exploration must have seen at least two states to have options; got 1.")
        return discover(self.world, form="symmetrized")

    @cached_property
    def continuous_options(self) -> SampledOptions:
        """The same options for an agent in an environment with continuous observations: they read these themselves."""
        if self.scale is None:
            raise InvalidInput(f"exploration must be of continuous observations; got {self!r}, whose states have keys.")
        return SampledOptions(self.options, self.scale)

    def columns(self) -> dict[str, Any]:
        """Return one row per state that was seen: its label, how often it was visited, and after how many steps."""
        labels = np.fromiter(self.labels, dtype=object, count=self.n_states)
        # States are numbered in the order in which they were first seen.
        seen = self.coverage
        return {"state": np.arange(self.n_states), "label": labels, "visits": self.visits, "first_seen": seen}

    def steps_until(self, n_states: int) -> float:
        """Return after how many steps so many states had been seen; inf if that never happened.

        >>> import farpoint as fp
        >>> fp.explore(fp.ring(), 500, method="none", max_episode_steps=100).steps_until(10_000)
        inf
        """
        count = check_integer("n_states", n_states, 1)
        return float(self.coverage[count - 1]) if count <= self.n_states else float("inf")

    def __repr__(self) -> str:
        return f"Exploration({self.n_states} states in {self.n_steps} steps)"


@one_blas_thread()
@shows_progress("exploring")
def explore(
    env: Any,
    n_steps: int,
    method: str = "diffusion",
    *,
    n_options: int = 5,
    option_probability: float = 0.05,
    t: int = 4,
    remake_every: int = 100,
    actions: str = "least tried",
    max_episode_steps: int | None = None,
    state: Callable[[Any, Any], Any] | None = None,
    scale: ArrayLike | None = None,
    layout: int | None = None,
    checkpoint: str | PathLike[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
    seed: int = 0,
) -> Exploration:
    """Explore an environment of which nothing is known, by options to far and rare states of what was seen so far.

    The agent keeps the graph of the moves it has seen. Now and then it makes options anew: shortest routes, along
    moves it has seen, to ``n_options`` goals. At each decision it takes one of them with ``option_probability``, and
    otherwise an action that it has tried least often in this state. Every step counts; nothing else is asked of the
    environment.

    Parameters
    ----------
    env : gymnasium.Env or World
        An environment with discrete actions (wrap continuous ones in ``gymnasium.wrappers.DiscretizeAction``), or a
        world, which is simulated (and told nothing more).
    n_steps : int
        Steps in all, over all episodes.
    method : {"diffusion", "novelty", "eigen", "cover", "neo", "betweenness", "random", "none"}
        Where options lead. ``"diffusion"``: local maxima of f_t · untried actions / visits on the graph of what was
        seen; ``"novelty"``: the states with the most untried actions per visit; ``"eigen"``: the ends of its leading
        eigenvectors; ``"cover"``: the ends of Fiedler vectors as edges are added between them; ``"neo"``: where the
        smoothest eigenvectors of a Laplacian that is larger where visits are many are largest; ``"betweenness"``: the
        states that the most shortest routes pass; ``"random"``.
    n_options : int
    option_probability : float
    t : int
        Diffusion time of the score.
    remake_every : int
        Steps after which options are made anew; where more than twice as many states are known, half their number.
    actions : {"least tried", "uniform"}
        How primitive actions are chosen.
    max_episode_steps : int, optional
        For a world: steps after which an episode begins anew. Environments have limits of their own.
    state : function of (env, observation), optional
        What identifies a state, as in `World.from_env`. Default, where observations are a Box of floats: the nearest
        of the representative observations, which are added as new regions are seen.
    scale : float or array of float, optional
        How far a representative reaches in each number of a continuous observation. Default: twice what a step
        changes it by, the root mean square over the steps so far.
    layout : int, optional
        Seed of every reset, for environments whose layout depends on it; default: a new one each time.
    checkpoint : path, optional
        A folder in which the exploration is kept, so that it goes on from there if interrupted: the log is the same as
        without interruption. An environment is brought back by taking its steps again.
    progress : function of (int, int), optional
        Called now and then with the steps done and their number.
    seed : int

    Returns
    -------
    Exploration
        With ``log``, ``world``, ``options``, ``visits`` and ``coverage``.

    Examples
    --------
    >>> import gymnasium as gym, farpoint as fp
    >>> fp.explore(gym.make("Taxi-v4"), 5000, seed=0)
    Exploration(... states in 5000 steps)
    >>> helped = fp.explore(fp.maze(), 2000, max_episode_steps=100)
    >>> alone = fp.explore(fp.maze(), 2000, "none", actions="uniform", max_episode_steps=100)
    >>> helped.n_states > alone.n_states
    True
    >>> found = fp.explore(gym.make("MountainCar-v0"), 3000, scale=[0.1, 0.01])      # continuous observations
    >>> found.samples.observations.shape, len(found.labels[0])
    ((3000, 2), 2)
    """
    n_steps = check_integer("n_steps", n_steps, 1)
    seed = check_integer("seed", seed, 0)
    check_function("progress", progress)
    settings = ExploreSettings(method, n_options, option_probability, t, remake_every, actions)
    limit = None if max_episode_steps is None else check_integer("max_episode_steps", max_episode_steps, 1)
    run = begin_run(env, n_steps, settings, NO_LEARNING, seed, limit, state, layout, scale=scale)
    explorer = run.explorer
    folder = PieceFolder(checkpoint, "exploration", {**run.about, **asdict(settings), "seed": seed})
    _resume(folder, run, n_steps)
    saved = time.monotonic()
    while explorer.n_steps < n_steps:
        # Saved before the options are made, for making them needs nothing that is not saved; and before the last steps,
        # so that an exploration that is later made longer has its options made anew at the same moments.
        if time.monotonic() - saved > _SECONDS_BETWEEN_SAVES or explorer.n_steps + explorer.interval >= n_steps:
            _save(folder, run)
            saved = time.monotonic()
        run.remake()
        run.advance(min(n_steps, explorer.n_steps + explorer.interval))
        if progress is not None:
            progress(explorer.n_steps, n_steps)
    return exploration_of(run)


def exploration_of(run: WorldRun | EnvRun) -> Exploration:
    """Return what a run has seen."""
    explorer = run.explorer
    return Exploration(
        run.steps.until(explorer.n_steps),
        run.labels,
        run.action_numbers,
        explorer.memory.visits[: explorer.n_states].copy(),
        np.sort(explorer.memory.first_seen[: explorer.n_states]),
        explorer.goals[explorer.goals != NONE],
        explorer.settings,
        run.name,
        run.samples if isinstance(run, SampledRun) else None,
        run.places.scale if isinstance(run, SampledRun) else None,
        run.positions,
    )


def _save(folder: PieceFolder, run: WorldRun | EnvRun) -> None:
    taken = run.steps.until(run.explorer.n_steps)
    folder.save(_STATE, {**taken._asdict(), **run.state(), "stream": run.explorer.stream, "goals": run.explorer.goals})


def _resume(folder: PieceFolder, run: WorldRun | EnvRun, n_steps: int) -> None:
    """Go on from a checkpoint, if there is one."""
    piece = folder.load(_STATE)
    if piece is None:
        return
    if len(piece["before"]) > n_steps:
        raise WrongCheckpoint(
            f"checkpoint must have at most {n_steps} steps; got {len(piece['before'])} in {folder.folder}. Give each "
            "exploration a folder of its own."
        )
    taken = Steps(*(piece[name] for name in Steps._fields))
    run.resume(piece, taken)
    run.explorer.stream[:] = piece["stream"]
    run.explorer.goals[:] = piece["goals"]
