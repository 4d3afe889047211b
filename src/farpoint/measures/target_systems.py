"""The small dense system of each target that `sparse_steps` comes down to.

A functional φ of h (its value in a state, its mean) is known from the row φ A⁻¹:

    φ h = cost − Σ_k passing_k y_k + λ to_target + ends · h_E.

On E itself that is (I − W) h_E = r with W the chances of going from one end of an option to the next, a stochastic
matrix: I − W is singular, h_E is known up to a constant α, and π r = 0 for the stationary π of W. I − W is factored
once for all targets; what is left for each are α, λ and one y for each option.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack, lu_factor, lu_solve

# A double cannot tell further than this how hard a target is to reach: the same limit as that of the dense systems.
_BEYOND = 1e13
# A row of chances that does not sum to 1 to this, or a solution that does not fit its equations to it, is rounding.
_WRONG = 1e-3


class Rows(NamedTuple):
    """Rows of A⁻¹, times what they are asked about."""

    ends: NDArray[np.float64]  # (rows, ends): chance of each end
    cost: NDArray[np.float64]  # (rows,): steps until then
    to_target: NDArray[np.float64]  # (rows, targets): visits to the target
    passing: NDArray[np.float64]  # (options, rows, targets): chance of passing the target with each option


class Crossings(NamedTuple):
    """What the steps to each target follow from."""

    whole: Rows  # rows of E, and last the mean over starts; all targets
    own: Rows  # for each target: itself, then where each option that belongs to A ends from there; that target only
    from_targets: NDArray[np.float64]  # (other options, targets, ends): where they end from there
    steps: NDArray[np.float64]  # (options, targets): how long each option lasts from there
    near: NDArray[np.bool_]  # which options belong to A


def mean_steps_to(crossings: Crossings) -> NDArray[np.float64]:
    """Return the mean steps to each target; inf where rounding is as large as the solution."""
    chances, wrong = _stochastic(crossings.whole.ends)
    n_targets = crossings.steps.shape[1]
    if wrong.any():
        return np.full(n_targets, np.inf)
    system = _EndSystem(chances[:-1])
    return np.array([_steps_to(crossings, chances, system, number) for number in range(n_targets)])


def _stochastic(chances: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return chances that sum to 1, and in which rows they did not by far."""
    sums = chances.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        wrong = ~(np.abs(sums[:, 0] - 1.0) <= _WRONG)
        return np.asarray(chances / sums), np.asarray(wrong)


class _EndSystem:
    """(I − W + 1 wᵀ)⁻¹ with w uniform, and the stationary distribution of W."""

    def __init__(self, chances: NDArray[np.float64]) -> None:
        size = len(chances)
        self.matrix = -chances
        # The sum of the others instead of 1 − W[e, e]: where an agent all but stays, that difference is rounding.
        np.fill_diagonal(self.matrix, 0.0)
        np.fill_diagonal(self.matrix, -self.matrix.sum(axis=1))
        self._factors = lu_factor(self.matrix + 1.0 / size, check_finite=False)
        self.stationary = np.asarray(lu_solve(self._factors, np.full(size, 1.0 / size), trans=1, check_finite=False))

    def solve(self, right: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(lu_solve(self._factors, right, check_finite=False))


def _steps_to(crossings: Crossings, chances: NDArray[np.float64], system: _EndSystem, number: int) -> float:
    whole, own = crossings.whole, crossings.own
    n_options = crossings.near.size
    far, near = np.flatnonzero(~crossings.near), np.flatnonzero(crossings.near)
    here = slice(number * (near.size + 1), (number + 1) * (near.size + 1))
    own_chances, wrong = _stochastic(own.ends[here])
    if wrong.any():
        return float("inf")
    # Columns: 1, y of each option, λ. A functional φ of h is terms(φ) · (1, y, λ) + ends(φ) · h_E.
    terms = np.column_stack([whole.cost, -whole.passing[:, :, number].T, whole.to_target[:, number]])
    own_terms = np.column_stack([own.cost[here], -own.passing[:, here, 0].T, own.to_target[here, 0]])
    on_ends = system.solve(terms[:-1])  # h_E, but for the constant α

    # Unknown: y of each option, λ, α. One equation for each option, one for the target, and the one on E.
    equations, right = np.zeros((n_options + 2, n_options + 2)), np.zeros(n_options + 2)
    values = np.zeros((n_options + 1, n_options + 2))  # what each option leads to from the target, and the target
    values[far] = crossings.from_targets[:, number] @ on_ends
    values[near] = own_terms[1:] + own_chances[1:] @ on_ends
    values[-1] = own_terms[0] + own_chances[0] @ on_ends
    equations[:-1, :-1] = -values[:, 1:]
    equations[:-1, -1] = -1.0
    equations[np.arange(n_options), np.arange(n_options)] += 1.0
    right[:-1] = values[:, 0]
    right[:n_options] += crossings.steps[:, number]
    balance = system.stationary @ terms[:-1]
    equations[-1, :-1], right[-1] = -balance[1:], balance[0]
    scale = np.abs(equations).max(axis=1)
    if not (np.isfinite(scale).all() and (scale > 0).all()):
        return float("inf")
    _, _, unknown, info = lapack.dgesv(equations / scale[:, None], right / scale)
    if info != 0 or not np.isfinite(unknown).all():
        return float("inf")
    times = np.concatenate([[1.0], unknown[:-1]])
    at_ends = on_ends @ times + unknown[-1]
    if not _fits(system, terms[:-1] @ times, at_ends, terms[:-1], own_terms[0], crossings.steps[:, number]):
        return float("inf")
    mean = float(terms[-1] @ times + chances[-1] @ at_ends)
    return mean if 0.0 <= mean <= _BEYOND else float("inf")


def _fits(
    system: _EndSystem,
    right: NDArray[np.float64],
    at_ends: NDArray[np.float64],
    terms: NDArray[np.float64],
    target: NDArray[np.float64],
    steps: NDArray[np.float64],
) -> bool:
    """Return whether h_E is known to three digits.

    (I − M) h_E = s, M ≥ 0 the chances of coming to the next end without meeting the target, s the steps until one or
    the other: as (I − M)⁻¹ is not negative, no entry of h_E is further off, relatively, than the largest residual is
    from s.
    """
    followed = np.concatenate([[1.0], steps, [0.0]])
    meets = terms[:, -1] / target[-1]
    until = terms @ followed - meets * (target @ followed)
    residual = np.abs(system.matrix @ at_ends - right)
    return bool((residual <= _WRONG * np.maximum(until, 0.5)).all() and (at_ends >= -_WRONG).all())
