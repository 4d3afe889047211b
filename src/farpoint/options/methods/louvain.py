"""Louvain skills: options between neighboring communities, on several levels (Evans and Şimşek, 2023)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_matrix

from farpoint.diffusion import Walk
from farpoint.errors import InvalidInput, MissingExtra
from farpoint.options.methods.diffusion import count_options
from farpoint.options.methods.request import DiscoveryRequest, check_memory
from farpoint.options.option_set import OptionSet
from farpoint.options.routes import moves_to_any
from farpoint.worlds import World

# The resolution of modularity that the paper has.
_RESOLUTION = 0.05
# Communities of communities of …: no world needs more levels.
_MOST_LEVELS = 30


def louvain_options(world: World, request: DiscoveryRequest) -> OptionSet:
    """Return options from each community to each that is next to it, those of the highest level first.

    Levels are the partitions of the Louvain algorithm (scikit-network, ``farpoint[graphs]``), which joins communities
    as long as that raises the modularity. An option starts in its community and ends in any state of the other, by the
    shortest way. Paper: policies of one level take the skills of the level below. Here: primitive choices, which lead
    there as soon or sooner.
    """
    n_options = count_options(world, request)
    check_memory(world, n_options, n_options)
    levels = communities(world, seed=request.seed)
    pairs = [
        (members, source, target)
        for members in reversed(levels)
        for source, target in _next_to_each_other(world, members)
    ]
    if request.n_options is None:
        n_options = min(n_options, len(pairs))  # as many as there are
    if len(pairs) < n_options:
        raise InvalidInput(
            f"n_options must be at most the number of pairs of neighboring communities; got {n_options}, and there "
            f"are {len(pairs)}. Ask for fewer."
        )
    climbs = np.empty((n_options, world.n_states))
    regions = np.empty((n_options, world.n_states), dtype=bool)
    for number, (members, source, target) in enumerate(pairs[:n_options]):
        moves = moves_to_any(world.incoming, np.flatnonzero((members == target) & ~world.terminal).tolist())
        reached = np.isfinite(moves)
        climbs[number] = -np.where(reached, moves, world.n_states)
        regions[number] = (members == source) & reached
    record = {"levels": [int(members.max()) + 1 for members in levels]}
    goals = climbs.argmax(axis=1) if n_options else np.empty(0, dtype=np.int64)
    return OptionSet(world, goals, "louvain", record, climbs=climbs, regions=regions)


def communities(world: World, *, seed: int = 0) -> list[NDArray[np.int64]]:
    """Return the community of each state on every level, from the finest to the last that is not the whole world.

    Examples
    --------
    >>> import farpoint as fp
    >>> levels = communities(fp.four_rooms())
    >>> [int(members.max()) + 1 for members in levels][-1] >= 2
    True
    """
    try:
        from sknetwork.clustering import Louvain
    except ImportError as error:
        raise MissingExtra(
            "scikit-network must be installed for method='louvain'. Run: pip install 'farpoint[graphs]'"
        ) from error
    graph = csr_matrix(Walk.of(world).symmetrized().moves)  # of the older kind: the package takes no arrays
    levels: list[NDArray[np.int64]] = []
    for count in range(1, _MOST_LEVELS + 1):
        labels: Any = Louvain(resolution=_RESOLUTION, n_aggregations=count, random_state=seed).fit_predict(graph)
        members = np.asarray(labels, dtype=np.int64)
        if members.max() == 0 or (levels and members.max() == levels[-1].max()):
            break
        levels.append(members)
    return levels


def _next_to_each_other(world: World, members: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Return the ordered pairs of communities that a move leads between, those with the most moves first."""
    edges = world.adjacency.tocoo()
    apart = members[edges.row] != members[edges.col]
    size = int(members.max()) + 1
    between = coo_array(
        (edges.data[apart], (members[edges.row[apart]], members[edges.col[apart]])), shape=(size, size)
    ).tocsr().tocoo()  # fmt: skip
    order = np.lexsort((between.col, between.row, -between.data))
    return [(int(between.row[place]), int(between.col[place])) for place in order]
