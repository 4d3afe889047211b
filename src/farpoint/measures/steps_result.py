"""Expected steps between states, and their summary over targets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from farpoint.display import Drawn, Framed
from farpoint.display.frames import data_array
from farpoint.errors import InvalidInput
from farpoint.measures.statistics import Estimate, estimate

if TYPE_CHECKING:
    import xarray

# Stands for inf, of which neither differences nor quantiles can be taken; its square is still a double.
_BEYOND_ALL = 1e150


@dataclass(frozen=True, eq=False, repr=False)
class StepsBetweenStates(Drawn, Framed):
    """Expected numbers of steps between states, and their summary over targets.

    Attributes
    ----------
    matrix : array, shape (n_states, n_targets), or None
        Expected steps from each state to each target; None for worlds so large that it is not kept.
    targets : array of int
    means : array, shape (n_targets,), optional
        What ``per_target`` is where there is no matrix.
    n_states : int, optional
        How many states the world has. Default: every state is a target.
    sampled : bool
        Whether the targets were drawn at random.
    per_target : array, shape (n_targets,)
        The mean over all start states, the target itself among them as 0.
    median, iqr, mean, std : float
        Of ``per_target``: quantiles by Hazen's rule, standard deviation with n − 1.
    mean_estimate, median_estimate : Estimate
        Mean and median with their 95 % intervals, for what they would be over all states.

    Examples
    --------
    >>> import farpoint as fp
    >>> fp.steps_between_states(fp.grid((3,)), None)
    StepsBetweenStates(median=2.33, iqr=1.25, mean=1.78, std=0.96 over 3 targets)
    >>> fp.steps_between_states(fp.grid((50,)), None, n_targets=20)
    StepsBetweenStates(median=850.00 [603.07, 1087.72], iqr=758.34, mean=881.88 [752.86, 1025.90], std=409.54
        over 20 sampled of 50 targets)
    """

    matrix: Any
    targets: NDArray[np.int64]
    means: NDArray[np.float64] | None = None
    n_states: int | None = None
    sampled: bool = False

    @property
    def per_target(self) -> NDArray[np.float64]:
        """Mean expected steps to each target, over all starts."""
        if self.means is not None:
            return self.means
        return np.asarray(self.matrix.mean(axis=0))

    @property
    def median(self) -> float:
        """Median over targets."""
        return float(self._quantiles([0.5])[0])

    @property
    def iqr(self) -> float:
        """Interquartile range over targets, by Hazen's rule."""
        low, high = self._quantiles([0.25, 0.75])
        return float(high - low) if np.isfinite(high) else float("inf")

    @property
    def mean(self) -> float:
        """Mean over targets."""
        return float(self.per_target.mean())

    @property
    def std(self) -> float:
        """Standard deviation over targets, with n − 1."""
        if self.targets.size < 2 or not np.isfinite(self.per_target).all():
            return float("nan") if self.targets.size < 2 else float("inf")
        return float(self.per_target.std(ddof=1))

    @property
    def mean_estimate(self) -> Estimate:
        """The mean with its 95 % interval for the mean over all states: bootstrap over targets.

        The targets count as drawn uniformly without replacement; when they are all states there is no sampling error.

        Examples
        --------
        >>> import farpoint as fp
        >>> world = fp.four_rooms()
        >>> print(fp.steps_between_states(world, n_targets=30).mean_estimate)
        502 [479, 525]
        >>> print(fp.steps_between_states(world).mean_estimate)
        497 [497, 497]
        """
        return self._narrowed("mean")

    @property
    def median_estimate(self) -> Estimate:
        """The median with its 95 % interval for the median over all states, as in `mean_estimate`."""
        return self._narrowed("median")

    def columns(self) -> dict[str, Any]:
        """Return one row per target: the mean expected steps to it, over all starts."""
        return {"target": self.targets, "steps": self.per_target}

    def to_xarray(self) -> xarray.DataArray:
        """Return the expected steps with named dimensions, from each start to each target (``farpoint[data]``).

        Raises
        ------
        InvalidInput
            If the matrix was not kept.

        Examples
        --------
        >>> import farpoint as fp
        >>> steps = fp.steps_between_states(fp.grid((3,))).to_xarray()
        >>> float(steps.sel(start=0, target=2))
        4.0
        """
        if self.matrix is None:
            raise InvalidInput("matrix must be kept for an array of every start; got None, as in all large worlds.")
        starts = np.arange(self.matrix.shape[0])
        return data_array(self.matrix, ("start", "target"), {"start": starts, "target": self.targets}, "steps")

    def _quantiles(self, shares: list[float]) -> NDArray[np.float64]:
        return _or_inf(np.quantile(np.minimum(self.per_target, _BEYOND_ALL), shares, method="hazen"))

    def _narrowed(self, statistic: str) -> Estimate:
        """Return an estimate with its interval as narrow as sampling without replacement makes it."""
        found = estimate(np.minimum(self.per_target, _BEYOND_ALL), statistic)
        drawn = np.unique(self.targets).size
        left = 0.0 if self.n_states is None else np.sqrt(1.0 - drawn / self.n_states)
        if left == 0.0:
            low = high = found.value
        else:
            low, high = found.value - left * (found.value - found.low), found.value + left * (found.high - found.value)
        return Estimate(*_or_inf(np.array([found.value, low, high])).tolist())

    def __repr__(self) -> str:
        if not self.sampled:
            summary = ", ".join(f"{name}={getattr(self, name):.2f}" for name in ("median", "iqr", "mean", "std"))
            return f"StepsBetweenStates({summary} over {self.targets.size} targets)"
        median, mean = (
            f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}]"
            for found in (self.median_estimate, self.mean_estimate)
        )
        return (
            f"StepsBetweenStates(median={median}, iqr={self.iqr:.2f}, mean={mean}, std={self.std:.2f} over "
            f"{self.targets.size} sampled of {self.n_states} targets)"
        )


def _or_inf(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the numbers, inf where `_BEYOND_ALL` has a part in them."""
    return np.where(numbers > 1e-9 * _BEYOND_ALL, np.inf, numbers)
