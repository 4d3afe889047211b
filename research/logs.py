"""What a goal policy needs of its log: the tables of docs/logs.md beside OGBench's own (farpoint[robotics], [deep]).

logs-random: logs of random pushes in nine rooms, of two numbers and of eight, by both kinds of control. logs-size:
success over the length of the log, in OGBench's stitch data. logs-noise: over noise that is added to every observation.
logs-nuisance: with numbers beside the position, compared as they are, left out by ``scale=``, or by a learned metric
(`farpoint.learn_eigenfunctions`). logs-agent: an agent with a new reward in the giant maze, with options to far points
of the log and without.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

import farpoint as fp
from farpoint.options import GoalOptions
from farpoint.options.goal_policy import CONTROLS, last_of_segments
from research.continuous import RADIUS as ROOMS_RADIUS
from research.continuous import nine_rooms
from research.ogbench import DATA_SEEDS, FIRST_EVALUATION, MAX_STEPS, N_FAR, N_TASKS, RADIUS, evaluate
from research.ogbench_data import load, make_env
from research.runner import Part, Row, Table, main

MAZES = ("medium", "giant")
# Of each task; there are five.
N_EPISODES = 10
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
NOISES = (0.0, 0.05, 0.1, 0.2, 0.4)
NUISANCES = ("velocities", "eight random")
WAYS = ("as they are", "left out", "learned metric")
# The learned metric: functions, training steps, and how many steps of the log make a transition.
N_FUNCTIONS, N_TRAINING_STEPS, LAG = 9, 2_000, 10
# A step of OGBench's point is at most so long in each number; velocities are per second, at ten steps in one.
LONGEST_STEP, STEPS_PER_SECOND = 0.3, 10.0
PUSHES = ("two numbers", "eight numbers")
N_RANDOM_STEPS, N_RANDOM_OPTIONS, N_TRIALS, N_WALKS = 40_000, 8, 20, 1_000
N_AGENT_STEPS, N_AGENTS = 100_000, 2


class Thrusters(gym.ActionWrapper[Any, Any, Any]):
    """Eight numbers instead of two: each pushes in a direction of its own."""

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        super().__init__(env)
        angles = np.pi / 4.0 * np.arange(8)
        # All that push one way together, at full strength, go a step and a bit.
        self._pushes = 0.25 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
        self.action_space = gym.spaces.Box(-1.0, 1.0, (8,), dtype=np.float32)

    def action(self, action: Any) -> Any:
        """Return the sum of the pushes."""
        return np.asarray(action) @ self._pushes


def rooms(push: str, **settings: Any) -> gym.Env[Any, Any]:
    """Return the nine rooms; episodes begin anywhere."""
    env = nine_rooms(start="random", actions="box", **settings)
    return env if push == PUSHES[0] else Thrusters(env)


def measure_random(push: str, control: str, seed: int) -> Row:
    """Return how often, and in how many steps, options and walks to a neighbor arrive.

    Options lead to far points of a graph of 300 samples, in 20 trials of at most 300 steps each. Walks lead from a
    logged place to within 0.3 of a neighbor in that graph, in at most 20 steps. What does not arrive counts in full.
    """
    log = fp.envs.record_samples(rooms(push), N_RANDOM_STEPS, seed=seed)
    world = fp.World.from_samples(log, n_states=300, neighbors="temporal", seed=seed)
    assert world.observations is not None
    goals = world.observations[fp.discover(world, n_options=N_RANDOM_OPTIONS).goals]
    env = rooms(push, max_steps=10**9)
    options = GoalOptions(fp.GoalPolicy.from_log(log, radius=ROOMS_RADIUS, control=control, reversible=True), goals)
    steps = np.full((len(options), N_TRIALS), 300.0)
    for number in range(len(options)):
        for trial in range(N_TRIALS):
            observation, taken = env.reset(seed=trial)[0], 0
            while taken < 300 and (action := options.act(number, observation)) is not None:
                observation, taken = env.step(action)[0], taken + 1
            if options.reached(number, observation):
                steps[number, trial] = taken
    success = (steps < 300).mean(axis=1)
    near = walks_to_neighbors(
        env, log, world, fp.GoalPolicy.from_log(log, radius=0.3, control=control, reversible=True)
    )
    return {
        "success": success.mean(), "success_least": success.min(), "steps": steps.mean(),
        "near": (near < 20).mean(), "near_steps": near.mean(),
    }  # fmt: skip


def walks_to_neighbors(env: Any, log: fp.Log, world: fp.World, policy: fp.GoalPolicy) -> NDArray[np.float64]:
    """Return the steps of each walk from a logged place to within 0.3 of a neighbor of its state; at most 20."""
    rng = np.random.default_rng(0)
    assert world.observations is not None
    steps = np.full(N_WALKS, 20.0)
    for trial in range(N_WALKS):
        place = np.asarray(log.observations[rng.integers(len(log))], dtype=np.float64)
        choices = world.choices(int(world.nearest_states(place[None, :])[0]))
        target = world.observations[world.transitions.indices[world.transitions.indptr[rng.choice(choices)]]]
        observation = env.reset(seed=trial, options={"start": place})[0]
        for step in range(20):
            if np.linalg.norm(observation - target) <= 0.3:
                steps[trial] = step
                break
            observation = env.step(policy(observation, target))[0]
    return steps


def success_of(policy: Any, maze: str) -> Row:
    """Return the share of all episodes that arrive."""
    return {"success": np.mean([row["success"] for row in evaluate(policy, maze, 0, N_EPISODES)])}


def part_of(log: fp.Log, n_steps: int) -> fp.Log:
    """Return the first steps of a log.

    >>> part_of(fp.Log([[0.0], [1.0]], [0, 1], [[1.0], [2.0]]), 1)
    Log(1 steps)
    """
    rows = slice(n_steps)
    return fp.Log(
        log.observations[rows], log.actions[rows], log.next_observations[rows], log.terminated[rows],
        log.truncated[rows], log.begins[rows],
    )  # fmt: skip


def measure_size(maze: str, data_seed: int, n_steps: int) -> Row:
    log = part_of(load(maze, "stitch", data_seed), n_steps)
    return success_of(fp.GoalPolicy.from_log(log, radius=RADIUS), maze)


def drawn_for(log: fp.Log, n_numbers: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return standard normal numbers for the observations before and after each step: one draw per observation.

    >>> log = fp.Log([[0.0], [1.0]], [0, 1], [[1.0], [2.0]])
    >>> before, after = drawn_for(log, 3, 0)
    >>> before.shape, bool((after[0] == before[1]).all())
    ((2, 3), True)
    """
    rng = np.random.default_rng(seed)
    before = rng.standard_normal((len(log), n_numbers))
    after = np.concatenate([before[1:], rng.standard_normal((1, n_numbers))])
    after[log.ended] = rng.standard_normal((int(log.ended.sum()), n_numbers))
    return before, after


