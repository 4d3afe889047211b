"""Agents that the page plays: a random one, one that learns, one that explores from scratch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from farpoint.agents.task import Task
from farpoint.errors import InvalidInput, check_integer
from farpoint.exploration.explorer import ExploreSettings
from farpoint.exploration.memory import NONE
from farpoint.exploration.runs import begin_run
from farpoint.exploration.values import NO_LEARNING
from farpoint.options import OptionSet
from farpoint.options.tables import option_table
from farpoint.simulation.kernels import PRIMITIVE
from farpoint.simulation.tables import episodes_of, streams, usual_or, world_table
from farpoint.worlds import World

# In one answer; the page asks for more while it plays.
MOST_STEPS = 200_000
MOST_EPISODES = 1_000
# Greedy paths that the page steps through.
_N_PATHS = 60


class RandomAgent:
    """An agent that acts at random, and goes on where it stopped.

    >>> import farpoint as fp
    >>> agent = RandomAgent(fp.grid((5,)), None, 0.0, seed=1)
    >>> states, followed = agent.walk(1000)
    >>> bool((abs(np.diff(states)) == 1).all())
    True
    """

    def __init__(self, world: World, options: OptionSet | None, option_probability: float | None, seed: int) -> None:
        self._world = world_table(world, episodic=True)
        self._options = option_table(world, options)
        self._chance = usual_or(option_probability, options)
        episodic = world.restart is not None and world.starts is not None
        self._start_cdf = episodes_of(world, 1).start_cdf if episodic else np.empty(0)
        self.first = first_state(world)
        self._now = np.array([self.first, PRIMITIVE])
        self._stream = streams(seed, 1)

    def walk(self, n_steps: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the next states, and the option that led to each (-1: none)."""
        from farpoint.studio.playing_kernels import walk_states

        n_steps = check_integer("steps", n_steps, 1, MOST_STEPS)
        return walk_states(self._world, self._options, self._chance, self._start_cdf, self._now, n_steps, self._stream)


def first_state(world: World) -> int:
    """Return the state that agents begin in: the world's start, or its likeliest first state, or state 0."""
    if world.start is not None:
        return world.start
    return 0 if world.starts is None else int(world.starts.argmax())


@dataclass(frozen=True)
class Learned:
    """How one agent learned: steps of its greedy policy after each episode, and the paths of some of them."""

    curve: NDArray[np.float64]
    visits: NDArray[np.int64]
    episodes: list[int]
    paths: list[NDArray[np.int32]]
    target: int


def learn_paths(
    world: World,
    options: OptionSet | None,
    option_probability: float | None,
    *,
    target: int | None = None,
    n_episodes: int = 200,
    max_steps: int | None = None,
    seed: int = 0,
) -> Learned:
    """Return what one run of intra-option Q-learning towards one target does.

    The curve is that of ``learn(world, options, algorithm="intra-option", n_runs=1, targets=[target])``.

    >>> import farpoint as fp
    >>> learned = learn_paths(fp.open_room(3, 3), None, None, target=8, n_episodes=50)
    >>> learned.curve.shape, bool(learned.curve.min() >= 4)                   # no way to the target is shorter
    ((50,), True)
    """
    from farpoint.agents.option_value_kernels import learn_episode
    from farpoint.studio.playing_kernels import greedy_path

    start = first_state(world)
    target = farthest_target(world, start) if target is None else int(target)
    if target == start:
        raise InvalidInput(f"target must be another state than the start; got {target}. Choose another target.")
    n_episodes = check_integer("episodes", n_episodes, 1, MOST_EPISODES)
    steps = max(100, world.n_states) if max_steps is None else check_integer("max_steps", max_steps, 1, 100_000)
    task = Task(start, n_episodes, steps, 0.1, 0.9, usual_or(option_probability, options))
    table, of_options = world_table(world), option_table(world, options)
    stream, visits = streams(seed, 1), np.zeros(world.n_states, dtype=np.int64)
    q, q_options = np.zeros(world.n_choices), np.zeros((of_options.goals.size, world.n_states))
    kept = {int(episode) for episode in np.linspace(0, n_episodes - 1, min(_N_PATHS, n_episodes))}
    curve, paths = np.empty(n_episodes), []
    for episode in range(n_episodes):
        learn_episode(table, of_options, task, target, True, stream, visits, q, q_options)
        path = greedy_path(table, of_options, q, q_options, task, target, stream)
        curve[episode] = path.size - 1 if path[-1] == target else steps + 1
        if episode in kept:
            paths.append(path.copy())
    return Learned(curve, visits, sorted(kept), paths, target)


def farthest_target(world: World, start: int) -> int:
    """Return the target of a learning task: of the world's own, or of all states, the one farthest from the start."""
    from farpoint.options.routes import steps_to

    candidates = np.arange(world.n_states) if world.targets is None else world.targets
    # From the start to each; in a world that can be crossed both ways the way back is as long.
    lengths = steps_to(world, start)[candidates] if world.symmetric else np.arange(candidates.size, dtype=float)
    lengths = np.where(np.isfinite(lengths) & (candidates != start), lengths, -1.0)
    return int(candidates[lengths.argmax()])


@dataclass(frozen=True)
class Explored:
    """Every step of an exploration in the world's own numbers, and where options led from which step on."""

    before: NDArray[np.int32]
    after: NDArray[np.int32]
    remade: list[int]
    goals: list[list[int]]


def explore_steps(
    world: World,
    method: str,
    *,
    n_steps: int = 5_000,
    n_options: int = 5,
    option_probability: float = 0.05,
    t: int = 4,
    max_episode_steps: int | None = 100,
    seed: int = 0,
    progress: Callable[[float], None] | None = None,
) -> Explored:
    """Return what `explore` does in a world, step by step.

    >>> import farpoint as fp
    >>> explored = explore_steps(fp.maze(), "diffusion", n_steps=2000)
    >>> seen = {*explored.before.tolist(), *explored.after.tolist()}
    >>> len(seen) == fp.explore(fp.maze(), 2000, max_episode_steps=100).n_states
    True
    """
    n_steps = check_integer("steps", n_steps, 1, MOST_STEPS)
    if world.start is None and world.starts is None:
        world = replace(world, start=0)
    limit = None if world.starts is not None else max_episode_steps
    settings = ExploreSettings(method, n_options, option_probability, t)
    run = begin_run(world, n_steps, settings, NO_LEARNING, seed, limit)
    explorer = run.explorer
    remade, goals = [], []
    while explorer.n_steps < n_steps:
        run.remake()
        remade.append(explorer.n_steps)
        goals.append(explorer.goals[explorer.goals != NONE].tolist())
        run.advance(min(n_steps, explorer.n_steps + explorer.interval))
        if progress is not None:
            progress(explorer.n_steps / n_steps)
    labels = run.labels
    own = np.array([world.find_state(label) if world.labels is not None else label for label in labels], dtype=np.int32)
    steps = run.steps.until(n_steps)
    return Explored(own[steps.before], own[steps.after], remade, [own[some].tolist() for some in goals])
