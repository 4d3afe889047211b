"""How far a score may be from f_t: when part of the walk was dropped, and by the rounding of doubles."""

from __future__ import annotations

from numbers import Real

import numpy as np
from numpy.typing import NDArray

from farpoint.errors import InvalidInput

# Half the distance from 1 to the next double.
UNIT = 2.0**-53
# A bound on rounding that is below this share of ‖p‖² is not stated.
_NEGLIGIBLE = 1e-9
# Below this the rounding of the numbers themselves would be taken for the error asked for.
_FINEST_TOLERANCE = 1e-10


def check_tolerance(tolerance: object) -> float | None:
    """Return the relative error as a float if it is valid; None stands for none.

    >>> check_tolerance(np.float32(0.5))
    0.5
    """
    if tolerance is None:
        return None
    if isinstance(tolerance, bool) or not isinstance(tolerance, Real):
        raise InvalidInput(f"tolerance must be a number from {_FINEST_TOLERANCE:g} to 1; got {tolerance!r}.")
    number = float(tolerance)
    if not _FINEST_TOLERANCE <= number < 1.0:
        raise InvalidInput(f"tolerance must be a number from {_FINEST_TOLERANCE:g} to 1; got {tolerance!r}.")
    return number


def loss_bound(lost: NDArray[np.float64], peak: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a bound on the error of ‖p − π‖² when mass ``lost`` of p was dropped on the way.

    p = p̂ + r with r ≥ 0 and ‖r‖₁ = lost, because a step keeps the mass that it is given. So
    |‖p − π‖² − ‖p̂ − π‖²| = |2 ⟨p̂ − π, r⟩ + ‖r‖²| ≤ 2 max|p̂ − π| · lost + lost².
    """
    return np.asarray(2.0 * peak * lost + lost**2)


def rounding_bound(
    scores: NDArray[np.float64], t: int, degree: int, n_terms: int, pi_squared: float, pi_error: float = 0.0
) -> NDArray[np.float64]:
    """Return a bound on the rounding of scores that were computed from walks of t steps.

    All terms of a step are positive, so each of the t steps adds at most (degree + 3) units to the relative error of
    every entry: ε in all, for π too. Hence 2 ε ‖p − π‖ (‖p‖ + ‖π‖) + ε² (…)² for the difference, with
    ‖p‖ ≤ ‖p − π‖ + ‖π‖, and one unit of (‖p‖ + ‖π‖)² for each of the terms that are summed. Where π is known to
    ``pi_error`` only, that is added to ε.
    """
    epsilon = (degree + 3) * (t + 1) * UNIT + pi_error
    root = np.sqrt(np.maximum(scores, 0.0))
    sizes = root + 2.0 * np.sqrt(pi_squared)
    return np.asarray(2.0 * epsilon * root * sizes + (epsilon**2 + n_terms * UNIT) * sizes**2)


def distance_bound(scores: NDArray[np.float64], error: NDArray[np.float64] | float) -> NDArray[np.float64]:
    """Return a bound on the error of ‖p − π‖² when p is within ``error`` of what it should be.

    >>> distance_bound(np.array([0.25]), 0.1).round(3)
    array([0.11])
    """
    return np.asarray(2.0 * np.sqrt(np.maximum(scores, 0.0)) * error + np.square(error))


def product_bound(scores: NDArray[np.float64], t: int, n_states: int, pi_error: float) -> NDArray[np.float64]:
    """Return a bound on the rounding of scores that were computed from the dense matrix (W − π1ᵀ)ᵗ.

    The columns of its powers have a sum of sizes of at most 2, so a product adds at most 4 (n + 3) units to that of
    the error, and a squaring doubles what there is: 4 (n + 3) t units in all.
    """
    return distance_bound(scores, 4.0 * (n_states + 3) * t * UNIT + 2.0 * pi_error)


def worth_stating(
    bound: NDArray[np.float64], scores: NDArray[np.float64], pi_squared: float
) -> NDArray[np.float64] | None:
    """Return a bound on rounding, or None where it is below 10⁻⁹ of the numbers that were subtracted."""
    return None if (bound <= _NEGLIGIBLE * (scores + pi_squared)).all() else bound
