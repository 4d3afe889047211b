"""Spectra with repeated and nearly repeated eigenvalues: dense against decimals, iterative against closed forms."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pytest
from numpy.typing import NDArray

import farpoint as fp
from tests.helpers import precise
from tests.helpers.nasty import SYMMETRIC, two_cliques
from tests.numbers.checking import without_loops


@pytest.mark.parametrize("name", SYMMETRIC)
def test_dense_spectra_are_those_of_decimals(name: str) -> None:
    weights = without_loops(SYMMETRIC[name])
    found, (omega, _, degrees) = fp.spectrum(fp.World.from_graph(weights)), precise.spectrum(weights)
    n = len(weights)
    np.testing.assert_allclose(found.omega, precise.rounded(omega), rtol=0, atol=8 * n * 2.0**-53)
    np.testing.assert_allclose(found.psi.T @ found.psi, np.eye(n), rtol=0, atol=32 * n * 2.0**-53)
    laplacian = fp.diffusion.normalized_laplacian(fp.World.from_graph(weights)).toarray()
    np.testing.assert_allclose(laplacian @ found.psi, found.psi * found.nu, rtol=0, atol=32 * n * 2.0**-53)
    np.testing.assert_allclose(found.psi[:, 0] ** 2, precise.rounded(degrees / degrees.sum()), rtol=1e-14)
    assert found.omega[0] == 1.0


# ω = (1 + λ) / 2 with λ the eigenvalues of D⁻¹M: Chung, Spectral Graph Theory, section 1.2.
LARGE = {
    "path": (nx.path_graph(600), 0.5 + 0.5 * np.cos(np.pi * np.arange(600) / 599)),
    "cycle": (nx.cycle_graph(601), np.sort(0.5 + 0.5 * np.cos(2 * np.pi * np.arange(601) / 601))[::-1]),
    "star": (nx.star_graph(600), np.array([1.0, *np.full(599, 0.5), 0.0])),
    "complete": (nx.complete_graph(520), np.array([1.0, *np.full(519, 0.5 - 0.5 / 519)])),
    "cube": (
        nx.hypercube_graph(9),
        np.repeat(1.0 - np.arange(10) / 9, [math.comb(9, number) for number in range(10)]),
    ),
}


@pytest.mark.parametrize("n_components", [2, 9])
@pytest.mark.parametrize("name", LARGE)
def test_leading_eigenvalues_of_large_graphs_are_the_closed_forms(name: str, n_components: int) -> None:
    graph, omega = LARGE[name]
    found = fp.spectrum(fp.World.from_graph(graph), n_components)
    np.testing.assert_allclose(found.omega, omega[:n_components], rtol=0, atol=1e-12)
    assert found.omega_next == pytest.approx(omega[n_components], abs=1e-12)


@pytest.mark.parametrize("weight", [1e-12, 1e-8, 1e-4])
def test_the_second_eigenvalue_of_large_parts_that_are_nearly_apart(weight: float) -> None:
    size = 300
    # By symmetry ψ₂ is equal on all but the joined state of each clique: four classes of states, with the sums of
    # weights between them, have ν₂ too.
    lumped = np.zeros((4, 4))
    lumped[0, 1] = lumped[2, 3] = size - 1
    lumped[1, 1] = lumped[3, 3] = (size - 1) * (size - 2)
    lumped[0, 2] = weight
    lumped = np.maximum(lumped, lumped.T)
    omega = precise.rounded(precise.spectrum(lumped)[0])
    found = fp.spectrum(fp.World.from_graph(two_cliques(weight, size)), 2)
    assert found.omega[1] == pytest.approx(omega[1], abs=1e-13)


def cube_score(dimension: int, t: float) -> float:
    """f_t of every corner of a cube: the same everywhere, so the mean of Σ ω^{2t} over all n states."""
    terms = [math.comb(dimension, number) * (1.0 - number / dimension) ** (2 * t) for number in range(1, dimension)]
    return float(math.fsum(terms) / 2**dimension)


def star_scores(n_leaves: int, t: float) -> NDArray[np.float64]:
    """f_t of the center and of each leaf, from λ = 1, 0 (n − 1 times) and −1: after the first step ω = 1, ½, 0."""
    return np.array([0.0, (1.0 - 1.0 / n_leaves) * 0.25**t])


@pytest.mark.parametrize("t", [0.5, 1, 4, 13, 100])
def test_scores_from_leading_components_of_large_graphs_are_within_their_bounds(t: float) -> None:
    cube = fp.score(fp.World.from_graph(nx.hypercube_graph(9)), t, "truncated", n_components=50)
    assert cube.error_bound is not None
    assert (np.abs(cube - cube_score(9, t)) <= cube.error_bound).all()
    if t >= 1:
        star = fp.score(fp.World.from_graph(nx.star_graph(600)), t, "truncated", n_components=20)
        exact = star_scores(600, t)[np.minimum(np.arange(601), 1)]
        assert star.error_bound is not None
        assert (np.abs(star - exact) <= star.error_bound).all()