def observed_as(log: fp.Log, before: NDArray[Any], after: NDArray[Any]) -> fp.Log:
    """Return the same steps with other observations."""
    return fp.Log(before, log.actions, after, log.terminated, log.truncated, log.begins)


class Noisy:
    """A policy that sees the position with noise; goals are given without."""

    def __init__(self, policy: fp.GoalPolicy, noise: float) -> None:
        self._policy, self._noise, self._rng = policy, noise, np.random.default_rng(1)

    def __call__(self, observation: Any, goal: Any) -> Any:
        """Return the action."""
        return self._policy(observation + self._noise * self._rng.standard_normal(len(observation)), goal)


def measure_noise(maze: str, data_seed: int, noise: float) -> Row:
    log = load(maze, "stitch", data_seed)
    before, after = (noise * some for some in drawn_for(log, 2, data_seed))
    noisy = observed_as(log, log.observations + before, log.next_observations + after)
    return success_of(Noisy(fp.GoalPolicy.from_log(noisy, radius=RADIUS), noise), maze)


class Beside:
    """A policy that sees more than the position: its velocity, or eight random numbers."""

    def __init__(self, policy: fp.GoalPolicy, nuisance: str) -> None:
        self._policy, self._nuisance, self._rng = policy, nuisance, np.random.default_rng(1)
        self._before = np.full(2, np.inf)

    def __call__(self, observation: Any, goal: Any) -> Any:
        """Return the action; the goal's own numbers are a velocity of 0, or drawn."""
        if self._nuisance == "velocities":
            change = observation - self._before
            # An episode begins elsewhere, at rest.
            beside = STEPS_PER_SECOND * change if np.abs(change).max() <= LONGEST_STEP else np.zeros(2)
            others = np.zeros(2)
        else:
            beside, others = self._rng.standard_normal((2, 8))
        self._before = np.array(observation)
        return self._policy(np.concatenate([observation, beside]), np.concatenate([goal, others]))


