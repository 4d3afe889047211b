"""The action of each move on a graph of samples, from what was done in the steps of a log."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from farpoint.errors import InvalidInput
from farpoint.worlds.arrays import real_numbers, whole_numbers


class SampleSteps(NamedTuple):
    """The steps of a log on a graph: from and to which state, by which action, and how far."""

    before: NDArray[np.int64]
    after: NDArray[np.int64]
    actions: NDArray[np.int64]
    displacements: NDArray[np.float64]


def read_actions(actions: Any, n_steps: int) -> NDArray[np.int64] | None:
    """Return one whole number per step; None where actions are rows of floats, or -1: a log without actions.

    >>> read_actions([[0.5, 0.1]], 1) is None, read_actions([1, 0], 2)
    (True, array([1, 0]))
    """
    if real_numbers("actions", actions).ndim == 2 and np.ndim(actions) == 2 and np.shape(actions)[1:] != (1,):
        return None
    numbers = whole_numbers("actions", actions, np.int64)
    numbers = numbers[:, 0] if numbers.ndim == 2 else numbers
    if numbers.shape != (n_steps,):
        raise InvalidInput(f"actions must be one per observation ({n_steps}); got shape {numbers.shape}.")
    if (numbers == -1).all():
        return None
    if numbers.min() < 0:
        raise InvalidInput(f"actions must be whole numbers of at least 0; got {numbers.min()}.")
    return numbers


def actions_of_moves(
    states: NDArray[np.float64], rows: NDArray[Any], columns: NDArray[Any], steps: SampleSteps
) -> NDArray[np.int32]:
    """Return the action of each move from state ``rows[k]`` to ``columns[k]``.

    It is the one that made this move most often; where no step made it, the one whose mean displacement, in the steps
    from that state if there are any, ends nearest to where the move leads.

    Examples
    --------
    >>> line = np.array([[0.0], [1.0], [2.0]])
    >>> right = SampleSteps(np.array([0, 1]), np.array([1, 0]), np.array([3, 5]), np.array([[1.0], [-1.0]]))
    >>> actions_of_moves(line, np.array([0, 1, 1, 2]), np.array([1, 0, 2, 1]), right)
    array([3, 5, 3, 5], dtype=int32)
    """
    names, taken = np.unique(steps.actions, return_inverse=True)
    guessed = _by_displacement(states, rows, columns, steps, taken, names.size)
    n_states = len(states)
    # How often each action made each move: one row per pair of states.
    moves, place = np.unique(steps.before * n_states + steps.after, return_inverse=True)
    counts = coo_array((np.ones(taken.size), (place, taken)), shape=(moves.size, names.size)).toarray()
    wanted = rows.astype(np.int64) * n_states + columns
    at = np.minimum(np.searchsorted(moves, wanted), moves.size - 1)
    seen = moves[at] == wanted
    guessed[seen] = counts[at[seen]].argmax(axis=1)
    return names[guessed].astype(np.int32)


def _by_displacement(
    states: NDArray[np.float64],
    rows: NDArray[Any],
    columns: NDArray[Any],
    steps: SampleSteps,
    taken: NDArray[np.int64],
    n_actions: int,
) -> NDArray[np.int64]:
    best = np.zeros(rows.size, dtype=np.int64)
    nearest = np.full(rows.size, np.inf)
    for action in range(n_actions):
        of_it = taken == action
        count = np.bincount(steps.before[of_it], minlength=len(states))
        mean = np.tile(steps.displacements[of_it].mean(axis=0), (len(states), 1))
        here = count > 0
        for place in range(states.shape[1]):
            total = np.bincount(steps.before[of_it], steps.displacements[of_it, place], minlength=len(states))
            mean[here, place] = total[here] / count[here]
        distance = ((states[rows] + mean[rows] - states[columns]) ** 2).sum(axis=1)
        better = distance < nearest
        best[better], nearest[better] = action, distance[better]
    return best
