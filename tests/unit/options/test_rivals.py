"""Eigenoptions and cover options of worlds too large to decompose anew, against the plain way."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg
from scipy.sparse import diags_array

import farpoint as fp
from farpoint.diffusion.scores.choose import POLAR_LIMIT
from farpoint.diffusion.spectra.decomposition import with_fixed_signs
from farpoint.options import rivals


def windy_maze(side: int) -> fp.World:
    return fp.World.from_map(fp.random_maze(side, side).to_text(), wind=1 / 3, largest_component=True)


@pytest.mark.parametrize("world", [fp.random_maze(36, 36), windy_maze(30)], ids=str)
def test_cover_options_equal_those_of_a_new_dense_decomposition_each_time(world: fp.World) -> None:
    options = fp.discover(world, "cover", n_options=7)
    assert options.starts is not None
    weights = world.adjacency.toarray()
    for pair in range(4):
        dense = fp.diffusion.normalized_laplacian(fp.World.from_graph(weights)).toarray()
        fiedler = with_fixed_signs(linalg.svd(dense)[0][:, -2:-1])[:, 0]
        low, high = int(fiedler.argmin()), int(fiedler.argmax())
        assert (options.starts[2 * pair], options.goals[2 * pair]) == (low, high)
        weights[low, high] += 1.0
        weights[high, low] += 1.0


@pytest.mark.parametrize("include_first", [True, False])
@pytest.mark.parametrize("n_options", [1, 4, 5])
def test_eigenoptions_of_a_large_world_climb_the_eigenvectors_down_then_up(include_first: bool, n_options: int) -> None:
    world = fp.random_maze(40, 40)
    climbs = fp.discover(world, "eigen", n_options=n_options, include_first=include_first).climbs
    assert climbs is not None
    assert climbs.shape == (n_options, world.n_states)
    psi = with_fixed_signs(linalg.eigh(fp.diffusion.normalized_laplacian(world).toarray())[1])
    for option, climb in enumerate(climbs):
        column = psi[:, option // 2 + (0 if include_first else 1)]
        np.testing.assert_allclose(climb, column if option % 2 else -column, atol=1e-9)


def test_eigenoptions_of_a_windy_world_beyond_the_dense_limit_climb_left_singular_vectors() -> None:
    world = windy_maze(64)
    assert world.n_states > POLAR_LIMIT
    climbs = fp.discover(world, "eigen", n_options=6).climbs
    assert climbs is not None
    laplacian = fp.diffusion.normalized_laplacian(world)
    for climb in climbs:
        image = laplacian @ (laplacian.T @ climb)
        np.testing.assert_allclose(image, climb * (climb @ image), atol=1e-10)


def test_worlds_without_a_polar_factor_or_with_wide_layers_are_symmetrized(monkeypatch: pytest.MonkeyPatch) -> None:
    n = POLAR_LIMIT + 1
    path = diags_array([1.0, 1.0], offsets=[-1, 1], shape=(n, n)).tolil()
    path[1, 0] = 0.0
    no_way_in = fp.World.from_graph(path)
    assert not no_way_in.symmetric
    assert rivals._affordable(no_way_in).symmetric
    windy = windy_maze(64)
    assert rivals._affordable(windy) is windy
    monkeypatch.setattr(rivals, "is_wide", lambda adjacency: True)
    both_ways = rivals._affordable(windy)
    assert (both_ways.adjacency != windy.adjacency + windy.adjacency.T).nnz == 0
