"""The loops that let an explorer act: step by step in an environment, compiled in a world that can be simulated."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
from numpy.typing import ArrayLike, NDArray

from farpoint.agents.task import Task, optimal_value
from farpoint.compiling import allocation_free
from farpoint.envs.continuous_maze import ContinuousMaze
from farpoint.envs.copies import Copies
from farpoint.envs.transitions import Transition, episodes
from farpoint.errors import InvalidInput, WrongCheckpoint, check_function, check_integer, check_memory
from farpoint.exploration.explorer import Explorer, own_mask, spaces_of
from farpoint.exploration.memory import (
    NONE,
    RESET,
    STATES,
    TAKEN,
    Memory,
    add_state,
    has_room,
    join,
    remember,
)
from farpoint.exploration.values import (
    NO_LEARNING,
    Rates,
    Values,
    count_reward,
    explores,
    known_action,
    next_action,
    replay,
)
from farpoint.simulation.kernels import Stream, below, draw_start, move
from farpoint.simulation.tables import WorldTable, episodes_of, world_table
from farpoint.worlds import Log, World, as_world
from farpoint.worlds.environments import (
    StateKey,
    position_of,
    simulator_kind,
    simulator_state,
    table_position,
)
from farpoint.worlds.state_index import StateIndex, positions_of_pairs, state_key

# How a step ended the episode.
GOES_ON, TERMINATED, TRUNCATED = 0, 1, 2
_NO_LIMIT = 2**62
# Greedy episodes are cut after this many times the number of states: the agent may go in circles.
_TIMES_THE_STATES = 10
# A reward that is discounted by more than this is not waited for.
_NOTHING = 1e-9
# Places in `Agent.now`.
STATE, OPTION, EPISODE_STEPS, EXPLORES = 0, 1, 2, 3


class Steps(NamedTuple):
    """One entry per step: the state before, the action, the state after, how the episode ended there, the reward."""

    before: NDArray[Any]
    actions: NDArray[Any]
    after: NDArray[Any]
    ended: NDArray[Any]
    rewards: NDArray[Any]

    @property
    def columns(self) -> tuple[NDArray[Any], ...]:
        """The five arrays."""
        return tuple(self)

    @classmethod
    def room_for(cls, n_steps: int) -> Steps:
        """Return arrays for ``n_steps`` steps.

        >>> Steps.room_for(3).before
        array([0, 0, 0], dtype=int32)
        """
        check_memory("n_steps", n_steps, 15 * n_steps)
        return cls(*(np.zeros(n_steps, dtype=dtype) for dtype in (np.int32, np.int16, np.int32, np.int8, np.float32)))

    def until(self, n_steps: int) -> Steps:
        """Return the first ``n_steps`` steps."""
        return Steps(*(column[:n_steps] for column in self))

    @property
    def first_reward(self) -> float:
        """After how many steps a positive reward was first given; inf if never."""
        given = np.flatnonzero(self.rewards > 0)
        return float(given[0] + 1) if given.size else float("inf")


class Loop:
    """An explorer that acts somewhere, and learns a task there if ``rates`` say so.

    A subclass also has ``advance``, which steps until a number of steps was taken in all; ``about``, what identifies it
    in a checkpoint, and ``resume``, which goes on from one; and ``places``, the place of each state of the memory (one
    for a state that also ends episodes), with their ``labels`` (key or point) and ``positions`` (where they are drawn).
    """

    name: str
    keyed_by = "observation"
    samples: Log | None = None

    def __init__(self, explorer: Explorer, n_steps: int, rates: Rates) -> None:
        self.explorer, self.rates = explorer, rates
        self.steps = Steps.room_for(n_steps)
        self.values = Values.none(explorer.n_actions)

    def remake(self) -> list[int]:
        """Rebuild the options; return the slots whose goal changed."""
        return self.explorer.remake()

    def replay(self) -> None:
        """Learn from everything that is remembered."""
        # Before the first reward there is nothing to learn.
        if self.rates.learns and self.values.rewards.any():
            replay(self.explorer.memory, self.values, self.rates.gamma)

    def make_room(self) -> None:
        """Make room for one more step."""
        self.explorer.make_room()
        if self.rates.learns:
            self.values = self.values.with_room(self.explorer.memory)

    @property
    def taken(self) -> Steps:
        """The steps so far, each episode's in one piece."""
        return self.steps.until(self.explorer.n_steps)

    @property
    def action_numbers(self) -> NDArray[np.int32]:
        """The number that each action of these steps has where the explorer acts."""
        return self.taken.actions.astype(np.int32)

    def state(self) -> dict[str, NDArray[Any]]:
        """Return what a checkpoint must hold besides the steps and the explorer."""
        return {}


