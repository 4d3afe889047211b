"""From a world to groups of its states."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from farpoint.aggregation.chain import Chain
from farpoint.aggregation.grouping import exact_distances, exact_groups, near_groups
from farpoint.aggregation.quotient import Aggregation
from farpoint.blas import one_blas_thread
from farpoint.diffusion import Walk
from farpoint.errors import InvalidInput, check_integer, check_positive
from farpoint.worlds import World, WorldLike, as_world

_LONGEST = 1_000


@one_blas_thread()
def aggregate(
    world: WorldLike,
    *,
    n_groups: int | None = None,
    tolerance: float | None = None,
    t: int = 4,
    keep: ArrayLike | None = None,
    seed: int = 0,
) -> Aggregation:
    """Return the states in groups that move alike, with the world of the groups and what its answers are worth.

    With ``n_groups`` or ``tolerance``, states whose diffusion distance D_t(s, s′) = ‖Wᵗe_s − Wᵗe_s′‖ is small share a
    group, the idea that the paper leaves to future work. With neither, the groups are the coarsest ones between which
    the random walk is exactly a random walk (ordinary lumpability), the states in ``keep`` being told apart.

    Parameters
    ----------
    world : World
    n_groups : int, optional
        How many.
    tolerance : float, optional
        The largest distance of a state from the representative of its group.
    t : int
        Diffusion time.
    keep : array of int, optional
        States that are not joined with others: those that a task is about. Default: none, but without ``n_groups`` or
        ``tolerance`` the world's targets as one group, or its start, or state 0: otherwise one group would do.
    seed : int
        Of the random directions in which distances are compared first.

    Raises
    ------
    InvalidInput
        Both ``n_groups`` and ``tolerance``; fewer groups than states to keep.

    Examples
    --------
    >>> import networkx as nx, farpoint as fp
    >>> cube = fp.World.from_graph(nx.convert_node_labels_to_integers(nx.hypercube_graph(10)))
    >>> fp.aggregate(cube, keep=[0])                     # by Hamming weight
    Aggregation(1024 states of graph in 11 groups, exact)
    >>> fp.aggregate(fp.four_rooms(), n_groups=40).steps_to(0).estimate.shape
    (104,)
    """
    world = as_world(world)
    walk = Walk.of(world)
    t, seed = check_integer("t", t, 1, _LONGEST), check_integer("seed", seed, 0)
    if n_groups is not None and tolerance is not None:
        raise InvalidInput("n_groups must go without tolerance; got both. Drop one of them.")
    apart = _apart(world, keep, exact=n_groups is None and tolerance is None)
    if n_groups is None and tolerance is None:
        groups = exact_groups(Chain.of(world), apart, seed=seed)
        representatives = np.unique(groups, return_index=True)[1]
        return Aggregation(world, groups, representatives, t, exact_distances(walk, t, groups, representatives))
    if n_groups is not None:
        least = int(np.unique(apart).size)
        n_groups = check_integer("n_groups", n_groups, 1, world.n_states)
        if n_groups < least:
            raise InvalidInput(f"n_groups must be at least {least}, with the states to keep; got {n_groups}.")
    else:
        tolerance = check_positive("tolerance", tolerance)
    found = near_groups(walk, t, n_groups=n_groups, tolerance=tolerance, apart=apart, seed=seed)
    return Aggregation(world, found[0], found[1], t, found[2])


def _apart(world: World, keep: ArrayLike | None, *, exact: bool) -> NDArray[np.int64]:
    """Return a number for each state; states of different numbers are never joined."""
    apart = np.zeros(world.n_states, dtype=np.int64)
    if keep is not None:
        kept = np.unique(world.check_states("keep", keep))
        apart[kept] = np.arange(1, kept.size + 1)
    elif exact and world.targets is not None and world.targets.size:
        apart[world.targets] = 1
    elif exact:
        apart[0 if world.start is None else world.start] = 1
    # To end an episode is not like anything else.
    return np.where(world.terminal, apart + world.n_states, apart)
