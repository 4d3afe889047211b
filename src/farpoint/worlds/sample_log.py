"""A log of steps in a continuous space: what was observed, what was done, what was observed next."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from farpoint.errors import InvalidInput
from farpoint.worlds.arrays import real_numbers, whole_numbers
from farpoint.worlds.logs import Log
from farpoint.worlds.samples import read_samples


class SampleLog(NamedTuple):
    """Steps in a continuous space, one row per step; `World.from_samples` takes it as it is.

    Attributes
    ----------
    observations, next_observations : arrays of float, shape (n_steps, n_dimensions)
        Before and after each step.
    actions : array of int, shape (n_steps,), or of float, shape (n_steps, n_action_dimensions)

    Examples
    --------
    >>> import farpoint as fp
    >>> log = fp.envs.record_samples(fp.ContinuousMaze("S..."), 100, seed=0)
    >>> log.observations.shape, log.actions.shape
    ((100, 2), (100,))
    """

    observations: NDArray[Any]
    actions: NDArray[Any]
    next_observations: NDArray[Any]

    @property
    def discrete(self) -> bool:
        """Whether the actions are whole numbers."""
        return self.actions.ndim == 1


def read_sample_log(log: Any) -> SampleLog:
    """Return a log as rows of floats and its actions, checked.

    Takes a `SampleLog`, three arrays in its order, a `Log` whose states are tuples of numbers, or anything with
    ``observations``, ``actions`` and ``next_observations``.

    >>> read_sample_log(([[0.0], [1.0]], [1, 0], [[1.0], [0.0]])).actions
    array([1, 0])
    """
    if isinstance(log, Log):
        before, actions, after = log.states, log.actions, log.next_states
    elif all(hasattr(log, name) for name in SampleLog._fields):
        before, actions, after = log.observations, log.actions, log.next_observations
    elif isinstance(log, (tuple, list)) and len(log) == len(SampleLog._fields):
        before, actions, after = log
    else:
        raise InvalidInput(
            f"log must be observations, actions and next observations; got {type(log).__name__}. Record it with "
            "farpoint.envs.record_samples."
        )
    if after is None:
        raise InvalidInput("log must have next observations; got None.")
    rows, next_rows = read_samples(before, after)
    assert next_rows is not None
    return SampleLog(rows, _read_actions(actions, len(rows)), next_rows)


def _read_actions(actions: Any, n_steps: int) -> NDArray[Any]:
    taken = real_numbers("actions", actions)
    if taken.ndim == 2 and len(taken) == n_steps and taken.size and np.isfinite(taken).all():
        return taken
    if taken.shape != (n_steps,):
        raise InvalidInput(
            f"actions must be one whole number or one row of finite numbers per step ({n_steps}); got shape "
            f"{taken.shape}."
        )
    numbers = whole_numbers("actions", actions, np.int64)
    if numbers.min() < 0:
        raise InvalidInput(
            f"actions must be whole numbers of at least 0; got {numbers.min()}. A log without actions is not enough."
        )
    return numbers