class EnvironmentLoop(Loop):
    """An explorer in an environment, which is reset whenever an episode ends; only the first reset is seeded."""

    def __init__(
        self,
        env: Any,
        explorer: Explorer,
        n_steps: int,
        seed: int,
        state: StateKey | None,
        layout: int | None,
        rates: Rates = NO_LEARNING,
    ) -> None:
        super().__init__(explorer, n_steps, rates)
        self.env = env
        self._read, self._layout, self._seed = state, layout, seed
        self.keyed_by = kind_of_states(env, state)
        self._positions: list[tuple[int, int] | None] = []
        self._state, self._option, self._exploring = NONE, NONE, True
        # Not over: an explorer goes on where it stopped.
        self._episodes = episodes(env, self._choose, seed=seed, layout=layout)
        # How many steps were taken, and the actions of a checkpoint that are yet to be taken again.
        self._n_taken = 0
        self._taken_before = deque[int]()
        space, _ = spaces_of(env)
        self._width = 0 if explorer.index.scale is None or state is not None else math.prod(space.shape or ())
        check_memory("n_steps", n_steps, 16 * n_steps * self._width)
        self._before, self._after = np.zeros((n_steps, self._width)), np.zeros((n_steps, self._width))
        self._idle = np.zeros(explorer.goals.size, dtype=np.int64)

    @property
    def about(self) -> dict[str, Any]:
        """What identifies the loop in a checkpoint."""
        given = self.explorer.given_scale
        return {"env": str(self.env), "layout": self._layout, "keyed_by": self.keyed_by, "scale": given}

    @property
    def name(self) -> str:  # type: ignore[override]
        """Of the environment."""
        return str(getattr(self.env.spec, "id", None) or type(self._base).__name__)

    @property
    def _base(self) -> Any:
        return self.env.unwrapped

    def remake(self) -> list[int]:
        """Rebuild the options and interrupt the current one."""
        generation = self.explorer.generation
        changed = super().remake()
        self._option = NONE
        if self.explorer.generation != generation:
            self._renumber()
        return changed

    def _renumber(self) -> None:
        """Take over the new numbers of all states, and forget all values but the rewards."""
        explorer, n_steps = self.explorer, self.explorer.n_steps
        assert explorer.renumbered is not None
        self.steps.before[:n_steps], self.steps.after[:n_steps] = explorer.renumbered
        if self._state != NONE:
            self._state = int(self.steps.after[n_steps - 1])
        self.values = Values.none(explorer.n_actions)
        self.make_room()
        if self.rates.learns:
            taken = self.steps.before[:n_steps], self.steps.actions[:n_steps]
            np.add.at(self.values.rewards, taken, self.steps.rewards[:n_steps])
            tried = explorer.memory.tried[: len(self.values.rewards)]
            self.values.rewards[:] /= np.maximum(tried, 1)

    def advance(self, last_step: int) -> None:
        """Step until ``last_step`` steps were taken in all."""
        while self._n_taken < last_step:
            self._learn(next(self._episodes))

    def _choose(self, observation: Any, info: dict[str, Any]) -> int:
        """Return the next action: the explorer's or, before it goes on, that of a checkpoint."""
        if self._width:
            # Before the step: some environments write the next observation over it.
            self._before[self._n_taken] = np.ravel(observation)
        if self._taken_before:
            self._place_of(self._observed(observation))
            return self._taken_before.popleft()
        if self._state == NONE:
            self._begin(observation, info)
        explorer = self.explorer
        if not self.rates.learns:
            action, self._option = explorer.act_one(self._state, self._option)
            return action
        action, option = next_action(
            explorer.memory, explorer.routes, self.values, self.rates, self._state, self._option, self._exploring,
            self._idle, explorer.settings.option_probability, explorer.settings.least_tried, explorer.stream,
        )  # fmt: skip
        action, self._option = explorer.follow(0, self._state, int(action), int(option))
        return action

    def _begin(self, observation: Any, info: dict[str, Any]) -> None:
        explorer = self.explorer
        self._state = explorer.begin_one(self._observed(observation), own_mask(info, explorer.n_actions))
        self._option = NONE
        self._locate(explorer.places[self._state])
        self.make_room()
        self._exploring = bool(explores(self.rates, explorer.stream))

    def _learn(self, step: Transition) -> None:
        """Tell the explorer of a step."""
        explorer, before, number = self.explorer, self._state, self._n_taken
        ended = self._keep_step(step)
        observed, mask = self._observed(step.next_observation), own_mask(step.info, explorer.n_actions)
        after = explorer.add_one(before, step.action, observed, step.terminated, mask)
        self._locate(explorer.places[after])
        if self.rates.learns:
            self.make_room()
            count_reward(explorer.memory, self.values, self.rates, before, step.action, step.reward)
        for column, value in zip(self.steps, (before, step.action, after, ended, step.reward), strict=True):
            column[number] = value
        self._state = after
        if ended != GOES_ON:
            self._state = self._option = NONE

    def _keep_step(self, step: Transition) -> int:
        """Keep what is known of a step without an explorer; return how it ended the episode."""
        if not math.isfinite(step.reward):
            raise InvalidInput(f"reward must be finite; got {step.reward!r} in step {self._n_taken} of {self.name}.")
        if self._width:
            self._after[self._n_taken] = np.ravel(step.next_observation)
        self._n_taken += 1
        return TERMINATED if step.terminated else TRUNCATED if step.truncated else GOES_ON

    def _observed(self, observation: Any) -> Any:
        return observed_by(self._read, self.env, observation)

    def _locate(self, place: int, copy: int = 0) -> None:
        """Note where a new place is drawn, of a simulator that is read and of numbered observations."""
        if self._width or place < len(self._positions):
            return
        key = self.explorer.index.labels[place]
        if self.keyed_by == "minigrid":
            self._positions.append(position_of(self._env_of(copy), key))
        else:
            self._positions.append(None if self.keyed_by == "state" else table_position(self._base, key))

    def _env_of(self, copy: int) -> Any:
        return self.env

    @property
    def places(self) -> NDArray[np.int64]:
        """The place of each state of the memory."""
        return np.array(self.explorer.places, dtype=np.int64)

    @property
    def labels(self) -> list[Any]:
        """The key, or the point, of each place."""
        labels = self.explorer.index.labels
        return [tuple(row) for row in labels.tolist()] if isinstance(labels, np.ndarray) else list(labels)

    @property
    def positions(self) -> NDArray[Any] | None:
        """Row and column of each place, where the environment or the keys say it."""
        base = self._base
        if self._width:
            return base.locate(np.array(self.labels))[:, ::-1] if isinstance(base, ContinuousMaze) else None
        if self._positions and all(position is not None for position in self._positions):
            return np.array(self._positions)
        return positions_of_pairs(self.labels)

    @property
    def samples(self) -> Log | None:  # type: ignore[override]
        """Every step, as observed, where observations are continuous."""
        n_steps = self.explorer.n_steps
        if not self._width:
            return None
        return Log(self._before[:n_steps], self.action_numbers.astype(np.int64), self._after[:n_steps])

    def resume(self, state: Mapping[str, NDArray[Any]], taken: Steps) -> None:
        """Take the same steps again, with the same seeds, to bring the environment back to where it was."""
        self._taken_before.extend(taken.actions.tolist())
        for number in range(len(self._taken_before)):
            step = next(self._episodes)
            ended = self._keep_step(step)
            place = self._place_of(self._observed(step.next_observation))
            same = np.float32(step.reward) == taken.rewards[number] and ended == taken.ended[number]
            if not same or place not in (NONE, self.explorer.places[taken.after[number]]):
                raise WrongCheckpoint(
                    f"environment must answer as when the checkpoint was made; got something else in step {number}. "
                    "Give it the same seed, layout and state."
                )
        for column, values in zip(self.steps, taken, strict=True):
            column[: len(values)] = values
        self._state = int(taken.after[-1]) if taken.ended[-1] == GOES_ON else NONE

    def _place_of(self, observed: Any, copy: int = 0) -> int:
        """Return the place of an observation, -1 of a continuous one: later points may be nearer."""
        if self._width:
            return NONE
        place = self.explorer.index.find(observed)
        if place >= 0:
            self._locate(place, copy)
        return place if place >= 0 else len(self.explorer.index)


