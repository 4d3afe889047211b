"""Bounds on the errors of scores, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from farpoint.diffusion.bounds import (
    check_tolerance,
    distance_bound,
    loss_bound,
    product_bound,
    rounding_bound,
    worth_stating,
)
from farpoint.errors import InvalidInput


def test_the_loss_of_mass_costs_twice_the_peak_and_its_square() -> None:
    # 2 · ½ · ¼ + 1/16
    assert loss_bound(np.array([0.25]), np.array([0.5])).tolist() == [0.3125]


def test_rounding_grows_with_steps_edges_and_terms() -> None:
    # ε = (1 + 3) · (1 + 1) / 2⁵³ = 2⁻⁵⁰, ‖p − π‖ = ½, ‖π‖ = ½: 2 ε · ½ · 3/2 + (ε² + 8 / 2⁵³) · 9/4
    found = rounding_bound(np.array([0.25]), 1, 1, 8, 0.25)
    np.testing.assert_allclose(found, (1.5 + 2.25) * 2.0**-50, rtol=1e-14)
    # A score of 0, and one that rounding has made negative: (ε² + 8 / 2⁵³) · 1
    np.testing.assert_allclose(rounding_bound(np.array([0.0, -1e-20]), 1, 1, 8, 0.25), 2.0**-50, rtol=1e-14)
    # With π known to ¼ only, ε = ¼: 2 · ¼ · ½ · 3/2 + 9/64, but for the units.
    np.testing.assert_allclose(rounding_bound(np.array([0.25]), 1, 1, 8, 0.25, 0.25), 0.375 + 9 / 64, rtol=1e-12)


def test_products_round_four_units_per_state_and_step() -> None:
    # 4 · (13 + 3) · 2 / 2⁵³ = 2⁻⁴⁶, and twice 2⁻⁴⁷ of π: 2⁻⁴⁵. Then 2 · ½ · 2⁻⁴⁵ and a square.
    np.testing.assert_allclose(product_bound(np.array([0.25]), 2, 13, 2.0**-47), 2.0**-45, rtol=1e-12)
    assert distance_bound(np.array([0.25, -1.0]), 0.5).tolist() == [0.75, 0.25]


def test_only_rounding_beyond_a_billionth_is_stated() -> None:
    scores, small, large = np.array([1.0, 0.0]), np.array([1e-9, 0.9e-9]), np.array([0.0, 1.1e-9])
    assert worth_stating(small, scores, 1.0) is None
    assert worth_stating(large, scores, 1.0) is large


def test_tolerances_lie_between_rounding_and_one() -> None:
    assert check_tolerance(1e-10) == 1e-10
    for wrong in (0.9e-10, 1.0, 2.0, True, "small", float("nan")):
        with pytest.raises(InvalidInput, match="tolerance must be a number from 1e-10 to 1"):
            check_tolerance(wrong)
