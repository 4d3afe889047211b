"""Worlds from graphs: matrices of any kind and networkx graphs, checked."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from farpoint.errors import InvalidInput, NotConnected, listed
from farpoint.worlds.arrays import read_only, read_sparse
from farpoint.worlds.known import Known
from farpoint.worlds.world import World

# Beyond these, sums and quotients of weights leave the range of doubles.
_LARGEST_SUM = 1e150


def world_from_graph(graph: Any, *, positions: ArrayLike | None, largest_component: bool, name: str) -> World:
    """Return the world of a graph; see `World.from_graph`."""
    labels: tuple[Hashable, ...] | None = None
    if hasattr(graph, "nodes") and hasattr(graph, "adj"):
        labels = tuple(graph.nodes)
        positions = _layout(graph) if positions is None else positions
        graph = _networkx_weights(graph, labels)
    matrix = read_weights(graph)
    keep = connected_states(matrix, largest_component)
    if keep is not None:
        matrix = csr_array(matrix[keep][:, keep])
        labels = tuple(labels[s] for s in keep) if labels is not None else None
        positions = np.asarray(positions)[keep] if positions is not None else None
    return world_from_weights(matrix, positions=positions, labels=labels, name=name)


def world_from_weights(
    matrix: csr_array,
    *,
    positions: ArrayLike | None = None,
    labels: tuple[Hashable, ...] | None = None,
    observations: NDArray[np.float64] | None = None,
    lengths: NDArray[np.float64] | None = None,
    actions: NDArray[np.int32] | None = None,
    name: str,
) -> World:
    """Return the world of a connected graph whose weights were checked: one choice per edge."""
    n_edges = matrix.nnz
    transitions = csr_array(
        (np.ones(n_edges), read_only(matrix.indices), np.arange(n_edges + 1)), shape=(n_edges, matrix.shape[0])
    )
    return World(
        transitions,
        matrix.indptr,
        actions=actions,
        weights=None if (matrix.data == 1.0).all() else matrix.data,
        lengths=lengths,
        positions=positions,  # type: ignore[arg-type]
        labels=labels,
        observations=observations,
        name=name,
    ).knowing(Known(connected=True))


def _networkx_weights(graph: Any, labels: tuple[Hashable, ...]) -> csr_array:
    import networkx

    if not labels:
        raise InvalidInput("graph must have at least one node; got none.")
    try:
        return networkx.to_scipy_sparse_array(graph, nodelist=list(labels), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"edge weights must be numbers; got {error}.") from error


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
    x, y = array.T
    # networkx draws y upwards, rows are counted downwards.
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


def connected_states(matrix: csr_array, largest_component: bool) -> NDArray[np.int64] | None:
    """Return None if the graph is (weakly) connected, else the states of its largest component if that is wanted."""
    n_components, component = connected_components(matrix, directed=True, connection="weak")
    if n_components == 1:
        return None
    sizes = np.bincount(component)
    if not largest_component:
        raise NotConnected(
            f"adjacency must be connected; got {n_components} components (sizes {listed(np.sort(sizes)[::-1])}). "
            "Pass largest_component=True to keep the largest."
        )
    return np.flatnonzero(component == sizes.argmax())
