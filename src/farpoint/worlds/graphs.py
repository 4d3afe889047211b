"""Worlds from graphs: matrices of any kind, networkx and rustworkx graphs, checked."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from farpoint.errors import InvalidInput, NotConnected, listed
from farpoint.worlds.arrays import coordinates, read_only, read_sparse
from farpoint.worlds.world import World

# Beyond these, sums and quotients of weights leave the range of doubles.
_LARGEST_SUM = 1e150


def world_from_graph(graph: Any, *, positions: ArrayLike | None, largest_component: bool, name: str) -> World:
    """Return the world of a graph; see `World.from_graph`."""
    labels: tuple[Hashable, ...] | None = None
    if hasattr(graph, "node_indices") and hasattr(graph, "weighted_edge_list"):
        graph, labels = _rustworkx_weights(graph)
    elif hasattr(graph, "nodes") and hasattr(graph, "adj"):
        labels = tuple(graph.nodes)
        positions = _layout(graph) if positions is None else positions
        graph = _networkx_weights(graph, labels)
    matrix = read_weights(graph)
    n_states = matrix.shape[0]
    places = None if positions is None else coordinates("positions", positions, n_states)
    keep = connected_states(matrix, largest_component)
    notes: tuple[str, ...] = ()
    if keep is not None:
        matrix = csr_array(matrix[keep][:, keep])
        labels = tuple(labels[s] for s in keep) if labels is not None else None
        places = None if places is None else places[keep]
        notes = (f"kept {keep.size} of {n_states} states: the largest component",)
    return world_from_weights(matrix, positions=places, labels=labels, notes=notes, name=name)


def world_from_weights(
    matrix: csr_array,
    *,
    positions: ArrayLike | None = None,
    labels: tuple[Hashable, ...] | None = None,
    observations: NDArray[np.float64] | None = None,
    lengths: NDArray[np.float64] | None = None,
    actions: NDArray[np.int32] | None = None,
    notes: tuple[str, ...] = (),
    name: str,
) -> World:
    """Return the world of a connected graph whose weights were checked: one choice per edge."""
    n_edges = matrix.nnz
    transitions = csr_array(
        (np.ones(n_edges), read_only(matrix.indices), np.arange(n_edges + 1)), shape=(n_edges, matrix.shape[0])
    )
    world = World.from_matrix(
        transitions,
        matrix.indptr,
        actions=actions,
        weights=None if (matrix.data == 1.0).all() else matrix.data,
        lengths=lengths,
        positions=positions,
        labels=labels,
        observations=observations,
        name=name,
        notes=notes,
    )
    # Known without a computation.
    world.__dict__["component_sizes"] = (world.n_states,)
    return world


def _networkx_weights(graph: Any, labels: tuple[Hashable, ...]) -> csr_array:
    import networkx

    if not labels:
        raise InvalidInput("graph must have at least one node; got none.")
    try:
        return networkx.to_scipy_sparse_array(graph, nodelist=list(labels), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"edge weights must be numbers; got {error}.") from error


def _rustworkx_weights(graph: Any) -> tuple[csr_array, tuple[Hashable, ...]]:
    """Return the weights of a rustworkx graph, and as labels the payloads of its nodes or numbers."""
    place = {node: number for number, node in enumerate(graph.node_indices())}
    if not place:
        raise InvalidInput("graph must have at least one node; got none.")
    edges = graph.weighted_edge_list()
    try:
        weights = np.array([1.0 if weight is None else float(weight) for *_, weight in edges])
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"edge weights must be numbers; got {error}.") from error
    ends = np.array([(place[one], place[other]) for one, other, _ in edges], dtype=np.int64).reshape(-1, 2)
    if not hasattr(graph, "successors"):
        # Each edge both ways, a loop once.
        two = np.flatnonzero(ends[:, 0] != ends[:, 1])
        ends, weights = np.concatenate([ends, ends[two, ::-1]]), np.concatenate([weights, weights[two]])
    nodes = graph.nodes()
    named = all(isinstance(node, Hashable) and node is not None for node in nodes) and len(set(nodes)) == len(nodes)
    matrix = csr_array(coo_array((weights, tuple(ends.T)), shape=(len(place), len(place))))
    return matrix, tuple(nodes) if named else tuple(place)


def _layout(graph: Any) -> NDArray[np.float64] | None:
    """Return row and column of every node of a networkx graph that has a layout: node attributes ``pos``."""
    places = [place for _, place in graph.nodes(data="pos")]
    if any(place is None for place in places):
        return None
    try:
        array = np.array(places, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"node attributes 'pos' must be pairs of numbers; got {places[0]!r}.") from error
    if array.shape != (len(places), 2):  # a layout in space, say
        return None
    return places_of_points(array)


def places_of_points(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the row and column of points (x, y): y points upwards, rows are counted downwards.

    >>> places_of_points(np.array([[3.0, 1.0], [0.0, 0.0]]))
    array([[-1.,  3.],
           [ 0.,  0.]])
    """
    x, y = points.T
    return np.stack([0.0 - y, x], axis=1)


def read_weights(graph: Any) -> csr_array:
    """Return the checked weights (from, to) of a square matrix of any kind."""
    given = read_sparse("adjacency", graph)
    if given.shape[0] != given.shape[1]:
        raise InvalidInput(f"adjacency must be a square matrix; got shape {given.shape}.")
    if given.shape[0] == 0:
        raise InvalidInput("adjacency must have at least one state; got none.")
    matrix = csr_array(given, copy=True)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    for bad, word in ((~np.isfinite(matrix.data), "NaN or infinite"), (matrix.data < 0, "negative")):
        if bad.any():
            entry = int(np.flatnonzero(bad)[0])
            row = int(np.searchsorted(matrix.indptr, entry, side="right")) - 1
            where = f"[{row}, {matrix.indices[entry]}]"
            raise InvalidInput(
                f"adjacency must hold finite weights of at least 0; got {matrix.data[entry]:g} ({word}) at {where}."
            )
    with np.errstate(over="ignore"):
        total = matrix.sum()
    if matrix.nnz and (not total < _LARGEST_SUM or matrix.data.min() < 1 / _LARGEST_SUM):
        raise InvalidInput(
            f"adjacency must hold weights from {1 / _LARGEST_SUM:g} up that sum to less than {_LARGEST_SUM:g}; "
            f"got {matrix.data.min():g} … {matrix.data.max():g}. Scale them."
        )
    return matrix


def connected_states(matrix: csr_array, largest_component: bool, what: str = "adjacency") -> NDArray[np.int64] | None:
    """Return None if the graph is (weakly) connected, else the states of its largest component if that is wanted."""
    n_components, component = connected_components(matrix, directed=True, connection="weak")
    if n_components == 1:
        return None
    sizes = np.bincount(component)
    if not largest_component:
        raise NotConnected(
            f"{what} must be connected; got {n_components} components (sizes {listed(np.sort(sizes)[::-1])}). "
            "Pass largest_component=True to keep the largest."
        )
    return np.flatnonzero(component == sizes.argmax())
