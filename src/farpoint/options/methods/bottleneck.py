"""Options across bottlenecks: normalized cuts of the graph, again and again (Q-cut, Menache et al., 2002; L-cut, Şimşek
et al., 2005; clustering, Mannor et al., 2004).
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from farpoint.diffusion import Walk
from farpoint.diffusion.spectral import walk_spectrum
from farpoint.options.methods.diffusion import count_options
from farpoint.options.methods.request import DiscoveryRequest, check_memory
from farpoint.options.option_set import OptionSet
from farpoint.worlds import World


def bottleneck_options(world: World, request: DiscoveryRequest) -> OptionSet:
    """Return two options per cut: from each side to the state in which the other side is entered.

    The part with the most states is cut next, where the normalized cut is least along the Fiedler vector. An option
    starts on its side of the cut and ends in its goal, the middle one of the states across that the most moves enter.
    """
    n_options = count_options(world, request)
    check_memory(world, n_options, (n_options + 7) // 8)
    graph = csr_array(Walk.of(world).symmetrized().moves)
    allowed = ~world.terminal
    goals: list[int] = []
    regions: list[NDArray[np.bool_]] = []
    values: list[float] = []
    parts: list[tuple[int, int, NDArray[np.int64]]] = []
    for part in _components(graph, np.arange(world.n_states)):
        _push(parts, part)
    while len(goals) < n_options and parts:
        _, _, states = heappop(parts)
        cut = normalized_cut(csr_array(graph[states][:, states]))
        for inside in (cut.side, ~cut.side):
            entry = _entry(graph, states[inside], states[~inside], allowed)
            if entry is not None:
                region = np.zeros(world.n_states, dtype=bool)
                region[states[inside]] = True
                goals.append(entry)
                regions.append(region)
                values.append(cut.value)
            for part in _components(graph, states[inside]):
                _push(parts, part)
    missing = n_options - len(goals)
    if missing > 0:
        # A world of few states has fewer cuts than options: the others lead to states that are no goal yet.
        left = np.setdiff1d(np.flatnonzero(allowed), goals)[:missing]
        goals += left.tolist()
        regions += [np.ones(world.n_states, dtype=bool)] * left.size
        values += [1.0] * left.size
    record = {"normalized_cuts": np.array(values[:n_options])}
    return OptionSet(world, np.array(goals[:n_options]), "bottleneck", record, regions=np.array(regions[:n_options]))


def _push(parts: list[tuple[int, int, NDArray[np.int64]]], states: NDArray[np.int64]) -> None:
    if states.size > 1:
        heappush(parts, (-states.size, int(states[0]), states))


def _components(graph: csr_array, states: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    count, component = connected_components(graph[states][:, states], directed=False)
    return [states[component == number] for number in range(count)]


def _entry(
    graph: csr_array, inside: NDArray[np.int64], outside: NDArray[np.int64], allowed: NDArray[np.bool_]
) -> int | None:
    """Return the state outside that is entered from inside; None if an option may lead to none of them."""
    entering = np.asarray(graph[inside][:, outside].sum(axis=0)) * allowed[outside]
    if not entering.any():
        return None
    most = np.flatnonzero(entering >= entering.max() * (1.0 - 1e-9))
    return int(outside[most[most.size // 2]])


@dataclass(frozen=True, eq=False)
class Cut:
    """Which states are on one side, and the normalized cut: between 0 (no edge across) and 2."""

    side: NDArray[np.bool_]
    value: float


def normalized_cut(graph: csr_array) -> Cut:
    r"""Return the least normalized cut of a connected graph along its Fiedler vector (Shi and Malik, 2000).

    cut(A, B) (1 / vol A + 1 / vol B), over all thresholds of D^(−1/2) ψ₂.

    Examples
    --------
    >>> import farpoint as fp
    >>> normalized_cut(fp.World.from_map("###.###\n.......").neighbors).side.sum()
    np.int64(3)
    """
    walk = Walk(graph, symmetric=True)
    degrees = walk.leaving
    if graph.shape[0] == 2:
        return Cut(np.array([True, False]), 2.0)
    fiedler = walk_spectrum(walk, 2).psi[:, 1] / np.sqrt(degrees)
    order = np.argsort(fiedler, kind="stable")
    rank = np.empty(order.size, dtype=np.int64)
    rank[order] = np.arange(order.size)
    edges = graph.tocoo()
    low, high = np.minimum(rank[edges.row], rank[edges.col]), np.maximum(rank[edges.row], rank[edges.col])
    # An edge, which the matrix holds twice, crosses the thresholds from its lower end up to its higher end.
    crossing = np.bincount(low, 0.5 * edges.data, order.size) - np.bincount(high, 0.5 * edges.data, order.size)
    cut = np.cumsum(crossing)[:-1]
    volume = np.cumsum(degrees[order])[:-1]
    values = cut * (1.0 / volume + 1.0 / (degrees.sum() - volume))
    best = int(values.argmin())
    side = np.zeros(order.size, dtype=bool)
    side[order[: best + 1]] = True
    return Cut(side, float(values[best]))