class WorldLoop(Loop):
    """An explorer in a simulated world. It knows nothing of the world but what it has seen of it."""

    def __init__(
        self,
        world: World,
        explorer: Explorer,
        n_steps: int,
        max_episode_steps: int | None,
        targets: NDArray[np.int64] | None = None,
        rates: Rates = NO_LEARNING,
    ) -> None:
        super().__init__(explorer, n_steps, rates)
        self.world, self.name = world, world.name
        self.keyed_by = "observation" if world.labels is None else world.keyed_by
        self._table = world_table(world, episodic=True)
        episodes = episodes_of(world, _NO_LIMIT)
        if max_episode_steps is not None:
            episodes = episodes._replace(max_steps=max_episode_steps)
        self._task = Task.towards(world, [] if targets is None else targets, episodes)
        unseen = np.full(world.n_states, NONE, dtype=np.int32)
        of_world = np.full(2 * world.n_states + 1, NONE, dtype=np.int32)
        self._agent = Agent(np.array([NONE, NONE, 0, 0]), unseen, unseen.copy(), of_world)
        self._idle = np.zeros(explorer.goals.size, dtype=np.int64)

    @property
    def about(self) -> dict[str, Any]:
        """What identifies the loop in a checkpoint."""
        return {"world": self.world.fingerprint, "max_episode_steps": self._task.max_steps}

    def remake(self) -> list[int]:
        """Rebuild the options and interrupt the current one."""
        self._agent.now[OPTION] = NONE
        return super().remake()

    def advance(self, last_step: int) -> None:
        """Step until ``last_step`` steps were taken in all."""
        explorer = self.explorer
        self.make_room()
        while not explore_world(
            self._table, explorer.memory, self._agent, self.steps, explorer.routes, self._idle, self.values, self.rates,
            self._task, explorer.settings.option_probability, explorer.settings.least_tried, last_step, explorer.stream,
        ):  # fmt: skip
            self.make_room()

    @property
    def best_return(self) -> float:
        """The largest mean discounted reward that an episode can have."""
        return optimal_value(self.world, self._task, self.rates.gamma)

    def greedy_return(self, n_episodes: int, stream: NDArray[np.uint64]) -> float:
        """Return the mean discounted reward of the best decisions, in episodes that the agent does not see."""
        explorer = self.explorer
        longest = _TIMES_THE_STATES * self.world.n_states
        return float(
            greedy_return(
                self._table, explorer.memory, self._agent, self.values, self._task, self.rates.gamma, n_episodes,
                longest, stream,
            )
        )  # fmt: skip

    @property
    def _seen(self) -> NDArray[np.int64]:
        """The states of the world that were seen, one per place, in the order in which they were first seen."""
        n_states = int(self.explorer.memory.sizes[STATES])
        base = self.world.passed_through[self._agent.of_world[1:n_states]]
        _, first = np.unique(base, return_index=True)
        return np.asarray(base[np.sort(first)])

    @property
    def places(self) -> NDArray[np.int64]:
        """The place of each state of the memory."""
        n_states = int(self.explorer.memory.sizes[STATES])
        number = np.full(self.world.n_states, NONE)
        seen = self._seen
        number[seen] = np.arange(seen.size)
        return np.concatenate([[NONE], number[self.world.passed_through[self._agent.of_world[1:n_states]]]])

    @property
    def labels(self) -> list[Any]:
        """The label of each place in the world; its number where the world has no labels."""
        seen, labels = self._seen.tolist(), self.world.labels
        return seen if labels is None else [labels[state] for state in seen]

    @property
    def positions(self) -> NDArray[Any] | None:
        """Where the world has each place."""
        if self.world.positions is None:
            return positions_of_pairs(self.labels)
        return np.asarray(self.world.positions[self._seen])

    @property
    def action_numbers(self) -> NDArray[np.int32]:
        """The world's own number of the action of every step."""
        assert self.world.actions is not None
        steps = self.steps.until(self.explorer.n_steps)
        choices = self.world.choice_ptr[self._agent.of_world[steps.before]] + steps.actions
        return np.asarray(self.world.actions[choices])

    def state(self) -> dict[str, NDArray[Any]]:
        """Return what a checkpoint must hold besides the steps and the explorer."""
        n_states = int(self.explorer.memory.sizes[STATES])
        return {"now": self._agent.now, "of_world": self._agent.of_world[:n_states]}

    def resume(self, state: Mapping[str, NDArray[Any]], taken: Steps) -> None:
        """Restore the agent and where it has been."""
        of_world, n_steps = state["of_world"], len(taken.before)
        self._agent.now[:] = state["now"]
        self._agent.of_world[: of_world.size] = of_world
        states = np.arange(1, of_world.size, dtype=np.int32)
        ends = self.explorer.memory.n_actions[1 : of_world.size] == 0
        self._agent.ends[of_world[1:][ends]] = states[ends]
        self._agent.passed[of_world[1:][~ends]] = states[~ends]
        for column, values in zip(self.steps, taken, strict=True):
            column[:n_steps] = values


