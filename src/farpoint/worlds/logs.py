"""Worlds from logs of transitions."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from farpoint.errors import InvalidInput, NotConnected, check_memory, listed
from farpoint.worlds.arrays import array_size, whole_numbers
from farpoint.worlds.keys import check_key
from farpoint.worlds.world import World

_NO_ACTION = -1


@dataclass(frozen=True, eq=False, repr=False)
class Log:
    """A log of transitions: from which state, by which action, to which state, and whether the episode ended there.

    Attributes
    ----------
    states, next_states : sequences of hashable
    actions : array of int
        -1 where the log has no actions.
    terminated : array of bool
        Whether the episode ended in ``next_states``.
    first_states : sequence of hashable
        The first state of each episode; empty where the log has no episodes.
    n_truncated : int
        How many episodes a time limit cut.

    Examples
    --------
    >>> import gymnasium as gym, farpoint as fp
    >>> fp.record_log(gym.make("FrozenLake-v1"), 100, seed=0)
    Log(100 steps)
    """

    states: Sequence[Hashable]
    next_states: Sequence[Hashable]
    actions: NDArray[np.int64]
    terminated: NDArray[np.bool_]
    first_states: Sequence[Hashable] = ()
    n_truncated: int = 0

    def __len__(self) -> int:
        return len(self.states)

    def __repr__(self) -> str:
        return f"Log({len(self)} steps)"


def read_log(
    states: Any, next_states: Any, actions: Any, terminated: Any = None, truncated: Any = None, begins: Any = None
) -> Log:
    """Return the log of arrays, a `Log`, a Minari dataset, or a replay buffer."""
    flags = {"terminated": terminated, "truncated": truncated, "begins": begins}
    given = [name for name, value in flags.items() if value is not None]
    if given and next_states is None:
        raise InvalidInput(f"{given[0]} must go with arrays of states and next_states; got a log that has its own.")
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
    taken = np.full(len(before), _NO_ACTION) if actions is None else _whole_actions(actions, len(before))
    return _with_episodes(Log(before, after, taken, np.zeros(len(before), dtype=bool)), flags)


def _with_episodes(log: Log, given: dict[str, Any]) -> Log:
    """Return a log with the episodes that its flags show; a step begins one after a step that ended one."""
    if all(value is None for value in given.values()):
        return log
    flags = {name: np.zeros(len(log), dtype=bool) for name in given}
    flags |= {name: _flags(name, value, len(log)) for name, value in given.items() if value is not None}
    if given["begins"] is None:
        flags["begins"] = np.concatenate([[True], (flags["terminated"] | flags["truncated"])[:-1]])
    if not flags["begins"].any():
        raise InvalidInput("begins must mark the first step of some episode; got none.")
    if given["truncated"] is None:
        # What neither went on nor terminated was cut; of the last episode nothing is known.
        flags["truncated"] = np.concatenate([flags["begins"][1:], [False]]) & ~flags["terminated"]
    first = [log.states[step] for step in np.flatnonzero(flags["begins"]).tolist()]
    n_truncated = int((flags["truncated"] & ~flags["terminated"]).sum())
    return Log(log.states, log.next_states, log.actions, flags["terminated"], first, n_truncated)


def _flags(what: str, values: Any, n_steps: int) -> NDArray[np.bool_]:
    try:
        array = np.asarray(values)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{what} must be one True or False per step; got {type(values).__name__}.") from error
    array = array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array
    whole = array.dtype == bool or (np.issubdtype(array.dtype, np.number) and np.isin(array, (0, 1)).all())
    if array.shape != (n_steps,) or not whole or isinstance(values, np.ma.MaskedArray):
        raise InvalidInput(
            f"{what} must be one True or False per step ({n_steps}); got shape {array.shape} of {array.dtype}."
        )
    return array.astype(bool)


def _keys(values: Any) -> list[Hashable]:
    """Return the key of each state of a column: numbers and labels as they are, rows of an array as tuples."""
    check_memory("log", "so many states", 8 * array_size(values))
    if isinstance(values, np.ndarray):
        values = np.atleast_1d(values)
        values = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
        values = (
            values.tolist() if values.ndim == 1 else [tuple(row) for row in values.reshape(len(values), -1).tolist()]
        )
    if not isinstance(values, Iterable) or isinstance(values, np.ma.MaskedArray):
        raise InvalidInput(f"states must be a sequence of numbers or labels; got {values!r}.")
    keys = [check_key(value.item() if isinstance(value, np.generic) else value) for value in values]
    for key in keys:
        if any(isinstance(part, float) for part in (key if isinstance(key, tuple) else (key,))):
            raise InvalidInput(
                f"states must be whole numbers, labels, or arrays of whole numbers; got {key!r}. Assign each "
                "continuous state to a cell first, for example by rounding, or use World.from_samples."
            )
    return keys


def _whole_actions(actions: Any, n_steps: int) -> NDArray[np.int64]:
    """Return the actions of a log, one whole number of at least 0 per step."""
    array = whole_numbers("actions", actions, np.int64)
    array = array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array
    if array.shape != (n_steps,):
        raise InvalidInput(f"actions must be as many as states ({n_steps}), one per step; got shape {array.shape}.")
    if (array < 0).any():
        raise InvalidInput(f"actions must be whole numbers of at least 0; got {array.min()}.")
    return array


def _from_minari(dataset: Any) -> Log:
    before, after = list[Hashable](), list[Hashable]()
    actions, ended = list[NDArray[Any]](), list[NDArray[Any]]()
    first_states: list[Hashable] = []
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
        first_states.append(keys[0])
        n_truncated += int(np.asarray(episode.truncations).any())
    if not before:
        raise InvalidInput("dataset must have at least one step; got none.")
    terminated = np.concatenate(ended).astype(bool)
    return Log(before, after, np.concatenate(actions), terminated, first_states, n_truncated)


def _from_replay_buffer(buffer: Any) -> Log:
    size = buffer.buffer_size if buffer.full else buffer.pos
    if size == 0:
        raise InvalidInput("replay buffer must have at least one step; got none.")

    def flat(values: Any) -> NDArray[Any]:
        array = np.asarray(values)[:size]
        return array.reshape(-1, *array.shape[2:])

    # Where a time limit cut an episode the buffer says done, and marks it in `timeouts`.
    terminated = flat(buffer.dones).astype(bool) & ~flat(buffer.timeouts).astype(bool)
    before, after = _keys(flat(buffer.observations)), _keys(flat(buffer.next_observations))
    return Log(before, after, _whole_actions(flat(buffer.actions), len(before)), terminated.ravel())


def world_from_log(log: Log, *, symmetrize: bool, largest_component: bool, name: str) -> World:
    """Return the world with the frequencies of a log as its probabilities; see `World.from_log`."""
    number: dict[Hashable, int] = {}
    for key in (*log.states, *log.next_states):
        number.setdefault(key, len(number))
    before = np.array([number[key] for key in log.states])
    after = np.array([number[key] for key in log.next_states])
    actions = np.asarray(log.actions)
    restart, starts = (None, None) if symmetrize or not log.first_states else _episodes(log, number, after)
    if symmetrize:
        before, after = np.concatenate([before, after]), np.concatenate([after, before])
        actions = np.full(before.size, _NO_ACTION)
    keep = _crossed_states(before, after, len(number), restart, starts, largest_component)
    place = np.full(len(number), -1)
    place[keep] = np.arange(keep.size)
    inside = (place[before] >= 0) & (place[after] >= 0)
    before, after, actions = place[before[inside]], place[after[inside]], actions[inside]
    # Without actions every pair of states that was seen is a choice of its own, weighted by how often it was seen.
    without_actions = bool((actions == _NO_ACTION).all())
    column = after if without_actions else actions
    choices, index = np.unique(np.stack([before, column], axis=1), axis=0, return_inverse=True)
    counts = csr_array((np.ones(before.size), (index.ravel(), after)), shape=(len(choices), keep.size))
    totals = np.asarray(counts.sum(axis=1))
    labels = list(number)
    return World(
        csr_array(counts.multiply(1.0 / totals[:, None])),
        np.searchsorted(choices[:, 0], np.arange(keep.size + 1)),
        actions=None if without_actions else choices[:, 1].astype(np.int32),
        weights=totals if without_actions else None,
        labels=tuple(labels[state] for state in keep),
        name=name,
        restart=None if restart is None else restart[keep],
        starts=None if starts is None else starts[keep] / starts[keep].sum(),
    )


def _episodes(
    log: Log, number: dict[Hashable, int], after: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the restart probability of every state and how often each began an episode.

    An arrival in s ends the episode with probability (episodes that ended in s) / (arrivals in s); a step that does not
    end it is cut by the time limit with probability (episodes cut) / (steps), which is taken as one episode at least.
    """
    n_states = len(number)
    arrivals = np.bincount(after, minlength=n_states)
    ended = np.bincount(after[np.asarray(log.terminated, dtype=bool)], minlength=n_states)
    cut = max(log.n_truncated, 1) / len(log)
    share_ended = ended / np.maximum(arrivals, 1)
    first = np.bincount([number[key] for key in log.first_states if key in number], minlength=n_states)
    return share_ended + (1.0 - share_ended) * min(cut, 1.0), first.astype(np.float64)


