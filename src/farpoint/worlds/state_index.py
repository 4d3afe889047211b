"""Which state an observation is: exactly, where observations are equal by value, or the nearest of some points.

Everything that turns observations into states uses a `StateIndex`: the builders of worlds, logs, option sets and
wrappers. So a state has one number whatever type an observation comes in.
"""

from __future__ import annotations

import hashlib
import importlib
import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from scipy.spatial import cKDTree

from farpoint.errors import InvalidInput, MissingExtra, check_memory
from farpoint.worlds.arrays import real_numbers

# Up to this many whole numbers are kept as tuples, which people can read; more are kept as bytes.
_SHORT = 16
# Arrays of fewer numbers fit into any memory.
_LARGE = 1 << 20
# Numbers shown at either end of a longer array.
_AT_EITHER_END = 3
# Pairs of numbers that fill a smaller share of their map are hardly rows and columns.
_SMALLEST_SHARE = 0.01
# Points that are compared one by one; a tree holds the older ones.
_RECENT = 512
# Up to this many dimensions a tree is faster than comparing with every point.
TREE_DIMENSIONS = 15
# Observations looked up at once, which bounds the memory of a lookup.
_BLOCK = 100_000

# First part of the label of a state that only ends episodes, where its place is also passed through.
END = "end"


class ArrayKey:
    """A long array of whole numbers as a key: equal for equal numbers and shape, whatever the type of the array.

    Examples
    --------
    >>> key = ArrayKey.of(np.eye(8, dtype=np.int32))
    >>> key, key == ArrayKey.of(np.eye(8, dtype=bool)), key.array.sum()
    ([1, 0, 0, …, 0, 0, 1] 8×8 #..., True, np.uint64(8))
    """

    __slots__ = ("_hash", "content", "dtype", "shape")

    def __init__(self, content: bytes, dtype: str, shape: tuple[int, ...]) -> None:
        self.content, self.dtype, self.shape = content, dtype, shape
        self._hash = hash((content, shape))

    @classmethod
    def of(cls, array: NDArray[Any]) -> ArrayKey:
        """Return the key of an array of whole numbers, in the smallest type that holds them."""
        low, high = int(array.min()), int(array.max())
        if low < 0:
            # The smaller of two's complement: a common type of int8 and uint64 would be a float, which rounds.
            kind = np.result_type(np.min_scalar_type(low), np.min_scalar_type(-high - 1))
        else:
            kind = np.min_scalar_type(high)
        kind = kind.newbyteorder("<")
        return cls(array.astype(kind).tobytes(), kind.str, array.shape)

    @property
    def array(self) -> NDArray[Any]:
        """The array, read-only."""
        return np.ndarray(self.shape, self.dtype, buffer=self.content)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ArrayKey):
            return NotImplemented
        return (self.content, self.dtype, self.shape) == (other.content, other.dtype, other.shape)

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        return ArrayKey, (self.content, self.dtype, self.shape)

    def __repr__(self) -> str:
        numbers = self.array.ravel()
        first, last = (map(str, end.tolist()) for end in (numbers[:_AT_EITHER_END], numbers[-_AT_EITHER_END:]))
        digits = hashlib.blake2b(self.content, digest_size=2).hexdigest()
        return f"[{', '.join([*first, '…', *last])}] {'×'.join(map(str, self.shape))} #{digits}"


