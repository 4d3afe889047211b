"""Agents that the page plays: a random one, one that learns, one that explores from scratch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from farpoint.agents.learning import learn
from farpoint.agents.learning_kernels import NEVER, Learner, greedy_step, learn_until
from farpoint.agents.task import Rates, Task
from farpoint.compiling import allocation_free, compiled
from farpoint.errors import InvalidInput, check_integer
from farpoint.exploration.loops import begin_loop
from farpoint.exploration.memory import NONE
from farpoint.options import OptionSet
from farpoint.options.option_set import option_table
from farpoint.options.probability import resolve_option_probability
from farpoint.simulation.kernels import PRIMITIVE, Stream, draw_start, next_random_state, terminal
from farpoint.simulation.tables import Episodes, OptionTable, WorldTable, episodes_of, streams, world_table
from farpoint.studio.worlds import Stage, first_state
from farpoint.worlds import World

# In one answer; the page asks for more while it plays.
MOST_STEPS = 200_000
MOST_EPISODES = 1_000
# Greedy paths that the page steps through.
_N_PATHS = 60
# Of a band.
N_RUNS = 20
_N_CHECKPOINTS = 201


@allocation_free(nogil=True)
def _walk(
    world: WorldTable,
    options: OptionTable,
    option_probability: float,
    episodes: Episodes,
    now: NDArray[np.int64],
    stream: Stream,
    states: NDArray[np.int32],
    followed: NDArray[np.int32],
) -> None:
    state, option = now[0], now[1]
    for step in range(states.size):
        if terminal(world, state):
            state, option = draw_start(episodes.starts, episodes.start_cdf, stream), PRIMITIVE
        else:
            state, option = next_random_state(world, options, state, option, option_probability, stream)
        states[step], followed[step] = state, option
    now[0], now[1] = state, option


@compiled(nogil=True)
def walk_states(
    world: WorldTable,
    options: OptionTable,
    option_probability: float,
    episodes: Episodes,
    now: NDArray[np.int64],
    n_steps: int,
    stream: Stream,
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the states of a random agent and the option that led to each (-1: none), going on from ``now``.

    ``now`` holds its state and its option, and is changed. Where an episode has ended the agent begins anew; that is a
    step on the page.
    """
    states = np.empty(n_steps, dtype=np.int32)
    followed = np.empty(n_steps, dtype=np.int32)
    _walk(world, options, option_probability, episodes, now, stream, states, followed)
    return states, followed


