"""Logs of transitions: one class, and one reader of everything that people keep them in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from farpoint.errors import InvalidInput, check_memory
from farpoint.worlds.arrays import array_size, read_only, real_numbers, whole_numbers
from farpoint.worlds.state_index import each_observation
from farpoint.worlds.world import checked_notes

# The names of each column in Gymnasium, Minari, D4RL, OGBench, Stable-Baselines3, and in rows of one step each.
_NAMES = {
    "observations": ("observations", "states", "obs", "observation", "state"),
    "actions": ("actions", "action"),
    "next_observations": ("next_observations", "next_states", "next_obs", "next_observation", "next_state"),
    "terminated": ("terminated", "terminations"),
    "truncated": ("truncated", "truncations"),
    "begins": ("begins",),
    "rewards": ("rewards", "reward"),
    "terminals": ("terminals",),
    "timeouts": ("timeouts",),
    "dones": ("dones", "done"),
    "valids": ("valids",),
    "masks": ("masks",),
}
_COLUMNS = {name: column for column, names in _NAMES.items() for name in names}
# A row of a log without names: these columns, or the first three or four of them.
_ROW = ("observations", "actions", "next_observations", "terminated", "truncated")
_SHORTEST_ROW = 3


@dataclass(frozen=True, eq=False, repr=False)
class Log:
    """A log of transitions, one row per step: what was observed, done and observed next, and where episodes ended.

    Parameters
    ----------
    observations : array or sequence
        Before each step: rows of numbers, images, numbers of states, or any hashable objects, dicts or tuples.
    actions : array, optional
        Whole numbers, or rows of floats.
    next_observations : array or sequence
        After each step.
    terminated, truncated, begins : array of bool, optional
        Which steps ended an episode, which were the last before something else cut it, which were the first of one.
        Default of ``begins``: the first step, and each after one that ended an episode or was cut. Default of
        ``truncated``: each step before one that begins an episode, and the last, unless they terminated. Without any of
        the three the log is one walk without episodes.
    rewards : array of float, optional
    notes : tuple of str
        How the log was read, one sentence each.

    Examples
    --------
    >>> import farpoint as fp
    >>> log = fp.Log([0, 1, 0], [1, 1, 1], [1, 2, 1], terminated=[False, True, False])
    >>> log, log.begins, log.truncated
    (Log(3 steps), array([ True, False,  True]), array([False, False,  True]))
    """

    observations: Any
    actions: Any
    next_observations: Any
    terminated: Any = None
    truncated: Any = None
    begins: Any = None
    rewards: Any = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        before = _observations("observations", self.observations)
        after = _observations("next_observations", self.next_observations)
        if len(before) != len(after) or len(before) == 0:
            raise InvalidInput(
                "observations and next_observations must be equally long and not empty; got "
                f"{len(before)} and {len(after)}."
            )
        n_steps = len(before)
        rewards = self.rewards
        if rewards is not None:
            rewards = real_numbers("rewards", rewards)
            rewards = rewards[:, 0] if rewards.shape == (n_steps, 1) else rewards
            if rewards.shape != (n_steps,):
                raise InvalidInput(f"rewards must be one number per step ({n_steps}); got shape {rewards.shape}.")
        checked = {
            "observations": before,
            "actions": None if self.actions is None else read_actions(self.actions, n_steps),
            "next_observations": after,
            "rewards": rewards,
            **_episode_flags({name: getattr(self, name) for name in ("terminated", "truncated", "begins")}, n_steps),
            "notes": checked_notes(self.notes),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, read_only(value[...]) if isinstance(value, np.ndarray) else value)

    def __len__(self) -> int:
        return len(self.observations)

    def __repr__(self) -> str:
        return f"Log({len(self)} steps)"

    @property
    def discrete(self) -> bool:
        """Whether the actions are whole numbers."""
        return self.actions is not None and self.actions.ndim == 1

    @property
    def ended(self) -> NDArray[np.bool_]:
        """Which steps are the last of an episode, or of what was recorded of it: the next row does not follow them."""
        return np.asarray(self.terminated | self.truncated)


def _observations(what: str, values: Any) -> Any:
    """Return a column of observations: an array of numbers or texts, or a list of anything."""
    # Data sets in HDF5 files, tensors and series are read at once: row by row takes a thousand times as long.
    array = np.asarray(values) if hasattr(values, "__array__") and not np.ma.isMaskedArray(values) else None
    if array is not None and array.dtype != object:
        return array if array.ndim else _no_column(what, values)
    check_memory("log", "so many states", 8 * array_size(values))
    if isinstance(values, Mapping):
        return list(each_observation(values))
    if not isinstance(values, Iterable) or isinstance(values, (str, bytes, np.ma.MaskedArray)):
        return _no_column(what, values)
    return list(values)


def _no_column(what: str, values: Any) -> Any:
    raise InvalidInput(f"{what} must be a sequence of numbers or labels, one per step; got {values!r:.60}.")


def read_actions(actions: Any, n_steps: int) -> NDArray[Any]:
    """Return one whole number of at least 0 per step, or one row of floats.

    >>> read_actions([[1], [0]], 2), read_actions([[0.5, 1.0]], 1)
    (array([1, 0]), array([[0.5, 1. ]]))
    """
    try:
        array = np.asarray(actions)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"actions must be numbers, one or one row per step; got {error}.") from error
    if array.ndim > 1 and (array.shape[1:] != (1,) or array.dtype.kind == "f"):
        rows = real_numbers("actions", actions)
        rows = rows.reshape(len(rows), -1)
        if len(rows) != n_steps or not rows.size or not np.isfinite(rows).all():
            raise InvalidInput(f"actions must be one row of finite numbers per step ({n_steps}); got {rows.shape}.")
        return rows
    numbers = whole_numbers("actions", actions, np.int64)
    numbers = numbers[:, 0] if numbers.ndim == 2 else numbers
    if numbers.shape != (n_steps,):
        raise InvalidInput(f"actions must be one per step ({n_steps}); got shape {numbers.shape}.")
    if numbers.min() < 0:
        raise InvalidInput(f"actions must be whole numbers of at least 0; got {numbers.min()}.")
    return numbers


def _episode_flags(given: dict[str, Any], n_steps: int) -> dict[str, NDArray[np.bool_]]:
    """Return which steps terminated, were cut and began an episode; what is not given follows from the others."""
    flags = {name: np.zeros(n_steps, dtype=bool) for name in given}
    flags |= {name: _flags(name, value, n_steps) for name, value in given.items() if value is not None}
    if all(value is None for value in given.values()):
        return flags
    if given["begins"] is None:
        flags["begins"] = np.concatenate([[True], (flags["terminated"] | flags["truncated"])[:-1]])
    if given["truncated"] is None:
        # What neither terminated nor went on was cut, the last step by the end of the log.
        flags["truncated"] = np.concatenate([flags["begins"][1:], [True]]) & ~flags["terminated"]
    return flags


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


def read_log(log: Any = None, **columns: Any) -> Log:
    """Return the log of anything that people keep transitions in.

    Parameters
    ----------
    log : object, optional
        - a `Log`;
        - a dict or data frame of columns, the content of an ``.npz`` file (D4RL, OGBench), or an object that has such
          columns as attributes;
        - rows, one per step: tuples ``(s, a, s′, terminated, truncated)`` or their first three or four entries, named
          tuples, or dicts;
        - a Minari dataset;
        - a replay buffer of Stable-Baselines3.
    **columns : arrays, optional
        In place of ``log``: ``observations``, ``actions``, ``next_observations``, ``terminated``, ``truncated``,
        ``begins``, ``rewards``, by these names or those of D4RL and OGBench (``terminals``, ``timeouts``).

    Notes
    -----
    ``terminals`` mean two things. Beside ``timeouts``, or ``next_observations`` and ``rewards`` (both as in D4RL), they
    are terminations. Elsewhere (OGBench in all its forms), and beside ``masks`` or ``valids``, they are the ends of
    trajectories, which a time limit cut; ``terminated`` always means terminations. Without ``next_observations`` the
    next row is the next observation: the last row of a trajectory has no transition, and of a step that terminates it
    is not known where it ended, so that it ends where it began.
    ``log.notes`` says which was taken.

    Examples
    --------
    >>> from farpoint.worlds import read_log
    >>> read_log([(0, 1, 1, False, False), (1, 1, 2, True, False)]).terminated
    array([False,  True])
    >>> log = read_log(observations=[0, 1, 2, 0, 1], actions=[1, 1, 1, 1, 1], terminals=[0, 0, 1, 0, 1])
    >>> log.observations, log.next_observations, log.truncated
    ([0, 1, 0], [1, 2, 1], array([False,  True,  True]))
    >>> log.notes
    ('terminals are ends of trajectories: the next row is the next observation, and a time limit cut them.',)
    """
    columns = {name: value for name, value in columns.items() if value is not None}
    if log is None:
        unknown = [name for name in columns if name not in _COLUMNS]
        if unknown:
            raise InvalidInput(f"columns of a log must be among {', '.join(_NAMES)}; got {unknown[0]!r}.")
        return _from_columns(columns)
    if columns:
        raise InvalidInput(f"{next(iter(columns))} must go with columns of observations; got a log that has its own.")
    if isinstance(log, Log):
        return log
    if isinstance(log, Mapping):
        return _from_columns(log)
    if hasattr(log, "iterate_episodes"):
        return _from_minari(log)
    if hasattr(log, "pos") and hasattr(log, "observations") and hasattr(log, "dones"):
        return _from_replay_buffer(log)
    if hasattr(log, "columns") and hasattr(log, "__getitem__"):
        return _from_columns({str(name): _unboxed(log[name]) for name in log.columns if str(name) in _COLUMNS})
    if hasattr(log, "observations") and hasattr(log, "next_observations"):
        return _from_columns({name: getattr(log, name) for name in _COLUMNS if getattr(log, name, None) is not None})
    return _from_rows(log)


def is_log_column(name: str) -> bool:
    """Return whether this is one of the names that `read_log` has for its columns.

    >>> is_log_column("obs"), is_log_column("source")
    (True, False)
    """
    return name in _COLUMNS


def is_log(value: Any) -> bool:
    """Return whether this is a whole log, and not a column of observations.

    >>> is_log({"observations": [0]}), is_log([0, 1])
    (True, False)
    """
    names = ("iterate_episodes", "columns", "next_observations", "dones")
    return isinstance(value, (Log, Mapping)) or any(hasattr(value, name) for name in names)


def _unboxed(column: Any) -> Any:
    """Return a column of a data frame as an array; of one whose cells are arrays, as a list of these."""
    array = column.to_numpy() if hasattr(column, "to_numpy") else np.asarray(column)
    return array.tolist() if array.dtype == object else array


def _from_rows(rows: Any) -> Log:
    matrix = isinstance(rows, (str, bytes, np.ndarray)) or issparse(rows)
    given = [] if matrix or not isinstance(rows, Iterable) else list(rows)
    first = given[0] if given else None
    if isinstance(first, Mapping):
        return _from_columns({name: [row[name] for row in given] for name in first if name in _COLUMNS})
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return _from_rows([row._asdict() for row in given])
    if isinstance(first, (tuple, list)) and _SHORTEST_ROW <= len(first) <= len(_ROW):
        if {len(row) for row in given} != {len(first)}:
            raise InvalidInput("rows of a log must be equally long; got rows of different lengths.")
        return _from_columns(dict(zip(_ROW, map(list, zip(*given, strict=True)), strict=False)))
    raise InvalidInput(
        f"log must have next observations; got {rows!r:.60}. Pass next_states, or a log: see farpoint.worlds.read_log."
    )


def _from_columns(columns: Mapping[Any, Any]) -> Log:
    known: dict[str, Any] = {}
    for name in columns:
        column = _COLUMNS.get(name)
        if column in known:
            raise InvalidInput(f"log must have one column of {column}; got two, one of them {name!r}.")
        if column is not None and columns[name] is not None:
            known[column] = columns[name]
    if "observations" not in known:
        raise InvalidInput(f"log must have observations; got {', '.join(map(str, columns)) or 'no column'}.")
    before = _observations("observations", known["observations"])
    n_rows, notes = len(before), list[str]()
    flags = {name: _flags(name, known[name], n_rows) for name in _FLAGS if name in known}
    if "begins" in flags and not flags["begins"].any():
        raise InvalidInput("begins must mark the first step of some episode; got none.")
    has_next = "next_observations" in known
    if "dones" in flags:
        cut = flags.get("timeouts", flags.get("truncated", np.zeros(n_rows, dtype=bool)))
        flags.setdefault("terminated", flags["dones"] & ~cut)
        notes.append("dones are terminations, except where a time limit cut an episode.")
    if "terminals" in flags and "timeouts" in flags:
        notes.append("terminals beside timeouts are terminations.")
        flags["terminated"] = flags["terminals"]
    elif "terminals" in flags and has_next and "rewards" in known and not {"masks", "valids"} & set(flags):
        notes.append("terminals beside next_observations and rewards are terminations.")
        flags["terminated"] = flags["terminals"]
    elif "terminals" in flags:
        following = "" if has_next else "the next row is the next observation, and "
        notes.append(f"terminals are ends of trajectories: {following}a time limit cut them.")
        # In OGBench's compact form two rows of each trajectory are marked, and only the last of them is not valid.
        flags["truncated"] = ~flags["valids"] if "valids" in flags else flags["terminals"]
    if "timeouts" in flags:
        flags["truncated"] = flags["timeouts"] & ~flags.get("terminated", np.zeros(n_rows, dtype=bool))
    ends: dict[str, Any] = {name: flags[name] for name in ("terminated", "truncated", "begins") if name in flags}
    kept: dict[str, Any] = {name: known[name] for name in ("actions", "rewards") if name in known}
    if has_next:
        return Log(before, kept.pop("actions", None), known["next_observations"], **ends, **kept, notes=tuple(notes))
    if not ends:
        raise InvalidInput(
            "next_observations must be given with observations; got None. Or mark where trajectories end: terminals=."
        )
    return _from_following_rows(before, kept, ends, notes)


_FLAGS = ("terminated", "truncated", "begins", "terminals", "timeouts", "dones", "valids", "masks")


def _from_following_rows(
    before: Any, kept: dict[str, Any], ends: dict[str, NDArray[np.bool_]], notes: list[str]
) -> Log:
    """Return the log of rows that follow one another: each row's next observation is the next row of its trajectory."""
    n_rows = len(before)
    if not n_rows:
        raise InvalidInput("log must have at least one step; got no rows.")
    for name, values in kept.items():
        if np.ndim(values) and len(values) != n_rows:
            raise InvalidInput(f"{name} must be one per row of observations ({n_rows}); got {len(values)}.")
    terminated = ends.get("terminated", np.zeros(n_rows, dtype=bool))
    cut = ends.get("truncated", np.zeros(n_rows, dtype=bool)) & ~terminated
    if "begins" in ends:
        cut = cut | (np.concatenate([ends["begins"][1:], [True]]) & ~terminated)
    # The observation after the last row is not known either.
    cut[-1] |= not terminated[-1]
    first = np.concatenate([[True], (cut | terminated)[:-1]])
    rows = np.flatnonzero(~cut)
    if not rows.size:
        raise InvalidInput("log must have at least one step; got the ends of trajectories only.")
    if terminated.any():
        notes.append("the observation after a termination is not in the log: it ends where its step began.")
    follows = np.where(terminated, np.arange(n_rows), np.minimum(np.arange(n_rows) + 1, n_rows - 1))

    def at(values: Any, numbers: NDArray[np.int64]) -> Any:
        return values[numbers] if isinstance(values, np.ndarray) else [values[number] for number in numbers.tolist()]

    columns = {name: at(np.asarray(values), rows) for name, values in kept.items()}
    return Log(
        at(before, rows),
        columns.pop("actions", None),
        at(before, follows[rows]),
        terminated=terminated[rows],
        truncated=np.concatenate([cut[1:], [False]])[rows] & ~terminated[rows],
        begins=ends.get("begins", first)[rows],
        **columns,
        notes=tuple(notes),
    )