def state_key(observation: Any, *, fractions: bool = False) -> Hashable:
    """Return an observation as a hashable key; observations that are equal by value have equal keys.

    Whole numbers of any type, and arrays and sequences of one of them, become an int. Sequences and arrays of whole
    numbers become tuples, or an `ArrayKey` if they have more than 16 numbers; dimensions of length 1 at the end are
    dropped. A dict becomes its sorted items. Texts, bytes, frozen sets and other hashable objects stay as they are.

    Parameters
    ----------
    observation : object
    fractions : bool
        Whether numbers may have fractions, as the nodes of a graph may. Two computations of one fraction seldom agree
        in every digit, so an observation may not.

    Raises
    ------
    InvalidInput
        NaN, numbers with fractions, and objects that cannot be hashed.

    Examples
    --------
    >>> state_key(np.int32(3)), state_key(3.0), state_key(np.array([[3]])), state_key([3])
    (3, 3, 3, 3)
    >>> state_key(np.array([3, 4], dtype=np.uint8)) == state_key((3.0, 4)) == (3, 4)
    True
    >>> state_key({"place": (np.int64(3), 4), "door": "open"})
    (('door', 'open'), ('place', (3, 4)))
    """
    if isinstance(observation, (int, np.integer, np.bool_)):
        return int(observation)
    if isinstance(observation, (float, np.floating)):
        number = float(observation)
        if number.is_integer():
            return int(number)
        if fractions and not math.isnan(number):
            return number
        raise _not_exact(observation)
    if isinstance(observation, np.ndarray):
        return _array_key(observation, fractions)
    if isinstance(observation, (tuple, list)):
        return _sequence_key([state_key(item, fractions=fractions) for item in observation])
    if isinstance(observation, str):
        return str(observation)
    if issparse(observation):
        raise InvalidInput("observation must be an array; got a sparse matrix. Give observation.toarray().")
    if isinstance(observation, Mapping):
        return tuple((name, state_key(observation[name], fractions=fractions)) for name in _sorted(observation))
    if hasattr(observation, "__array__"):
        return _array_key(np.asarray(observation), fractions)
    try:
        hash(observation)
    except TypeError as error:
        raise InvalidInput(
            f"state must have a hashable key; got {type(observation).__name__}. Give a number, a text, bytes, an "
            "array, or a tuple or dict of these."
        ) from error
    return observation  # type: ignore[no-any-return]


def _not_exact(value: Any) -> InvalidInput:
    return InvalidInput(
        f"observation must be of whole numbers to identify a state exactly; got {value!r:.60}. Use World.from_samples "
        "(the nearest of some points), or cells of your own: state=lambda env, observation: np.round(10 * observation)."
    )


def _array_key(array: NDArray[Any], fractions: bool) -> Hashable:
    if isinstance(array, np.ma.MaskedArray):
        raise InvalidInput("observation must not be a masked array; got one. Fill it first: observation.filled(0).")
    if array.size > _LARGE:
        check_memory("observation", f"{array.size} numbers", 3 * array.size)
    if array.dtype.kind not in "iubf" or array.size <= _SHORT:
        # As sequences of Python's own numbers.
        values = array.tolist()
        if array.ndim == 1 and array.size > 1 and array.dtype.kind in "iub":
            return tuple(map(int, values))
        return state_key(values, fractions=fractions)
    if array.dtype.kind == "f":
        broken = array[~(np.isfinite(array) & (np.rint(array) == array))]
        if broken.size and not fractions:
            raise _not_exact(broken[0].item())
        if broken.size or np.abs(array).max() >= 2.0**63:
            return state_key(array.tolist(), fractions=fractions)
        array = array.astype(np.int64)
    while array.shape[-1] == 1:
        array = array[..., 0]
    return ArrayKey.of(array)


def _sequence_key(keys: list[Hashable]) -> Hashable:
    """Return the key of a sequence from those of its items: that of an array of the same numbers."""
    if len(keys) == 1 and isinstance(keys[0], int):
        return keys[0]
    shape = _shape(keys) if keys and isinstance(keys[0], (int, tuple, ArrayKey)) else None
    if shape is not None and math.prod(shape) > _SHORT:
        array = np.array([key.array if isinstance(key, ArrayKey) else key for key in keys])
        # Numbers beyond 64 bits stay Python's own.
        if array.dtype.kind in "iu":
            return ArrayKey.of(array)
    return tuple(keys)


def _shape(key: Any) -> tuple[int, ...] | None:
    """Return the shape of the array of whole numbers that keys stand for; None if they stand for something else."""
    if isinstance(key, int):
        return ()
    if isinstance(key, ArrayKey):
        return key.shape
    if not isinstance(key, (tuple, list)) or not key:
        return None
    first = _shape(key[0])
    same = first is not None and all(_shape(item) == first for item in key[1:])
    return (len(key), *first) if same and first is not None else None


def _sorted(names: Iterable[Any]) -> list[Any]:
    try:
        return sorted(names)
    except TypeError:
        return sorted(names, key=repr)