def with_nuisance(log: fp.Log, nuisance: str, seed: int) -> fp.Log:
    """Return the steps of a log whose observations hold more numbers than the position.

    >>> log = fp.Log(np.array([[0.0, 0.0], [0.1, 0.0]]), [0, 1], np.array([[0.1, 0.0], [0.1, 0.2]]))
    >>> with_nuisance(log, "velocities", 0).observations
    array([[0. , 0. , 0. , 0. ],
           [0.1, 0. , 1. , 0. ]])
    """
    if nuisance == "velocities":
        after = STEPS_PER_SECOND * (log.next_observations - log.observations)
        before = np.concatenate([np.zeros((1, 2)), after[:-1]])
        before[np.concatenate([[True], log.ended[:-1]])] = 0.0
    else:
        before, after = drawn_for(log, 8, seed)
    return observed_as(
        log, np.concatenate([log.observations, before], axis=1), np.concatenate([log.next_observations, after], axis=1)
    )


class LearnedMetric:
    """Coordinates of observations: φ_i / √ν_i of eigenfunctions that are learned from a log alone."""

    def __init__(self, log: fp.Log, seed: int) -> None:
        last = last_of_segments(log.ended, LAG)
        whole = np.flatnonzero(last - np.arange(len(log)) == LAG - 1)
        self._functions = fp.learn_eigenfunctions(
            log.observations[whole],
            log.next_observations[last[whole]],
            n_functions=N_FUNCTIONS,
            n_steps=N_TRAINING_STEPS,
            hidden=(128, 128),
            seed=seed,
        )
        # The first is constant. ω = 1 - ν / 2.
        self._lengths = np.sqrt(np.maximum(2.0 - 2.0 * self._functions.omega[1:], 1e-3))

    def __call__(self, observations: Any) -> NDArray[np.float64]:
        """Return a row of coordinates for each observation."""
        return np.asarray(self._functions.phi(observations)[:, 1:] / self._lengths)


def measure_nuisance(maze: str, data_seed: int, nuisance: str, way: str) -> Row:
    log = with_nuisance(load(maze, "stitch", data_seed), nuisance, data_seed)
    if way == "learned metric":
        policy = fp.GoalPolicy.from_log(log, metric=LearnedMetric(log, data_seed))
    elif way == "left out":
        scale = np.where(np.arange(log.observations.shape[1]) < 2, 1.0, np.inf)
        policy = fp.GoalPolicy.from_log(log, scale=scale, radius=RADIUS)
    else:
        policy = fp.GoalPolicy.from_log(log)
    return success_of(Beside(policy, nuisance), maze)


