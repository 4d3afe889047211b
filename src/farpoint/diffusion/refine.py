"""Goals of an estimated score, made sure on exact scores of few states."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from farpoint.diffusion.goals import Goals, find_goals
from farpoint.diffusion.local import WalkTable, scores_at, walk_table
from farpoint.diffusion.scores import Scores
from farpoint.domain import Domain
from farpoint.engines import each
from farpoint.errors import InvalidInput

_STATES_A_TASK = 64


def refine_goals(domain: Domain, scores: Scores, *, tolerance: float = 1e-4, n_jobs: int = -1) -> Goals:
    """Return goals from an estimated score: from each of its maxima the exact score is climbed to a maximum of its own.

    Only the states on the way and their neighbours are computed exactly (to ``tolerance``); heights are exact,
    prominences are those of the estimate with what is known exactly put in.

    Parameters
    ----------
    domain : Domain
    scores : Scores
        From ``score(…, solver="probes")``.

    Examples
    --------
    >>> import farpoint as fp
    >>> world = fp.open_room(40, 40)
    >>> rough = fp.score(world, 60, "probes", n_probes=64)
    >>> fp.refine_goals(world, rough).states.tolist()
    [0, 39, 1560, 1599]
    """
    if not isinstance(scores, Scores) or not float(scores.t).is_integer():
        raise InvalidInput(f"scores must be what score() returned, at a whole t; got {type(scores).__name__}.")
    table = walk_table(domain.walker, int(scores.t), tolerance)
    known: dict[int, float] = {}

    def learn(states: NDArray[np.int64]) -> None:
        new = np.array(sorted({int(state) for state in states} - known.keys()), dtype=np.int64)
        tasks = [new[first : first + _STATES_A_TASK] for first in range(0, new.size, _STATES_A_TASK)]
        for task, values in zip(tasks, each(_values, table, tasks, n_jobs=n_jobs), strict=True):
            known.update(zip(task.tolist(), values.tolist(), strict=True))

    graph = domain.neighbours
    climbers = np.unique(find_goals(domain, scores).states)
    tops: set[int] = set()
    while climbers.size:
        around = [graph.indices[graph.indptr[state] : graph.indptr[state + 1]] for state in climbers]
        learn(np.concatenate([climbers, *around]))
        ahead = set()
        for state, near in zip(climbers.tolist(), around, strict=True):
            best = max(near.tolist(), key=lambda other: known[other], default=state)
            if known[best] > known[state] * (1.0 + 2.0 * tolerance):
                ahead.add(best)
            else:
                tops.add(state)
        climbers = np.array(sorted(ahead - tops), dtype=np.int64)
    values = np.array(scores)
    values[list(known)] = list(known.values())
    # Around a top all is known exactly, so it is a maximum of the mended field too, or shares a plateau with one.
    mended = find_goals(domain, values, tolerance=2.0 * tolerance)
    return mended.where(np.isin(mended.states, list(tops)))


def _values(table: WalkTable, states: NDArray[np.int64]) -> NDArray[np.float64]:
    return scores_at(table, states)[0]
