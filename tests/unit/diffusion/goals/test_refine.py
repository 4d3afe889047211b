"""Goals of an estimated score, climbed to on exact scores."""

from __future__ import annotations

import numpy as np
import pytest

import farpoint as fp
from farpoint.errors import InvalidInput
from tests.helpers.graphs import cylinder


def test_refined_goals_are_maxima_of_the_exact_score() -> None:
    world, t = fp.random_maze(70, 70, seed=4), 50
    exact = fp.score(world, t, "local")
    true = fp.find_goals(world, exact)
    rough = fp.score(world, t, "probes", n_probes=256)
    refined = fp.diffusion.refine_goals(world, rough)
    assert np.isin(refined.states, true.states).all()
    # A maximum with a wide basin is not missed; small ones may be.
    prominent = true.most_prominent(len(true) // 2)
    assert np.isin(prominent.states, refined.states).mean() > 0.9
    heights = exact[refined.states]
    np.testing.assert_allclose(refined.heights, heights, rtol=1e-5)
    options = fp.discover(world, t=t, solver="probes")
    assert set(options.goals) <= set(true.states)


def test_scores_of_another_kind_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"scores must be what score\(\) returned"):
        fp.diffusion.refine_goals(fp.ring(), np.ones(192))  # type: ignore[arg-type]


def test_plateaus_and_symmetrized_worlds_keep_their_goals() -> None:
    world = cylinder(24, 8)
    rough = fp.score(world, 60, "probes")
    assert fp.diffusion.refine_goals(world, rough).states.tolist() == [0, 7]
    assert sorted(fp.discover(world, t=60, solver="probes").goals) == [0, 7]
    windy = fp.four_rooms(0.3)
    rough = fp.score(windy, 20, "probes", form="symmetrized", n_probes=1000)
    exact = fp.find_goals(windy, fp.score(windy, 20, form="symmetrized"))
    refined = fp.diffusion.refine_goals(windy, rough)
    assert np.isin(refined.states, exact.states).all()
    np.testing.assert_allclose(refined.heights.max(), exact.heights.max(), rtol=1e-7)


def test_goals_climb_from_maxima_that_are_not_those_of_the_exact_score() -> None:
    # Estimates with maxima next to the corners of a room: from there it is uphill to the corners.
    world = fp.open_room(9, 9)
    rough = fp.score(world, 6, "local").copy()
    rough[:] = 0.0
    rough[[10, 70]] = [2.0, 1.0]
    refined = fp.diffusion.refine_goals(world, rough)
    assert refined.states.tolist() == [0, 80]
    np.testing.assert_allclose(refined.heights, fp.score(world, 6, "local")[[0, 80]], rtol=1e-7)


def test_a_prominence_that_is_no_number_is_refused_with_probes_too() -> None:
    with pytest.raises(InvalidInput, match="min_prominence must be at least 0; got 'high'"):
        fp.discover(fp.maze(), min_prominence="high", n_probes=4)  # type: ignore[arg-type]
