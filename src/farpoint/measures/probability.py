"""How often an agent should take an option: the probability with the fewest expected steps."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from farpoint.blas import one_blas_thread
from farpoint.measures.steps import steps_between_states
from farpoint.options import OptionSet
from farpoint.worlds import World

# The mean is looked at here first, because it need not have a single minimum; then around the best of these.
_FIRST_LOOK = (1e-5, 1e-4, 5e-4, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9, 0.99)
_DIGITS = 0.01


@one_blas_thread()
def best_option_probability(
    world: World,
    options: OptionSet,
    *,
    targets: ArrayLike | None = None,
    n_targets: int | None = None,
    seed: int = 0,
    n_jobs: int = -1,
) -> float:
    """Return the ``option_probability`` that minimizes the exact mean number of steps between states.

    The paper's agent takes an option with probability ½ at every decision and hardly looks around where it was brought;
    with few options, or goals that are not far points, much less is better. 0 means that no options are best.

    Parameters
    ----------
    world : World
    options : OptionSet
    targets, n_targets, seed, n_jobs
        As in `steps_between_states`.

    Returns
    -------
    float
        To about one percent of itself.

    Examples
    --------
    >>> import farpoint as fp
    >>> world = fp.maze()
    >>> options = fp.discover(world, n_options=6)
    >>> p = fp.best_option_probability(world, options)
    >>> 0.01 < p < 0.03
    True
    >>> best = fp.steps_between_states(world, options, option_probability=p)
    >>> best.mean < 1000 < 1e9 < fp.steps_between_states(world, options).mean
    True
    """

    def mean_steps(log_p: float, chosen: OptionSet | None = options) -> float:
        steps = steps_between_states(
            world, chosen, targets=targets, n_targets=n_targets, option_probability=float(np.exp(log_p)), seed=seed,
            n_jobs=n_jobs,
        )  # fmt: skip
        return steps.mean

    looks = np.log(_FIRST_LOOK)
    means = [mean_steps(log_p) for log_p in looks]
    best = int(np.argmin(means))
    low, high = looks[max(best - 1, 0)], looks[min(best + 1, looks.size - 1)]
    # Imported here: it takes longer than all that a small world needs.
    from scipy.optimize import minimize_scalar

    found = minimize_scalar(mean_steps, bounds=(low, high), method="bounded", options={"xatol": _DIGITS})
    log_p, mean = min((looks[best], means[best]), (found.x, found.fun), key=lambda pair: pair[1])
    return float(np.exp(log_p)) if mean < mean_steps(0.0, None) else 0.0