def is_end(label: Any) -> bool:
    """Return whether a label is that of a state which only ends episodes: ("end", the label of its place)."""
    return isinstance(label, tuple) and len(label) == 2 and isinstance(label[0], str) and label[0] == END


def each_observation(observations: Any) -> Iterator[Any]:
    """Yield the observations of a list, an array of rows, or a dict or tuple of arrays, as Gymnasium batches them.

    >>> [*each_observation({"a": np.array([1, 2]), "b": np.array([3, 4])})]
    [{'a': np.int64(1), 'b': np.int64(3)}, {'a': np.int64(2), 'b': np.int64(4)}]
    """
    if isinstance(observations, list):
        return iter(observations)
    if isinstance(observations, Mapping):
        parts = [each_observation(part) for part in observations.values()]
        return (dict(zip(observations, row, strict=True)) for row in zip(*parts, strict=True))
    if isinstance(observations, tuple):
        return zip(*(each_observation(part) for part in observations), strict=True)
    if np.ndim(observations) == 0 and not isinstance(observations, Iterable):
        raise InvalidInput(f"observations must be a list, an array or a dict of arrays; got {observations!r}.")
    return iter(observations)


class StateIndex:
    """The number of the state that an observation is; made by `exact`, `nearest` or `for_space`.

    Attributes
    ----------
    labels : sequence
        The key, or the point, of each state.
    scale : array of float or None
        How far a state reaches in each number of an observation; None in an exact index.

    Examples
    --------
    >>> import numpy as np
    >>> index = StateIndex.exact(["a", (3, 4)])
    >>> index.find("a"), index.find(np.array([3.0, 4.0])), index.find("b")
    (0, 1, -1)
    >>> index.add("b"), index.add("a"), len(index)
    (2, 0, 3)
    >>> index = StateIndex.nearest([[0.0, 0.0], [1.0, 0.0]], within=2.0)
    >>> index.find([0.9, 0.1]), index.find([9.0, 9.0])
    (1, -1)
    """

    labels: Sequence[Any]
    scale: NDArray[np.float64] | None = None

    @staticmethod
    def exact(labels: Iterable[Any] = (), *, fractions: bool = False) -> StateIndex:
        """Return the index of states that are equal by value; see `state_key`.

        A label ("end", key) beside the label ``key`` is that of a state which only ends episodes: no observation is
        looked up as one.
        """
        return _ExactIndex(labels, fractions=fractions)

    @staticmethod
    def nearest(points: ArrayLike, *, scale: ArrayLike | None = None, within: float = np.inf) -> _NearestIndex:
        """Return the index of points, one row each: an observation is the state of the nearest one.

        Parameters
        ----------
        points : array of float, shape (n_states, n_dimensions)
        scale : float or array of float, optional
            What differences are divided by; numbers whose scale is infinite are ignored. Default 1.
        within : float
            Farther than this from all points, an observation is none of these states.
        """
        rows = real_numbers("points", points)
        if rows.ndim != 2:
            raise InvalidInput(f"points must have one row per state; got shape {rows.shape}.")
        return _NearestIndex(rows, check_scale(1.0 if scale is None else scale, rows.shape[1]), float(within))

    @staticmethod
    def for_space(space: Any, *, scale: ArrayLike | None = None) -> StateIndex:
        """Return an empty index for the observations of a Gymnasium space.

        A Box of floats is indexed by the nearest point within ``scale`` (default: infinitely far, so that everything is
        one state until a scale is measured), everything else exactly.

        Raises
        ------
        InvalidInput
            A Box of floats inside a Dict or Tuple.

        Examples
        --------
        >>> import gymnasium as gym
        >>> index = StateIndex.for_space(gym.spaces.Box(-1.0, 1.0, (2,)), scale=0.1)
        >>> [index.add(point) for point in ([0.0, 0.0], [0.05, 0.0], [1.0, 0.0])]
        [0, 0, 1]
        >>> StateIndex.for_space(gym.spaces.Dict({"at": gym.spaces.Box(-1.0, 1.0), "key": gym.spaces.Discrete(2)}))
        Traceback (most recent call last):
        farpoint.errors.InvalidInput: observation_space must not have a Box of floats inside ...
        """
        if _is_float_box(space):
            width = math.prod(space.shape)
            reach = check_scale(np.inf if scale is None else scale, width)
            return _NearestIndex(np.empty((0, width)), reach, 1.0)
        if _has_float_box(space):
            raise InvalidInput(
                f"observation_space must not have a Box of floats inside a Dict or Tuple; got {space!r:.60}. Wrap it "
                "in gymnasium.wrappers.FlattenObservation(env), or pass state=, a function of (env, observation)."
            )
        return _ExactIndex(())

    def __len__(self) -> int:
        return len(self.labels)

    def find(self, observation: Any) -> int:
        """Return the state of an observation; -1 if it is none of these."""
        raise NotImplementedError

    def find_all(self, observations: Any) -> NDArray[np.int64]:
        """Return the state of each observation of a list, an array of rows, or a dict or tuple of arrays."""
        return np.array([self.find(one) for one in each_observation(observations)], dtype=np.int64)

    def add(self, observation: Any) -> int:
        """Return the state of an observation; a new one if it is none of those so far."""
        raise NotImplementedError

    def add_all(self, observations: Any) -> NDArray[np.int64]:
        """Return the state of each observation, in order; new ones get the next numbers."""
        return np.array([self.add(one) for one in each_observation(observations)], dtype=np.int64)

    def state(self) -> dict[str, NDArray[Any]]:
        """Return arrays from which `from_state` makes this index again, for checkpoints."""
        raise NotImplementedError

    @staticmethod
    def from_state(arrays: Mapping[str, NDArray[Any]]) -> StateIndex:
        """Return the index that `state` described.

        >>> index = StateIndex.exact([(0, 1), "b"])
        >>> StateIndex.from_state(index.state()).labels
        [(0, 1), 'b']
        """
        if "points" in arrays:
            return _NearestIndex(np.array(arrays["points"]), np.array(arrays["scale"]), float(arrays["within"]))
        if "n_states" in arrays:
            return _ExactIndex(range(int(arrays["n_states"])))
        from farpoint.worlds.saving import decode_labels

        return _ExactIndex(decode_labels(arrays["labels"]), fractions=bool(arrays["fractions"]))


