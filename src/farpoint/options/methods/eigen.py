"""Eigenoptions: options that climb the eigenvectors of the normalized Laplacian (Machado et al., 2017)."""

from __future__ import annotations

import numpy as np

from farpoint.diffusion import Walk
from farpoint.diffusion.lanczos import is_wide
from farpoint.diffusion.scoring import POLAR_LIMIT
from farpoint.diffusion.spectral import walk_spectrum
from farpoint.errors import check_integer
from farpoint.options.methods.diffusion import count_options
from farpoint.options.methods.request import DiscoveryRequest, check_memory
from farpoint.options.option_set import OptionSet
from farpoint.worlds import World


def eigenoptions(world: World, request: DiscoveryRequest) -> OptionSet:
    """Return the options that climb ∓ψ₁, ∓ψ₂, … and end where no neighbor is higher.

    ψ are the eigenvectors of the normalized Laplacian; in worlds that are not symmetric, those of its polar factor, or,
    where that is not defined or its factors would fill up (more than 2 500 states), those of the symmetrized weights.
    ``include_first`` keeps ±ψ₁, as the authors of the paper do. Inside a repeated eigenvalue the vectors, and so the
    options, are one choice of many, which does not depend on the machine (`canonical_vectors`).
    """
    n_options = count_options(world, request)
    skipped = 0 if request.include_first else 1
    check_integer("n_options", n_options, 1, 2 * (world.n_states - skipped))
    check_memory(world, n_options, 2 * n_options)
    # The sign of an eigenvector is arbitrary, but of an odd number of options the last has no partner, so it matters
    # which comes first. With −ψ first (ψ has its largest entry positive) the published steps on 4Rooms at t = 13 and
    # Maze at t = 4 come out; with ψ first they are off by up to a quarter.
    n_vectors = (n_options + 1) // 2
    psi = walk_spectrum(affordable_walk(Walk.of(world)), n_vectors + skipped).psi
    climbs = np.empty((n_options, world.n_states))
    for option, climb in enumerate(climbs):
        np.multiply(psi[:, option // 2 + skipped], 1.0 if option % 2 else -1.0, out=climb)
    del psi
    # An option must not climb into a state in which the episode ends, no more than another may lead there.
    climbs[:, world.terminal] = -2.0 * max(climbs.max(), -climbs.min())
    record = {"include_first": request.include_first}
    return OptionSet(world, climbs.argmax(axis=1), "eigen", record, climbs=climbs)


def affordable_walk(walk: Walk) -> Walk:
    """Return the walk, or its symmetrized form where Algorithm 2 is not defined or cannot be afforded.

    A partial singular value decomposition needs sparse factors, which fill up in worlds with wide layers.
    """
    if walk.symmetric:
        return walk
    affordable = walk.n_states <= POLAR_LIMIT or not is_wide(walk.moves)
    return walk if affordable and not walk.polar_problem else walk.symmetrized()
