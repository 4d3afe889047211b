"""Cover options: pairs of options between the ends of Fiedler vectors (Jinnai et al., 2019)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from farpoint.diffusion import Walk
from farpoint.diffusion.lanczos import FiedlerVectors
from farpoint.diffusion.spectral import SMALL, Laplacian, fixed_signs, walk_spectrum
from farpoint.options.methods.diffusion import count_options
from farpoint.options.methods.eigen import affordable_walk
from farpoint.options.methods.request import DiscoveryRequest, check_memory, goal_states
from farpoint.options.option_set import OptionSet
from farpoint.worlds import World


def cover_options(world: World, request: DiscoveryRequest) -> OptionSet:
    """Return pairs of options between the two states that the Fiedler vector sets farthest apart.

    After each pair its edge is added to the graph and the Fiedler vector computed anew, without a new factorization.
    Each option starts only in the state at its other end. With an odd number the last pair has one option.
    """
    n_options = count_options(world, request)
    check_memory(world, n_options, n_options // 2)
    graph = GrowingGraph(affordable_walk(Walk.of(world)))
    allowed = goal_states(world)
    ends: list[tuple[int, int]] = []
    while len(ends) < n_options:
        fiedler = graph.fiedler_vector()[allowed]
        low, high = int(allowed[fiedler.argmin()]), int(allowed[fiedler.argmax()])
        ends += [(low, high), (high, low)]
        graph.add_edge(low, high)
    initiation, goals = np.array(ends[:n_options]).T
    return OptionSet(world, goals, "cover", initiation=initiation)


class GrowingGraph:
    """A walk to which edges are added: small ones are decomposed anew each time, of large ones the work is kept."""

    def __init__(self, walk: Walk) -> None:
        self._walk = walk
        self._large = FiedlerVectors(Laplacian.of(walk)) if walk.n_states > SMALL else None

    def fiedler_vector(self) -> NDArray[np.float64]:
        """Return the Fiedler vector of the graph as it is now, its largest entry positive."""
        if self._large is None:
            return np.asarray(walk_spectrum(self._walk, 2).psi[:, 1])
        return fixed_signs(self._large.vector()[:, None])[:, 0]

    def add_edge(self, low: int, high: int) -> None:
        """Add an edge of weight 1 between two states."""
        if self._large is None:
            edge = csr_array(([1.0, 1.0], ([low, high], [high, low])), shape=self._walk.moves.shape)
            self._walk = replace(self._walk, matrix=csr_array(self._walk.moves + edge), floor=None)
        else:
            self._large.add_edge(low, high)