def _from_minari(dataset: Any) -> Log:
    before, after = list[Any](), list[Any]()
    columns: dict[str, list[NDArray[Any]]] = {"actions": [], "terminations": [], "truncations": [], "rewards": []}
    begins, ends = list[NDArray[np.bool_]](), list[NDArray[np.bool_]]()
    for episode in dataset.iterate_episodes():
        given = episode.observations
        rows = list(each_observation(given)) if isinstance(given, (Mapping, tuple)) else np.asarray(given)
        n_steps = len(episode.actions)
        if len(rows) != n_steps + 1:
            raise InvalidInput(
                f"episode must have one observation more than actions; got {len(rows)} and {n_steps}: the dataset has "
                "gaps."
            )
        before.append(rows[:-1])
        after.append(rows[1:])
        for name, values in columns.items():
            if getattr(episode, name, None) is not None:
                values.append(np.asarray(getattr(episode, name)))
        begins.append(np.arange(n_steps) == 0)
        ends.append(np.arange(n_steps) == n_steps - 1)
    if not any(map(len, before)):
        raise InvalidInput("dataset must have at least one step; got none.")
    whole = {name: np.concatenate(values) for name, values in columns.items() if values}
    last, terminated = np.concatenate(ends), whole["terminations"].astype(bool)
    # An episode that a dataset leaves unfinished was cut there.
    truncated = whole["truncations"].astype(bool) if "truncations" in whole else np.zeros(last.size, dtype=bool)
    return Log(
        _joined(before),
        whole["actions"],
        _joined(after),
        terminated=terminated,
        truncated=truncated | (last & ~terminated),
        begins=np.concatenate(begins),
        rewards=whole.get("rewards"),
    )


