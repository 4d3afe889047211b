"""Worlds from Gymnasium environments: from the table ``P``, or by trying every action in every state.

An episode that ends begins again, and a time limit ends episodes: so the walk has *restart* edges, from terminal
states always, from the others with a small probability, to the states in which episodes begin. They belong to the
walk only: local maxima and routes know the world's own moves.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import gymnasium
import numpy as np
from scipy.sparse import csr_array

from farpoint.errors import InvalidInput, check_integer
from farpoint.worlds.keys import StateKey, check_key, position_of, state_key, table_position

# Where an environment has no time limit: long enough that the walk is hardly disturbed.
_NO_TIME_LIMIT = 1000

Progress = Callable[[int], None]


@dataclass
class Found:
    """States and choices as they are found, in order."""

    number: dict[Hashable, int] = field(default_factory=dict)
    positions: list[tuple[int, int] | None] = field(default_factory=list)
    ends: dict[int, float] = field(default_factory=dict)
    choices: dict[int, list[tuple[int, dict[int, float]]]] = field(default_factory=dict)
    starts: dict[int, float] = field(default_factory=dict)

    def add(self, key: Hashable, position: tuple[int, int] | None, most: int) -> tuple[int, bool]:
        """Return the number of a state and whether it is new."""
        if key in self.number:
            return self.number[key], False
        if len(self.number) >= most:
            raise InvalidInput(
                f"environment must have at most max_states states; got more than {most}. Pass a larger max_states=, "
                "or a coarser state=."
            )
        self.number[key] = len(self.number)
        self.positions.append(position)
        return len(self.number) - 1, True

    def end(self, state: int, reward: float) -> None:
        """Note that an episode can end in a state, and the best reward for it."""
        self.ends[state] = max(self.ends.get(state, -np.inf), reward)

    def simplify_ends(self) -> None:
        """Give the ends of places that are never passed through the plain key of the place."""

        def plain(key: Any) -> Hashable:
            is_end = isinstance(key, tuple) and len(key) == 2 and key[0] == "end"
            return key[1] if is_end and key[1] not in self.number else key  # type: ignore[no-any-return]

        self.number = {plain(key): number for key, number in self.number.items()}


def count_actions(env: Any) -> int:
    """Return the number of actions 0, 1, 2, …; fail where they are others, or where a wrapper changes them."""
    space = env.action_space
    if getattr(space, "n", None) is None or int(getattr(space, "start", 0)) != 0:
        raise InvalidInput(f"environment must have discrete actions from 0; got {space}.")
    layer = env
    while isinstance(layer, gymnasium.Wrapper):
        if isinstance(layer, gymnasium.ActionWrapper):
            raise InvalidInput(
                f"environment must be without wrappers that change actions; got {type(layer).__name__}. Unwrap it, or "
                "record a log with farpoint.explore and use World.from_log."
            )
        layer = layer.env
    return int(space.n)


def world_parts(found: Found, env: Any, restart: float | None) -> dict[str, Any]:
    """Return the arguments of a World made from what was found."""
    n_states = len(found.number)
    rows: list[int] = [0]
    columns: list[int] = []
    chances: list[float] = []
    actions: list[int] = []
    choice_ptr = [0]
    for state in range(n_states):
        # A terminal state has no choices: what comes after it is a new episode.
        for action, outcome in () if state in found.ends else found.choices.get(state, ()):
            columns += outcome.keys()
            chances += outcome.values()
            rows.append(len(columns))
            actions.append(action)
        choice_ptr.append(len(actions))
    starts = np.zeros(n_states)
    for state, chance in found.starts.items():
        starts[state] += chance
    terminal = np.isin(np.arange(n_states), list(found.ends))
    # The ends that are rewarded; where none is (CliffWalking), those that cost least.
    best = max(found.ends.values(), default=0.0)
    least = best if best < 0 else 1e-9
    goals = np.array(sorted(state for state, reward in found.ends.items() if reward >= least), dtype=np.int64)
    located = all(position is not None for position in found.positions)
    only_start = int(starts.argmax()) if (starts > 0).sum() == 1 else None
    return {
        "transitions": csr_array((chances, columns, rows), shape=(len(actions), n_states)),
        "choice_ptr": np.array(choice_ptr),
        "actions": np.array(actions, dtype=np.int32),
        "positions": np.array(found.positions) if located else None,
        "labels": tuple(found.number),
        "start": only_start,
        "goals": goals if goals.size else None,
        "restart": np.where(terminal, 1.0, _restart_probability(env, restart)),
        "starts": starts / starts.sum(),
    }


def _restart_probability(env: Any, restart: float | None) -> float:
    if restart is not None:
        return restart
    spec = getattr(env, "spec", None)
    limit = getattr(spec, "max_episode_steps", None) or getattr(env.unwrapped, "max_steps", None) or _NO_TIME_LIMIT
    return 1.0 / float(limit)


def has_table(env: Any) -> bool:
    """Return whether an environment has a table of its transitions and of where episodes begin."""
    base = env.unwrapped
    return hasattr(base, "P") and hasattr(base, "initial_state_distrib")


def read_table(env: Any, max_states: int, progress: Progress) -> Found:
    """Return the states that can be reached by the table ``P``, numbered in the environment's own order."""
    base = env.unwrapped
    table = base.P
    beginnings = {int(s): float(p) for s, p in enumerate(base.initial_state_distrib) if p > 0}
    reached, frontier = set(beginnings), list(beginnings)
    ended: dict[int, float] = {}
    while frontier:
        state = frontier.pop()
        for outcomes in table[state].values():
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
    found = Found()
    for state in sorted(reached | set(ended)):
        if state in reached:
            found.add(state, table_position(base, state), max_states)
        if state in ended:
            number, _ = found.add(end_key[state], table_position(base, state), max_states)
            found.end(number, ended[state])
    for state in sorted(reached):
        choices = []
        for action, outcomes in sorted(table[state].items()):
            outcome: dict[int, float] = {}
            for chance, after, _, terminated in outcomes:
                if chance > 0:
                    number = found.number[end_key[int(after)] if terminated else int(after)]
                    outcome[number] = outcome.get(number, 0.0) + float(chance)
            choices.append((int(action), outcome))
        found.choices[found.number[state]] = choices
    found.starts = {found.number[state]: chance for state, chance in beginnings.items()}
    progress(len(found.number))
    return found