class _Numbers:
    """States that are their own keys, without a dict of them."""

    def __init__(self, n_states: int) -> None:
        self.n_states = n_states

    def get(self, key: Any, missing: int | None = None) -> int | None:
        number = isinstance(key, (int, float, np.integer, np.floating)) and 0 <= key < self.n_states
        return int(key) if number and int(key) == key else missing


class _ExactIndex(StateIndex):
    def __init__(self, labels: Iterable[Any], *, fractions: bool = False) -> None:
        self._fractions = False
        self._states: Any
        if isinstance(labels, range) and labels == range(len(labels)):
            self.labels, self._states = labels, _Numbers(len(labels))
            return
        given = list(labels)
        # Where labels are given, they show whether there are fractions.
        self._fractions = fractions and not given
        keys: list[Any] = [self._key_of_label(label, fractions) for label in given]
        # As given, where a label can be hashed.
        self.labels = [label if isinstance(label, Hashable) else key for label, key in zip(given, keys, strict=True)]
        different = set(keys)
        if len(different) != len(keys):
            raise InvalidInput(f"labels must be {len(keys)} different names; got {len(different)}.")
        self._states = {key: state for state, key in enumerate(keys) if not (is_end(key) and key[1] in different)}

    def _key_of_label(self, label: Any, fractions: bool) -> Hashable:
        try:
            return state_key(label)
        except InvalidInput:
            if not fractions:
                raise
            key = state_key(label, fractions=True)
        self._fractions = True
        return key

    def find(self, observation: Any) -> int:
        if isinstance(observation, np.ndarray) and observation.size <= _SHORT and observation.dtype.kind in "iubf":
            if observation.size == 1:
                observation = observation.item()
            elif observation.ndim == 1:
                observation = tuple(observation.tolist())
        # Whatever can be hashed equals its key, or is none.
        try:
            state: int | None = self._states.get(observation)
        except TypeError:
            state = None
        if state is None:
            state = self._states.get(state_key(observation, fractions=self._fractions), -1)
        return state

    def find_all(self, observations: Any) -> NDArray[np.int64]:
        if isinstance(observations, np.ndarray) and observations.ndim == 1 and observations.dtype.kind in "iu":
            found, inverse = np.unique(observations, return_inverse=True)
            return np.array([self.find(one) for one in found.tolist()], dtype=np.int64)[inverse]
        return super().find_all(observations)

    def add(self, observation: Any) -> int:
        state = self.find(observation)
        if state < 0:
            if isinstance(self.labels, range):
                self.labels = list(self.labels)
                self._states = {label: label for label in self.labels}
            state = len(self.labels)
            key = state_key(observation, fractions=self._fractions)
            self._states[key] = state
            self.labels.append(key)  # type: ignore[attr-defined]
        return state

    def add_all(self, observations: Any) -> NDArray[np.int64]:
        if isinstance(observations, np.ndarray) and observations.ndim == 1 and observations.dtype.kind in "iu":
            found, first, inverse = np.unique(observations, return_index=True, return_inverse=True)
            states = np.empty(found.size, dtype=np.int64)
            for place in np.argsort(first).tolist():
                states[place] = self.add(found[place])
            return states[inverse]
        return super().add_all(observations)

    def state(self) -> dict[str, NDArray[Any]]:
        if isinstance(self.labels, range):
            return {"n_states": np.array(len(self.labels))}
        from farpoint.worlds.saving import encode_labels

        return {"labels": encode_labels(self.labels), "fractions": np.array(self._fractions)}


