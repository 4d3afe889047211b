"""The score of one world at any t: which solver, whether a thread will do, and what was computed before."""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.diffusion import Goals, Scores, Walk, diffusion_distance, find_goals, score, spectrum, stationary
from farpoint.diffusion.graphs import PowerPlan, local_plan
from farpoint.diffusion.maps import MapPlan
from farpoint.diffusion.spectral import Spectrum
from farpoint.diffusion.walk import AUTO_POLAR_LIMIT
from farpoint.studio.interpolation import Between
from farpoint.worlds import World

LAYERS = ("score", "stationary", "distance")
# What runs in a thread of the server; longer work gets a process of its own, which can be ended.
_LIGHT_SECONDS = 1.5
# On one core; an exact score that takes longer is computed to a thousandth where that is much quicker.
EXACT_SECONDS = 0.03
_MUCH_QUICKER = 0.7
_WHOLE_SPECTRUM = 1_200
_FEW_DIRECTED = 500
_TOLERANCE = 1e-3
_QUICK_SECONDS = 0.005
# Of a score from a decomposition that is known, on one core.
_SECONDS_PER_CUBE = 2e-10
_KEPT_BYTES = 48 * 2**20
# Peaks between two t that are lower than this share of themselves are not shown, where looking takes little.
_LEAST_PROMINENCE = 1e-6
_FEW_ENOUGH_TO_LOOK = 50_000


@dataclass(frozen=True)
class Plan:
    """How a score is computed: the keywords of `score`, whether a thread will do, and about how long it takes."""

    keywords: dict[str, Any]
    light: bool
    seconds: float = float("inf")


@dataclass(frozen=True)
class Scored:
    """A score with its goals, and the seconds it took."""

    scores: Scores
    goals: Goals
    seconds: float


@dataclass(frozen=True)
class Preview:
    """Values and goals from the scores at neighboring t, drawn until the score itself is computed."""

    values: NDArray[np.float64]
    goals: NDArray[np.int64]


def compute(world: World, t: int, keywords: dict[str, Any]) -> Scored:
    """Return the score and the goals of a world.

    >>> import farpoint as fp
    >>> len(compute(fp.four_rooms(), 13, {}).goals)
    15
    """
    return with_goals(world, *timed_score(world, t, keywords))


def timed_score(world: World, t: int, keywords: dict[str, Any]) -> tuple[Scores, float]:
    """Return a score and the seconds it took."""
    begun = time.perf_counter()
    return score(world, t, **keywords), time.perf_counter() - begun


def with_goals(world: World, scores: Scores, seconds: float) -> Scored:
    """Return a score with its goals."""
    begun = time.perf_counter()
    goals = find_goals(world, scores)
    return Scored(scores, goals, seconds + time.perf_counter() - begun)