def _crossed_states(
    before: NDArray[np.int64],
    after: NDArray[np.int64],
    n_states: int,
    restart: NDArray[np.float64] | None,
    starts: NDArray[np.float64] | None,
    largest_component: bool,
) -> NDArray[np.int64]:
    """Return the largest set of states that the log crosses in both directions; fail if that is not all of them.

    Restarts lead back too: through one more node, which every state with a restart leads to and which leads to every
    start.
    """
    if restart is not None and starts is not None:
        again, first = np.flatnonzero(restart), np.flatnonzero(starts)
        before = np.concatenate([before, again, np.full(first.size, n_states)])
        after = np.concatenate([after, np.full(again.size, n_states), first])
    size = n_states if restart is None else n_states + 1
    graph = csr_array((np.ones(before.size), (before, after)), shape=(size, size))
    _, component = connected_components(graph, directed=True, connection="strong")
    component = component[:n_states]
    sizes = np.bincount(component)
    n_components = int((sizes > 0).sum())
    if n_components > 1 and not largest_component:
        raise NotConnected(
            f"log must lead from every state to every other; got {n_components} components (sizes "
            f"{listed(np.sort(sizes[sizes > 0])[::-1])}). Pass largest_component=True to keep the largest, or "
            "symmetrize=True if moves can be undone."
        )
    if sizes.max() < 2:
        raise NotConnected(
            f"log must cross some states in both directions; got {n_states} states and no way back to any. Pass "
            "symmetrize=True if moves can be undone."
        )
    keep = np.flatnonzero(component == sizes.argmax())
    if starts is not None and not starts[keep].any():
        raise NotConnected("log must have its first states among those it crosses in both directions; got none there.")
    return keep