class _NearestIndex(StateIndex):
    """Points: the newest are compared one by one, the older ones are found by a tree."""

    def __init__(self, points: NDArray[np.float64], scale: NDArray[np.float64], within: float) -> None:
        self.scale: NDArray[np.float64] = scale
        self._within = within
        self._points, self._scaled = points, points / scale
        self._size, self._in_tree = len(points), 0
        self._tree: Any = None
        self._all: Any = None

    @property
    def labels(self) -> NDArray[np.float64]:  # type: ignore[override]
        return self._points[: self._size]

    def _row(self, observation: Any) -> NDArray[np.float64]:
        try:
            point = np.asarray(observation, dtype=np.float64).ravel()
        except (TypeError, ValueError) as error:
            raise InvalidInput(f"observation must be numbers; got {observation!r:.60}.") from error
        if point.size != self.scale.size or not np.isfinite(point).all():
            raise InvalidInput(f"observation must be {self.scale.size} finite numbers; got {observation!r:.60}.")
        return point

    def _nearest_one(self, point: NDArray[np.float64]) -> tuple[int, float]:
        """Return the nearest point and its distance; -1 if there is no point."""
        found, least = -1, np.inf
        # As the tree grows it is made again less often, so that all trees together cost n log² n.
        if self._size - self._in_tree > max(_RECENT, self._in_tree // 2):
            self._tree, self._in_tree = cKDTree(self._scaled[: self._size].copy()), self._size
        if self._tree is not None:
            distance, number = self._tree.query(point)
            found, least = int(number), float(distance) ** 2
        if self._size > self._in_tree:
            away = self._scaled[self._in_tree : self._size] - point
            squares = np.einsum("ij,ij->i", away, away)
            number = int(squares.argmin())
            # The older of equally near ones.
            if squares[number] < least:
                found, least = self._in_tree + number, float(squares[number])
        return found, math.sqrt(least)

    def find(self, observation: Any) -> int:
        state, distance = self._nearest_one(self._row(observation) / self.scale)
        return state if distance <= self._within else -1

    def find_all(self, observations: Any) -> NDArray[np.int64]:
        rows = real_numbers("observations", observations)
        rows = rows.reshape(len(rows), math.prod(rows.shape[1:]))
        found = np.full(len(rows), -1, dtype=np.int64)
        for first in range(0, len(rows) if self._size else 0, _BLOCK):
            block = slice(first, first + _BLOCK)
            distances, states = self.query(rows[block], 1)
            found[block] = np.where(distances[:, 0] <= self._within, states[:, 0], -1)
        return found

    def query(self, points: NDArray[np.float64], count: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return distances and numbers of the ``count`` nearest states, one row per point."""
        if points.shape[1] != self.scale.size or not np.isfinite(points).all():
            raise InvalidInput(f"observations must be rows of {self.scale.size} finite numbers; got {points.shape}.")
        if self._all is None or self._all[0] != self._size:
            # Centered: far from 0, a search by products loses the digits of its squares.
            center = self._scaled[: self._size].mean(axis=0)
            self._all = self._size, center, _search(self._scaled[: self._size] - center)
        _, center, search = self._all
        distances, states = search(points / self.scale - center, count)
        return np.asarray(distances), np.asarray(states, dtype=np.int64)

    def add(self, observation: Any) -> int:
        row = self._row(observation)
        state, distance = self._nearest_one(row / self.scale)
        if state >= 0 and distance <= self._within:
            return state
        if self._size == len(self._points):
            room = np.empty((max(self._size, _RECENT), self.scale.size))
            self._points, self._scaled = np.concatenate([self._points, room]), np.concatenate([self._scaled, room])
        self._points[self._size], self._scaled[self._size] = row, row / self.scale
        self._size += 1
        return self._size - 1

    def state(self) -> dict[str, NDArray[Any]]:
        return {"points": self.labels.copy(), "scale": self.scale, "within": np.array(self._within)}


def _search(points: NDArray[np.float64]) -> Any:
    """Return a function of points and a count: distances and numbers of that many of the nearest of these."""
    if points.shape[1] <= TREE_DIMENSIONS:
        tree = cKDTree(points)
        return lambda asked, count: tree.query(asked, k=[*range(1, count + 1)])
    brute = sklearn("neighbors").NearestNeighbors(algorithm="brute").fit(points)
    return lambda asked, count: brute.kneighbors(asked, n_neighbors=count)


def sklearn(module: str) -> Any:
    """Return a module of scikit-learn."""
    try:
        return importlib.import_module(f"sklearn.{module}")
    except ImportError as error:
        raise MissingExtra(
            f"scikit-learn must be installed for these samples; got {error}. Run: pip install 'farpoint[samples]'."
        ) from error


def check_scale(scale: ArrayLike, n_dimensions: int) -> NDArray[np.float64]:
    """Return one scale per number of an observation.

    >>> check_scale(2, 3)
    array([2., 2., 2.])
    """
    scales = real_numbers("scale", scale)
    if scales.shape not in ((), (n_dimensions,)) or not (scales > 0.0).all():
        raise InvalidInput(
            f"scale must be one number above 0, or {n_dimensions} of them, one per number of an observation; got "
            f"{scale!r}."
        )
    return np.broadcast_to(scales, (n_dimensions,)).copy()


def _is_float_box(space: Any) -> bool:
    shape, dtype = getattr(space, "shape", None), getattr(space, "dtype", None)
    return shape is not None and dtype is not None and np.issubdtype(dtype, np.floating)


def _has_float_box(space: Any) -> bool:
    inner = getattr(space, "spaces", ())
    parts = inner.values() if isinstance(inner, Mapping) else inner
    return _is_float_box(space) or any(_has_float_box(part) for part in parts)


def positions_of_pairs(labels: Sequence[Hashable]) -> NDArray[np.int64] | None:
    """Return rows and columns if every label is a pair of whole numbers, so that their world can be drawn as a map.

    >>> positions_of_pairs([(0, 0), (0, 1)])
    array([[0, 0],
           [0, 1]])
    >>> positions_of_pairs([(0, 0), (0, 10**9)]) is None, positions_of_pairs([(0, "a")]) is None
    (True, True)
    """
    pairs: Any = labels
    if not labels or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
        return None
    numbers = [number for pair in pairs for number in pair]
    if not all(isinstance(number, (int, np.integer)) and not isinstance(number, bool) for number in numbers):
        return None
    rows, columns = numbers[::2], numbers[1::2]
    n_cells = (max(rows) - min(rows) + 1) * (max(columns) - min(columns) + 1)
    if len(pairs) < _SMALLEST_SHARE * n_cells or max(abs(number) for number in numbers) > 2**31:
        return None
    return np.array(pairs, dtype=np.int64)
