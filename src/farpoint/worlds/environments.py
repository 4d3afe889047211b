"""Worlds from Gymnasium environments: from their table of transitions, or by trying every action in every state."""

from __future__ import annotations

import copy
import hashlib
import itertools
import operator
import pickle
import random
import zlib
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakValueDictionary

import gymnasium
import numpy as np
from scipy.sparse import csr_array

from farpoint.display import progress_bar
from farpoint.errors import InvalidInput, check_fraction, check_function, check_integer
from farpoint.worlds.arrays import whole_numbers
from farpoint.worlds.state_index import END, StateIndex, state_key
from farpoint.worlds.world import World

# Where an environment has no time limit: long enough that restarts hardly disturb the walk.
_NO_TIME_LIMIT = 1000
# States from which actions are repeated with other random numbers, and from which the table is walked.
_N_CHECKED = 20
# Repeated actions in all, at least.
_N_REPEATED = 100
_MIN_WALK, _MAX_WALK = 1_000, 20_000
# Arrays of more bytes than this are kept once for all snapshots; what else is larger is compressed.
_LARGE = 100_000

StateKey = Callable[[Any, Any], Hashable]
Progress = Callable[[int], None]


def simulator_state(env: Any, observation: Any) -> Hashable:
    """Return the key of the state that a simulator is in, which an observation alone may not show.

    The number of the state in environments with a table of transitions (FrozenLake, Taxi), whatever wrappers make of
    the observation. In MiniGrid: the walls, where the agent stands and looks, what it carries, and every object.
    Elsewhere the key of the observation (`farpoint.worlds.state_index.state_key`).

    `World.from_env` uses it by default and notes it in ``world.keyed_by``. Pass it as ``state=`` to everything else
    that should read the simulator.

    Examples
    --------
    >>> import gymnasium as gym, farpoint as fp
    >>> env = gym.make("FrozenLake-v1", is_slippery=False)
    >>> observation, _ = env.reset(seed=0)
    >>> fp.envs.simulator_state(env, observation)
    0
    """
    kind = simulator_kind(env)
    base = env.unwrapped
    if kind == "minigrid":
        return _minigrid_state(base)
    return int(base.s) if kind == "table" else state_key(observation)


def simulator_kind(env: Any) -> str:
    """Return what `simulator_state` reads: "table", "minigrid", or the "observation" where it knows no simulator."""
    base = getattr(env, "unwrapped", None)
    if base is None:
        raise InvalidInput(f"env must be a Gymnasium environment; got {env!r}. Make one with gymnasium.make.")
    if hasattr(base, "grid") and hasattr(base, "agent_pos") and hasattr(base, "agent_dir"):
        return "minigrid"
    # Some have no ``s`` before their first reset.
    return "table" if has_table(env) or (hasattr(base, "P") and hasattr(base, "s")) else "observation"


def _minigrid_state(base: Any) -> Hashable:
    # MiniGrid's own ``hash()`` prints the agent's position, a pair of Python integers at first and of NumPy integers
    # after a step, so that one state has two hashes.
    cells = base.grid.grid
    walls, things = bytearray(len(cells)), []
    # One pass, since this is asked at every step.
    for place, cell in enumerate(cells):
        if cell is None:
            continue
        if cell.type == "wall":
            walls[place] = 1
        else:
            things.append((place, cell.encode()))
    x, y = base.agent_pos
    carrying = base.carrying.encode() if base.carrying is not None else None
    digest = hashlib.blake2b(walls, digest_size=8).hexdigest()
    return digest, int(x), int(y), int(base.agent_dir), carrying, tuple(things)


def position_of(env: Any, key: Hashable) -> tuple[int, int] | None:
    """Return the row and column of the state that an environment is in, if the environment has rows and columns."""
    base = env.unwrapped
    if hasattr(base, "agent_pos") and hasattr(base, "grid"):
        x, y = base.agent_pos
        return int(y), int(x)
    return table_position(base, key)