def enumerate_states(
    env: Any, seeds: Sequence[int], state: StateKey | None, max_states: int, progress: Progress
) -> Found:
    """Return every state that can be reached from the resets with ``seeds``, breadth-first, by trying every action."""
    key_of = state or state_key
    n_actions = count_actions(env)
    found = Found()
    base = env.unwrapped
    queue: list[tuple[int, bytes | Any]] = []
    for seed in seeds:
        observation, _ = base.reset(seed=seed)
        key = check_key(key_of(base, observation))
        number, new = found.add(key, position_of(base, key), max_states)
        found.starts[number] = found.starts.get(number, 0.0) + 1.0 / len(seeds)
        if new:
            queue.append((number, _freeze(base)))
    for number, frozen in queue:  # grows while it is read: breadth-first
        choices = []
        for action in range(int(n_actions)):
            trial = _thaw(frozen)
            # A step count that ran out would end the episode for reasons of time, which are the restart's.
            if hasattr(trial, "step_count"):
                trial.step_count = 0
            observation, reward, terminated, _, _ = trial.step(action)
            key = check_key(key_of(trial, observation))
            # An end has a key of its own: the same place may also be passed through.
            after, new = found.add(("end", key) if terminated else key, position_of(trial, key), max_states)
            if terminated:
                found.end(after, float(reward))
            elif new:
                queue.append((after, _freeze(trial)))
            choices.append((action, {after: 1.0}))
        found.choices[number] = choices
        progress(len(found.number))
    _check_deterministic(queue, found, key_of, int(n_actions))
    found.simplify_ends()
    return found


def _freeze(base: Any) -> Any:
    """Return the environment as bytes, ten times faster to bring back than a deep copy; where that fails, a copy."""
    try:
        return pickle.dumps(base)
    except Exception:
        try:
            return copy.deepcopy(base)
        except Exception as error:
            raise InvalidInput(
                f"environment must be one that can be copied; got {type(base).__name__}, which cannot ({error}). "
                "Make it without render_mode, or record a log with farpoint.explore and use World.from_log."
            ) from error


def _thaw(frozen: Any) -> Any:
    return pickle.loads(frozen) if isinstance(frozen, bytes) else copy.deepcopy(frozen)


def _check_deterministic(queue: Sequence[tuple[int, Any]], found: Found, key_of: StateKey, n_actions: int) -> None:
    """Try some actions again with other random numbers: where they lead elsewhere, one try of each was not enough."""
    every = max(1, len(queue) // 20)
    for number, frozen in queue[::every]:
        for action in range(n_actions):
            for seed in (1, 2):
                trial = _thaw(frozen)
                trial._np_random = np.random.default_rng(seed)
                observation, _, terminated, _, _ = trial.step(action)
                before = next(iter(found.choices[number][action][1]))
                key = check_key(key_of(trial, observation))
                if found.number.get(("end", key) if terminated else key) != before:
                    raise InvalidInput(
                        f"environment must be deterministic to be enumerated; got action {action} that leads elsewhere "
                        "when repeated. Record a log with farpoint.explore and use World.from_log."
                    )


def check_seeds(seed: int, seeds: Sequence[int] | None) -> list[int]:
    """Return the seeds of the resets to begin from."""
    if seeds is None:
        return [check_integer("seed", seed, 0)]
    checked = [check_integer("each of seeds", value, 0) for value in seeds]
    if not checked:
        raise InvalidInput("seeds must have at least one seed; got none.")
    return checked
