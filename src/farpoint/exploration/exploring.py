"""Explore an unknown environment or world by interaction only."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from os import PathLike
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import ArrayLike, NDArray

from farpoint.blas import one_blas_thread
from farpoint.display import Plottable, Tabular, progress_bar
from farpoint.errors import InvalidInput, WrongCheckpoint, check_function, check_integer
from farpoint.exploration.explorer import Explorer, ExploreSettings
from farpoint.exploration.loops import (
    TERMINATED,
    TRUNCATED,
    EnvironmentLoop,
    Steps,
    WorldLoop,
    begin_loop,
    explorer_for,
)
from farpoint.exploration.memory import NONE
from farpoint.exploration.vector_loop import VectorLoop
from farpoint.files import Checkpoint
from farpoint.options import OptionSet, discover
from farpoint.options.probability import probability_text
from farpoint.worlds import Log, World
from farpoint.worlds.frequencies import with_points, world_of_steps
from farpoint.worlds.state_index import END, is_end

_STATE = "state"
_SECONDS_BETWEEN_SAVES = 10.0
_N_OPTIONS = 5
# What `farpoint.envs.simulator_state` reads.
SIMULATORS = ("table", "minigrid")


@dataclass(frozen=True, eq=False, repr=False)
class Exploration(Plottable, Tabular):
    """The result of `explore`.

    Attributes
    ----------
    steps : Steps
        Every step; states are numbered in the order in which they were first seen.
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
    samples : Log, optional
        For continuous observations: every step, as observed. Labels are then the points that stand for states.
    scale : array of float, optional
        For continuous observations: how far a state reaches in each number.
    positions : array, shape (n_states, n_dimensions), optional
        Where each state is drawn: in maps, in environments with rows and columns, and where labels are pairs of whole
        numbers.
    keyed_by : {"observation", "table", "minigrid", "state"}
        What identifies a state: the observation; the simulator (its state number, or MiniGrid's whole grid), with
        ``state=farpoint.envs.simulator_state``; or another function ``state=``.

    Examples
    --------
    >>> import farpoint as fp
    >>> found = fp.explore(fp.maze(), 3000, max_episode_steps=100, seed=1)
    >>> found
    Exploration(... states in 3000 steps, option_probability=0.05)
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
    samples: Log | None = None
    scale: NDArray[np.float64] | None = None
    positions: NDArray[Any] | None = None
    keyed_by: str = "observation"

    @property
    def n_states(self) -> int:
        """Number of states seen."""
        return int(self.visits.size)

    @property
    def n_steps(self) -> int:
        """Number of steps taken."""
        return int(self.actions.size)

    @property
    def option_probability(self) -> float:
        """How often an option was taken where one could start; 0 without options."""
        return 0.0 if self.settings.method == "none" else self.settings.option_probability

    @cached_property
    def log(self) -> Log:
        """Every step, in the environment's own terms."""
        names = self.labels

        def named(states: NDArray[Any]) -> list[Any]:
            return [names[state] for state in states.tolist()]

        steps = self.steps
        return Log(named(steps.before), self.actions.astype(np.int64), named(steps.after), *self._ends, steps.rewards)

    @property
    def _ends(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
        """Which steps terminated, were cut, and began an episode; the end of exploring cuts the last one."""
        ended = self.steps.ended
        terminated, truncated = ended == TERMINATED, ended == TRUNCATED
        truncated[-1] = not terminated[-1]
        return terminated, truncated, np.append(True, (terminated | truncated)[:-1])

    @cached_property
    def world(self) -> World:
        """The world that was seen, with the frequencies of the log as its probabilities."""
        steps, numbers = self.steps, range(self.n_states)
        terminated, truncated, begins = self._ends
        numbered = world_of_steps(
            steps.before.astype(np.int64),
            steps.after.astype(np.int64),
            self.actions.astype(np.int64),
            numbers,
            terminated=terminated,
            truncated=truncated,
            begins=begins,
            largest_component=True,
            name=self.name,
        )
        assert numbered.labels is not None
        given: list[Any] = list(numbered.labels)
        kept = [label[1] if is_end(label) else label for label in given]
        names = [self.labels[place] for place in kept]
        labels = [(END, name) if is_end(label) else name for name, label in zip(names, given, strict=True)]
        positions = None if self.positions is None else self.positions[kept]
        # Options on this world then find states in an environment in the same way.
        keyed_by = self.keyed_by if self.keyed_by in SIMULATORS else "observation"
        world = replace(numbered, labels=tuple(labels), positions=positions, keyed_by=keyed_by)
        return world if self.scale is None else with_points(world, self.scale)

    @cached_property
    def options(self) -> OptionSet:
        """Options for later tasks: to far points of the world that was seen, chosen by `discover`."""
        if self.n_states < 2:
            raise InvalidInput("exploration must have seen at least two states to have options; got 1.")
        return discover(self.world, form="symmetrized")

    def columns(self) -> dict[str, Any]:
        """Return one row per state: its label, what it was read from, its visits, and the step of the first one."""
        labels = np.fromiter(self.labels, dtype=object, count=self.n_states)
        return {
            "state": np.arange(self.n_states),
            "label": labels,
            "keyed_by": np.full(self.n_states, self.keyed_by),
            "visits": self.visits,
            # States are numbered in the order in which they were first seen.
            "first_seen": self.coverage,
        }

    def steps_until(self, n_states: int) -> float:
        """Return the first step at which ``n_states`` states were visited; inf if that never happened.

        >>> import farpoint as fp
        >>> fp.explore(fp.ring(), 500, method="none", max_episode_steps=100).steps_until(10_000)
        inf
        """
        count = check_integer("n_states", n_states, 1)
        return float(self.coverage[count - 1]) if count <= self.n_states else float("inf")

    def __repr__(self) -> str:
        source = " of the simulator" if self.keyed_by in SIMULATORS else ""
        used = probability_text(self.option_probability)
        return f"Exploration({self.n_states} states{source} in {self.n_steps} steps{used})"


@one_blas_thread()
def explore(
    env: Any,
    n_steps: int,
    method: str = "diffusion",
    *,
    n_options: int | None = None,
    option_probability: float | None = None,
    t: int = 4,
    remake_every: int = 100,
    actions: str = "least tried",
    max_episode_steps: int | None = None,
    state: Callable[[Any, Any], Any] | None = None,
    scale: ArrayLike | None = None,
    layout: int | None = None,
    n_envs: int | None = None,
    checkpoint: str | PathLike[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
    seed: int = 0,
) -> Exploration:
    """Explore an unknown environment by interaction only, with options to far and little known states.

    The agent keeps the graph of the moves that it has seen. Now and then it rebuilds its options: shortest routes along
    moves that it has seen, to ``n_options`` goals. At each decision it takes one of them with ``option_probability``,
    and otherwise an action that it has tried least often in this state. Every step counts; nothing else is asked of the
    environment. Actions that its ``info["action_mask"]`` forbids are not taken.

    What identifies a state is the observation. Where observations hide something that lasts for an episode, a warning
    says so.

    Parameters
    ----------
    env : gymnasium.Env, gymnasium.vector.VectorEnv, World, or function
        An environment with discrete actions (wrap continuous ones in ``gymnasium.wrappers.DiscretizeAction``), or a
        world, which is simulated; the explorer sees only its steps. All copies of a vector environment are explored
        together; with ``n_envs``, a function that makes an environment.
    n_steps : int
        Steps in all, over all episodes and copies.
    method : {"diffusion", "novelty", "eigen", "cover", "neo", "betweenness", "random", "none"}
        Where options lead. ``"diffusion"``: local maxima of f_t · untried actions / visits on the graph of what was
        seen; ``"novelty"``: the states with the most untried actions per visit; ``"eigen"``: the ends of its leading
        eigenvectors; ``"cover"``: the ends of Fiedler vectors as edges are added between them; ``"neo"``: the largest
        entries of the smoothest eigenvectors of a Laplacian that is larger where visits are many; ``"betweenness"``:
        the states that the most shortest routes pass; ``"random"``.
    n_options : int, optional
        Default: 5, or as many as there are copies of the environment if that is more.
    option_probability : float, optional
        Default: 0.05.
    t : int
        Diffusion time of the score.
    remake_every : int
        Options are rebuilt after this many steps, or half the number of known states if that is more.
    actions : {"least tried", "uniform"}
        How primitive actions are chosen.
    max_episode_steps : int, optional
        For a world: steps after which an episode is cut. Environments have limits of their own.
    state : function of (env, observation), optional
        What identifies a state; default: the observation or, where observations are a Box of floats, the nearest of the
        points seen so far. `farpoint.envs.simulator_state` reads the simulator; a result made with it says so.
    scale : float or array of float, optional
        For continuous observations: how far a state reaches in each number. Default: measured, see `Explorer`.
    layout : int, optional
        Seed of every reset, for environments whose layout depends on it; default: a new one each time.
    n_envs : int, optional
        Make this many copies, ``gymnasium.vector.SyncVectorEnv([env] * n_envs)``, and close them at the end. For copies
        in other processes pass an ``AsyncVectorEnv``.
    checkpoint : path, optional
        A folder in which the exploration is kept. If interrupted it goes on from there, and ends with the same log as
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
    Exploration(... states in 5000 steps, option_probability=0.05)
    >>> helped = fp.explore(fp.maze(), 2000, max_episode_steps=100)
    >>> alone = fp.explore(fp.maze(), 2000, "none", max_episode_steps=100)
    >>> helped.n_states > alone.n_states
    True
    >>> found = fp.explore(gym.make("MountainCar-v0"), 3000, scale=[0.1, 0.01])      # continuous observations
    >>> found.samples.observations.shape, len(found.labels[0])
    ((3000, 2), 2)
    >>> fp.explore(lambda: gym.make("Taxi-v4"), 5000, n_envs=8)                          # eight copies, one graph
    Exploration(... states in 5000 steps, option_probability=0.05)
    """
    n_steps = check_integer("n_steps", n_steps, 1)
    seed = check_integer("seed", seed, 0)
    check_function("progress", progress)
    limit = None if max_episode_steps is None else check_integer("max_episode_steps", max_episode_steps, 1)
    settings: dict[str, Any] = {
        "method": method, "option_probability": option_probability, "t": t,
        "remake_every": remake_every, "actions": actions,
    }  # fmt: skip
    with _copies_of(env, n_envs) as copies:
        # A goal for each copy: with five for eight, 90 % of a maze of 1,000 states is seen a tenth later.
        settings["n_options"] = max(_N_OPTIONS, getattr(copies, "num_envs", 1)) if n_options is None else n_options
        loop: WorldLoop | EnvironmentLoop
        if isinstance(copies, gym.vector.VectorEnv):
            if limit is not None or layout is not None:
                raise InvalidInput(
                    "max_episode_steps and layout must go with one world or environment; got many copies. Give each "
                    "copy a limit of its own, gymnasium.wrappers.TimeLimit."
                )
            loop = VectorLoop(copies, explorer_for(copies, state, scale, seed=seed, **settings), n_steps, seed, state)
        else:
            loop = begin_loop(
                copies, n_steps, seed, max_episode_steps=limit, state=state, layout=layout, scale=scale, **settings
            )
        return _explored(loop, n_steps, seed, checkpoint, progress)


@contextmanager
def _copies_of(env: Any, n_envs: int | None) -> Iterator[Any]:
    """Yield what is explored, with ``n_envs`` copies that are made here and closed afterwards."""
    if n_envs is None:
        if callable(env) and not isinstance(env, World):
            raise InvalidInput(f"n_envs must be given with a function that makes an environment; got {env!r:.60}.")
        yield env
        return
    count = check_integer("n_envs", n_envs, 1)
    if not callable(env):
        raise InvalidInput(f"env must be a function that makes an environment where n_envs is given; got {env!r:.60}.")
    copies = gym.vector.SyncVectorEnv([env] * count)
    try:
        yield copies
    finally:
        copies.close()


def _explored(
    loop: WorldLoop | EnvironmentLoop,
    n_steps: int,
    seed: int,
    checkpoint: str | PathLike[str] | None,
    progress: Callable[[int, int], None] | None,
) -> Exploration:
    """Let the explorer of a loop act for ``n_steps`` steps."""
    settings = loop.explorer.settings
    folder = Checkpoint(checkpoint, "exploration", {**loop.about, **asdict(settings), "seed": seed})
    _resume(folder, loop, n_steps)
    saved = time.monotonic()
    with progress_bar("exploring", n_steps, progress) as tell:
        while loop.explorer.n_steps < n_steps:
            explorer = loop.explorer
            # Saved before the options are rebuilt, which needs nothing else; and before the last steps, so that an
            # exploration that is continued for longer rebuilds its options at the same steps.
            if time.monotonic() - saved > _SECONDS_BETWEEN_SAVES or explorer.n_steps + explorer.interval >= n_steps:
                _save(folder, loop)
                saved = time.monotonic()
            loop.remake()
            loop.advance(min(n_steps, explorer.remake_at))
            tell(explorer.n_steps)
    return exploration_of(loop)


def exploration_of(loop: WorldLoop | EnvironmentLoop) -> Exploration:
    """Return what a loop has seen."""
    explorer, places = loop.explorer, loop.places
    memory, n_states = explorer.memory, places.size
    n_places = int(places.max(initial=NONE)) + 1
    steps = loop.taken
    first_seen = np.full(n_places, np.iinfo(np.int64).max)
    np.minimum.at(first_seen, places[1:], memory.first_seen[1:n_states])
    return Exploration(
        steps._replace(before=places[steps.before].astype(np.int32), after=places[steps.after].astype(np.int32)),
        loop.labels,
        loop.action_numbers,
        np.bincount(places[1:], weights=memory.visits[1:n_states], minlength=n_places).astype(np.int64),
        np.sort(first_seen),
        places[explorer.goals[explorer.goals != NONE]],
        explorer.settings,
        loop.name,
        loop.samples,
        explorer.index.scale if loop.samples is not None else None,
        loop.positions,
        loop.keyed_by,
    )


def _save(folder: Checkpoint, loop: WorldLoop | EnvironmentLoop) -> None:
    taken = loop.steps.until(loop.explorer.n_steps)
    explorer = {f"explorer.{name}": array for name, array in loop.explorer.state().items()}
    folder.save(_STATE, {**taken._asdict(), **loop.state(), **explorer})


def _resume(folder: Checkpoint, loop: WorldLoop | EnvironmentLoop, n_steps: int) -> None:
    """Go on from a checkpoint, if there is one."""
    piece = folder.load(_STATE)
    if piece is None:
        return
    if len(piece["before"]) > n_steps:
        raise WrongCheckpoint(
            f"checkpoint must have at most {n_steps} steps; got {len(piece['before'])} in {folder.folder}. Give each "
            "exploration a folder of its own."
        )
    explorer = {name.removeprefix("explorer."): array for name, array in piece.items() if name.startswith("explorer.")}
    loop.explorer = Explorer.from_state(explorer)
    loop.resume(piece, Steps(*(piece[name] for name in Steps._fields)))
