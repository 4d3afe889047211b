"""The world: a finite decision process without a reward.

A world is made of a `Floor` (a map, whose moves lead to adjacent cells) or of a `ChoiceTable` (a matrix of choices).
The other is made when something asks for it: the table of a map, or the floor of a table whose states are its cells.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, partial
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse
from scipy.sparse.csgraph import connected_components

from farpoint.display import Plottable, Tabular
from farpoint.errors import InvalidFile, InvalidInput, NotConnected, check_integer, check_memory, check_word
from farpoint.worlds import arrays
from farpoint.worlds.choices import ChoiceTable, is_symmetric
from farpoint.worlds.floors import Floor, cells_of_all, detect_floor, in_pieces
from farpoint.worlds.state_index import StateIndex, check_scale, is_end

if TYPE_CHECKING:
    from farpoint.worlds.environments import StateKey

# Sources of labels: the observation, the table of a simulator, or the state of MiniGrid.
KEYED_BY = ("observation", "table", "minigrid")
# Longer labels (those of MiniGrid hold every object) are less clear than the number of the state.
_LONGEST_LABEL = 40

Made = TypeVar("Made")


class _CellsOfFloor:
    """The default of ``positions``: None, but the cells of a world that is a floor, made at the first use."""

    def __get__(self, world: World | None, owner: type) -> NDArray[np.int32] | None:
        if world is None or not isinstance(world.source, Floor):
            return None
        world.__dict__["positions"] = cells = cells_of_all(world.source.cells)
        return cells


@dataclass(frozen=True, eq=False, repr=False)
class World(Plottable, Tabular):
    """A finite world without rewards: states, the choices each state has, and where each choice leads.

    Build one with `from_map`, `from_array`, `from_graph`, `from_env`, `from_log`, `from_samples`, `from_matrix` or a
    function of the catalogue (`four_rooms`, `random_maze`, …). ``dataclasses.replace(world, start=0)`` is a changed
    copy; of a map it is a map too, and no matrix is made.

    Parameters
    ----------
    source : Floor or ChoiceTable
        The states and their choices. A copy with other weights is
        ``replace(world, source=replace(world.table, weights=weights), positions=world.positions)``.
    start : int, optional
        Where trials start.
    targets : array of int, optional
        Where tasks end, in worlds that have such states. Discovery does not look at them.
    name : str
    labels : sequence, optional
        The name of each state, for example the nodes of a networkx graph.
    positions : array of numbers, shape (n_states, n_dimensions), optional
        Where each state is drawn: row and column. Whole numbers are cells of a map. Default: the cells of a floor.
    restart : array of float, shape (n_states,), optional
        Per-state probability that the random walk jumps to a start state: 1 at terminal states, small elsewhere for a
        time limit. Local maxima and routes do not use these jumps.
    starts : array of float, shape (n_states,), optional
        The distribution over first states of an episode; needed with ``restart``.
    observations : array of float, shape (n_states, n_dimensions), optional
        The observation in each state, where observations are continuous: any other belongs to the nearest state.
    scale : array of float, shape (n_dimensions,), optional
        Divides the differences of observations when the nearest is looked for. Default: 1.
    keyed_by : {"observation", "table", "minigrid"}
        What the labels were made from. All but ``"observation"`` were read from the simulator.
    notes : tuple of str
        What the builder dropped or decided, one sentence each.

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

    source: Floor | ChoiceTable
    start: int | None = None
    targets: NDArray[np.int64] | None = None
    name: str = "world"
    labels: tuple[Hashable, ...] | None = None
    positions: NDArray[Any] | None = _CellsOfFloor()  # type: ignore[assignment]
    restart: NDArray[np.float64] | None = None
    starts: NDArray[np.float64] | None = None
    observations: NDArray[np.float64] | None = None
    scale: NDArray[np.float64] | None = None
    keyed_by: str = "observation"
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.source, (Floor, ChoiceTable)):
            raise InvalidInput(
                f"source must be a Floor or a ChoiceTable; got {type(self.source).__name__}. Use World.from_array for "
                "a map, World.from_matrix(transitions, choice_ptr) for a matrix."
            )
        n_states = self.n_states

        def put(name: str, value: Any) -> None:
            object.__setattr__(self, name, arrays.read_only(value) if isinstance(value, np.ndarray) else value)

        if self.__dict__["positions"] is not None:
            put("positions", arrays.coordinates("positions", self.positions, n_states))  # type: ignore[arg-type]
        else:
            del self.__dict__["positions"]
            # dataclasses.replace reads every field: positions that are not given would be made of the floor for it.
            object.__setattr__(self, "__dataclass_fields__", _FIELDS_BUT_POSITIONS)
        if self.labels is not None:
            if not isinstance(self.labels, Iterable) or issparse(self.labels):
                raise InvalidInput(f"labels must be {n_states} different names; got {self.labels!r}.")
            check_memory("labels", "so many", 8 * arrays.array_size(self.labels))
            put("labels", tuple(self.labels))
            if len(self._labels) != n_states:
                raise InvalidInput(f"labels must be {n_states} different names; got {len(self._labels)}.")
            put("labels", tuple(self._labels.labels))
        if self.start is not None:
            put("start", check_integer("start", self.start, 0, n_states - 1))
        put("name", _printable("name", self.name))
        if self.targets is not None:
            put("targets", self.check_states("targets", self.targets))
        if (self.restart is None) != (self.starts is None):
            given = "starts" if self.restart is None else "restart"
            raise InvalidInput(f"restart and starts must be given together; got only {given}.")
        for what in ("restart", "starts"):
            if getattr(self, what) is not None:
                put(what, arrays.probabilities(what, getattr(self, what), n_states))
        if self.starts is not None and abs(self.starts.sum() - 1.0) > arrays.ROW_SUM_TOLERANCE:
            raise InvalidInput(f"starts must sum to 1; got {self.starts.sum():.6g}.")
        if self.observations is not None:
            put("observations", arrays.rows_per_state("observations", self.observations, n_states))
        if self.scale is not None:
            if self.observations is None:
                raise InvalidInput(f"scale must go with observations; got {self.scale!r} without.")
            put("scale", check_scale(self.scale, self.observations.shape[1]))
        put("notes", checked_notes(self.notes))
        check_word("keyed_by", self.keyed_by, KEYED_BY)

    def given(self) -> dict[str, Any]:
        """Return the fields that this world is constructed from, without positions that follow from its floor.

        >>> import farpoint as fp
        >>> {name: value for name, value in fp.open_room(2, 3).given().items() if value}
        {'source': Floor(6 states on 2 × 3 cells), 'name': 'open_room', 'keyed_by': 'observation'}
        """
        return {item.name: getattr(self, item.name) for item in fields(self)}

    def __reduce__(self) -> tuple[Any, ...]:
        # Constructed again on arrival, so that a copy in another process is checked and read-only too.
        return partial(World, **self.given()), ()

    def cached(self, make: Callable[[World], Made]) -> Made:
        """Return ``make(self)``, computed at the first call and kept as long as this world.

        ``make`` itself is the key, so it should be a function of a module. A changed copy and a pickled one begin
        without what was kept.

        >>> import farpoint as fp
        >>> def labels(world):
        ...     return [f"state {state}" for state in range(world.n_states)]
        >>> world = fp.maze()
        >>> world.cached(labels) is world.cached(labels)
        True
        """
        if not callable(make):
            raise InvalidInput(f"make must be a function of a world; got {make!r}.")
        made: dict[Any, Any] = self.__dict__.setdefault("_made", {})
        if make not in made:
            made[make] = make(self)
        return made[make]  # type: ignore[no-any-return]

    @cached_property
    def table(self) -> ChoiceTable:
        """All choices, one row each; of a map they are made at the first use, about 120 bytes per cell."""
        return self.source if isinstance(self.source, ChoiceTable) else ChoiceTable.of_cells(self.source.cells)

    @cached_property
    def floor(self) -> Floor | None:
        """The map, if the moves are exactly those between adjacent floor cells, each of weight 1; else None."""
        if isinstance(self.source, Floor):
            return self.source
        return detect_floor(self.positions, self.adjacency) if self.on_grid and self.symmetric else None  # type: ignore[arg-type]

    @property
    def transitions(self) -> csr_array:
        """The distribution over next states of each choice, shape (n_choices, n_states)."""
        return self.table.transitions

    @property
    def choice_ptr(self) -> NDArray[Any]:
        """The row group of each state: its choices are rows ``choice_ptr[s] … choice_ptr[s + 1] - 1``."""
        return self.table.choice_ptr

    @property
    def actions(self) -> NDArray[np.int32]:
        """The environment's own action of each choice; on maps up, left, right, down are 0, 1, 2, 3."""
        assert self.table.actions is not None
        return self.table.actions

    @property
    def weights(self) -> NDArray[np.float64] | None:
        """The weight of each choice in the random walk; None: all 1."""
        return None if isinstance(self.source, Floor) else self.source.weights

    @property
    def lengths(self) -> NDArray[np.float64] | None:
        """The length of each choice, for shortest routes; None: all 1."""
        return None if isinstance(self.source, Floor) else self.source.lengths

    @cached_property
    def n_states(self) -> int:
        """Number of states."""
        return self.source.n_states

    @property
    def n_choices(self) -> int:
        """Number of choices, over all states."""
        return self.source.n_moves if isinstance(self.source, Floor) else self.source.n_choices

    @property
    def deterministic(self) -> bool:
        """Whether every choice leads to one state only."""
        return isinstance(self.source, Floor) or self.source.deterministic

    @property
    def on_grid(self) -> bool:
        """Whether every state has a row and a column that are whole numbers, so that it can be drawn as a map."""
        return (isinstance(self.source, Floor) and "positions" not in self.__dict__) or (
            self.positions is not None
            and self.positions.shape[1] == 2
            and np.issubdtype(self.positions.dtype, np.integer)
        )

    @cached_property
    def adjacency(self) -> csr_array:
        """The weights ``adjacency[s, s2] = Σ_a p(s2 | s, a)`` over the choices that s has, without self-loops."""
        if isinstance(self.source, Floor) and "table" not in self.__dict__:
            return self.source.adjacency()
        # It shares the arrays of the table.
        return self.table.adjacency()

    def to_adjacency(self, *, self_loops: bool = False) -> csr_array:
        """Return the weights of the moves between states, sorted by column within each row.

        ``self_loops`` keeps the choices that change nothing, which the paper's walk does not have.

        >>> import farpoint as fp
        >>> world = fp.World.from_graph([[1, 1], [1, 0]])
        >>> world.to_adjacency(self_loops=True).toarray()
        array([[1., 1.],
               [1., 0.]])
        """
        return self.table.adjacency(self_loops=self_loops)

    @cached_property
    def symmetric(self) -> bool:
        """Whether the weight from s to s2 equals the weight back, for every pair."""
        return isinstance(self.source, Floor) or is_symmetric(self.adjacency)

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
    def component_sizes(self) -> tuple[int, ...]:
        """Sizes of the parts that no move joins in either direction, largest first."""
        if isinstance(self.source, Floor):
            return (self.n_states,)
        _, component = connected_components(self.adjacency, directed=True, connection="weak")
        return tuple(int(size) for size in np.sort(np.bincount(component))[::-1])

    @cached_property
    def fingerprint(self) -> str:
        """A digest of the dynamics (not of names or positions): equal for equal worlds, on any machine."""
        optional = {what: getattr(self, what) for what in ("weights", "lengths", "restart", "starts")}
        named = {what: array for what, array in optional.items() if array is not None}
        if isinstance(self.source, Floor):
            # The same numbers in pieces, so that nothing is written out.
            rows = (np.arange(piece.start, piece.stop) for piece in in_pieces(self.n_choices + 1))
            indptr, indices, data = self.source.moves_in_pieces()
            return arrays.digest(rows, indices, indptr, data, **named)
        matrix = self.transitions
        return arrays.digest(matrix.indptr, matrix.indices, self.choice_ptr, matrix.data, **named)

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

    @property
    def truncation_rate(self) -> float:
        """How often a time limit cuts an episode, per step: the smallest restart of the states that may go on.

        A time limit of T steps is a rate of 1 / T in every state. States that end some of the arrivals have a larger
        restart. 0 in a world without episodes, or without a time limit.

        >>> import farpoint as fp
        >>> world = fp.World.from_log([0, 1, 0, 1], [1, 0, 1, 2], truncated=[0, 0, 0, 1])
        >>> world.truncation_rate, fp.maze().truncation_rate
        (0.25, 0.0)
        """
        going_on = np.empty(0) if self.restart is None else self.restart[self.restart < 1.0]
        return float(going_on.min()) if going_on.size else 0.0

    @cached_property
    def _labels(self) -> StateIndex:
        return StateIndex.exact(range(self.n_states) if self.labels is None else self.labels, fractions=True)

    @cached_property
    def index(self) -> StateIndex:
        """The state of each observation: the nearest, in worlds with ``observations``; else that with an equal label.

        States that only end episodes are among the nearest: `find_state` and `nearest_states` pass them over.
        """
        return self._labels if self.observations is None else StateIndex.nearest(self.observations, scale=self.scale)

    @cached_property
    def passed_through(self) -> NDArray[np.int64]:
        """The state itself or, of one that only ends episodes, the state of the same place that is passed through.

        >>> import farpoint as fp
        >>> log = fp.World.from_log([0, 1, 0], [1, 2, 1], terminated=[False, True, True])
        >>> log.labels, log.passed_through
        ((0, 1, 2, ('end', 1)), array([0, 1, 2, 1]))
        """
        states = np.arange(self.n_states)
        for state, label in enumerate(self.labels or ()):
            if is_end(label):
                passed = self._labels.find(label[1])  # type: ignore[index]
                states[state] = state if passed < 0 else passed
        return states

    def find_state(self, observation: Any) -> int | None:
        """Return the state of an observation or label (its number in worlds without labels), or None if it has none.

        Labels are compared by value, whatever the type of an observation; see `StateIndex`. In worlds with
        ``observations`` an array of numbers is the observation of its nearest state. The end of an episode at a place
        that is also passed through is a state of its own, which no observation stands for.

        >>> import numpy as np, farpoint as fp
        >>> log = fp.World.from_log(["a", "b"], ["b", "a"])
        >>> log.find_state("b"), log.find_state("c")
        (1, None)
        >>> log = fp.World.from_log([[0, 0], [0, 1]], [[0, 1], [0, 0]])
        >>> log.find_state(np.array([0, 1], dtype=np.int32))
        1
        """
        near = self.observations is not None and not is_end(observation) and np.ndim(observation) > 0
        # A label is found sooner by its value than as the nearest point.
        labeled = self.labels is not None and isinstance(observation, tuple)
        state = self._labels.find(observation) if labeled or not near else -1
        if near and state < 0:
            state = int(self.passed_through[self.index.find(observation)])
        return None if state < 0 else state

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

        return self.passed_through[self.index.find_all(check_observations(self, observations))]

    def check_states(self, what: str, states: ArrayLike) -> NDArray[np.int64]:
        """Return ``states`` as an array of state numbers; fail on one that does not exist.

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
        from farpoint.worlds.maps import map_text

        return map_text(self, {} if marks is None else marks)

    def columns(self) -> dict[str, Any]:
        """Return one row per state: its number, label, place, number of choices, and what it is to an episode.

        Examples
        --------
        >>> import farpoint as fp
        >>> list(fp.maze().columns())
        ['state', 'row', 'column', 'n_choices', 'start', 'target', 'restart']
        """
        states = np.arange(self.n_states)
        return {
            **state_columns(self, states),
            "n_choices": np.diff(self.choice_ptr),
            "start": states == self.start if self.starts is None else np.asarray(self.starts > 0),
            "target": np.isin(states, [] if self.targets is None else self.targets),
            "restart": np.zeros(states.size) if self.restart is None else np.asarray(self.restart),
        }

    def save(self, path: str | PathLike[str]) -> None:
        """Write the world to one ``.npz`` file, without pickle; read it with `World.load`.

        A name without an ending has ``.npz`` added, here and in `load`: ``save("w")`` writes ``w.npz``.
        With it the options of a log or of samples can be used elsewhere: their own file is refused on any other world.

        Raises
        ------
        InvalidInput
            If a label is not a number, a text, bytes, or a tuple of these.

        Examples
        --------
        >>> import tempfile, farpoint as fp
        >>> world = fp.World.from_log(["a", "b", "c", "b"], ["b", "c", "b", "a"])
        >>> options = fp.discover(world, n_options=1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     world.save(f"{folder}/world.npz")
        ...     options.save(f"{folder}/options.npz")
        ...     fp.OptionSet.load(f"{folder}/options.npz", fp.World.load(f"{folder}/world.npz"))
        OptionSet(1 diffusion option on log, t=4)
        """
        from farpoint.worlds.saving import save_world

        save_world(self, path)

    @staticmethod
    def load(path: str | PathLike[str]) -> World:
        """Return the world that `save` wrote; a name without an ending has ``.npz`` added, unless there is such a file.

        Raises
        ------
        InvalidFile
            If the file is missing, damaged, or not a file of a world.

        Examples
        --------
        >>> import tempfile, farpoint as fp
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     fp.maze().save(f"{folder}/maze.npz")
        ...     fp.World.load(f"{folder}/maze.npz")
        World('maze', 148 states, 440 choices, deterministic)
        """
        from farpoint.worlds.saving import read_saved

        try:
            return World(**read_saved(path))
        except (InvalidInput, NotConnected) as error:
            raise InvalidFile(f"{path} must hold a world; got one that is invalid ({error}).") from error

    def __repr__(self) -> str:
        kind = "deterministic" if self.deterministic else "stochastic"
        return f"World({self.name!r}, {self.n_states} states, {self.n_choices} choices, {kind})"

    @classmethod
    def from_matrix(
        cls,
        transitions: Any,
        choice_ptr: ArrayLike,
        *,
        actions: ArrayLike | None = None,
        weights: ArrayLike | None = None,
        lengths: ArrayLike | None = None,
        **facts: Any,
    ) -> World:
        """Return the world of a matrix of choices.

        Parameters
        ----------
        transitions : sparse matrix or array, shape (n_choices, n_states)
            Each row a distribution over next states.
        choice_ptr : array of int, shape (n_states + 1,)
            The row group of each state: its choices are rows ``choice_ptr[s] … choice_ptr[s + 1] - 1``.
        actions : array of int, shape (n_choices,), optional
            The environment's own action of each choice. Default: 0, 1, 2, … within each state.
        weights : array of float, shape (n_choices,), optional
            Edge weights of a graph: the random walk takes a choice with probability proportional to its weight.
            Default: all 1.
        lengths : array of float, shape (n_choices,), optional
            How long each choice is, for shortest routes. Default: all 1, so that routes have the fewest steps.
        **facts
            The other fields of `World`: ``start``, ``targets``, ``labels``, ``positions``, ``restart``, …

        Examples
        --------
        >>> import numpy as np, farpoint as fp
        >>> fp.World.from_matrix([[0, 1], [0.5, 0.5]], [0, 1, 2], start=0)
        World('world', 2 states, 2 choices, stochastic)
        """
        return cls(ChoiceTable(transitions, choice_ptr, actions, weights, lengths), **facts)  # type: ignore[arg-type]

    @staticmethod
    def from_map(text: str, wind: float = 0.0, *, largest_component: bool = False, name: str = "map") -> World:
        """Return the world that a text map shows.

        ``#`` is wall, ``.`` or a space is floor, ``S`` the start (at most one), ``G`` a target. Moves are up, left,
        right and down (actions 0, 1, 2, 3); a move into a wall is not a choice. States are the floor cells,
        row by row.

        Parameters
        ----------
        text : str
            The map, all lines equally long. Empty lines before and after it are dropped.
        wind : float
            Probability of being blown down whatever was chosen, in cells that have floor below them.
        largest_component : bool
            Keep only the largest connected component instead of refusing a map with several.
        name : str

        Raises
        ------
        InvalidMap
            Empty or ragged map, unknown symbol, no floor, two starts.
        NotConnected
            Floor in several components, unless ``largest_component``.

        Examples
        --------
        >>> import farpoint as fp
        >>> corridor = fp.World.from_map("S..G", wind=0.0)
        >>> corridor.n_states, corridor.start, corridor.targets
        (4, 0, array([3]))
        """
        from farpoint.worlds.maps import world_from_map

        return world_from_map(text, wind, largest_component=largest_component, name=name)

    @staticmethod
    def from_array(
        cells: Any,
        wind: float = 0.0,
        *,
        start: ArrayLike | None = None,
        targets: ArrayLike | None = None,
        largest_component: bool = False,
        name: str | None = None,
    ) -> World:
        """Return the world of a map that is an array, or a file of one.

        Moves and states are those of `from_map`. Without wind the world is its map, one byte per cell; scores, goals
        and routes read nothing else, and a file that holds a connected map is not even copied.

        Parameters
        ----------
        cells : array of bool or uint8, shape (n_rows, n_cols), or path
            Not 0 where there is floor. A ``.npy`` file is memory-mapped; in a PNG the bright pixels are floor.
        wind : float
            As in `from_map`.
        start, targets : (row, column), array of these, optional
        largest_component : bool
            Keep only the largest connected component instead of refusing a map with several.
        name : str, optional
            Default: that of the file, or "map".

        Raises
        ------
        InvalidMap
            Another type or number of dimensions, no floor.
        InvalidFile
            A file that cannot be read.
        NotConnected
            Floor in several components, unless ``largest_component``.

        Examples
        --------
        >>> import numpy as np, farpoint as fp
        >>> cells = np.ones((3, 4), dtype=bool)
        >>> cells[1, 1:3] = False
        >>> world = fp.World.from_array(cells, start=(0, 0))
        >>> world.n_states, world.start
        (10, 0)
        >>> print(world.to_text())
        ######
        #....#
        #.##.#
        #....#
        ######
        """
        from farpoint.worlds.maps import world_from_array

        return world_from_array(
            cells, wind, start=start, targets=targets, largest_component=largest_component, name=name
        )

    @staticmethod
    def from_graph(
        graph: Any,
        *,
        positions: ArrayLike | None = None,
        largest_component: bool = False,
        name: str = "graph",
    ) -> World:
        """Return the world in which each edge of a graph is one choice of the state it leaves.

        Parameters
        ----------
        graph : 2-D array, scipy sparse matrix of any format, networkx or rustworkx graph
            ``graph[s, s2] > 0`` is the weight of the edge from ``s`` to ``s2``. In a networkx graph, edge attributes
            ``weight`` are the weights (default 1), nodes become ``labels``, and node attributes ``pos`` (x to the
            right, y upwards) become ``positions``. In a rustworkx graph, payloads of edges are the weights (None is
            1), and payloads of nodes become labels if they are different.
        positions : array of numbers, shape (n_states, 2), optional
            Row and column of each state, for drawing.
        largest_component : bool
            Keep only the largest (weakly) connected component instead of refusing a graph with several.
        name : str

        Raises
        ------
        InvalidInput
            Not square, negative or NaN weights, no states.
        NotConnected
            Several components, unless ``largest_component``.

        Examples
        --------
        >>> import numpy as np, farpoint as fp
        >>> path = np.array([[0, 1, 0], [1, 0, 2], [0, 2, 0]])
        >>> world = fp.World.from_graph(path)
        >>> world.n_states, world.n_choices
        (3, 4)
        >>> world.adjacency.toarray()
        array([[0., 1., 0.],
               [1., 0., 2.],
               [0., 2., 0.]])
        """
        from farpoint.worlds.graphs import world_from_graph

        return world_from_graph(graph, positions=positions, largest_component=largest_component, name=name)

    @staticmethod
    def from_env(
        env: Any,
        *,
        state: StateKey | None = None,
        seed: int = 0,
        seeds: Sequence[int] | None = None,
        max_states: int = 100_000,
        restart: float | None = None,
        name: str | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> World:
        """Return the world of a Gymnasium environment: its reachable states, its actions, and where they lead.

        The transitions come from the table ``env.unwrapped.P`` where there is one (FrozenLake, CliffWalking, Taxi).
        Otherwise every action is tried in every state, breadth-first (MiniGrid), which needs an environment that is
        deterministic and can be copied. Wrappers are ignored.

        - Terminal states have no choices; the random walk restarts from them (``restart``), and those with the
          best reward are ``targets`` (discovery does not look at them).
        - An action that changes nothing is a choice that leads back; the walk has no such loops.
        - One-way actions (a door that opens, a key that is taken) are one-way: an option starts only where its goal
          can be reached with certainty.
        - A layout that depends on the seed is one world per seed; with several ``seeds``, they are joined by the
          restarts.

        Parameters
        ----------
        env : gymnasium.Env
        state : function of (env, observation), optional
            What identifies a state, hashable. Default: for MiniGrid all that can change; otherwise a discrete
            observation, or the key of a long array of whole numbers (shown as its first and last numbers).
        seed, seeds : int, sequence of int
            For ``reset``: the layouts to begin from.
        max_states : int
            More states than this are an error.
        restart : float, optional
            Restart probability of states that are not terminal. Default: one over the time limit.
        name : str, optional
        progress : function of int, optional
            Called with the number of states found so far.

        Returns
        -------
        World
            With ``labels`` (the keys), ``actions`` (the environment's own), ``positions`` where the environment has
            them, ``targets``, ``restart`` and ``starts``.

        Examples
        --------
        >>> import gymnasium as gym, farpoint as fp
        >>> world = fp.World.from_env(gym.make("FrozenLake-v1", is_slippery=False))
        >>> world.n_states, world.targets
        (16, array([15]))
        """
        from farpoint.worlds.environments import world_from_env

        return world_from_env(env, state, seed, seeds, max_states, restart, name, progress)

    @staticmethod
    def from_log(
        states: Any = None,
        next_states: Any = None,
        actions: ArrayLike | None = None,
        *,
        terminated: ArrayLike | None = None,
        truncated: ArrayLike | None = None,
        begins: ArrayLike | None = None,
        scale: ArrayLike | None = None,
        symmetrize: bool = False,
        largest_component: bool = True,
        name: str = "log",
        **columns: Any,
    ) -> World:
        """Return the world that a log of transitions shows, with the frequencies of the log as its probabilities.

        A state in which episodes ended, and which was passed through too, becomes two: the end of episodes is labeled
        ("end", label), has no choices and always restarts, as in `from_env`.

        Parameters
        ----------
        states, next_states : arrays or sequences
            Where each step began and ended: numbers, labels, arrays of whole numbers, or dicts and tuples of these. Or,
            in place of ``states`` alone, a whole log: a `Log`, a dict or data frame of columns, rows (s, a, s′,
            terminated, truncated), a Minari dataset, or a replay buffer of Stable-Baselines3; see
            `farpoint.worlds.read_log`.
        actions : array of int, optional
            With them, each action seen in a state is a choice. Without, each pair of states seen is one, weighted by
            how often it was seen.
        terminated, truncated, begins : arrays of bool, one per step, optional
            Which steps ended an episode, were the last before a time limit, began an episode; see `Log`. Without any of
            the three the log is one walk without episodes.
        scale : float or array of float, optional
            For continuous observations, and moves that cannot be undone: how far a state reaches in each number. An
            observation that is farther than that from all states before is a new one. Default: states are equal
            observations. (`from_samples` connects what is near, in both directions.)
        symmetrize : bool
            Count every step backwards too, without its action: for worlds whose moves can be undone. Episodes are left
            out, and ``notes`` says so.
        largest_component : bool
            Keep the largest set of states that the log crosses in both directions, restarts included; False refuses a
            log with several. ``notes`` says how many states were kept.
        name : str
        **columns : arrays
            Other columns by name, as `farpoint.worlds.read_log` takes them: ``observations``, ``next_observations``,
            ``terminals``, ``timeouts``, …

        Returns
        -------
        World
            If the log has episodes, with ``starts`` (how often each state began an episode) and ``restart``: 1 where
            episodes end, elsewhere the share of steps that a time limit cut.

        Raises
        ------
        InvalidInput
            Columns that do not fit, or observations with fractions: pass ``scale``, or use `from_samples`.
        NotConnected
            No states that the log crosses in both directions, or several sets of them with ``largest_component=False``.

        Examples
        --------
        >>> import farpoint as fp
        >>> world = fp.World.from_log([0, 1, 2, 1, 0], [1, 2, 1, 0, 1])
        >>> world.adjacency.toarray()
        array([[0., 2., 0.],
               [1., 0., 1.],
               [0., 1., 0.]])

        Two episodes, each from 0 to its end in 2:

        >>> world = fp.World.from_log([0, 1, 0, 1], [1, 2, 1, 2], terminated=[False, True, False, True])
        >>> world.starts, world.terminal
        (array([1., 0., 0.]), array([False, False,  True]))

        A dict of columns, as OGBench and D4RL have them:

        >>> steps = {"observations": [0, 1, 2, 1], "terminals": [False, False, False, True], "actions": [0, 0, 1, 1]}
        >>> fp.World.from_log(steps).notes
        ('terminals are ends of trajectories: the next row is the next observation, and a time limit cut them.',)

        Continuous observations:

        >>> world = fp.World.from_log([[0.0], [0.6], [1.0]], [[0.6], [1.0], [0.1]], scale=0.5)
        >>> world.labels, world.find_state([1.0])
        (((0.0,), (0.6,)), 1)
        """
        from farpoint.worlds.frequencies import world_from_log
        from farpoint.worlds.logs import is_log, read_log

        columns |= {"next_states": next_states, "actions": actions}
        columns |= {"terminated": terminated, "truncated": truncated, "begins": begins}
        alone = states is not None and all(column is None for column in columns.values())
        # A dict beside another one is a column of observations that are dicts.
        whole = alone or (is_log(states) and not (isinstance(states, Mapping) and next_states is not None))
        log = read_log(states, **columns) if whole else read_log(states=states, **columns)
        return world_from_log(log, scale=scale, symmetrize=symmetrize, largest_component=largest_component, name=name)

    @staticmethod
    def from_samples(
        observations: Any,
        next_observations: Any = None,
        actions: ArrayLike | None = None,
        *,
        n_states: int | None = None,
        neighbors: str = "both",
        alpha: float = 1.0,
        n_neighbors: int = 8,
        representatives: str = "farthest",
        largest_component: bool = True,
        seed: int = 0,
        name: str = "samples",
    ) -> World:
        """Return a graph of a continuous space: representative observations as states, neighbors connected.

        Each observation belongs to the cell of its nearest representative. The result is symmetric and connected.

        Parameters
        ----------
        observations : array, shape (n, n_dimensions)
            Or, alone, a whole log, as `from_log` takes it. Distances are Euclidean: scale dimensions of different units
            first.
        next_observations : array, shape (n, n_dimensions), optional
            Of each observation, the one a step later.
        actions : array of int, shape (n,), optional
            What was done in each step. With them (or with those of a log) ``world.actions`` is, for each move, the
            action that most often made it; where no step did, the one that leads nearest to its end. Actions that are
            rows of floats are not kept.
        n_states : int, optional
            How many representatives. Default 1000, or all different observations where there are fewer.
        neighbors : {"both", "temporal", "kernel"}
            ``"temporal"``: cells between which a step was seen, weighted by how often, in either direction; respects
            walls thicker than a cell. ``"kernel"``: the nearest neighbors of each representative, with weight
            exp(−|x − y|² / (σ_x σ_y)), σ the distance to the last of them; uses distance only, and crosses walls
            thinner than that. ``"both"``: the sum, each with mean 1; without ``next_observations`` the kernel alone.
        alpha : float
            Density normalization W / (q q)^α of Coifman and Lafon: 1 removes the sampling density, 0 keeps it.
        n_neighbors : int
            Number of neighbors in the kernel.
        representatives : {"farthest", "kmeans++"}
            Farthest points, which cover the space evenly, or the seeding of k-means, which follows the density. Chosen
            among 100 000 observations drawn at random where there are more.
        largest_component : bool
            Keep the largest connected component; False refuses a graph with several. ``notes`` says how many states
            were kept.
        seed : int
        name : str

        Returns
        -------
        World
            With ``observations``, one row per state, and ``lengths``, the distance of each move. Observations (x, y)
            become ``positions``: x to the right, y upwards.

        Raises
        ------
        NotConnected
            Several components with ``largest_component=False``.
        MissingExtra
            Where scikit-learn is needed (``"kmeans++"``, or more than 15 dimensions) and not installed:
            ``pip install 'farpoint[samples]'``.

        Examples
        --------
        >>> import numpy as np, farpoint as fp
        >>> points = np.random.default_rng(0).uniform(size=(5000, 2))
        >>> world = fp.World.from_samples(points, n_states=300)
        >>> world.n_states, world.observations.shape, world.symmetric
        (300, (300, 2), True)
        """
        from farpoint.worlds.samples import SampleGraph, world_from_samples

        graph = SampleGraph(n_states, neighbors, alpha, n_neighbors, representatives, seed)
        return world_from_samples(
            observations, next_observations, graph, actions=actions, largest_component=largest_component, name=name
        )


def world_of_floor(
    floor: Floor, start: int | None, targets: NDArray[np.int64] | None, name: str, notes: tuple[str, ...]
) -> World:
    """Return the world of a floor; start and targets are states of it, found by the caller, who keeps no other hold.

    >>> world_of_floor(Floor(np.ones((1, 3), dtype=bool)), 0, None, "corridor", ())
    World('corridor', 3 states, 4 choices, deterministic)
    """
    if targets is not None:
        targets.setflags(write=False)
    facts = {"source": floor, "start": start, "targets": targets, "name": _printable("name", name), "notes": notes}
    world = object.__new__(World)
    world.__dict__.update(facts, n_states=floor.n_states, __dataclass_fields__=_FIELDS_BUT_POSITIONS)
    return world


def _printable(what: str, text: object) -> str:
    """Return a text without bytes that are no letters, as names of files may have: no picture or file shows them."""
    if not isinstance(text, str):
        raise InvalidInput(f"{what} must be a text; got {text!r}.")
    return text.encode("utf-8", "replace").decode()


_FIELDS_BUT_POSITIONS = {item.name: item for item in fields(World) if item.name != "positions"}


def checked_notes(notes: Iterable[str]) -> tuple[str, ...]:
    """Return notes as a tuple of texts.

    >>> checked_notes(["kept 41 of 57 states"])
    ('kept 41 of 57 states',)
    """
    if isinstance(notes, str) or not isinstance(notes, Iterable):
        raise InvalidInput(f"notes must be a tuple of texts; got {notes!r}. Write (note,).")
    notes = tuple(notes)
    for note in notes:
        if not isinstance(note, str):
            raise InvalidInput(f"notes must be a tuple of texts; got {note!r} among them.")
    return notes


def state_columns(world: World, states: NDArray[np.int64]) -> dict[str, Any]:
    """Return the columns that tell some states of a world apart: number, label, place and observation.

    >>> import farpoint as fp
    >>> state_columns(fp.maze(), np.array([0, 1]))
    {'state': array([0, 1]), 'row': array([1, 1], dtype=int32), 'column': array([1, 2], dtype=int32)}
    """
    columns: dict[str, Any] = {"state": states}
    if world.labels is not None:
        # One cell each, also where a label is a tuple.
        columns["label"] = np.fromiter((world.labels[state] for state in states), dtype=object, count=states.size)
    if world.positions is not None:
        names = (
            ["row", "column"] if world.positions.shape[1] == 2 else [f"x{k}" for k in range(world.positions.shape[1])]
        )
        columns |= {name: world.positions[states, place] for place, name in enumerate(names)}
    if world.observations is not None:
        for place in range(world.observations.shape[1]):
            columns[f"observation{place}"] = world.observations[states, place]
    return columns


def state_name(world: World, state: int) -> str:
    """Return the label of a state as text, or its number where it has no label or a long one.

    >>> import farpoint as fp
    >>> state_name(fp.World.from_log(["a", "b"], ["b", "a"]), 1), state_name(fp.maze(), 1)
    ('b', '1')
    """
    if world.labels is None:
        return str(state)
    label = str(world.labels[state])
    return label if len(label) <= _LONGEST_LABEL and label.isprintable() else str(state)


def numbered_name(world: World, state: int) -> str:
    """Return the number of a state, with its label where that says more than a number.

    >>> import farpoint as fp
    >>> numbered_name(fp.World.from_log(["a", "b"], ["b", "a"]), 1), numbered_name(fp.maze(), 1)
    ('1 (b)', '1')
    """
    name = state_name(world, state)
    # Whole numbers as labels would be read as the numbers of other states.
    return str(state) if name.removeprefix("-").isdecimal() else f"{state} ({name})"