def _joined(parts: list[Any]) -> Any:
    """Return columns one after another."""
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.concatenate(parts)
    return [row for part in parts for row in part]


def _from_replay_buffer(buffer: Any) -> Log:
    """Return the steps of a buffer of Stable-Baselines3, one environment after another, each in the order of time."""
    compact = bool(getattr(buffer, "optimize_memory_usage", False))
    if not buffer.full:
        times = np.arange(buffer.pos)
    else:
        # The oldest step is where the next one would be written; where observations are kept once, it has lost its own.
        times = (buffer.pos + np.arange(int(compact), buffer.buffer_size)) % buffer.buffer_size
    if times.size == 0:
        raise InvalidInput("replay buffer must have at least one step; got none.")
    n_envs = np.asarray(buffer.dones).shape[1]

    def unrolled(values: Any, at: NDArray[np.int64] = times) -> Any:
        if isinstance(values, Mapping):
            return {name: unrolled(part, at) for name, part in values.items()}
        array = np.asarray(values)[at]
        return array.swapaxes(0, 1).reshape(-1, *array.shape[2:])

    dones, timeouts = unrolled(buffer.dones).astype(bool), unrolled(buffer.timeouts).astype(bool)
    step = np.tile(np.arange(times.size), n_envs)
    # Where a time limit cut an episode the buffer says done, and marks it in `timeouts`; the newest steps go on later.
    terminated = dones & ~timeouts
    truncated = timeouts | ((step == times.size - 1) & ~dones)
    begins = np.concatenate([[False], dones[:-1]])
    # Where an episode began that was half overwritten, nobody knows.
    begins[step == 0] = not buffer.full
    notes: tuple[str, ...] = ()
    if compact:
        observations = unrolled(buffer.observations)
        after = unrolled(buffer.observations, (times + 1) % buffer.buffer_size).copy()
        after[dones] = observations[dones]
        notes = ("the observation after an episode is not in the buffer: it ends where its last step began.",)
    else:
        observations, after = unrolled(buffer.observations), unrolled(buffer.next_observations)
    return Log(
        observations,
        unrolled(buffer.actions),
        after,
        terminated=terminated,
        truncated=truncated,
        # A buffer in which no episode ended is a walk without episodes.
        begins=begins & dones.any(),
        rewards=unrolled(buffer.rewards),
        notes=notes,
    )
