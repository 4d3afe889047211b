"""The world: a finite decision process without a reward.

Convention
----------
One sparse matrix ``transitions`` has one row per *choice* and one column per state; row ``c`` is the distribution over
next states when choice ``c`` is taken. The choices of state ``s`` are the rows
``choice_ptr[s] … choice_ptr[s + 1] - 1``. In ``adjacency[s, s2]`` the first index is "from", the second "to".
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse
from scipy.sparse.csgraph import connected_components

from farpoint.errors import InvalidInput, check_integer, check_memory
from farpoint.worlds import arrays
from farpoint.worlds.builders import Builders
from farpoint.worlds.keys import check_key, numbered_state
from farpoint.worlds.known import Known
from farpoint.worlds.presenting import Presented

if TYPE_CHECKING:
    from farpoint.worlds.samples import NearestStates

# Weights that differ by less than this, relatively, are the same weight: they come from sums of a few
# probabilities, each exact to about 1e-16.
SAME_WEIGHT = 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class World(Builders, Presented):
    """A finite world without rewards: states, the choices each state has, and where each choice leads.

    Build one with `from_map`, `from_array`, `from_graph`, `from_env`, `from_log`, `from_samples` or a function of the
    catalogue (`four_rooms`, `random_maze`, …); the constructor itself is for those who already hold the matrix.

    Parameters
    ----------
    transitions : sparse matrix, shape (n_choices, n_states)
        Each row a distribution over next states.
    choice_ptr : array of int, shape (n_states + 1,)
        The row group of each state.
    actions : array of int, shape (n_choices,), optional
        The environment's own action of each choice. Default: 0, 1, 2, … within each state.
    weights : array of float, shape (n_choices,), optional
        Edge weights of a graph: the random walk takes a choice with probability proportional to its weight. Default:
        all 1.
    lengths : array of float, shape (n_choices,), optional
        How long each choice is, for shortest routes. Default: all 1, so that routes have the fewest steps.
    positions : array of numbers, shape (n_states, n_dimensions), optional
        Where each state is drawn: row and column. Whole numbers are cells of a map.
    labels : sequence, optional
        The name of each state, for example the nodes of a networkx graph.
    start : int, optional
        Where trials start.
    targets : array of int, optional
        Where tasks end, in worlds that have such states. Discovery does not look at them.
    name : str
    restart : array of float, shape (n_states,), optional
        Per-state probability that the random walk jumps to a start state: 1 at terminal states, small elsewhere for a
        time limit. Local maxima and routes do not use these jumps.
    starts : array of float, shape (n_states,), optional
        The distribution over first states of an episode; needed with ``restart``.
    observations : array of float, shape (n_states, n_dimensions), optional
        What an agent observes in each state, in worlds made of samples (`from_samples`).
    known : Known
        Set by builders with `knowing`: properties that need not be computed. A changed copy does not have them.

    Examples
    --------
    >>> import farpoint as fp
    >>> world = fp.World.from_map('''
    ... S..
    ... .#.
    ... ''')
    >>> world.n_states, world.n_choices, world.start
    (5, 8, 0)
    >>> world.adjacency.toarray()[0]
    array([0., 1., 0., 1., 0.])
    """

    transitions: csr_array
    choice_ptr: NDArray[Any]
    actions: NDArray[np.int32] | None = None
    weights: NDArray[np.float64] | None = None
    lengths: NDArray[np.float64] | None = None
    positions: NDArray[Any] | None = None
    labels: tuple[Hashable, ...] | None = None
    start: int | None = None
    targets: NDArray[np.int64] | None = None
    name: str = "world"
    restart: NDArray[np.float64] | None = None
    starts: NDArray[np.float64] | None = None
    observations: NDArray[np.float64] | None = None
    known: Known = field(init=False, default_factory=Known)

    def __post_init__(self) -> None:
        transitions = arrays.canonical(arrays.read_sparse("transitions", self.transitions))
        n_choices, n_states = transitions.shape
        # Half the memory and one compiled version of every kernel, wherever 32 bits suffice.
        index_type = np.int32 if max(transitions.nnz, n_choices, n_states) < 2**31 else np.int64
        choice_ptr = arrays.whole_numbers("choice_ptr", self.choice_ptr, index_type)
        arrays.check_structure(transitions, choice_ptr)

        def put(name: str, value: Any) -> None:
            object.__setattr__(self, name, arrays.read_only(value) if isinstance(value, np.ndarray) else value)

        put("transitions", arrays.frozen(transitions, index_type))
        put("choice_ptr", choice_ptr)
        if self.actions is None:
            counts = np.diff(choice_ptr)
            put("actions", (np.arange(n_choices) - np.repeat(choice_ptr[:-1], counts)).astype(np.int32))
        else:
            put("actions", arrays.entries_per_choice("actions", self.actions, n_choices, np.int32))
        for what in ("weights", "lengths"):
            if getattr(self, what) is not None:
                put(what, arrays.positive_per_choice(what, getattr(self, what), n_choices))
        if self.positions is not None:
            put("positions", arrays.coordinates("positions", self.positions, n_states))
        if self.labels is not None:
            if not isinstance(self.labels, Iterable) or issparse(self.labels):
                raise InvalidInput(f"labels must be {n_states} different names; got {self.labels!r}.")
            check_memory("labels", "so many", 8 * arrays.array_size(self.labels))
            put("labels", tuple(check_key(label) for label in self.labels))
            if len(self._state_of_label) != n_states:
                raise InvalidInput(f"labels must be {n_states} different names; got {len(self._state_of_label)}.")
        if self.start is not None:
            put("start", check_integer("start", self.start, 0, n_states - 1))
        if not isinstance(self.name, str):
            raise InvalidInput(f"name must be a text; got {self.name!r}.")
        if self.targets is not None:
            put("targets", self.check_states("targets", self.targets))
        if (self.restart is None) != (self.starts is None):
            raise InvalidInput("restart must go with starts, and starts with restart; got one of them.")
        for what in ("restart", "starts"):
            if getattr(self, what) is not None:
                put(what, arrays.probabilities(what, getattr(self, what), n_states))
        if self.starts is not None and abs(self.starts.sum() - 1.0) > arrays.ROW_SUM_TOLERANCE:
            raise InvalidInput(f"starts must sum to 1; got {self.starts.sum():.6g}.")
        if self.observations is not None:
            put("observations", arrays.rows_per_state("observations", self.observations, n_states))

    def __reduce__(self) -> tuple[Any, ...]:
        # Made anew on arrival, so that a copy in another process is checked and read-only too.
        return _restored, (tuple(getattr(self, item.name) for item in fields(self) if item.init), self.known)

    def knowing(self, known: Known) -> World:
        """Return this world after noting what its builder knows about it."""
        if not isinstance(known, Known):
            raise InvalidInput(f"known must be a Known; got {known!r}.")
        object.__setattr__(self, "known", known)
        return self

    @property
    def n_states(self) -> int:
        """Number of states."""
        return int(self.transitions.shape[1])

    @property
    def n_choices(self) -> int:
        """Number of choices, over all states."""
        return int(self.transitions.shape[0])

    @property
    def deterministic(self) -> bool:
        """Whether every choice leads to one state only."""
        return bool(self.transitions.nnz == self.n_choices)

    @property
    def on_grid(self) -> bool:
        """Whether every state has a row and a column that are whole numbers, so that it can be drawn as a map."""
        return (
            self.positions is not None
            and self.positions.shape[1] == 2
            and np.issubdtype(self.positions.dtype, np.integer)
        )

    @cached_property
    def adjacency(self) -> csr_array:
        """The weights ``adjacency[s, s2] = Σ_a p(s2 | s, a)`` over the choices that s has, without self-loops."""
        return self.to_adjacency()

    def to_adjacency(self, *, self_loops: bool = False) -> csr_array:
        """Return the weights of the moves between states, sorted by column within each row.

        ``self_loops`` keeps the choices that change nothing, which the paper's walk does not have.

        >>> import farpoint as fp
        >>> world = fp.World.from_graph([[1, 1], [1, 0]])
        >>> world.to_adjacency(self_loops=True).toarray()
        array([[1., 1.],
               [1., 0.]])
        """
        return arrays.joined_choices(self.transitions, self.choice_ptr, self.weights, self_loops=self_loops)

    @cached_property
    def symmetric(self) -> bool:
        """Whether the weight from s to s2 equals the weight back, for every pair."""
        if self.known.symmetric is not None:
            return self.known.symmetric
        from farpoint.worlds.kernels import is_symmetric

        matrix = self.adjacency
        return bool(is_symmetric(matrix.indptr, matrix.indices, matrix.data, SAME_WEIGHT))

    @cached_property
    def neighbors(self) -> csr_array:
        """The pattern of moves in either direction: the neighbors that local maxima are compared with."""
        if self.symmetric:
            return self.adjacency
        both = csr_array(self.adjacency + self.adjacency.T)
        both.sort_indices()
        return arrays.frozen(both, self.choice_ptr.dtype)

    @cached_property
    def incoming(self) -> csr_array:
        """The weights of the moves into each state: ``incoming[s2, s]`` is from s to s2."""
        if self.symmetric:
            return self.adjacency
        return arrays.frozen(csr_array(self.adjacency.T.tocsr()), self.choice_ptr.dtype)

    @cached_property
    def floor(self) -> NDArray[np.bool_] | None:
        """The map, if the moves are exactly those between adjacent floor cells, each of weight 1; else None."""
        if self.known.floor is not None:
            return arrays.read_only(self.known.floor)
        if self.positions is None or not self.on_grid or not self.symmetric:
            return None
        from farpoint.worlds.maps import floor_of

        return floor_of(self.positions, self.adjacency)

    @cached_property
    def component_sizes(self) -> tuple[int, ...]:
        """Sizes of the parts that no move joins in either direction, largest first."""
        if self.known.connected:
            return (self.n_states,)
        _, component = connected_components(self.adjacency, directed=True, connection="weak")
        return tuple(int(size) for size in np.sort(np.bincount(component))[::-1])

    @cached_property
    def fingerprint(self) -> str:
        """A digest of the dynamics (not of names or positions): equal for equal worlds, on any machine."""
        numbers = [self.transitions.indptr, self.transitions.indices, self.choice_ptr, self.transitions.data]
        optional = {what: getattr(self, what) for what in ("weights", "lengths", "restart", "starts")}
        return arrays.digest(*numbers, **{what: array for what, array in optional.items() if array is not None})

    def choices(self, state: int) -> range:
        """Return the rows of ``transitions`` that are the choices of ``state``.

        >>> import farpoint as fp
        >>> fp.open_room(2, 2).choices(1)
        range(2, 4)
        """
        state = check_integer("state", state, 0, self.n_states - 1)
        return range(int(self.choice_ptr[state]), int(self.choice_ptr[state + 1]))

    @property
    def choice_states(self) -> NDArray[np.int64]:
        """The state that each choice belongs to."""
        return np.repeat(np.arange(self.n_states), np.diff(self.choice_ptr))

    @property
    def terminal(self) -> NDArray[np.bool_]:
        """Which states always end an episode."""
        return np.zeros(self.n_states, dtype=bool) if self.restart is None else np.asarray(self.restart >= 1.0)

    @cached_property
    def _state_of_label(self) -> dict[Hashable, int]:
        return {label: state for state, label in enumerate(self.labels or ())}

    def find_state(self, label: Hashable) -> int | None:
        """Return the state with this label (its number in worlds without labels), or None if there is none.

        >>> import farpoint as fp
        >>> log = fp.World.from_log(["a", "b"], ["b", "a"])
        >>> log.find_state("b"), log.find_state("c")
        (1, None)
        """
        key = check_key(label)
        return numbered_state(key, self.n_states) if self.labels is None else self._state_of_label.get(key)

    def nearest_states(self, observations: ArrayLike) -> NDArray[np.int64]:
        """Return the state whose observation is nearest to each of the given ones.

        Parameters
        ----------
        observations : array, shape (n, n_dimensions) or (n_dimensions,)

        Examples
        --------
        >>> import numpy as np, farpoint as fp
        >>> world = fp.World.from_samples(np.arange(5.0)[:, None], n_neighbors=2)
        >>> world.nearest_states([[0.2], [3.9]])
        array([0, 4])
        """
        from farpoint.worlds.samples import check_observations

        points = check_observations(self, observations)
        return self._nearest.states(points)

    @cached_property
    def _nearest(self) -> NearestStates:
        from farpoint.worlds.samples import NearestStates

        assert self.observations is not None
        return NearestStates(self.observations)

    def check_states(self, what: str, states: ArrayLike) -> NDArray[np.int64]:
        """Return ``states`` as an array of state numbers, each of which exists.

        >>> import farpoint as fp
        >>> fp.ring().check_states("goals", [0, 191])
        array([  0, 191])
        """
        array = np.atleast_1d(arrays.whole_numbers(what, states, np.int64))
        if array.ndim != 1:
            raise InvalidInput(f"{what} must be whole numbers in one dimension; got {states!r}.")
        wrong = array[(array < 0) | (array >= self.n_states)]
        if wrong.size:
            raise InvalidInput(f"{what} must lie in 0 … {self.n_states - 1}; got {wrong[0]}.")
        return array

    def to_text(self, marks: Mapping[int, str] | None = None) -> str:
        """Return the map of the world as text, with one character from ``marks`` on some states.

        >>> import farpoint as fp
        >>> print(fp.open_room(1, 3).to_text({0: "*"}))
        #####
        #*..#
        #####
        """
        from farpoint.worlds.drawing import map_text

        return map_text(self, {} if marks is None else marks)

    def __repr__(self) -> str:
        kind = "deterministic" if self.deterministic else "stochastic"
        return f"World({self.name!r}, {self.n_states} states, {self.n_choices} choices, {kind})"


def _restored(values: tuple[Any, ...], known: Known) -> World:
    return World(*values).knowing(known)