def begin_loop(
    env: Any,
    n_steps: int,
    seed: int,
    *,
    rates: Rates = NO_LEARNING,
    max_episode_steps: int | None = None,
    state: StateKey | None = None,
    layout: int | None = None,
    targets: NDArray[np.int64] | None = None,
    scale: ArrayLike | None = None,
    **settings: Any,
) -> EnvironmentLoop | WorldLoop:
    """Return a loop with a new explorer, in a world (or its name) or in an environment."""
    check_function("state", state)
    if isinstance(env, World) or not hasattr(env, "step"):
        world = as_world(env)
        if state is not None or layout is not None or scale is not None:
            raise InvalidInput(
                "state, layout and scale must go with an environment; got a world, which has its own states."
            )
        n_actions = int(np.diff(world.choice_ptr).max())
        explorer = Explorer(StateIndex.exact(), n_actions, seed=seed, **settings)
        return WorldLoop(world, explorer, n_steps, max_episode_steps, targets, rates)
    if max_episode_steps is not None or targets is not None:
        raise InvalidInput(
            "max_episode_steps and targets must go with a world; got an environment, which has its own. Wrap it in "
            "gymnasium.wrappers.TimeLimit for another limit."
        )
    if isinstance(env, gym.vector.VectorEnv):
        raise InvalidInput(f"env must be one environment here; got {env}, which explore and DiscoveringVectorEnv take.")
    layout = None if layout is None else check_integer("layout", layout, 0)
    explorer = explorer_for(env, state, scale, seed=seed, **settings)
    return EnvironmentLoop(env, explorer, n_steps, seed, state, layout, rates)


