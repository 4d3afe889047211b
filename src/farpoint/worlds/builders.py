"""The ways to make a world. Each is documented here and built in a module of its own, imported when it is used."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from farpoint.worlds.keys import StateKey
    from farpoint.worlds.world import World


class Builders:
    """The constructors of `World`."""

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
            Not 0 where there is floor. Of a ``.npy`` file the array is memory-mapped; of a PNG the bright pixels are
            floor.
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
        from farpoint.worlds.map_files import world_from_array

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
        graph : 2-D array, scipy sparse matrix of any format, or networkx graph
            ``graph[s, s2] > 0`` is the weight of the edge from ``s`` to ``s2``. Of a networkx graph, the edge
            attribute ``weight`` counts (1 where there is none), the nodes become ``labels``, and node attributes
            ``pos`` (x to the right, y upwards) become ``positions``.
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
            observation, or the bytes of an array of whole numbers (shown as numbers).
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
        states: Any,
        next_states: Any = None,
        actions: ArrayLike | None = None,
        *,
        terminated: ArrayLike | None = None,
        truncated: ArrayLike | None = None,
        begins: ArrayLike | None = None,
        symmetrize: bool = False,
        largest_component: bool = True,
        name: str = "log",
    ) -> World:
        """Return the world that a log of transitions shows, with the frequencies of the log as its probabilities.

        Parameters
        ----------
        states, next_states : arrays or sequences
            Where each step began and ended: numbers, labels, or arrays of whole numbers. Or, in place of ``states``
            alone: a `Log`, a Minari dataset, or a replay buffer of Stable-Baselines3.
        actions : array of int, optional
            With them, each action seen in a state is a choice. Without, each pair of states seen is one, weighted by
            how often it was seen.
        terminated, truncated, begins : arrays of bool, one per step, optional
            Of arrays: which steps ended an episode, were the last before a time limit, began an episode. Default of
            ``begins``: the first step, and each after one that ended an episode or was cut. Without any of the three
            the log is one walk without episodes.
        symmetrize : bool
            Count every step backwards too, without its action: for worlds whose moves can be undone.
        largest_component : bool
            Keep the largest set of states that the log crosses in both directions, restarts included; False fails
            where that is not all of them.
        name : str

        Returns
        -------
        World
            Of a log with episodes, with ``starts`` (how often each state began an episode) and ``restart``: of a state
            in which episodes ended, the share of arrivals that ended there; elsewhere the share of steps that a time
            limit cut.

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
        """
        from farpoint.worlds.logs import read_log, world_from_log

        log = read_log(states, next_states, actions, terminated, truncated, begins)
        return world_from_log(log, symmetrize=symmetrize, largest_component=largest_component, name=name)

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
        seed: int = 0,
        name: str = "samples",
    ) -> World:
        """Return a graph of a continuous space: representative observations as states, neighbors connected.

        Each observation belongs to the cell of its nearest representative. The result is symmetric and connected: the
        largest component.

        Parameters
        ----------
        observations : array, shape (n, n_dimensions)
            Or, alone: a `Log` whose states are tuples of numbers, or anything with ``observations`` and
            ``next_observations``. Distances are Euclidean: scale dimensions of different units first.
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
            Of the kernel.
        representatives : {"farthest", "kmeans++"}
            Farthest points, which cover the space evenly, or the seeding of k-means, which follows the density. Chosen
            among 100 000 observations drawn at random where there are more.
        seed : int
        name : str

        Returns
        -------
        World
            With ``observations``, one row per state, and ``lengths``, the distance of each move.

        Raises
        ------
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
        return world_from_samples(observations, next_observations, graph, actions=actions, name=name)
