"""Worlds from Gymnasium environments: from their table of transitions, or by trying every action in every state."""

from __future__ import annotations

import copy
import operator
import pickle
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import gymnasium
import numpy as np
from scipy.sparse import csr_array

from farpoint.display.progress import bar_or
from farpoint.errors import InvalidInput, check_fraction, check_function, check_integer
from farpoint.worlds.arrays import whole_numbers
from farpoint.worlds.keys import StateKey, check_key, position_of, state_key, table_position
from farpoint.worlds.world import World

# Where an environment has no time limit: long enough that restarts hardly disturb the walk.
_NO_TIME_LIMIT = 1000

Progress = Callable[[int], None]


def world_from_env(
    env: Any,
    state: StateKey | None,
    seed: int,
    seeds: Sequence[int] | None,
    max_states: int,
    restart: float | None,
    name: str | None,
    progress: Progress | None,
) -> World:
    """Return the world of an environment; see `World.from_env`."""
    check_function("state", state)
    check_function("progress", progress)
    max_states = check_integer("max_states", max_states, 1)
    if restart is not None:
        restart = check_fraction("restart", restart)
    n_actions = count_actions(env)
    _check_wrappers(env)
    layouts = [check_integer("seed", seed, 0)] if seeds is None else _check_seeds(seeds)
    with bar_or(None, "states") as bar:
        tell = progress or (lambda n_states: bar(n_states, 0))
        if has_table(env) and state is None:
            table = read_table(env, max_states, tell)
        else:
            table = enumerate_states(env, n_actions, layouts, state, max_states, tell)
    spec = getattr(env, "spec", None)
    title = name or (spec.id if spec is not None else type(env.unwrapped).__name__)
    return table.world(_restart_probability(env) if restart is None else restart, title)


@dataclass
class StateTable:
    """States and choices in the order in which they were reached."""

    number: dict[Hashable, int] = field(default_factory=dict)
    positions: list[tuple[int, int] | None] = field(default_factory=list)
    end_rewards: dict[int, float] = field(default_factory=dict)
    choices: dict[int, list[tuple[int, dict[int, float]]]] = field(default_factory=dict)
    starts: dict[int, float] = field(default_factory=dict)

    def add(self, key: Hashable, position: tuple[int, int] | None, max_states: int) -> tuple[int, bool]:
        """Return the number of a state and whether it is new."""
        if key in self.number:
            return self.number[key], False
        if len(self.number) >= max_states:
            raise InvalidInput(
                f"environment must have at most max_states states; got more than {max_states}. Pass a larger "
                "max_states=, or a coarser state=."
            )
        self.number[key] = len(self.number)
        self.positions.append(position)
        return len(self.number) - 1, True

    def add_end(self, state: int, reward: float) -> None:
        """Note that an episode can end in a state, and the best reward for it."""
        self.end_rewards[state] = max(self.end_rewards.get(state, -np.inf), reward)

    def simplify_ends(self) -> None:
        """Give a terminal state the plain key of its place where no state that is passed through has that key."""

        def plain(key: Any) -> Hashable:
            is_end = isinstance(key, tuple) and len(key) == 2 and key[0] == "end"
            return key[1] if is_end and key[1] not in self.number else key  # type: ignore[no-any-return]

        self.number = {plain(key): number for key, number in self.number.items()}

    def world(self, restart: float, name: str) -> World:
        """Return the world of these states; ``restart`` is that of the states that are not terminal."""
        n_states = len(self.number)
        rows, columns, chances, actions, choice_ptr = [0], list[int](), list[float](), list[int](), [0]
        for state in range(n_states):
            # A terminal state has no choices: what comes after it is a new episode.
            for action, outcome in () if state in self.end_rewards else self.choices.get(state, ()):
                columns += outcome.keys()
                chances += outcome.values()
                rows.append(len(columns))
                actions.append(action)
            choice_ptr.append(len(actions))
        starts = np.zeros(n_states)
        for state, chance in self.starts.items():
            starts[state] += chance
        terminal = np.isin(np.arange(n_states), list(self.end_rewards))
        located = all(position is not None for position in self.positions)
        return World(
            csr_array((chances, columns, rows), shape=(len(actions), n_states)),
            np.array(choice_ptr),
            actions=np.array(actions, dtype=np.int32),
            positions=np.array(self.positions) if located else None,
            labels=tuple(self.number),
            start=int(starts.argmax()) if (starts > 0).sum() == 1 else None,
            targets=self._targets(),
            name=name,
            restart=np.where(terminal, 1.0, restart),
            starts=starts / starts.sum(),
        )

    def _targets(self) -> Any:
        """Return the terminal states that are rewarded; where none is (CliffWalking), those that cost least."""
        best = max(self.end_rewards.values(), default=0.0)
        least = best if best < 0 else 1e-9
        targets = sorted(state for state, reward in self.end_rewards.items() if reward >= least)
        return np.array(targets, dtype=np.int64) if targets else None


