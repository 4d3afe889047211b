"""Worlds from logs of transitions, and the log that a random walk makes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from farpoint.errors import InvalidInput, NotConnected, check_integer, listed
from farpoint.worlds.keys import StateKey, check_key, state_key


@dataclass(frozen=True, eq=False, repr=False)
class Log:
    """A log: from which state, by which action, to which state, and whether the episode ended there.

    Examples
    --------
    >>> import gymnasium as gym, farpoint as fp
    >>> fp.explore(gym.make("FrozenLake-v1"), 100, seed=0)
    Log(100 steps)
    """

    states: Sequence[Hashable]
    next_states: Sequence[Hashable]
    actions: NDArray[np.int64]
    terminated: NDArray[np.bool_]
    # Where episodes began, and how many were cut by a time limit; empty where the log does not say.
    begun: Sequence[Hashable] = ()
    n_truncated: int = 0

    def __len__(self) -> int:
        return len(self.states)

    def __repr__(self) -> str:
        return f"Log({len(self)} steps)"


def explore(
    env: Any,
    n_steps: int,
    seed: int = 0,
    *,
    state: StateKey | None = None,
    layout: int | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Log:
    """Return the log of a walk that takes uniformly random actions in an environment, reset whenever an episode ends.

    Parameters
    ----------
    env : gymnasium.Env
        With discrete actions.
    n_steps, seed : int
    state : function of (env, observation), optional
        What identifies a state, as in `World.from_env`.
    layout : int, optional
        Seed of every reset, for environments whose layout depends on it; default: a new one each time.
    progress : function of (int, int)
        Called now and then with the steps done and their number.

    Examples
    --------
    >>> import gymnasium as gym, farpoint as fp
    >>> log = fp.explore(gym.make("FrozenLake-v1", is_slippery=False), 5000, seed=1)
    >>> fp.World.from_log(log).n_states
    16
    """
    n_steps = check_integer("n_steps", n_steps, 1)
    space = env.action_space
    if getattr(space, "n", None) is None or int(getattr(space, "start", 0)) != 0:
        raise InvalidInput(f"environment must have discrete actions from 0; got {space}.")
    n_actions = int(space.n)
    key_of = state or state_key
    rng = np.random.default_rng(check_integer("seed", seed, 0))
    choices = rng.integers(n_actions, size=n_steps)
    before, after = [], []
    terminated = np.zeros(n_steps, dtype=bool)
    observation, _ = env.reset(seed=seed if layout is None else layout)
    here = check_key(key_of(env, observation))
    begun, n_truncated = [here], 0
    for step in range(n_steps):
        observation, _, ended, truncated, _ = env.step(int(choices[step]))
        there = check_key(key_of(env, observation))
        before.append(here)
        after.append(there)
        terminated[step] = ended
        if ended or truncated:
            observation, _ = env.reset(seed=layout)
            there = check_key(key_of(env, observation))
            begun.append(there)
            n_truncated += not ended
        here = there
        if step % 1000 == 0:
            progress(step, n_steps)
    progress(n_steps, n_steps)
    return Log(before, after, choices, terminated, begun, n_truncated)


def read_log(states: Any, next_states: Any, actions: Any) -> Log:
    """Return the log that was given: arrays, a `Log`, a Minari dataset, or a replay buffer."""
    if isinstance(states, Log):
        return states
    if hasattr(states, "iterate_episodes"):
        return _from_minari(states)
    if hasattr(states, "observations") and hasattr(states, "next_observations") and hasattr(states, "pos"):
        return _from_replay_buffer(states)
    if next_states is None:
        raise InvalidInput("next_states must be given with states; got None.")
    before, after = _keys(states), _keys(next_states)
    if len(before) != len(after) or not before:
        raise InvalidInput(
            f"states and next_states must be equally long and not empty; got {len(before)} and {len(after)}."
        )
    chosen = np.full(len(before), -1) if actions is None else _whole_actions(actions, len(before))
    return Log(before, after, chosen, np.zeros(len(before), dtype=bool))


def _keys(values: Any) -> list[Hashable]:
    """Return what identifies each state of a column: numbers and labels as they are, rows of an array as tuples."""
    if isinstance(values, np.ndarray):
        values = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
        values = (
            values.tolist() if values.ndim == 1 else [tuple(row) for row in values.reshape(len(values), -1).tolist()]
        )
    keys = [check_key(value.item() if isinstance(value, np.generic) else value) for value in values]
    for key in keys:
        if any(isinstance(part, float) for part in (key if isinstance(key, tuple) else (key,))):
            raise InvalidInput(
                f"states must be whole numbers, labels, or arrays of whole numbers; got {key!r}. Give each continuous "
                "state a cell first, for example by rounding."
            )
    return keys


def _whole_actions(actions: Any, n_steps: int) -> NDArray[np.int64]:
    """Return the actions of a log, one whole number of at least 0 a step."""
    array = np.asarray(actions)
    array = array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array
    if array.shape != (n_steps,):
        raise InvalidInput(f"actions must be as many as states ({n_steps}), one a step; got shape {array.shape}.")
    if not np.issubdtype(array.dtype, np.integer) or (array < 0).any():
        raise InvalidInput(f"actions must be whole numbers of at least 0; got {array.dtype} from {array.min()}.")
    return array.astype(np.int64)


def _from_minari(dataset: Any) -> Log:
    before: list[Hashable] = []
    after: list[Hashable] = []
    actions: list[NDArray[Any]] = []
    ended: list[NDArray[Any]] = []
    begun: list[Hashable] = []
    n_truncated = 0
    for episode in dataset.iterate_episodes():
        keys = _keys(np.asarray(episode.observations))
        if len(keys) != len(episode.actions) + 1:
            raise InvalidInput(
                f"episode must have one observation more than actions; got {len(keys)} and {len(episode.actions)}: the "
                "dataset has gaps."
            )
        before += keys[:-1]
        after += keys[1:]
        actions.append(_whole_actions(episode.actions, len(keys) - 1))
        ended.append(np.asarray(episode.terminations))
        begun.append(keys[0])
        n_truncated += int(np.asarray(episode.truncations).any())
    if not before:
        raise InvalidInput("dataset must have at least one step; got none.")
    over = np.concatenate(ended).astype(bool)
    return Log(before, after, np.concatenate(actions), over, begun, n_truncated)


def _from_replay_buffer(buffer: Any) -> Log:
    size = buffer.buffer_size if buffer.full else buffer.pos
    if size == 0:
        raise InvalidInput("replay buffer must have at least one step; got none.")

    def flat(values: Any) -> NDArray[Any]:
        array = np.asarray(values)[:size]
        return array.reshape(-1, *array.shape[2:])

    # Where an episode was cut by a time limit the buffer says done, and says so.
    done = flat(buffer.dones).astype(bool) & ~flat(buffer.timeouts).astype(bool)
    before, after = _keys(flat(buffer.observations)), _keys(flat(buffer.next_observations))
    return Log(before, after, _whole_actions(flat(buffer.actions), len(before)), done.ravel())


def count_transitions(log: Log, symmetrize: bool, largest_component: bool) -> dict[str, Any]:
    """Return the arguments of a World with the frequencies of a log as its chances."""
    number: dict[Hashable, int] = {}
    for key in (*log.states, *log.next_states):
        number.setdefault(key, len(number))
    before = np.array([number[key] for key in log.states])
    after = np.array([number[key] for key in log.next_states])
    actions = np.asarray(log.actions)
    if symmetrize:
        before, after = np.concatenate([before, after]), np.concatenate([after, before])
        actions = np.full(before.size, -1)
    episodic = bool(log.begun) and not symmetrize
    # A log that knows its episodes can be walked for ever: the walk begins again where they end.
    keep = np.arange(len(number)) if episodic else _crossable(before, after, len(number), largest_component)
    place = np.full(len(number), -1)
    place[keep] = np.arange(keep.size)
    inside = (place[before] >= 0) & (place[after] >= 0)
    before, after, actions = place[before[inside]], place[after[inside]], actions[inside]
    labels = list(number)
    # Without actions every pair of states that was seen is a choice of its own, weighted by how often.
    column = after if (actions < 0).all() else actions
    choices, index = np.unique(np.stack([before, column], axis=1), axis=0, return_inverse=True)
    counts = csr_array((np.ones(before.size), (index.ravel(), after)), shape=(len(choices), keep.size))
    totals = np.asarray(counts.sum(axis=1))
    transitions = csr_array(counts.multiply(1.0 / totals[:, None]))
    choice_ptr = np.searchsorted(choices[:, 0], np.arange(keep.size + 1))
    return {
        **(_episodes(log, number) if episodic else {}),
        "transitions": transitions,
        "choice_ptr": choice_ptr,
        "actions": None if (actions < 0).all() else choices[:, 1].astype(np.int32),
        "weights": totals if (actions < 0).all() else None,
        "labels": tuple(labels[state] for state in keep),
    }


def _episodes(log: Log, number: dict[Hashable, int]) -> dict[str, Any]:
    """Return restart and starts as the log shows them."""
    ended = [number[key] for key, over in zip(log.next_states, log.terminated, strict=True) if over]
    restart = np.full(len(number), max(log.n_truncated, 1) / len(log))
    restart[ended] = 1.0
    starts = np.bincount([number[key] for key in log.begun], minlength=len(number)).astype(np.float64)
    return {"restart": restart, "starts": starts / starts.sum()}


def _crossable(
    before: NDArray[np.int64], after: NDArray[np.int64], n_states: int, largest_component: bool
) -> NDArray[np.int64]:
    """Return the states of the largest set that can be crossed in both directions, or fail if that is not all."""
    graph = csr_array((np.ones(before.size), (before, after)), shape=(n_states, n_states))
    n_parts, part = connected_components(graph, directed=True, connection="strong")
    sizes = np.bincount(part)
    if n_parts > 1 and not largest_component:
        raise NotConnected(
            f"log must lead from every state to every other; got {n_parts} parts (sizes "
            f"{listed(np.sort(sizes)[::-1])}). Pass largest_component=True to keep the largest, or symmetrize=True if "
            "moves can be undone."
        )
    if sizes.max() < 2:
        raise NotConnected(
            f"log must cross some states in both directions; got {n_states} states and no way back to any. Pass "
            "symmetrize=True if moves can be undone."
        )
    return np.flatnonzero(part == sizes.argmax())