class NewTask(gym.Wrapper[Any, Any, Any, Any]):
    """OGBench's maze with eight pushes and a reward of 1 at a task's goal, where an episode ends."""

    def __init__(self, maze: str, task: int, seed: int) -> None:
        super().__init__(make_env(maze, FIRST_EVALUATION + seed))
        self._task, self._steps = task, 0
        angles = np.pi / 4.0 * np.arange(8)
        self._pushes = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        self.action_space = gym.spaces.Discrete(8)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin where the task begins."""
        self._steps = 0
        return self.env.reset(options={"task_id": self._task})[0], {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Push; options push as the log did, in any direction."""
        observation, _, _, _, info = self.env.step(action if np.ndim(action) else self._pushes[action])
        self._steps += 1
        arrived = bool(info["success"])
        return observation, float(arrived), arrived, self._steps >= MAX_STEPS, {}


def measure_agent(maze: str, task: int, n_options: int, seed: int) -> Row:
    """Return when Q-learning on squares of 1 first arrives, and how often it does in the last quarter of its steps."""
    options: Any = []
    if n_options:
        policy = fp.GoalPolicy.from_log(load(maze, "stitch", DATA_SEEDS[1]), radius=RADIUS)
        options = policy.options(n_options)
    env = fp.OptionsWrapper(NewTask(maze, task, seed), options, gamma=0.99)
    rng = np.random.default_rng(seed)
    values: dict[tuple[int, ...], NDArray[np.float64]] = {}

    def at(observation: Any) -> NDArray[np.float64]:
        square = tuple(np.floor(observation).astype(int).tolist())
        return values.setdefault(square, np.zeros(8 + n_options))

    observation, info = env.reset(seed=seed)
    first, arrived, ended = None, 0, 0
    while env.total_steps < N_AGENT_STEPS:
        mask = info["action_mask"].astype(bool)
        here = at(observation)
        best = np.where(mask, here, -np.inf)
        # One decision in ten is random, and so is one between equal values.
        among = mask if rng.random() < 0.1 else best == best.max()
        choice = env.sample_action(0.05, among=among, rng=rng)
        observation, reward, terminated, truncated, info = env.step(choice)
        onward = 0.0 if terminated else info["discount"] * np.where(info["action_mask"], at(observation), -np.inf).max()
        here[choice] += 0.3 * (float(reward) + onward - here[choice])
        if terminated and first is None:
            first = env.total_steps
        if terminated or truncated:
            late = env.total_steps > 0.75 * N_AGENT_STEPS
            arrived, ended = arrived + (terminated and late), ended + late
            observation, info = env.reset()
    env.close()
    return {"first": first, "late_success": arrived / max(ended, 1)}


def in_rounds(quick: bool, **columns: Any) -> Iterator[Part]:
    """Yield the parts of all combinations of the values, of which a quick look takes the first ones."""
    (name, values), *rest = columns.items()
    if rest:
        inner = list(in_rounds(quick, **dict(rest)))
        for value in values[: 1 if quick else None]:
            yield from ({name: value} | part for part in inner)
    else:
        yield from ({name: value} for value in values[: 1 if quick else None])


def by_data_set(quick: bool, **columns: Any) -> Iterator[Part]:
    """Yield the parts of all combinations: ``--only 1`` computes those of one data seed, in all mazes."""
    return in_rounds(quick, data_seed=DATA_SEEDS, maze=MAZES, **columns)


TABLES = (
    Table(
        "logs-random",
        measure_random,
        lambda quick: in_rounds(quick, push=PUSHES, control=CONTROLS[::-1], seed=(0, 1, 2)),
    ),
    Table("logs-size", measure_size, lambda quick: by_data_set(quick, n_steps=SIZES)),
    Table("logs-noise", measure_noise, lambda quick: by_data_set(quick, noise=NOISES)),
    Table("logs-nuisance", measure_nuisance, lambda quick: by_data_set(quick, nuisance=NUISANCES, way=WAYS)),
    Table(
        "logs-agent",
        measure_agent,
        lambda quick: in_rounds(
            quick, maze=MAZES[1:], task=range(1, N_TASKS + 1), n_options=(N_FAR, 0), seed=range(N_AGENTS)
        ),
    ),
)

if __name__ == "__main__":
    main("research.logs")