def check_env(env: Any) -> None:
    """Fail unless this is a Gymnasium environment."""
    if not isinstance(env, gymnasium.Env):
        raise InvalidInput(f"env must be a Gymnasium environment; got {env!r}. Make one with gymnasium.make.")


def check_action(action: Any, n_actions: int) -> int:
    """Return the number of an action: an int, or what stands for one, such as an array of one number.

    >>> check_action(np.array(3), 4)
    3
    """
    try:
        number = operator.index(action)
    except TypeError as error:
        raise InvalidInput(f"action must be a whole number; got {action!r}.") from error
    if not 0 <= number < n_actions:
        raise InvalidInput(f"action must lie in 0 … {n_actions - 1}; got {number}.")
    return number


def count_actions(env: Any) -> int:
    """Return the number of actions of an environment whose actions are 0, 1, 2, …; fail for others."""
    check_env(env)
    space = env.action_space
    # A MultiBinary space has an ``n`` too, of which each action is a row.
    if not isinstance(space, gymnasium.spaces.Discrete) or int(space.start) != 0:
        box = isinstance(space, gymnasium.spaces.Box)
        advice = " Wrap it in gymnasium.wrappers.DiscretizeAction(env, bins=3)." if box else ""
        raise InvalidInput(f"environment must have discrete actions from 0; got {space}.{advice}")
    return int(space.n)


def _check_wrappers(env: Any) -> None:
    layer = env
    while isinstance(layer, gymnasium.Wrapper):
        if isinstance(layer, gymnasium.ActionWrapper):
            raise InvalidInput(
                f"environment must be without wrappers that change actions; got {type(layer).__name__}. Unwrap it, or "
                "record a log with farpoint.envs.record_log and use World.from_log."
            )
        layer = layer.env


def _restart_probability(env: Any) -> float:
    spec = getattr(env, "spec", None)
    limit = getattr(spec, "max_episode_steps", None) or getattr(env.unwrapped, "max_steps", None) or _NO_TIME_LIMIT
    return 1.0 / float(limit)


def has_table(env: Any) -> bool:
    """Return whether an environment has a table of its transitions and of where episodes begin."""
    base = env.unwrapped
    return hasattr(base, "P") and hasattr(base, "initial_state_distrib")


def read_table(env: Any, max_states: int, progress: Progress) -> StateTable:
    """Return the states that can be reached by the table ``P``, numbered in the environment's own order."""
    base = env.unwrapped
    outcomes_of = base.P
    first = {int(s): float(p) for s, p in enumerate(base.initial_state_distrib) if p > 0}
    reached, frontier = set(first), list(first)
    ended: dict[int, float] = {}
    while frontier:
        state = frontier.pop()
        for outcomes in outcomes_of[state].values():
            for chance, after, reward, terminated in outcomes:
                if chance == 0:
                    continue
                if terminated:
                    ended[int(after)] = max(ended.get(int(after), -np.inf), float(reward))
                elif int(after) not in reached:
                    reached.add(int(after))
                    frontier.append(int(after))
    # A state that is both passed through and ended in is two: the end has a key of its own.
    end_key: dict[int, Hashable] = {state: ("end", state) if state in reached else state for state in ended}
    table = StateTable()
    for state in sorted(reached | set(ended)):
        if state in reached:
            table.add(state, table_position(base, state), max_states)
        if state in ended:
            number, _ = table.add(end_key[state], table_position(base, state), max_states)
            table.add_end(number, ended[state])
    for state in sorted(reached):
        choices = []
        for action, outcomes in sorted(outcomes_of[state].items()):
            outcome: dict[int, float] = {}
            for chance, after, _, terminated in outcomes:
                if chance > 0:
                    number = table.number[end_key[int(after)] if terminated else int(after)]
                    outcome[number] = outcome.get(number, 0.0) + float(chance)
            choices.append((int(action), outcome))
        table.choices[table.number[state]] = choices
    table.starts = {table.number[state]: chance for state, chance in first.items()}
    progress(len(table.number))
    return table