def table_position(base: Any, key: Hashable) -> tuple[int, int] | None:
    """Return the row and column of a numbered state of a toy-text environment, or of a world that is stepped."""
    if not isinstance(key, int):
        return None
    if hasattr(base, "position_of_state"):
        position: tuple[int, int] | None = base.position_of_state(key)
        return position
    if hasattr(base, "nrow") and hasattr(base, "ncol"):
        return key // int(base.ncol), key % int(base.ncol)
    if hasattr(base, "shape") and len(base.shape) == 2:
        return key // int(base.shape[1]), key % int(base.shape[1])
    if hasattr(base, "decode"):
        row, column, *_ = base.decode(key)
        return int(row), int(column)
    return None


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
    with progress_bar("states") as bar:
        tell = progress or bar
        if has_table(env) and state is None:
            table = read_table(env, max_states, tell)
        else:
            table = _Enumeration(env, n_actions, state or simulator_state, max_states).table(layouts, tell)
    table.keyed_by = "observation" if state is not None else simulator_kind(env)
    spec = getattr(env, "spec", None)
    title = name or (spec.id if spec is not None else type(env.unwrapped).__name__)
    return table.world(_restart_probability(env) if restart is None else restart, title)


@dataclass
class StateTable:
    """States and choices in the order in which they were reached. Ends have numbers of their own."""

    max_states: int
    index: StateIndex = field(default_factory=StateIndex.exact)
    # The number of each state, by its number in the index: of those that are passed through, and of ends.
    passed: dict[int, int] = field(default_factory=dict)
    ends: dict[int, int] = field(default_factory=dict)
    positions: list[tuple[int, int] | None] = field(default_factory=list)
    end_rewards: dict[int, float] = field(default_factory=dict)
    choices: dict[int, list[tuple[int, dict[int, float]]]] = field(default_factory=dict)
    starts: dict[int, float] = field(default_factory=dict)
    keyed_by: str = "observation"
    notes: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.positions)

    def find(self, key: Hashable, *, end: bool) -> int:
        """Return the number of a state, or of the end of episodes at its place; -1 if it was not reached."""
        return (self.ends if end else self.passed).get(self.index.find(key), -1)

    def add(self, key: Hashable, position: tuple[int, int] | None, *, reward: float | None = None) -> tuple[int, bool]:
        """Return the number of a state and whether it is new; with a reward, of the end of episodes at its place."""
        numbers, place = self.passed if reward is None else self.ends, self.index.add(key)
        new = place not in numbers
        if new:
            if len(self) >= self.max_states:
                raise InvalidInput(
                    f"environment must have at most max_states states; got more than {self.max_states}. Pass a larger "
                    "max_states=, or a coarser state=."
                )
            numbers[place] = len(self)
            self.positions.append(position)
        number = numbers[place]
        if reward is not None:
            self.end_rewards[number] = max(self.end_rewards.get(number, -np.inf), reward)
        return number, new

    def labels(self) -> tuple[Hashable, ...]:
        """Return the key of each state: ("end", key) for an end of episodes at a place that is also passed through."""
        keys: dict[int, Hashable] = {number: self.index.labels[place] for place, number in self.passed.items()}
        for place, number in self.ends.items():
            key = self.index.labels[place]
            keys[number] = (END, key) if place in self.passed else key
        return tuple(keys[number] for number in range(len(self)))

    def world(self, restart: float, name: str) -> World:
        """Return the world of these states; ``restart`` is that of the states that are not terminal."""
        n_states = len(self)
        rows, columns, chances, actions, choice_ptr = [0], list[int](), list[float](), list[int](), [0]
        for state in range(n_states):
            for action, outcome in self.choices.get(state, ()):
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
        return World.from_matrix(
            csr_array((chances, columns, rows), shape=(len(actions), n_states)),
            np.array(choice_ptr),
            actions=np.array(actions, dtype=np.int32),
            positions=np.array(self.positions) if located else None,
            labels=self.labels(),
            start=int(starts.argmax()) if (starts > 0).sum() == 1 else None,
            targets=self._targets(),
            name=name,
            restart=np.where(terminal, 1.0, restart),
            starts=starts / starts.sum(),
            notes=tuple(self.notes),
            keyed_by=self.keyed_by,
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
    return size_of_actions(env.action_space)


def size_of_actions(space: Any) -> int:
    """Return the number of actions in a space of 0, 1, 2, …; fail for others."""
    # A MultiBinary space has an ``n`` too, but its actions are rows.
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
    spec, layer = getattr(env, "spec", None), env
    limit = getattr(spec, "max_episode_steps", None) or getattr(env.unwrapped, "max_steps", None) or _NO_TIME_LIMIT
    while isinstance(layer, gymnasium.Wrapper):
        # An environment that was not made by its name has no spec.
        if isinstance(layer, gymnasium.wrappers.TimeLimit):
            limit = min(limit, layer._max_episode_steps)
        layer = layer.env
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
    table = StateTable(max_states)
    for state in sorted(reached | set(ended)):
        if state in reached:
            table.add(state, table_position(base, state))
        if state in ended:
            table.add(state, table_position(base, state), reward=ended[state])
    for state in sorted(reached):
        choices = []
        for action, outcomes in sorted(outcomes_of[state].items()):
            outcome: dict[int, float] = {}
            for chance, after, _, terminated in outcomes:
                if chance > 0:
                    number = table.find(int(after), end=bool(terminated))
                    outcome[number] = outcome.get(number, 0.0) + float(chance)
            choices.append((int(action), outcome))
        table.choices[table.find(state, end=False)] = choices
    table.starts = {table.find(state, end=False): chance for state, chance in first.items()}
    progress(len(table))
    return table


class _Enumeration:
    """Every state that can be reached, by trying every action in copies of an environment."""

    def __init__(self, env: Any, n_actions: int, state: StateKey, max_states: int) -> None:
        # A copy: the caller's environment may be in the middle of an episode.
        self._base = _restored(_snapshot(env.unwrapped))
        self._n_actions, self._state = n_actions, state
        self._table = StateTable(max_states)
        # Snapshots of some states, spread evenly over their numbers.
        self._checked: dict[int, Any] = {}
        self._every = 1

    def table(self, seeds: Sequence[int], progress: Progress) -> StateTable:
        """Return the states that can be reached from the resets with ``seeds``, breadth-first."""
        table = self._table
        queue: deque[tuple[int, Any]] = deque()
        for seed in seeds:
            observation, _ = self._base.reset(seed=seed)
            key = state_key(self._state(self._base, observation))
            number, new = table.add(key, position_of(self._base, key))
            table.starts[number] = table.starts.get(number, 0.0) + 1.0 / len(seeds)
            if new:
                queue.append((number, _snapshot(self._base)))
        while queue:
            number, snapshot = queue.popleft()
            self._keep(number, snapshot)
            table.choices[number] = []
            for action in range(self._n_actions):
                trial = _restored(snapshot)
                key, reward, terminated = self._step(trial, action)
                place = position_of(trial, key)
                after, new = table.add(key, place, reward=reward if terminated else None)
                if new and not terminated:
                    queue.append((after, _snapshot(trial)))
                table.choices[number].append((action, {after: 1.0}))
            progress(len(table))
        self._check_repeated()
        self._check_walks()
        return table

    def _step(self, trial: Any, action: int) -> tuple[Hashable, float, bool]:
        # MiniGrid's rewards fall with the steps taken, which would make them those of the order of states here.
        if hasattr(trial, "step_count") and simulator_kind(trial) == "minigrid":
            trial.step_count = 0
        observation, reward, terminated, _, _ = trial.step(action)
        return state_key(self._state(trial, observation)), float(reward), bool(terminated)

    def _keep(self, number: int, snapshot: Any) -> None:
        if number % self._every == 0:
            self._checked[number] = snapshot
        if len(self._checked) > _N_CHECKED:
            self._every *= 2
            self._checked = {number: kept for number, kept in self._checked.items() if number % self._every == 0}

    def _outcome(self, number: int, action: int) -> int:
        return next(iter(self._table.choices[number][action][1]))

    def _check_repeated(self) -> None:
        """Repeat some actions with other random numbers: if they lead elsewhere, one try of each was not enough."""
        n_repeats = max(2, _N_REPEATED // (len(self._checked) * self._n_actions))
        repeated = itertools.product(self._checked.items(), range(self._n_actions), range(n_repeats))
        for seed, ((number, snapshot), action, _) in enumerate(repeated):
            trial = _restored(snapshot)
            _reseed(trial, seed)
            key, _, terminated = self._step(trial, action)
            if self._table.find(key, end=terminated) != self._outcome(number, action):
                raise InvalidInput(
                    f"environment must be deterministic to be enumerated; got action {action} that leads elsewhere "
                    "when repeated. Record a log with farpoint.envs.record_log and use World.from_log."
                )

    def _check_walks(self) -> None:
        """Walk at random: the same key and action must lead to the same place, whatever happened before."""
        table, rng = self._table, np.random.default_rng(0)
        n_steps = min(max(len(table) * self._n_actions, _MIN_WALK), _MAX_WALK)
        elsewhere, cut, taken = 0, 0, 0
        for number, snapshot in self._checked.items():
            here, trial = -1, None
            for _ in range(n_steps // len(self._checked)):
                if here < 0:
                    here, trial = number, _restored(snapshot)
                    # Otherwise rare chances would be the same in every walk.
                    _reseed(trial, taken)
                action, taken = int(rng.integers(self._n_actions)), taken + 1
                key, _, terminated = self._step(trial, action)
                expected = self._outcome(here, action)
                if terminated and table.find(key, end=False) == expected:
                    # A time limit of the environment's own.
                    cut, here = cut + 1, -1
                    continue
                after = table.find(key, end=terminated)
                elsewhere += after != expected
                here = -1 if terminated or after != expected else after
        if elsewhere:
            raise InvalidInput(
                f"environment must lead to the same place by the same observation and action to be enumerated; got "
                f"another one in {elsewhere} of {taken} steps ({elsewhere / taken:.2%}). Pass state=, a function of "
                "(env, observation) that shows what differs, or use World.from_log(farpoint.record_log(env, 10_000))."
            )
        if cut:
            table.notes.append(
                f"{cut} of {taken} random steps ended an episode where the same action had not ended it before, as a "
                "time limit does; these ends are not part of the world."
            )


class _Part:
    """A large array of an environment, as bytes; snapshots of states that have the same one share it."""

    __slots__ = ("__weakref__", "content")

    def __init__(self, content: bytes) -> None:
        self.content = content


_PARTS: WeakValueDictionary[bytes, _Part] = WeakValueDictionary()


@dataclass(frozen=True)
class _Snapshot:
    """A copy of an environment: as bytes and the large arrays among its attributes, or a deep copy."""

    content: Any
    parts: tuple[_Part, ...] = ()


def _snapshot(base: Any) -> _Snapshot:
    """Return the environment as bytes, which are restored ten times faster than a deep copy; else a deep copy.

    Every state that is still to be tried keeps its own, and most of a large one is the same in all.
    """
    # Gymnasium's EzPickle pickles the arguments of the constructor and not the state.
    given = (type(base), vars(base)) if isinstance(base, gymnasium.utils.EzPickle) else base
    parts: list[_Part] = []

    def is_small(buffer: pickle.PickleBuffer) -> bool:
        raw = buffer.raw()
        if raw.nbytes <= _LARGE:
            return True
        digest = hashlib.blake2b(raw, digest_size=16).digest()
        parts.append(_PARTS.get(digest) or _PARTS.setdefault(digest, _Part(raw.tobytes())))
        return False

    try:
        content = pickle.dumps(given, protocol=5, buffer_callback=is_small)
        return _Snapshot(zlib.compress(content, 1) if len(content) > _LARGE else content, tuple(parts))
    except Exception:
        try:
            return _Snapshot(copy.deepcopy(given))
        except Exception as error:
            raise InvalidInput(
                f"environment must be one that can be copied; got {type(base).__name__}, which cannot ({error}). "
                "Make it without render_mode, or record a log with farpoint.envs.record_log and use World.from_log."
            ) from error


def _restored(snapshot: _Snapshot) -> Any:
    content = snapshot.content
    if isinstance(content, bytes):
        plain = content if content[:1] == pickle.PROTO else zlib.decompress(content)
        # Arrays of bytearrays can be written to, and each copy has its own.
        made = pickle.loads(plain, buffers=[bytearray(part.content) for part in snapshot.parts])
    else:
        made = copy.deepcopy(content)
    if isinstance(made, tuple):
        kind, attributes = made
        made = object.__new__(kind)
        vars(made).update(attributes)
    return made


def _reseed(env: Any, seed: int) -> None:
    """Give every random generator of an environment other random numbers."""
    for number, generator in enumerate(_generators(env, 4, set())):
        if isinstance(generator, np.random.Generator):
            fresh = type(generator.bit_generator)
            generator.bit_generator.state = fresh(np.random.SeedSequence([seed, number])).state
        else:
            generator.seed(seed + 1000 * number)


def _generators(value: Any, depth: int, seen: set[int]) -> Iterator[Any]:
    """Yield the random generators among the attributes of an object, of its attributes, and so on."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, (np.random.Generator, np.random.RandomState, random.Random)):
        yield value
    elif depth > 0 and not isinstance(value, (str, bytes, np.ndarray, type)):
        parts: Any = value.values() if isinstance(value, Mapping) else value
        if not isinstance(value, (Mapping, list, tuple)):
            parts = getattr(value, "__dict__", {}).values()
        for part in parts:
            yield from _generators(part, depth - 1, seen)


def _check_seeds(seeds: Sequence[int]) -> list[int]:
    checked = [check_integer("each of seeds", value, 0) for value in whole_numbers("seeds", seeds, np.int64).ravel()]
    if not checked:
        raise InvalidInput("seeds must have at least one seed; got none.")
    return checked
