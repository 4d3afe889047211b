"""What a score may differ by from the decimal reference: its stated bound, its standard error, or rounding."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import farpoint as fp
from tests.helpers import precise

TIMES = (0.5, 1, 4, 13, 100, 10_000, 10**9)


def without_loops(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weights of the walk, which has no self-loops."""
    return weights - np.diag(np.diag(weights))


def check_right(found: fp.Scores, exact: NDArray[np.float64], pi_squared: float) -> None:
    """Fail where a score is not what it is said to be."""
    error = np.abs(np.asarray(found) - exact)
    size = exact + pi_squared
    assert np.isfinite(error).all()
    if found.standard_error is not None:
        # Fixed seeds: the largest deviation in these tests is 2.5 standard errors.
        assert (error <= 5.0 * found.standard_error + 1e-24 * size).all()
    elif found.error_bound is not None:
        assert (error <= found.error_bound).all()
    else:
        rounding = 2.0**-50 * (found.t + exact.size) if found.solver == "local" else 1e-9
        assert (error <= min(rounding, 1e-9) * size).all()


def squares(weights: NDArray[np.float64]) -> float:
    """Σ π₀²."""
    return float((precise.stationary(weights) ** 2).sum())