class Scorer:
    """The scores of one world, each computed once while they fit into memory."""

    def __init__(self, world: World) -> None:
        self.world = world
        # Scores of the curve.
        self.between = Between()
        # How many goals there are at each t of the curve.
        self.counts: dict[int, int] = {}
        self._kept: OrderedDict[int, Scored] = OrderedDict()
        self._lock = Lock()

    @cached_property
    def _walk(self) -> Walk:
        return Walk.of(self.world)

    @cached_property
    def _spectrum(self) -> Spectrum:
        return spectrum(self.world)

    def kept(self, t: int) -> Scored | None:
        """Return what was computed before."""
        with self._lock:
            if t in self._kept:
                self._kept.move_to_end(t)
            return self._kept.get(t)

    def keep(self, t: int, scored: Scored) -> Scored:
        """Keep what was computed, and drop the oldest of what no longer fits."""
        with self._lock:
            self._kept[t] = scored
            while len(self._kept) > 2 and len(self._kept) * scored.scores.nbytes > _KEPT_BYTES:
                self._kept.popitem(last=False)
        return scored

    def plan(self, t: int) -> Plan:
        """Return how the score at t is computed: exactly where that is quick, else to a thousandth."""
        n_states, walk = self.world.n_states, self._walk
        if not walk.symmetric:
            # Many states are scored by the symmetrized walk, followed step by step; few by all singular vectors.
            follows = n_states > AUTO_POLAR_LIMIT and local_plan(walk, t).seconds <= _LIGHT_SECONDS
            return Plan({}, follows or n_states <= _FEW_DIRECTED)
        exact = local_plan(walk, t)
        if n_states <= _WHOLE_SPECTRUM:
            # The same numbers either way; of the two the one that takes less once the decomposition is known.
            local = exact.seconds <= max(_QUICK_SECONDS, _SECONDS_PER_CUBE * n_states**3)
            return Plan({"solver": "local", "n_jobs": 1} if local else {"solver": "spectral", "n_jobs": 1}, True, 0.0)
        rough = local_plan(walk, t, _TOLERANCE)
        # A walk that is larger than its map is never quick, and to find out how slow it is would take seconds.
        beyond = not isinstance(exact, MapPlan) and isinstance(rough, MapPlan)
        if not beyond and exact.seconds <= EXACT_SECONDS:
            n_jobs = -1 if exact.seconds > _QUICK_SECONDS else 1
            return Plan({"solver": "local", "n_jobs": n_jobs}, True, exact.seconds)
        if beyond or rough.seconds < _MUCH_QUICKER * exact.seconds:
            keywords = {"solver": "local", "tolerance": _TOLERANCE}
            return Plan(keywords, rough.seconds <= _LIGHT_SECONDS, rough.seconds)
        return Plan({"solver": "local"}, exact.seconds <= _LIGHT_SECONDS, exact.seconds)

    def preview(self, t: int) -> Preview | None:
        """Return the preview that is drawn until the score at t is computed.

        None if the score takes little time, or the scores at neighboring t are not known.
        """
        if t in self.between or not self._walk.symmetric or self.plan(t).seconds <= EXACT_SECONDS:
            return None
        return self.interpolated(t)

    def interpolated(self, t: int) -> Preview | None:
        """Return what is drawn of a score from those at neighboring t; None where these are not known."""
        scores = self.between.at(t)
        if scores is None:
            return None
        goals = find_goals(self.world, scores)
        states = goals.states
        if self.world.n_states <= _FEW_ENOUGH_TO_LOOK:
            # In the middle of an open room neighbors differ by less than the interpolation errs.
            states = states[goals.prominences > _LEAST_PROMINENCE * scores[states]]
        return Preview(scores, states)

    def compute(self, t: int, **more: Any) -> Scored | Plan:
        """Return the score at t; or, of one that takes long, how to compute it in a process."""
        kept = self.kept(t)
        if kept is not None:
            return kept
        known = self.between.known(t)
        if known is not None:
            return self.keep(t, with_goals(self.world, *known))
        plan = self.plan(t)
        if not plan.light:
            return plan
        keywords = {**plan.keywords, **more}
        if keywords.get("solver") == "spectral":
            # The decomposition is kept for the next t.
            keywords["decomposition"] = self._spectrum
        return self.keep(t, compute(self.world, t, keywords))

    def add_to_curve(self, t: int, scores: Scores, seconds: float, n_goals: int) -> None:
        """Keep a score of the curve, and how many goals it has."""
        self.between.add(t, scores, seconds)
        self.counts[t] = n_goals

    def finish(self, t: int, scores: Scores, seconds: float) -> Scored:
        """Return the score at t that a process has computed."""
        return self.keep(t, with_goals(self.world, scores, seconds))

    def compiles(self, t: int) -> bool:
        """Return whether compiled functions are called at t: not in a small world at a small t."""
        return not isinstance(local_plan(self._walk, t), PowerPlan)


def layer_values(world: World, layer: str, t: int, state: int) -> NDArray[np.float64]:
    """Return the values of a layer that is not the score."""
    if layer == "stationary":
        return np.asarray(stationary(world))
    return diffusion_distance(world, state, t)