def enumerate_states(
    env: Any, n_actions: int, seeds: Sequence[int], state: StateKey | None, max_states: int, progress: Progress
) -> StateTable:
    """Return every state that can be reached from the resets with ``seeds``, breadth-first, by trying every action."""
    key_of = state or state_key
    table = StateTable()
    base = env.unwrapped
    queue: list[tuple[int, bytes | Any]] = []
    for seed in seeds:
        observation, _ = base.reset(seed=seed)
        key = check_key(key_of(base, observation))
        number, new = table.add(key, position_of(base, key), max_states)
        table.starts[number] = table.starts.get(number, 0.0) + 1.0 / len(seeds)
        if new:
            queue.append((number, _freeze(base)))
    for number, frozen in queue:  # grows while it is read: breadth-first
        choices = []
        for action in range(n_actions):
            trial = _thaw(frozen)
            # A step count that ran out would end the episode for reasons of time, which are the restart's.
            if hasattr(trial, "step_count"):
                trial.step_count = 0
            observation, reward, terminated, _, _ = trial.step(action)
            key = check_key(key_of(trial, observation))
            # An end has a key of its own: the same place may also be passed through.
            after, new = table.add(("end", key) if terminated else key, position_of(trial, key), max_states)
            if terminated:
                table.add_end(after, float(reward))
            elif new:
                queue.append((after, _freeze(trial)))
            choices.append((action, {after: 1.0}))
        table.choices[number] = choices
        progress(len(table.number))
    _check_deterministic(queue, table, key_of, n_actions)
    table.simplify_ends()
    return table


def _freeze(base: Any) -> Any:
    """Return the environment as bytes, which are restored ten times faster than a deep copy; else a deep copy."""
    try:
        return pickle.dumps(base)
    except Exception:
        try:
            return copy.deepcopy(base)
        except Exception as error:
            raise InvalidInput(
                f"environment must be one that can be copied; got {type(base).__name__}, which cannot ({error}). "
                "Make it without render_mode, or record a log with farpoint.envs.record_log and use World.from_log."
            ) from error


def _thaw(frozen: Any) -> Any:
    return pickle.loads(frozen) if isinstance(frozen, bytes) else copy.deepcopy(frozen)


def _check_deterministic(queue: Sequence[tuple[int, Any]], table: StateTable, key_of: StateKey, n_actions: int) -> None:
    """Repeat some actions with other random numbers: if they lead elsewhere, one try of each was not enough."""
    every = max(1, len(queue) // 20)
    for number, frozen in queue[::every]:
        for action in range(n_actions):
            for seed in (1, 2):
                trial = _thaw(frozen)
                trial._np_random = np.random.default_rng(seed)
                observation, _, terminated, _, _ = trial.step(action)
                before = next(iter(table.choices[number][action][1]))
                key = check_key(key_of(trial, observation))
                if table.number.get(("end", key) if terminated else key) != before:
                    raise InvalidInput(
                        f"environment must be deterministic to be enumerated; got action {action} that leads elsewhere "
                        "when repeated. Record a log with farpoint.envs.record_log and use World.from_log."
                    )


def _check_seeds(seeds: Sequence[int]) -> list[int]:
    checked = [check_integer("each of seeds", value, 0) for value in whole_numbers("seeds", seeds, np.int64).ravel()]
    if not checked:
        raise InvalidInput("seeds must have at least one seed; got none.")
    return checked
