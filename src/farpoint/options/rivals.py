"""The methods that diffusion options are compared with: eigenoptions, cover options."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from farpoint.diffusion import Spectrum, spectrum
from farpoint.diffusion.choose import POLAR_LIMIT
from farpoint.domain import Domain
from farpoint.options.option_set import OptionSet


def goal_states(domain: Domain) -> NDArray[np.int64]:
    """Return the states that an option may lead to: all, but for those in which an episode ends."""
    if domain.restart is None:
        return np.arange(domain.n_states)
    return np.flatnonzero(domain.restart < 1.0)


def eigenoptions(domain: Domain, n_options: int, *, include_first: bool = True) -> OptionSet:
    """Return the options that climb ∓ψ₁, ∓ψ₂, … and end where no neighbour is higher (Machado et al., 2017).

    ψ are the eigenvectors of the normalized Laplacian; in worlds that are not symmetric, those of its polar factor, or,
    beyond 2 500 states, those of the symmetrized weights.
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
    skipped = 0 if include_first else 1
    n_vectors = (n_options + 1) // 2
    psi = _affordable_spectrum(domain, n_vectors + skipped).psi[:, skipped:]
    climbs = np.stack([-psi, psi], axis=2).reshape(domain.n_states, -1).T[:n_options].copy()
    # An option must not climb into a state in which the episode ends, no more than another may lead there.
    outside = np.setdiff1d(np.arange(domain.n_states), goal_states(domain))
    climbs[:, outside] = -1.0 - np.abs(climbs).max()
    record = {"include_first": include_first}
    return OptionSet(domain, climbs.argmax(axis=1), "eigen", record, climbs=np.ascontiguousarray(climbs))


def cover_options(domain: Domain, n_options: int) -> OptionSet:
    """Return pairs of options between the two states that the Fiedler vector sets farthest apart (Jinnai et al., 2019).

    After each pair its edge is added to the graph and the Fiedler vector taken anew. Each option starts only in the
    state at its other end. With an odd number the last pair has one option.

    Examples
    --------
    >>> import farpoint as fp
    >>> options = cover_options(fp.grid((6,)), 2)
    >>> options.starts, options.goals     # ψ is largest next to the ends, whose degree is small
    (array([4, 1]), array([1, 4]))
    """
    weights = domain.walker.adjacency.copy()
    allowed = goal_states(domain)
    ends: list[tuple[int, int]] = []
    while len(ends) < n_options:
        fiedler = _fiedler_vector(weights)
        low, high = int(allowed[fiedler[allowed].argmin()]), int(allowed[fiedler[allowed].argmax()])
        ends += [(low, high), (high, low)]
        edge = csr_array(([1.0, 1.0], ([low, high], [high, low])), shape=weights.shape)
        weights = csr_array(weights + edge)
    starts, goals = np.array(ends[:n_options]).T
    return OptionSet(domain, goals, "cover", starts=starts)


def _fiedler_vector(weights: csr_array) -> NDArray[np.float64]:
    return np.asarray(_affordable_spectrum(Domain.from_adjacency(weights), 2).psi[:, 1])


def _affordable_spectrum(domain: Domain, n_components: int) -> Spectrum:
    walker = domain.walker
    if not walker.symmetric and walker.n_states > POLAR_LIMIT:
        walker = Domain.from_adjacency(walker.adjacency + walker.adjacency.T)
    return spectrum(walker, n_components)
