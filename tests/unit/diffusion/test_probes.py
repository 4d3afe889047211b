"""Scores from random probes, and goals that are made sure on exact scores."""

from __future__ import annotations

import numpy as np
import pytest

import farpoint as fp
from farpoint.diffusion.scores.local import local_scores
from farpoint.errors import InvalidInput
from farpoint.experiments.bench.measuring import cylinder


@pytest.mark.parametrize("wind", [0.0, 0.2])
def test_the_estimate_is_within_its_standard_error(wind: float) -> None:
    world = fp.random_maze(40, 40, wind=wind)
    exact, _ = local_scores(world, 30)
    found = fp.score(world, 30, "probes", n_probes=400, seed=1)
    assert found.standard_error is not None
    deviation = (found - exact) / found.standard_error
    # Of a normal variable 4.55 % lie beyond 2; neighbors are alike, so the share over states is rougher than that.
    assert (np.abs(deviation) > 2).mean() < 0.12
    assert np.abs(deviation).max() < 6
    assert abs(deviation.mean()) < 1.0
    np.testing.assert_allclose(np.median(found.standard_error / found), np.sqrt(2 / 400), rtol=0.15)


def test_the_same_seed_gives_the_same_estimate_on_any_number_of_workers() -> None:
    world = fp.random_maze(30, 30)
    one = fp.score(world, 9, "probes", n_probes=20, seed=5, n_jobs=1)
    np.testing.assert_array_equal(fp.score(world, 9, "probes", n_probes=20, seed=5, n_jobs=3), one)
    assert not np.array_equal(fp.score(world, 9, "probes", n_probes=20, seed=6), one)


def test_refined_goals_are_maxima_of_the_exact_score() -> None:
    world, t = fp.random_maze(70, 70, seed=4), 50
    exact, _ = local_scores(world, t)
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
    with pytest.raises(InvalidInput, match="t must be a whole number with solver='probes'"):
        fp.score(fp.ring(), 2.5, "probes")


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