@compiled(nogil=True)
def greedy_path(
    world: WorldTable, options: OptionTable, task: Task, learner: Learner, stream: Stream
) -> NDArray[np.int32]:
    """Return the states that best decisions lead through, until the episode ends."""
    path = np.empty(task.max_steps + 1, dtype=np.int32)
    state, option = draw_start(task.starts, task.start_cdf, stream), PRIMITIVE
    path[0] = state
    for step in range(1, task.max_steps + 1):
        state, option = greedy_step(world, options, learner.q, learner.q_options, state, option, stream)
        path[step] = state
        if task.ends[state]:
            return path[: step + 1]
    return path


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
        self._chance = resolve_option_probability(option_probability, options)
        self.first = first_state(world)
        self._episodes = Episodes(np.array([self.first]), np.array([np.inf]), 1)
        if world.starts is not None:
            self._episodes = episodes_of(world, 1)
        self._now = np.array([self.first, PRIMITIVE])
        self._stream = streams(seed, 1)

    def walk(self, n_steps: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the next states, and the option that led to each (-1: none)."""
        n_steps = check_integer("steps", n_steps, 1, MOST_STEPS)
        return walk_states(self._world, self._options, self._chance, self._episodes, self._now, n_steps, self._stream)


def goal_route(stage: Stage, begins: int, ends: int) -> NDArray[np.int64]:
    """Return the states on the way from one to another: by the policy of a log, elsewhere with the fewest steps.

    >>> from farpoint.studio.worlds import make_stage
    >>> goal_route(make_stage({"kind": "text", "text": "S...."}), 1, 4)
    array([1, 2, 3, 4])
    """
    world = stage.world
    if stage.policy is None:
        route: NDArray[np.int64] = OptionSet(world, np.array([ends]))[0].route(begins, max_steps=100_000)
        return route
    assert world.observations is not None
    way = stage.policy.route(world.observations[begins], world.observations[ends])
    if not len(way):
        raise InvalidInput(f"goal must be reached in the log; no route leads from state {begins} to state {ends}.")
    # The observations of the policy's cells are those of the world's states.
    return np.asarray(cKDTree(world.observations).query(np.reshape(way, (len(way), -1)))[1], dtype=np.int64)


@dataclass(frozen=True)
class Learned:
    """How one agent learned: steps of its greedy policy after each episode, and the paths of some of them."""

    curve: NDArray[np.float64]
    visits: NDArray[np.int64]
    episodes: list[int]
    paths: list[NDArray[np.int32]]
    target: int
    max_steps: int


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
    start = first_state(world)
    target = farthest_target(world, start) if target is None else int(target)
    if target == start:
        raise InvalidInput(f"target must be another state than the start; got {target}. Choose another target.")
    n_episodes = check_integer("episodes", n_episodes, 1, MOST_EPISODES)
    steps = max(100, world.n_states) if max_steps is None else check_integer("max_steps", max_steps, 1, 100_000)
    task = Task.towards(world, np.array([target]), Episodes(np.array([start]), np.array([np.inf]), steps))
    rates = Rates(0.1, 0.9, 0.0, resolve_option_probability(option_probability, options))
    table, of_options = world_table(world), option_table(world, options)
    stream, evaluation_stream = streams(seed, 2)[:, None].copy()
    learner = Learner.new(table, of_options)
    kept = {int(episode) for episode in np.linspace(0, n_episodes - 1, min(_N_PATHS, n_episodes))}
    curve, paths = np.empty(n_episodes), []
    for episode in range(n_episodes):
        learn_until(table, of_options, task, rates, True, learner, stream, NEVER, episode + 1)
        path = greedy_path(table, of_options, task, learner, evaluation_stream)
        curve[episode] = path.size - 1 if path[-1] == target else steps + 1
        if episode in kept:
            paths.append(path.copy())
    return Learned(curve, learner.visits, sorted(kept), paths, target, steps)


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
    option_probability: float | None = None,
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
    loop = begin_loop(
        world, n_steps, seed, max_episode_steps=limit, method=method, n_options=n_options,
        option_probability=option_probability, t=t,
    )  # fmt: skip
    explorer = loop.explorer
    remade: list[int] = []
    goals: list[NDArray[np.int64]] = []
    while explorer.n_steps < n_steps:
        loop.remake()
        remade.append(explorer.n_steps)
        goals.append(explorer.goals[explorer.goals != NONE])
        loop.advance(min(n_steps, explorer.n_steps + explorer.interval))
        if progress is not None:
            progress(explorer.n_steps / n_steps)
    own = np.array(
        [world.find_state(label) if world.labels is not None else label for label in loop.labels], dtype=np.int32
    )
    steps, places = loop.steps.until(n_steps), loop.places
    led_to = [own[places[some]].tolist() for some in goals]
    return Explored(own[places[steps.before]], own[places[steps.after]], remade, led_to)


# ---- Many runs: where half of the curves lie, since one run may show anything. ---------------------------------------


@dataclass(frozen=True)
class Band:
    """Quartiles of the curves of several runs at some steps or episodes."""

    x: NDArray[np.int32]
    low: NDArray[np.float32]
    middle: NDArray[np.float32]
    high: NDArray[np.float32]

    @classmethod
    def of(cls, x: NDArray[Any], curves: NDArray[Any]) -> Band:
        """Return the band of curves, one in each row."""
        low, middle, high = np.quantile(curves, (0.25, 0.5, 0.75), axis=0).astype(np.float32)
        return cls(x.astype(np.int32), low, middle, high)


def random_band(
    world: World, options: OptionSet | None, option_probability: float | None, *, n_steps: int, seed: int
) -> Band:
    """Return how many states random agents have seen, over steps.

    >>> import farpoint as fp
    >>> band = random_band(fp.open_room(4, 4), None, None, n_steps=2_000, seed=0)
    >>> int(band.x[-1]), float(band.low[0]), float(band.high[-1])
    (2000, 1.0, 16.0)
    """
    n_steps = check_integer("steps", n_steps, 1, MOST_STEPS)
    x = _checkpoints(n_steps)
    agents = [RandomAgent(world, options, option_probability, seed + run) for run in range(N_RUNS)]
    return Band.of(x, np.array([_n_seen(np.r_[agent.first, agent.walk(n_steps)[0]], x) for agent in agents]))


def learning_band(
    world: World,
    options: OptionSet | None,
    option_probability: float | None,
    *,
    target: int | None,
    n_episodes: int,
    seed: int,
) -> Band:
    """Return the steps of the greedy policy after each episode of intra-option Q-learning; see `learn_paths`."""
    start = first_state(world)
    target = farthest_target(world, start) if target is None else target
    found = learn(
        world, options, start=start, targets=[target], n_runs=N_RUNS,
        n_episodes=check_integer("episodes", n_episodes, 1, MOST_EPISODES), max_steps=max(100, world.n_states),
        option_probability=option_probability, algorithm="intra-option", seed=seed, n_jobs=1,
    )  # fmt: skip
    return Band.of(np.arange(1, n_episodes + 1), found.curves[:, 0])


def exploring_band(world: World, method: str, *, n_steps: int, seed: int, **keywords: Any) -> Band:
    """Return how many states were seen in explorations from scratch, over steps; see `explore_steps`."""
    x, counts = _checkpoints(check_integer("steps", n_steps, 1, MOST_STEPS)), []
    for run in range(N_RUNS):
        explored = explore_steps(world, method, n_steps=n_steps, seed=seed + run, **keywords)
        # The states before and after each step, in turn: an episode may begin in a state that no step led to.
        both = np.stack([explored.before, explored.after], axis=1).ravel()
        counts.append(_n_seen(both, 2 * x - 1))
    return Band.of(x, np.array(counts))


def _checkpoints(n_steps: int) -> NDArray[np.int64]:
    return np.unique(np.linspace(0, n_steps, _N_CHECKPOINTS).astype(np.int64))


def _n_seen(states: NDArray[Any], at: NDArray[Any]) -> NDArray[np.int64]:
    """Return how many different states there are up to some places of a walk."""
    first = np.sort(np.unique(states, return_index=True)[1])
    return np.searchsorted(first, np.maximum(at, 0), side="right")
