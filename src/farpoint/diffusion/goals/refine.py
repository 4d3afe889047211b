"""Goals of an estimated score, checked against exact scores of few states."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from farpoint.blas import one_blas_thread
from farpoint.diffusion.goals.maxima import Goals, find_goals
from farpoint.diffusion.goals.order import SAME_SCORE
from farpoint.diffusion.goals.peaks import bands_of, find_peaks
from farpoint.diffusion.scores.bounds import check_tolerance
from farpoint.diffusion.scores.local import StateScores
from farpoint.diffusion.scores.result import Scores
from farpoint.diffusion.walk import Walk
from farpoint.engines import each
from farpoint.errors import InvalidInput
from farpoint.worlds import World, WorldLike, as_world

_STATES_PER_TASK = 64
# Beyond this the flat parts of a world are left as they were estimated.
_MOST_PLATEAU_STATES = 200_000


@one_blas_thread()
def refine_goals(world: WorldLike, scores: Scores, *, tolerance: float = 1e-8, n_jobs: int = -1) -> Goals:
    """Return goals from an estimated score: from each of its maxima, climb the exact score to one of its maxima.

    Only the states on the way, the plateaus where it ends and their neighbors are computed (to ``tolerance``); heights
    are exact, prominences are those of the estimate with exact scores in place of estimates where these are known.

    Parameters
    ----------
    world : World
    scores : Scores
        From ``score(…, solver="probes")``.

    Examples
    --------
    >>> import farpoint as fp
    >>> world = fp.open_room(40, 40)
    >>> rough = fp.score(world, 60, "probes", n_probes=64)
    >>> fp.diffusion.refine_goals(world, rough).states.tolist()
    [0, 39, 1560, 1599]
    """
    world = as_world(world)
    if not isinstance(scores, Scores) or not float(scores.t).is_integer():
        raise InvalidInput(f"scores must be what score() returned, at a whole t; got {type(scores).__name__}.")
    walk = Walk.of(world)
    walk = walk.symmetrized() if scores.form == "symmetrized" else walk
    climb = _Climb(world, StateScores(walk, int(scores.t), check_tolerance(tolerance)).prepared(), n_jobs)
    tops = climb.to_tops(find_goals(world, scores).states)
    climb.around_plateaus(tops)
    values = np.array(scores)
    values[list(climb.known)] = list(climb.known.values())
    mended = find_goals(world, values, tolerance=climb.same)
    # A top may be any state of its plateau; the goal is the plateau's first.
    firsts = find_peaks(bands_of(world), values, climb.same).plateau[sorted(tops)]
    return mended.where(np.isin(mended.states, firsts))


class _Climb:
    """Exact scores of few states, computed when they are needed."""

    def __init__(self, world: World, exact: StateScores, n_jobs: int) -> None:
        self.known: dict[int, float] = {}
        # Two scores that differ by less are the same.
        self.same = max(SAME_SCORE, 2.0 * (exact.tolerance or 0.0))
        self._graph = world.neighbors
        self._exact = exact
        self._n_jobs = n_jobs

    def _neighbors(self, state: int) -> list[int]:
        graph = self._graph
        others: list[int] = graph.indices[graph.indptr[state] : graph.indptr[state + 1]].tolist()
        return others

    def _learn(self, states: set[int]) -> None:
        """Compute the scores of these states and of their neighbors, where they are not known."""
        wanted = states.union(*(self._neighbors(state) for state in states))
        new = np.array(sorted(wanted - self.known.keys()), dtype=np.int64)
        tasks = [new[first : first + _STATES_PER_TASK] for first in range(0, new.size, _STATES_PER_TASK)]
        for task, values in zip(tasks, each(_values, self._exact, tasks, n_jobs=self._n_jobs), strict=True):
            self.known.update(zip(task.tolist(), values.tolist(), strict=True))

    def to_tops(self, begins: NDArray[np.int64]) -> set[int]:
        """Return where climbing to the highest neighbor ends, from each beginning."""
        climbers, tops, passed = set(begins.tolist()), set[int](), set[int]()
        while climbers:
            self._learn(climbers)
            ahead = set()
            for state in climbers:
                best = max(self._neighbors(state), key=self.known.__getitem__, default=state)
                if self.known[best] > self.known[state] * (1.0 + self.same):
                    ahead.add(best)
                else:
                    tops.add(state)
            passed |= climbers
            climbers = ahead - passed
        return tops

    def around_plateaus(self, tops: set[int]) -> None:
        """Compute the plateaus that the tops lie on, and what lies next to them."""
        front, seen = set(tops), set(tops)
        while front and len(seen) < _MOST_PLATEAU_STATES:
            self._learn(front)
            front = {
                near
                for state in front
                for near in self._neighbors(state)
                if near not in seen and abs(self.known[near] - self.known[state]) <= self.same * self.known[state]
            }
            seen |= front


def _values(exact: StateScores, states: NDArray[np.int64]) -> NDArray[np.float64]:
    return exact.at(states)[0]
