"""The world: a finite decision process without a reward.

Convention
----------
One sparse matrix ``transitions`` has a row for each *choice* and a column for each state; row ``c`` is the
distribution over next states when choice ``c`` is taken. The choices of state ``s`` are the rows
``choice_ptr[s] … choice_ptr[s + 1] - 1``. In ``adjacency[s, s2]`` the first index is "from", the second "to".
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from farpoint.errors import InvalidInput, check_fraction, check_integer
from farpoint.worlds import graphs, matrices
from farpoint.worlds import maps as grids
from farpoint.worlds.arrays import read_only
from farpoint.worlds.keys import StateKey

# Weights that differ by less than this, relatively, are the same weight: they come from sums of a few
# probabilities, each exact to about 1e-16.
SAME_WEIGHT = 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class World:
    """A finite world without rewards: states, the choices each state has, and where each choice leads.

    Build one with `from_map`, `from_graph` or a name of the catalogue (`four_rooms`, `random_maze`, …); the
    constructor itself is for those who already hold the matrix.

    Parameters
    ----------
    transitions : sparse matrix, shape (n_choices, n_states)
        Each row a distribution over next states.
    choice_ptr : array of int, shape (n_states + 1,)
        The row group of each state.
    actions : array of int, shape (n_choices,), optional
        The environment's own action of each choice. Default: 0, 1, 2, … within each state.
    weights : array of float, shape (n_choices,), optional
        How strongly the undirected walk prefers each choice (edge weights of a graph). Default: all 1.
    positions : array of int, shape (n_states, n_dimensions), optional
        Row and column of each state, for drawing.
    labels : sequence, optional
        The name of each state, for example the nodes of a networkx graph.
    start, goals : int, array of int, optional
        Where trials start and end, in worlds that have such places.
    name : str
    restart : array of float, shape (n_states,), optional
        Probability with which the walk begins again from each state: 1 where an episode ends, a little elsewhere for
        a time limit. For the walk only; local maxima and routes know the world's own moves.
    starts : array of float, shape (n_states,), optional
        Where it begins again; needed with ``restart``.
    observations : array of float, shape (n_states, n_dimensions), optional
        What an agent sees in each state, in worlds made of samples (`from_samples`).

    Examples
    --------
    >>> import farpoint as fp
    >>> world = fp.World.from_map('''
    ... #####
    ... #S..#
    ... #.#.#
    ... #####''')
    >>> world.n_states, world.n_choices, world.start
    (5, 8, 0)
    >>> world.adjacency.toarray()[0]
    array([0., 1., 0., 1., 0.])
    """

    transitions: csr_array
    choice_ptr: NDArray[Any]
    actions: NDArray[np.int32] | None = None
    weights: NDArray[np.float64] | None = None
    positions: NDArray[np.int32] | None = None
    labels: tuple[Hashable, ...] | None = None
    start: int | None = None
    goals: NDArray[np.int64] | None = None
    name: str = "world"
    restart: NDArray[np.float64] | None = None
    starts: NDArray[np.float64] | None = None
    observations: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        transitions = matrices.canonical(csr_array(self.transitions, dtype=np.float64))
        n_choices, n_states = transitions.shape
        # Half the memory and one compiled version of every kernel, wherever 32 bits suffice.
        index_type = np.int32 if max(transitions.nnz, n_choices, n_states) < 2**31 else np.int64
        choice_ptr = np.asarray(self.choice_ptr)
        if not np.issubdtype(choice_ptr.dtype, np.integer):
            raise InvalidInput(f"choice_ptr must be whole numbers; got {choice_ptr.dtype}.")
        choice_ptr = matrices.owned(choice_ptr).astype(index_type, copy=False)
        matrices.check_structure(transitions, choice_ptr)

        def put(name: str, value: Any) -> None:
            object.__setattr__(self, name, read_only(value) if isinstance(value, np.ndarray) else value)

        put("transitions", matrices.frozen(transitions, index_type))
        put("choice_ptr", choice_ptr)
        if self.actions is None:
            counts = np.diff(choice_ptr)
            put("actions", (np.arange(n_choices) - np.repeat(choice_ptr[:-1], counts)).astype(np.int32))
        else:
            put("actions", matrices.column("actions", self.actions, n_choices, np.int32))
        if self.weights is not None:
            weights = matrices.column("weights", self.weights, n_choices, np.float64)
            if not (np.isfinite(weights).all() and (weights > 0).all()):
                raise InvalidInput(
                    f"weights must be finite and above 0; got {weights.min():g}. Drop choices of weight 0."
                )
            put("weights", weights)
        if self.positions is not None:
            positions = np.array(self.positions, dtype=np.int32)
            if not np.array_equal(positions, self.positions):
                raise InvalidInput(
                    "positions must be whole numbers, a row and a column; got fractions. Scale them first."
                )
            if positions.ndim != 2 or len(positions) != n_states:
                raise InvalidInput(f"positions must have one row a state ({n_states}); got shape {positions.shape}.")
            put("positions", positions)
        if self.labels is not None:
            put("labels", tuple(self.labels))
            if len(self.labels) != n_states:
                raise InvalidInput(f"labels must name each of {n_states} states; got {len(self.labels)}.")
        if self.start is not None:
            put("start", check_integer("start", self.start, 0, n_states - 1))
        if self.goals is not None:
            put("goals", self.check_states("goals", self.goals))
        if (self.restart is None) != (self.starts is None):
            raise InvalidInput("restart must go with starts, and starts with restart; got one of them.")
        for what in ("restart", "starts"):
            if getattr(self, what) is not None:
                put(what, matrices.shares(what, getattr(self, what), n_states))
        if self.starts is not None and abs(self.starts.sum() - 1.0) > matrices.ROW_SUM_TOLERANCE:
            raise InvalidInput(f"starts must sum to 1; got {self.starts.sum():.6g}.")
        if self.observations is not None:
            put("observations", matrices.observed(self.observations, n_states))

    def __reduce__(self) -> tuple[Any, ...]:
        # Made anew on arrival, so that a copy in another process is checked and read-only too.
        return World, tuple(getattr(self, part.name) for part in fields(self))

    @cached_property
    def _number_of(self) -> dict[Hashable, int]:
        return {} if self.labels is None else {label: number for number, label in enumerate(self.labels)}

    def state_of(self, label: Hashable) -> int:
        """Return the number of the state that has this label.

        >>> import farpoint as fp
        >>> fp.World.from_log(["a", "b"], ["b", "a"]).state_of("b")
        1
        """
        if label not in self._number_of:
            raise InvalidInput(f"state must be one that {self.name} knows; got {label!r}.")
        return self._number_of[label]

    def check_states(self, what: str, states: ArrayLike) -> NDArray[np.int64]:
        """Return ``states`` as an array of state numbers, each of which exists.

        >>> import farpoint as fp
        >>> fp.ring().check_states("goals", [0, 191])
        array([  0, 191])
        """
        array = np.atleast_1d(np.asarray(states))
        if array.ndim != 1 or (array.size and not np.issubdtype(array.dtype, np.integer)):
            raise InvalidInput(f"{what} must be whole numbers in one dimension; got {states!r}.")
        wrong = array[(array < 0) | (array >= self.n_states)]
        if wrong.size:
            raise InvalidInput(f"{what} must lie in 0 … {self.n_states - 1}; got {wrong[0]}.")
        return array.astype(np.int64)

    @classmethod
    def from_map(cls, text: str, wind: float = 0.0, *, largest_component: bool = False, name: str = "map") -> World:
        """Return the world that a text map shows.

        ``#`` is wall, ``.`` or a space is floor, ``S`` the start (at most one), ``G`` a goal. Moves are up, left,
        right and down (actions 0, 1, 2, 3); a move into a wall is not a choice. States are the floor cells,
        row by row.

        Parameters
        ----------
        text : str
            The map, all lines equally long. Empty lines before and after it are dropped.
        wind : float
            Probability of being blown down whatever was chosen, in cells that have floor below them.
        largest_component : bool
            Keep only the largest connected part instead of refusing a map that falls into several.

        Raises
        ------
        InvalidMap
            Empty or ragged map, unknown symbol, no floor, two starts.
        NotConnected
            Floor in several parts, unless ``largest_component``.

        Examples
        --------
        >>> import farpoint as fp
        >>> corridor = fp.World.from_map("S..G", wind=0.0)
        >>> corridor.n_states, corridor.start, corridor.goals
        (4, 0, array([3]))
        """
        parsed = grids.parse_map(text)
        return cls._from_floor(
            parsed.floor, wind, parsed.start, parsed.goals, name=name, largest_component=largest_component
        )

    @classmethod
    def _from_floor(
        cls,
        floor: NDArray[np.bool_],
        wind: float = 0.0,
        start: tuple[int, ...] | None = None,
        goals: list[tuple[int, ...]] | None = None,
        *,
        name: str,
        largest_component: bool = False,
    ) -> World:
        wind = check_fraction("wind", wind)
        floor = grids.connected_floor(floor, largest_component)
        transitions, choice_ptr, actions = grids.grid_choices(floor, wind)

        def numbers(cells: list[tuple[int, ...]]) -> NDArray[np.int64]:
            kept = [cell for cell in cells if floor[cell]]
            state_of = np.cumsum(floor.ravel()) - 1
            return np.array([state_of[np.ravel_multi_index(cell, floor.shape)] for cell in kept], dtype=np.int64)

        start_state = numbers([start]) if start is not None else np.empty(0, dtype=np.int64)
        goal_states = numbers(goals) if goals else np.empty(0, dtype=np.int64)
        world = cls(
            transitions,
            choice_ptr,
            actions=actions,
            positions=np.argwhere(floor).astype(np.int32),
            start=int(start_state[0]) if start_state.size else None,
            goals=goal_states if goal_states.size else None,
            name=name,
        )
        # Known from how it was built, so that no one need look.
        world.__dict__["component_sizes"] = (world.n_states,)
        if wind == 0.0:
            world.__dict__["symmetric"] = True
            world.__dict__["floor"] = read_only(floor) if floor.ndim == 2 else None
        return world

    @classmethod
    def from_graph(
        cls,
        graph: Any,
        *,
        positions: ArrayLike | None = None,
        largest_component: bool = False,
        name: str = "graph",
    ) -> World:
        """Return the world in which each edge of a graph is one choice of the state it leaves.

        Parameters
        ----------
        graph : 2-D array, scipy sparse matrix of any format, or networkx graph
            ``graph[s, s2] > 0`` is the weight of the edge from ``s`` to ``s2``. Of a networkx graph, the edge
            attribute ``weight`` counts (1 where there is none) and the nodes become ``labels``.
        positions : array of int, shape (n_states, 2), optional
            Row and column of each state, for drawing.
        largest_component : bool
            Keep only the largest (weakly) connected part instead of refusing a graph in several parts.

        Raises
        ------
        InvalidInput
            Not square, negative or NaN weights, no states.
        NotConnected
            Several parts, unless ``largest_component``.

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
        matrix, labels = graphs.read_graph(graph)
        keep = graphs.connected_part(matrix, largest_component)
        if keep is not None:
            matrix = csr_array(matrix[keep][:, keep])
            labels = tuple(labels[s] for s in keep) if labels is not None else None
            positions = np.asarray(positions)[keep] if positions is not None else None
        n_edges = matrix.nnz
        transitions = csr_array(
            (np.ones(n_edges), read_only(matrix.indices), np.arange(n_edges + 1)), shape=(n_edges, matrix.shape[0])
        )
        world = cls(
            transitions,
            matrix.indptr,
            weights=None if (matrix.data == 1.0).all() else matrix.data,
            positions=None if positions is None else np.asarray(positions),
            labels=labels,
            name=name,
        )
        world.__dict__["component_sizes"] = (world.n_states,)
        return world

    @classmethod
    def from_env(
        cls,
        env: Any,
        *,
        state: StateKey | None = None,
        seed: int = 0,
        seeds: Sequence[int] | None = None,
        max_states: int = 100_000,
        restart: float | None = None,
        name: str | None = None,
        progress: Callable[[int], None] = lambda n_states: None,
    ) -> World:
        """Return the world of a Gymnasium environment: its reachable states, its actions, where they lead.

        From the table ``env.unwrapped.P`` where there is one (FrozenLake, CliffWalking, Taxi); otherwise by trying
        every action in every state, breadth-first (MiniGrid), which needs an environment that is deterministic and
        can be copied. Wrappers are passed by.

        - Terminal states have no choices; the walk begins again from them (``restart``), and those with the
          best reward are ``goals`` (discovery does not look at them).
        - An action that changes nothing is a choice that leads back; the walk has no such loops.
        - One-way actions (a door that opens, a key that is taken) are one-way: an option starts only where its goal
          can be
          reached for sure.
        - A layout that depends on the seed is one world a seed; with ``seeds`` several, joined by the restarts.

        Parameters
        ----------
        env : gymnasium.Env
        state : function of (env, observation), optional
            What identifies a state, hashable. Default: for MiniGrid all that can change; otherwise a discrete
            observation, or the bytes of an array of whole numbers.
        seed, seeds : int, sequence of int
            For ``reset``: the layouts to begin from.
        max_states : int
            An error beyond.
        restart : float, optional
            Probability of beginning again from a state that is not terminal. Default: one over the time limit.
        name : str, optional
        progress : function of int
            Called with the number of states found so far.

        Returns
        -------
        World
            With ``labels`` (the keys), ``actions`` (the environment's own), ``positions`` where the environment has
            them, ``goals``, ``restart`` and ``starts``.

        Examples
        --------
        >>> import gymnasium as gym, farpoint as fp
        >>> world = fp.World.from_env(gym.make("FrozenLake-v1", is_slippery=False))
        >>> world.n_states, world.goals
        (16, array([15]))
        """
        from farpoint.worlds import environments as envs

        if not hasattr(env, "unwrapped") or not hasattr(env, "action_space"):
            raise InvalidInput(f"env must be a Gymnasium environment; got {type(env).__name__}. Use gymnasium.make.")
        max_states = check_integer("max_states", max_states, 1)
        if restart is not None:
            restart = check_fraction("restart", restart)
        envs.count_actions(env)
        if envs.has_table(env) and state is None:
            found = envs.read_table(env, max_states, progress)
        else:
            found = envs.enumerate_states(env, envs.check_seeds(seed, seeds), state, max_states, progress)
        spec = getattr(env, "spec", None)
        title = name or (spec.id if spec is not None else type(env.unwrapped).__name__)
        return cls(**envs.world_parts(found, env, restart), name=title)

    @classmethod
    def from_log(
        cls,
        states: Any,
        next_states: Any = None,
        actions: ArrayLike | None = None,
        *,
        symmetrize: bool = False,
        largest_component: bool = True,
        name: str = "log",
    ) -> World:
        """Return the world that a log of transitions shows, with the frequencies of the log as its chances.

        Parameters
        ----------
        states, next_states : arrays or sequences
            Where each step began and ended: numbers, labels, or arrays of whole numbers. Or, in place of ``states``
            alone: what `explore` returns, a Minari dataset, or a replay buffer of Stable-Baselines3.
        actions : array of int, optional
            With them, each action seen in a state is a choice. Without, each pair of states seen is one, weighted by
            how often.
        symmetrize : bool
            Count every step backwards too, without its action: for worlds whose moves can be undone.
        largest_component : bool
            Keep the largest set of states that the log crosses in both directions; False fails where that is not all
            of them.

        Examples
        --------
        >>> import farpoint as fp
        >>> world = fp.World.from_log([0, 1, 2, 1, 0], [1, 2, 1, 0, 1])
        >>> world.adjacency.toarray()
        array([[0., 2., 0.],
               [1., 0., 1.],
               [0., 1., 0.]])
        """
        from farpoint.worlds import logs

        log = logs.read_log(states, next_states, actions)
        return cls(**logs.count_transitions(log, symmetrize, largest_component), name=name)

    @classmethod
    def from_samples(
        cls,
        observations: Any,
        next_observations: Any = None,
        *,
        n_states: int | None = None,
        neighbors: str = "both",
        alpha: float = 1.0,
        n_neighbors: int = 8,
        representatives: str = "farthest",
        seed: int = 0,
        name: str = "samples",
    ) -> World:
        """Return the world of a continuous space, from observations of it: some stand for all, and are joined.

        Each observation belongs to the cell of its nearest representative. The result is symmetric and in one part:
        the largest.

        Parameters
        ----------
        observations : array, shape (n, n_dimensions)
            Or, alone: what `explore` returns (with ``state=lambda env, observation: tuple(observation)``), or anything
            with ``observations`` and ``next_observations``. Distances are Euclidean: scale dimensions of different
            units first.
        next_observations : array, shape (n, n_dimensions), optional
            Of each observation, the one a step later.
        n_states : int, optional
            How many representatives. Default 1000, or all different observations where there are fewer.
        neighbors : {"both", "temporal", "kernel"}
            ``"temporal"``: cells between which a step was seen, weighted by how often, in either direction; knows
            walls thicker than a cell. ``"kernel"``: the nearest neighbors of each representative, with weight
            exp(−|x − y|² / (σ_x σ_y)), σ the distance to the last of them; knows only distance, and crosses walls
            thinner than that. ``"both"``: the sum, each with mean 1; without ``next_observations`` the kernel alone.
        alpha : float
            Density normalization W / (q q)^α of Coifman and Lafon: 1 forgets how densely samples lie, 0 keeps it.
        n_neighbors : int
            Of the kernel.
        representatives : {"farthest", "kmeans++"}
            Farthest points, which cover the space evenly, or the seeding of k-means, which follows the density. Among
            100 000 observations drawn at random where there are more.
        seed : int

        Returns
        -------
        World
            With ``observations``, one row a state.

        Raises
        ------
        MissingExtra
            Without scikit-learn: ``pip install 'farpoint[samples]'``.

        Examples
        --------
        >>> import numpy as np, farpoint as fp
        >>> points = np.random.default_rng(0).uniform(size=(5000, 2))
        >>> world = fp.World.from_samples(points, n_states=300)
        >>> world.n_states, world.observations.shape, world.symmetric
        (300, (300, 2), True)
        """
        from farpoint.worlds import samples

        weights, states = samples.build(
            observations,
            next_observations,
            n_states=n_states,
            neighbors=neighbors,
            alpha=alpha,
            n_neighbors=n_neighbors,
            representatives=representatives,
            seed=seed,
        )
        return replace(cls.from_graph(weights, name=name), observations=states)

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

    @cached_property
    def adjacency(self) -> csr_array:
        """The weights ``adjacency[s, s2] = Σ_a p(s2 | s, a)`` over the choices that s has, without self-loops."""
        return self.to_adjacency()

    def to_adjacency(self, *, self_loops: bool = False) -> csr_array:
        """Return the weights of the moves between states, sorted by column within each row.

        Parameters
        ----------
        self_loops : bool
            Keep the choices that change nothing; the paper's walk does not have them.

        Examples
        --------
        >>> import farpoint as fp
        >>> world = fp.World.from_graph([[1, 1], [1, 0]])
        >>> world.to_adjacency(self_loops=True).toarray()
        array([[1., 1.],
               [1., 0.]])
        """
        data = self.transitions.data
        if self.weights is not None:
            data = data * np.repeat(self.weights, np.diff(self.transitions.indptr))
        # The entries of a state's choices lie side by side, so its row of the sum needs no product, only the
        # joining of equal columns; a deterministic grid has none to join and shares its arrays.
        indptr = self.transitions.indptr[self.choice_ptr]
        matrix = csr_array((data, self.transitions.indices, indptr), shape=(self.n_states, self.n_states))
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        if not self_loops and matrix.diagonal().any():
            entries = matrix.tocoo()
            off = entries.row != entries.col
            matrix = csr_array((entries.data[off], (entries.row[off], entries.col[off])), shape=matrix.shape)
        return matrices.frozen(matrix, self.choice_ptr.dtype)

    @cached_property
    def symmetric(self) -> bool:
        """Whether the weight from s to s2 equals the weight back, for every pair."""
        from farpoint.worlds.kernels import is_symmetric

        matrix = self.adjacency
        return bool(is_symmetric(matrix.indptr, matrix.indices, matrix.data, SAME_WEIGHT))

    @cached_property
    def neighbors(self) -> csr_array:
        """The pattern of moves in either direction: what "next to" means for local maxima."""
        if self.symmetric:
            return self.adjacency
        both = csr_array(self.adjacency + self.adjacency.T)
        both.sort_indices()
        return matrices.frozen(both, self.choice_ptr.dtype)

    @cached_property
    def incoming(self) -> csr_array:
        """The weights of the moves into each state: ``incoming[s2, s]`` is from s to s2."""
        if self.symmetric:
            return self.adjacency
        return matrices.frozen(csr_array(self.adjacency.T.tocsr()), self.choice_ptr.dtype)

    @cached_property
    def floor(self) -> NDArray[np.bool_] | None:
        """The map, if the moves are exactly those between floor cells side by side, each of weight 1; else None."""
        if not self.drawable or self.positions is None or not self.symmetric:
            return None
        return grids.floor_of(self.positions, self.adjacency)

    @cached_property
    def walker(self) -> World:
        """The world as a random walk lives in it: with an edge for each restart. The world itself if it has none."""
        if self.restart is None or self.starts is None:
            return self
        moves = self.adjacency
        leaving = moves.sum(axis=1)
        # The restart takes its share of the weight that leaves a state, so that the weights keep their size.
        share = np.where(leaving > 0, self.restart * leaving, self.restart)
        begin = csr_array(self.starts[None, :])
        again = csr_array(share[:, None]) @ begin
        kept = moves.multiply((1.0 - self.restart)[:, None])
        return World.from_graph(csr_array(kept + again), largest_component=False, name=self.name)

    @cached_property
    def component_sizes(self) -> tuple[int, ...]:
        """Sizes of the parts that no move joins in either direction, largest first."""
        _, part = connected_components(self.adjacency, directed=True, connection="weak")
        return tuple(int(size) for size in np.sort(np.bincount(part))[::-1])

    @cached_property
    def fingerprint(self) -> str:
        """A digest of the dynamics (not of names or positions): equal for equal worlds, on any machine."""
        digest = hashlib.blake2b(digest_size=16)
        parts = [self.transitions.indptr, self.transitions.indices, self.choice_ptr]
        for part in parts:
            digest.update(np.ascontiguousarray(part, dtype="<i8").data)
        digest.update(np.ascontiguousarray(self.transitions.data, dtype="<f8").data)
        for part in (self.weights, self.restart, self.starts):
            if part is not None:
                digest.update(np.ascontiguousarray(part, dtype="<f8").data)
        return digest.hexdigest()

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
    def drawable(self) -> bool:
        """Whether the states have a row and a column."""
        return self.positions is not None and self.positions.shape[1] == 2

    def to_text(self, marks: Mapping[int, str] | None = None) -> str:
        """Return the map of the world as text, with a character of your own on some states.

        Parameters
        ----------
        marks : mapping from state to one character, optional

        Examples
        --------
        >>> import farpoint as fp
        >>> print(fp.open_room(2, 3).to_text({0: "*"}))
        #####
        #*..#
        #...#
        #####
        """
        if not self.drawable:
            raise InvalidInput(f"world must have a row and a column for each state; got {self!r} without.")
        assert self.positions is not None
        cells = self.positions - self.positions.min(axis=0) + 1
        canvas = np.full(cells.max(axis=0) + 2, "#", dtype="<U1")
        canvas[cells[:, 0], cells[:, 1]] = "."
        for state, mark in (marks or {}).items():
            canvas[tuple(cells[state])] = mark
        return "\n".join("".join(row) for row in canvas)

    def __repr__(self) -> str:
        kind = "deterministic" if self.deterministic else "stochastic"
        return f"World({self.name!r}, {self.n_states} states, {self.n_choices} choices, {kind})"