def explorer_for(env: Any, state: StateKey | None, scale: ArrayLike | None, **settings: Any) -> Explorer:
    """Return an explorer whose states are observations or, with ``state``, the keys that it gives."""
    if state is None:
        return Explorer.for_env(env, scale=scale, **settings)
    check_function("state", state)
    if scale is not None:
        raise InvalidInput(f"scale must go with continuous observations and without state; got {scale!r}.")
    explorer = Explorer(StateIndex.exact((), fractions=True), spaces_of(env)[1], **settings)
    kind = kind_of_states(env, state)
    explorer.keyed_by = kind if kind in ("observation", "state") else "simulator"
    return explorer


def observed_by(state: StateKey | None, env: Any, observation: Any) -> Any:
    """Return what an explorer is told of an observation: itself, or the key that ``state`` gives.

    >>> observed_by(None, None, 3), observed_by(lambda env, observation: observation // 2, None, 3)
    (3, 1)
    """
    return observation if state is None else state_key(state(env, observation), fractions=True)


def check_simulator(copies: Copies, state: StateKey | None) -> None:
    """Refuse to read a simulator that is in another process, or has begun the next episode when it is read."""
    if state is simulator_state and copies.envs[0] is None:
        raise InvalidInput(
            "state must be a function of the observation where the simulators cannot be read: in other processes, and "
            "under SAME_STEP; got simulator_state. Let DiscoveringWrappers in one process share an explorer."
        )


def kind_of_states(env: Any, state: StateKey | None) -> str:
    """Return what identifies states: "observation", "state" (a function), or the simulator: "table", "minigrid".

    >>> import gymnasium as gym
    >>> kind_of_states(gym.make("FrozenLake-v1"), None), kind_of_states(gym.make("FrozenLake-v1"), simulator_state)
    ('observation', 'table')
    """
    if state is None:
        return "observation"
    return simulator_kind(one_of(env)) if state is simulator_state else "state"


def one_of(env: Any) -> Any:
    """Return the first copy of a vector environment where it is in this process; anything else as it is.

    >>> one_of(gym.make_vec("FrozenLake-v1", num_envs=2, vectorization_mode="sync")).spec.id
    'FrozenLake-v1'
    """
    copies = getattr(env.unwrapped, "envs", None) if isinstance(env, gym.vector.VectorEnv) else None
    return copies[0] if isinstance(copies, list) and isinstance(copies[0], gym.Env) else env


