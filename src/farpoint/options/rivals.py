"""The methods that diffusion options are compared with: eigenoptions, cover options."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from farpoint.diffusion import Spectrum, normalized_laplacian, spectrum
from farpoint.diffusion.scores.choose import POLAR_LIMIT
from farpoint.diffusion.spectra.decomposition import SMALL, with_fixed_signs
from farpoint.diffusion.spectra.leading import FiedlerVectors, is_wide
from farpoint.diffusion.walk import both_ways, entering_weight, why_not_polar
from farpoint.errors import InvalidInput
from farpoint.options.option_set import OptionSet
from farpoint.worlds import World

# What the options of a method climb, or the answers to their edges, are vectors over all states.
_MOST_BYTES = 4 * 2**30


def check_room(world: World, n_options: int, n_vectors: int) -> None:
    """Fail before any work if so many vectors of one number a state would not fit."""
    if 8 * n_vectors * world.n_states > _MOST_BYTES:
        raise InvalidInput(
            f"n_options must leave {n_vectors} vectors of {world.n_states} states within {_MOST_BYTES >> 30} GiB; got "
            f"{n_options}. Ask for fewer with n_options."
        )


def goal_states(world: World) -> NDArray[np.int64]:
    """Return the states that an option may lead to: all, but for those in which an episode ends."""
    if world.restart is None:
        return np.arange(world.n_states)
    return np.flatnonzero(world.restart < 1.0)


def eigenoptions(world: World, n_options: int, *, include_first: bool = True) -> OptionSet:
    """Return the options that climb ∓ψ₁, ∓ψ₂, … and end where no neighbor is higher (Machado et al., 2017).

    ψ are the eigenvectors of the normalized Laplacian; in worlds that are not symmetric, those of its polar factor, or,
    where that is not defined or its factors would fill up (more than 2 500 states), those of the symmetrized weights.
    ``include_first`` keeps ±ψ₁, as the authors of the paper do. Inside a repeated eigenvalue the vectors, and so the
    options, are one choice of many.

    Examples
    --------
    >>> import farpoint as fp
    >>> eigenoptions(fp.four_rooms(), 4)
    OptionSet(4 eigen options on four_rooms)
    """
    # The sign of an eigenvector is arbitrary, but of an odd number of options the last has no partner, so it matters
    # which comes first. With −ψ first (ψ has its largest entry positive) the published steps on 4Rooms at t = 13 and
    # Maze at t = 4 come out; with ψ first they are off by up to a quarter.
    check_room(world, n_options, 2 * n_options)
    skipped = 0 if include_first else 1
    n_vectors = (n_options + 1) // 2
    psi = _affordable_spectrum(world, n_vectors + skipped).psi
    climbs = np.empty((n_options, world.n_states))
    for option, climb in enumerate(climbs):
        np.multiply(psi[:, option // 2 + skipped], 1.0 if option % 2 else -1.0, out=climb)
    del psi
    # An option must not climb into a state in which the episode ends, no more than another may lead there.
    outside = np.setdiff1d(np.arange(world.n_states), goal_states(world))
    climbs[:, outside] = -1.0 - max(climbs.max(), -climbs.min())
    record = {"include_first": include_first}
    return OptionSet(world, climbs.argmax(axis=1), "eigen", record, climbs=climbs)


def cover_options(world: World, n_options: int) -> OptionSet:
    """Return pairs of options between the two states that the Fiedler vector sets farthest apart (Jinnai et al., 2019).

    After each pair its edge is added to the graph and the Fiedler vector taken anew, without a new factorization. Each
    option starts only in the
    state at its other end. With an odd number the last pair has one option.

    Examples
    --------
    >>> import farpoint as fp
    >>> options = cover_options(fp.grid((6,)), 2)
    >>> options.starts, options.goals     # ψ is largest next to the ends, whose degree is small
    (array([4, 1]), array([1, 4]))
    """
    check_room(world, n_options, n_options // 2)
    graph = _Graph(world.walker)
    allowed = goal_states(world)
    ends: list[tuple[int, int]] = []
    while len(ends) < n_options:
        fiedler = graph.fiedler_vector()[allowed]
        low, high = int(allowed[fiedler.argmin()]), int(allowed[fiedler.argmax()])
        ends += [(low, high), (high, low)]
        graph.add_edge(low, high)
    starts, goals = np.array(ends[:n_options]).T
    return OptionSet(world, goals, "cover", starts=starts)


class _Graph:
    """A world to which edges are added: small ones are decomposed anew each time, of large ones the work is kept."""

    def __init__(self, walker: World) -> None:
        walker = _affordable(walker)
        self._weights = walker.adjacency
        self._large: FiedlerVectors | None = None
        if walker.n_states > SMALL:
            laplacian, degrees = normalized_laplacian(walker), entering_weight(walker)
            self._large = FiedlerVectors(laplacian, degrees, symmetric=walker.symmetric)

    def fiedler_vector(self) -> NDArray[np.float64]:
        if self._large is None:
            return np.asarray(spectrum(World.from_graph(self._weights), 2).psi[:, 1])
        return with_fixed_signs(self._large.vector()[:, None])[:, 0]

    def add_edge(self, low: int, high: int) -> None:
        if self._large is not None:
            self._large.add_edge(low, high)
        else:
            edge = csr_array(([1.0, 1.0], ([low, high], [high, low])), shape=self._weights.shape)
            self._weights = csr_array(self._weights + edge)


def _affordable_spectrum(world: World, n_components: int) -> Spectrum:
    return spectrum(_affordable(world.walker), n_components)


def _affordable(walker: World) -> World:
    """Return the world, or one with the weights of both directions added where Algorithm 2 cannot be afforded.

    A partial singular value decomposition needs sparse factors, which fill up in worlds with wide layers.
    """
    if walker.symmetric or walker.n_states <= POLAR_LIMIT:
        return walker
    if not why_not_polar(walker) and not is_wide(walker.adjacency):
        return walker
    return both_ways(walker)
