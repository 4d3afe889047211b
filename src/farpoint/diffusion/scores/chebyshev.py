"""The lazy walk of t steps as a sum of about √t Chebyshev polynomials of the walk that always moves.

With P the walk that never stays, the lazy walk is (I + P) / 2, and for x = cos θ

    ((1 + x) / 2)ᵗ = cos²ᵗ(θ / 2) = Σ_j c_j T_j(x),   c_j = 2 C(2t, t − j) / 4ᵗ for j > 0, c_0 = C(2t, t) / 4ᵗ.

The c_j are the chances of a coin: beyond a few √t they are next to nothing. All T_j(P) shrink vectors, in the norm that
weights a state by its degree, so what a sum up to j = J leaves out is known beforehand: at most Σ_{j > J} c_j.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

# Beyond so many √t no coefficient is left, not even in doubles.
_FARTHEST = 12.0
# 2/d, two sums one after the other and a product, of numbers of at most twice the norm of the first vector; and a
# difference, which has that norm itself.
_UNITS_PER_STEP = 9.0
# Terms of second order, generously.
_SECOND_ORDER = 1.05


@dataclass(frozen=True)
class Expansion:
    """The first terms of the lazy walk of t steps.

    Examples
    --------
    >>> short = Expansion.to(t=100, error=1e-5)
    >>> short.degree, short.left_out < 1e-5, Expansion.to(t=100, error=0.0).degree
    (31, True, 100)
    """

    t: int
    coefficients: NDArray[np.float64]
    left_out: float

    @classmethod
    def to(cls, t: int, error: float) -> Expansion:
        """Return the shortest sum that leaves out at most ``error``, of at least one step."""
        j = np.arange(min(t, int(np.ceil(_FARTHEST * np.sqrt(t))) + 1), dtype=np.float64)
        # C(2t, t − j − 1) / C(2t, t − j) = (t − j) / (t + j + 1)
        chances = np.concatenate([[1.0], 2.0 * np.cumprod((t - j) / (t + j + 1.0))])
        # Summed from the smallest.
        rest = np.cumsum(chances[::-1])[::-1]
        left_out = np.append(rest[1:], 0.0) / rest[0]
        degree = max(1, int(np.argmax(left_out <= error)))
        return cls(t, chances[: degree + 1] / rest[0], float(left_out[degree]))

    @property
    def degree(self) -> int:
        """The largest j: how many steps are taken, and how far they lead."""
        return int(self.coefficients.size) - 1

    @cached_property
    def sums(self) -> float:
        """How many sums a state of a map costs: only cells of one color of a chessboard are reached in a step."""
        return float((np.arange(2, self.degree + 2, dtype=np.float64) ** 2).sum())

    def rounding(self, unit: float) -> float:
        """Return a bound on the rounding of the sum, in the same norm, by numbers of relative error ``unit``.

        An error made in step k grows by j − k + 1 until step j at most, the size of U_{j−k}. So T_j is off by
        9 u j (j + 1) / 2, and the sum by 9 u (E j² + E j) / 2, where j has the chances c_j: E j² = t / 2. Adding up
        costs a unit per term.
        """
        steps = 0.5 * _UNITS_PER_STEP * (self.t / 2.0 + np.sqrt(self.t / 2.0))
        return float(_SECOND_ORDER * unit * (steps + self.degree + 4))

    def error(self, degrees: NDArray[np.float64], most: float, unit: float) -> NDArray[np.float64]:
        """Return a bound on ‖p̂ − p‖₂ for walks that begin in states of the given degrees, the largest being ``most``.

        With y = p / d and ‖y‖² = Σ d y², a walk begins with ‖y‖ = 1 / √d(s), and ‖p‖₂ ≤ √most ‖y‖.
        """
        return np.asarray(np.sqrt(most / np.maximum(degrees, 1.0)) * (self.left_out + self.rounding(unit)))
