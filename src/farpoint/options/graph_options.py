"""Options without learning: routes on a sampled graph, followed by a local controller."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from scipy.spatial import cKDTree

from farpoint.errors import InvalidInput
from farpoint.worlds import World

# Of (observation, observation of the next state on the route): the action to take.
Controller = Callable[[NDArray[Any], NDArray[Any]], Any]


def direction_controller(displacements: ArrayLike) -> Controller:
    """Return a controller that takes the action whose displacement points best to where it should go.

    Parameters
    ----------
    displacements : array, shape (n_actions, n_features)
        What each action adds to an observation, nothing standing in the way.

    Examples
    --------
    >>> import numpy as np, farpoint as fp
    >>> control = fp.direction_controller([[1.0, 0.0], [0.0, 1.0]])
    >>> control(np.array([0.0, 0.0]), np.array([0.2, 3.0]))
    1
    """
    moves = np.asarray(displacements, dtype=np.float64)
    if moves.ndim != 2 or not len(moves) or not np.isfinite(moves).all():
        raise InvalidInput(f"displacements must have one row an action; got shape {moves.shape}.")
    lengths = np.linalg.norm(moves, axis=1, keepdims=True)
    units = np.divide(moves, lengths, out=np.zeros_like(moves), where=lengths > 0)

    return _Directions(units)


class _Directions:
    """The controller: a class, so that options can be sent to other processes."""

    def __init__(self, units: NDArray[np.float64]) -> None:
        self._units = units

    def __call__(self, observation: NDArray[Any], target: NDArray[Any]) -> int:
        return int(np.argmax(self._units @ (np.asarray(target, dtype=np.float64) - observation)))


class GraphOption:
    """One option of `GraphOptions`: from wherever it is, along the graph to its goal.

    It has no memory: at each step it plans anew from the sample nearest to the observation, so that an agent that was
    blown off its route goes on from where it is.
    """

    def __init__(self, options: GraphOptions, number: int) -> None:
        self._options = options
        self.number = number
        self.goal: NDArray[np.float64] = options.observations[options.goals[number]]

    def ended(self, observation: ArrayLike) -> bool:
        """Return whether the goal is reached: at most ``radius`` away."""
        away = np.asarray(observation, dtype=np.float64).ravel() - self.goal
        return bool(np.sqrt(away @ away) <= self._options.radius)

    def can_start(self, observation: ArrayLike) -> bool:
        """Return whether the option can start here: not at its goal, and on a part of the graph that leads there."""
        if self.ended(observation):
            return False
        return bool(np.isfinite(self._options.distances[self.number, self._options.nearest(observation)]))

    def act(self, observation: ArrayLike) -> Any | None:
        """Return the action to take, or None where the option ends."""
        if not self.can_start(observation):
            return None
        here = np.asarray(observation, dtype=np.float64).ravel()
        return self._options.controller(here, self._target(here))

    def route(self, observation: ArrayLike) -> NDArray[np.int64]:
        """Return the states on the way from the sample nearest to an observation to the goal."""
        state = self._options.nearest(observation)
        if not np.isfinite(self._options.distances[self.number, state]):
            raise InvalidInput(f"observation must be where option {self.number} can start; got {observation!r}.")
        goal, after = int(self._options.goals[self.number]), self._options._after[self.number]
        states = [state]
        while state != goal:
            state = int(after[state])
            states.append(state)
        return np.array(states)

    def _target(self, here: NDArray[np.float64]) -> NDArray[np.float64]:
        options = self._options
        state, goal = options.nearest(here), int(options.goals[self.number])
        # One state ahead of the nearest: going to the nearest itself would be a way back as often as not.
        ahead = state if state == goal else int(options._after[self.number, state])
        target: NDArray[np.float64] = options.observations[ahead]
        return target


class GraphOptions(Sequence[GraphOption]):
    """Options that lead to goals along the shortest routes of a sampled graph, with no learning at all.

    Parameters
    ----------
    world : World
        Its states are samples of a continuous space; an edge means that a step leads from one to the other.
    observations : array, shape (n_states, n_features)
        The observation of each state.
    goals : array of int
        The states that the options lead to.
    controller : function of (observation, target observation)
        Gives the action that brings an agent from one to the other when they are near, such as
        `direction_controller`.
    radius : float
        How near to the goal's observation an option ends.

    Examples
    --------
    >>> import numpy as np, farpoint as fp
    >>> env = fp.ContinuousMaze("S....", noise=0.0)
    >>> corridor = fp.World.from_map(".....")
    >>> middles = corridor.positions[:, ::-1] + 0.5
    >>> options = fp.GraphOptions(corridor, middles, [4], fp.direction_controller(env.displacements), radius=0.3)
    >>> options[0].route([0.5, 0.5])
    array([0, 1, 2, 3, 4])
    >>> options[0].act([0.5, 0.5]), options[0].act([4.4, 0.5])
    (0, None)
    """

    def __init__(
        self,
        world: World,
        observations: ArrayLike,
        goals: ArrayLike,
        controller: Controller,
        *,
        radius: float,
    ) -> None:
        array = np.asarray(observations, dtype=np.float64)
        if array.ndim < 2 or len(array) != world.n_states or not np.isfinite(array).all():
            raise InvalidInput(
                f"observations must be finite, one row a state ({world.n_states}); got shape {array.shape}."
            )
        self.observations: NDArray[np.float64] = array.reshape(len(array), -1)
        self.goals = world.check_states("goals", goals)
        if not self.goals.size:
            raise InvalidInput("goals must be at least one; got none.")
        if not np.isfinite(radius) or radius < 0:
            raise InvalidInput(f"radius must be a finite number of at least 0; got {radius!r}.")
        self.radius = float(radius)
        self.controller = controller
        self._tree = cKDTree(self.observations)
        self.distances, self._after = _routes(world, self.observations, self.goals)

    def nearest(self, observation: ArrayLike) -> int:
        """Return the state whose observation is nearest."""
        return int(self._tree.query(np.asarray(observation, dtype=np.float64).ravel())[1])

    @overload
    def __getitem__(self, number: int) -> GraphOption: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[GraphOption]: ...
    def __getitem__(self, number: int | slice) -> GraphOption | Sequence[GraphOption]:
        if isinstance(number, slice):
            return [self[item] for item in range(len(self))[number]]
        return GraphOption(self, range(len(self))[number])

    def __len__(self) -> int:
        return len(self.goals)

    def __repr__(self) -> str:
        return f"GraphOptions({len(self)} goals, {len(self.observations)} samples, radius={self.radius:g})"


def _routes(
    world: World, observations: NDArray[np.float64], goals: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the length of the way from every state to each goal, and the next state on it (-1 where there is none)."""
    edges = world.adjacency.tocoo()
    lengths = np.linalg.norm(observations[edges.row] - observations[edges.col], axis=1)
    # Two samples at one place are a step apart all the same; a stored zero would be no edge.
    lengths = np.maximum(lengths, 1e-12)
    # Against the edges from the goal: a predecessor there is the next state on the way.
    reverse = csr_array((lengths, (edges.col, edges.row)), shape=world.adjacency.shape)
    distances, after = dijkstra(reverse, indices=goals, return_predecessors=True)
    return distances, np.where(after < 0, -1, after).astype(np.int64)
