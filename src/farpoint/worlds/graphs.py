"""Worlds given as a graph: numpy arrays, scipy sparse matrices of any format, networkx graphs."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from scipy.sparse.csgraph import connected_components

from farpoint.errors import InvalidInput, NotConnected, listed

# Beyond these, sums and quotients of weights leave the range of doubles.
_LARGEST_SUM = 1e150


def read_graph(graph: Any) -> tuple[csr_array, tuple[Hashable, ...] | None]:
    """Return the checked weights (from, to) of a graph, and the names of its nodes where it has names."""
    labels: tuple[Hashable, ...] | None = None
    if hasattr(graph, "nodes") and hasattr(graph, "adj"):
        import networkx

        labels = tuple(graph.nodes)
        if not labels:
            raise InvalidInput("graph must have at least one node; got none.")
        try:
            graph = networkx.to_scipy_sparse_array(graph, nodelist=list(labels), dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InvalidInput(f"edge weights must be numbers; got {error}.") from error
    if np.iscomplexobj(graph):
        raise InvalidInput("adjacency must hold real weights; got complex numbers.")
    if not issparse(graph):
        try:
            graph = np.asarray(graph, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InvalidInput(f"adjacency must be a matrix of numbers; got {type(graph).__name__}.") from error
    if graph.ndim != 2 or graph.shape[0] != graph.shape[1]:
        raise InvalidInput(f"adjacency must be a square matrix; got shape {graph.shape}.")
    if graph.shape[0] == 0:
        raise InvalidInput("adjacency must have at least one state; got none.")
    # Floats first: repeated entries of small integers or booleans would overflow when they are added.
    matrix = csr_array(graph.astype(np.float64), copy=True)
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
    return matrix, labels


def connected_part(matrix: csr_array, largest_component: bool) -> NDArray[np.int64] | None:
    """Return None if the graph is (weakly) connected, else the states of its largest part if that is asked for."""
    n_parts, part = connected_components(matrix, directed=True, connection="weak")
    if n_parts == 1:
        return None
    sizes = np.bincount(part)
    if not largest_component:
        raise NotConnected(
            f"adjacency must be connected; got {n_parts} components (sizes {listed(np.sort(sizes)[::-1])}). "
            "Pass largest_component=True to keep the largest."
        )
    return np.flatnonzero(part == sizes.argmax())
