"""Representatives of continuous observations."""

from __future__ import annotations

import numpy as np

from farpoint.exploration.representatives import Representatives, scale_of_steps


def test_every_observation_has_its_nearest_representative_and_no_two_are_near() -> None:
    points = np.random.default_rng(0).uniform(size=(8_000, 2)) * [1.0, 20.0]
    scale = np.array([0.02, 0.4])
    places = Representatives(scale)
    numbers = [places.number(point) for point in points]
    kept = places.observations / scale
    # So many that the older ones are in a tree.
    assert len(places) > 1_000
    away = np.linalg.norm(kept[:, None] - kept[None], axis=2)
    np.fill_diagonal(away, np.inf)
    assert away.min() > 1.0
    for point, number in zip(points[::50], numbers[::50], strict=True):
        distances = np.linalg.norm(kept - point / scale, axis=1)
        assert distances[number] <= 1.0
        assert places.nearest(point) == distances.argmin()
        # New ones came later, so that the nearest of all may be another one now.
        assert distances[: number + 1].argmin() == number or numbers.index(number) < len(places)
    assert places.nearest(np.array([50.0, 900.0])) >= 0


def test_numbers_follow_the_order_in_which_regions_are_seen() -> None:
    places = Representatives(np.array([1.0]))
    assert places.nearest(np.zeros(1)) == -1
    assert [places.number(np.array([x])) for x in (0.0, 5.0, 0.5, 9.0, 5.9)] == [0, 1, 0, 2, 1]
    np.testing.assert_array_equal(places.observations, [[0.0], [5.0], [9.0]])


def test_a_number_that_never_changes_is_ignored() -> None:
    scale = scale_of_steps(np.array([12.5, 0.0]))
    # Two steps.
    np.testing.assert_allclose(scale, [2.0 * np.sqrt(12.5), np.inf])
    places = Representatives(scale)
    assert [places.number(np.array([0.0, y])) for y in (0.0, 1e9)] == [0, 0]
