"""The stochastic 4Rooms world of section 4.3, by Algorithm 2 and by the walk's own form."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import polar

import farpoint as fp
from tests.helpers import brute


@pytest.fixture(scope="module")
def windy() -> fp.World:
    return fp.four_rooms(wind=1 / 3)


def cell(world: fp.World, row: int, column: int) -> int:
    return int(np.asarray(world.positions).tolist().index([row, column]))


def test_fourteen_goals_with_the_top_rows_highest(windy: fp.World) -> None:
    scores = fp.score(windy, 4)
    assert (scores.solver, scores.form) == ("spectral", "polar")
    assert len(fp.find_goals(windy, scores)) == 14
    values = [scores[cell(windy, *where)] for where in ((1, 1), (7, 5), (11, 1))]
    assert values == pytest.approx([0.280, 0.343, 0.069], abs=5e-4)


def test_rows_as_from_would_turn_the_picture_upside_down(windy: fp.World) -> None:
    turned = fp.World.from_graph(windy.adjacency.T)
    right, wrong = fp.score(windy, 4), fp.score(turned, 4)
    top, bottom = cell(windy, 1, 1), cell(windy, 11, 1)
    assert right[top] > right[bottom]
    assert wrong[top] < wrong[bottom]


def test_walk_form_has_eighteen_goals(windy: fp.World) -> None:
    scores = np.asarray(fp.score(windy, 4, form="walk"))
    assert len(fp.find_goals(windy, scores)) == 18
    upper = np.asarray(windy.positions)[:, 0] <= 6
    assert (scores[upper].mean(), scores[~upper].mean()) == pytest.approx((0.160, 0.113), abs=5e-4)


def test_walk_form_by_brute_force(windy: fp.World) -> None:
    weights = windy.adjacency.toarray()
    after = np.linalg.matrix_power(brute.walk(weights), 4)
    expected = ((after - brute.stationary(weights)[:, None]) ** 2).sum(axis=0)
    np.testing.assert_allclose(fp.score(windy, 4, "local", form="walk"), expected, atol=1e-12)


def test_algorithm_2_by_scipys_polar_decomposition(windy: fp.World) -> None:
    # N = R U, eigenvectors of R, Eq. 1: the algorithm as printed, with another decomposition than ours.
    m = windy.adjacency.toarray().T
    degrees = m.sum(axis=1)
    laplacian = np.eye(len(m)) - m / np.sqrt(np.outer(degrees, degrees))
    _, r = polar(laplacian, side="left")
    nu, psi = np.linalg.eigh((r + r.T) / 2)
    phi, phi_tilde = psi / np.sqrt(degrees)[:, None], psi * np.sqrt(degrees)[:, None]
    terms = phi_tilde[:, None, 1:] * (phi[None, :, 1:] * (1 - nu[1:] / 2) ** 4)
    np.testing.assert_allclose(fp.score(windy, 4), (terms.sum(axis=2) ** 2).sum(axis=0), atol=1e-9)


@pytest.mark.parametrize("name", ["ring", "maze", "four_rooms"])
def test_no_wind_through_algorithm_2_equals_algorithm_1(name: str) -> None:
    world = fp.worlds.named_world(name)
    laplacian = fp.diffusion.normalized_laplacian(world).toarray()
    left, singular, _ = np.linalg.svd(laplacian)
    components = fp.diffusion.Spectrum(
        1 - singular[::-1] / 2, left[:, ::-1], world.adjacency.sum(axis=0), 0.0, fp.diffusion.Walk.of(world).fingerprint
    )
    np.testing.assert_allclose(
        fp.score(world, 4, "spectral", decomposition=components), fp.score(world, 4, "spectral"), atol=1e-12
    )


def test_windy_choices_are_as_described() -> None:
    # Up from the middle of three cells in a column: blown down with probability 1/3 all the same.
    column = fp.World.from_map(".\n.\n.", wind=1 / 3)
    expected = np.array([[0, 1, 0], [2 / 3, 0, 1 / 3], [0, 0, 1], [0, 1, 0]])
    np.testing.assert_allclose(column.transitions.toarray(), expected, atol=1e-15)