# --- The compiled loop ------------------------------------------------------------------------------------------------


class Agent(NamedTuple):
    """Where an agent is in a simulated world, and the numbers that it gives the states of the world.

    ``passed`` and ``ends`` are the agent's numbers of every state of the world, passed through and as an end of
    episodes, -1 where it has not been; ``of_world`` the reverse of both.
    """

    now: NDArray[np.int64]
    passed: NDArray[np.int32]
    ends: NDArray[np.int32]
    of_world: NDArray[np.int32]


@allocation_free(nogil=True, inline="always")
def arrive(world: WorldTable, memory: Memory, agent: Agent, there: int, ended: bool, step: int) -> int:
    """Return the agent's number of a state of the world, which it now visits."""
    state = agent.ends[there] if ended else agent.passed[there]
    if state == NONE:
        n_actions = 0 if ended else world.choice_ptr[there + 1] - world.choice_ptr[there]
        state = add_state(memory, n_actions, step)
        if ended:
            agent.ends[there] = state
        else:
            agent.passed[there] = state
        agent.of_world[state] = there
    memory.visits[state] += 1
    return int(state)


@allocation_free(nogil=True)
def begin_episode(world: WorldTable, memory: Memory, agent: Agent, task: Task, stream: Stream) -> None:
    """Put the agent into a start state."""
    start = draw_start(task.starts, task.start_cdf, stream)
    state = arrive(world, memory, agent, start, False, memory.sizes[TAKEN])
    join(memory, state, RESET)
    agent.now[STATE], agent.now[OPTION], agent.now[EPISODE_STEPS] = state, NONE, 0


@allocation_free(nogil=True)
def explore_world(
    world: WorldTable,
    memory: Memory,
    agent: Agent,
    steps: Steps,
    routes: NDArray[np.int16],
    running: NDArray[np.int64],
    values: Values,
    rates: Rates,
    task: Task,
    option_probability: float,
    least_tried: bool,
    last_step: int,
    stream: Stream,
) -> bool:
    """Step until ``last_step``; return False where the memory needs more room first."""
    now = agent.now
    while memory.sizes[TAKEN] < last_step:
        if not has_room(memory):
            return False
        if now[STATE] == NONE:
            begin_episode(world, memory, agent, task, stream)
            now[EXPLORES] = explores(rates, stream)
        before, step = now[STATE], memory.sizes[TAKEN]
        action, option = next_action(
            memory,
            routes,
            values,
            rates,
            before,
            now[OPTION],
            now[EXPLORES] > 0,
            running,
            option_probability,
            least_tried,
            stream,
        )
        here = agent.of_world[before]
        there = move(world, world.choice_ptr[here] + action, stream)
        now[EPISODE_STEPS] += 1
        ended = task.ends[there]
        after = arrive(world, memory, agent, there, ended, step + 1)
        remember(memory, before, action, after)
        reward = task.reward[there]
        count_reward(memory, values, rates, before, action, reward)
        cut = now[EPISODE_STEPS] >= task.max_steps
        steps.before[step], steps.actions[step], steps.after[step] = before, action, after
        steps.ended[step] = TERMINATED if ended else TRUNCATED if cut else GOES_ON
        steps.rewards[step] = reward
        if ended or cut:
            now[STATE], now[OPTION] = NONE, NONE
        else:
            now[STATE], now[OPTION] = after, option
    return True


@allocation_free(nogil=True)
def greedy_return(
    world: WorldTable,
    memory: Memory,
    agent: Agent,
    values: Values,
    task: Task,
    gamma: float,
    n_episodes: int,
    longest: int,
    stream: Stream,
) -> float:
    """Return the mean discounted reward of episodes of best decisions, random ones where several are best.

    What comes after ``longest`` steps, or is discounted to nothing, is not waited for: the agent may go in circles.
    """
    total = 0.0
    for _ in range(n_episodes):
        there, discount = draw_start(task.starts, task.start_cdf, stream), 1.0
        for _ in range(min(task.max_steps, longest)):
            n_actions = world.choice_ptr[there + 1] - world.choice_ptr[there]
            state, action = agent.passed[there], NONE
            if state != NONE:
                action = known_action(memory, values, state)
            if action == NONE:
                action = below(stream, n_actions)
            there = move(world, world.choice_ptr[there] + action, stream)
            total += discount * task.reward[there]
            discount *= gamma
            if task.ends[there] or discount < _NOTHING:
                break
    return total / n_episodes
