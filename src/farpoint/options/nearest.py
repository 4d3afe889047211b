"""A controller that looks up in a log what actions did near a place; nothing is trained."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from farpoint.errors import check_integer
from farpoint.options.graph_options import Controller
from farpoint.worlds.sample_log import SampleLog, read_sample_log
from farpoint.worlds.samples import TREE_DIMENSIONS, NearestStates


def nearest_controller(log: Any, *, n_neighbors: int = 5) -> Controller:
    """Return a controller that knows from a log what each action does near a place.

    With discrete actions: for each action the mean displacement of the ``n_neighbors`` logged steps that took it
    nearest to here; the action that is expected to end nearest to the target is taken. With continuous actions: of the
    ``n_neighbors`` logged steps nearest to here (five times as many, for one step says less than a mean), the action of
    the one whose displacement ends nearest to the target.

    Parameters
    ----------
    log : SampleLog, or anything that has ``observations``, ``actions`` and ``next_observations``
        Or these three arrays. Distances are Euclidean: scale dimensions of different units first.
    n_neighbors : int

    Returns
    -------
    function of (observation, target observation)
        Gives an action; see `GraphOptions`.

    Examples
    --------
    >>> import numpy as np, farpoint as fp
    >>> env = fp.ContinuousMaze("S...", start="random", noise=0.0)
    >>> control = fp.options.nearest_controller(fp.envs.record_samples(env, 2000, seed=0))
    >>> control(np.array([0.5, 0.5]), np.array([2.0, 0.5]))           # 0 is right
    0
    """
    steps = read_sample_log(log)
    n_neighbors = check_integer("n_neighbors", n_neighbors, 1)
    return _NearestActions(steps, n_neighbors) if steps.discrete else _NearestSteps(steps, 5 * n_neighbors)


class LocalSteps:
    """The logged steps near a place.

    >>> LocalSteps(np.array([[0.0], [1.0]]), np.array([[0.5], [0.1]]), n_neighbors=1).near(np.array([0.2]))
    array([[0.5]])
    """

    def __init__(self, places: NDArray[Any], values: NDArray[Any], n_neighbors: int) -> None:
        self._values = values
        self._count = min(n_neighbors, len(places))
        # Asked at every step: the tree itself answers several times faster than the index that checks its arguments.
        tree = places.shape[1] <= TREE_DIMENSIONS
        self._tree = cKDTree(places) if tree else None
        self._index = None if tree else NearestStates(places)

    def near(self, place: NDArray[Any]) -> NDArray[Any]:
        """Return the values of the steps nearest to a place, the nearest first."""
        if self._tree is not None:
            found = self._tree.query(place, self._count)[1]
            return np.asarray(self._values[found if self._count > 1 else [found]])
        assert self._index is not None
        return np.asarray(self._values[self._index.query(place[None, :], self._count)[1][0]])


class _NearestActions:
    """For discrete actions. A class, so that options can be sent to other processes."""

    def __init__(self, log: SampleLog, n_neighbors: int) -> None:
        moves = log.next_observations - log.observations
        self._actions, layers = np.unique(log.actions, return_inverse=True)
        several = log.observations.shape[1] < TREE_DIMENSIONS
        kind = LayeredSteps if several else _StepsByLayer
        self._steps = kind(log.observations, moves, layers, n_neighbors)

    def __call__(self, observation: NDArray[Any], target: NDArray[Any]) -> int:
        here = np.asarray(observation, dtype=np.float64)
        return int(self._actions[_nearest_end(here + self._steps.means(here), target)])


class LayeredSteps:
    """The logged steps near a place, by action: one search finds those of all actions.

    Each action has a layer of its own in one more dimension, so far from the others that the steps nearest to a place
    in a layer are of that layer.

    >>> steps = LayeredSteps(np.array([[0.0], [1.0], [0.1]]), np.array([[0.5], [0.1], [0.2]]), np.array([0, 0, 1]), 2)
    >>> steps.means(np.array([0.2]))
    array([[0.3],
           [0.2]])
    """

    def __init__(self, places: NDArray[Any], values: NDArray[Any], layers: NDArray[np.int64], n_neighbors: int) -> None:
        # A thousand times the size of all places: a place outside them may be half a million times as far away.
        apart = 1e3 * max(float(np.linalg.norm(np.ptp(places, axis=0))), 1e-9)
        self._tree = cKDTree(np.column_stack([places, apart * layers]))
        self._values, self._layers = values, layers
        self._heights = apart * np.arange(layers.max() + 1)[:, None]
        self._nearest = [*range(1, min(n_neighbors, len(places)) + 1)]

    def means(self, place: NDArray[Any]) -> NDArray[np.float64]:
        """Return the mean value of the steps nearest to a place, one row per layer."""
        asked = np.concatenate([np.broadcast_to(place, (len(self._heights), place.size)), self._heights], axis=1)
        found = self._tree.query(asked, self._nearest)[1]
        # A layer may have fewer steps than asked for.
        own = self._layers[found] == np.arange(len(found))[:, None]
        total = (self._values[found] * own[:, :, None]).sum(axis=1)
        return np.asarray(total / np.maximum(own.sum(axis=1), 1)[:, None])


class _StepsByLayer:
    """The same in many dimensions, where trees do not help: a search per action."""

    def __init__(self, places: NDArray[Any], values: NDArray[Any], layers: NDArray[np.int64], n_neighbors: int) -> None:
        taken = [layers == layer for layer in range(layers.max() + 1)]
        self._steps = [LocalSteps(places[one], values[one], n_neighbors) for one in taken]

    def means(self, place: NDArray[Any]) -> NDArray[np.float64]:
        return np.array([steps.near(place).mean(axis=0) for steps in self._steps])


class _NearestSteps:
    """For continuous actions."""

    def __init__(self, log: SampleLog, n_neighbors: int) -> None:
        self._n_dimensions = log.observations.shape[1]
        moves = log.next_observations - log.observations
        self._steps = LocalSteps(log.observations, np.concatenate([moves, log.actions], axis=1), n_neighbors)

    def __call__(self, observation: NDArray[Any], target: NDArray[Any]) -> NDArray[np.float64]:
        here = np.asarray(observation, dtype=np.float64)
        steps = self._steps.near(here)
        ends = here + steps[:, : self._n_dimensions]
        return np.asarray(steps[_nearest_end(ends, target), self._n_dimensions :])


def _nearest_end(ends: NDArray[np.float64], target: NDArray[Any]) -> int:
    """Return which end is nearest to the target, whose numbers may be only the first of those observed."""
    return int(((ends[:, : np.size(target)] - target) ** 2).sum(axis=1).argmin())
