"""The score of one world at any t: which solver, whether a thread will do, and what was computed before."""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from farpoint.diffusion import Goals, Scores, Walk, diffusion_distance, find_goals, score, spectrum, stationary
from farpoint.diffusion.scores.choose import AUTO_POLAR_LIMIT
from farpoint.diffusion.scores.local import LocalScores
from farpoint.diffusion.scores.returns import ReturnScores
from farpoint.diffusion.spectra.decomposition import Spectrum
from farpoint.studio.between import Between
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
# A score that takes so long, on one core, is estimated first where that takes at most this share of its time.
_ESTIMATED_SECONDS = 0.08
_FAR_QUICKER = 0.5
# At smaller t an estimate finds goals along the walls of open rooms where there are none.
_FIRST_ESTIMATE = 12
# Those of the curve are computed together up to each of these t: one pass costs what its largest t does.
_ESTIMATED_TOGETHER = (32, 100, 250, 630, 1_000)
# Neighbors whose estimates differ by less than this share are taken to be equal: the float32 of open rooms.
_SAME_ESTIMATE = 1e-4
# Peaks between two t that are lower than this share of themselves are not shown, where looking takes little.
_LEAST_PROMINENCE = 1e-6
_FEW_ENOUGH_TO_LOOK = 50_000
# 4Rooms at t = 4, and what is like it.
_SMALL_MAP, _SMALL_T = 400, 4


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
    """What is drawn until a score is computed: values, goals, and whether they come from other t or are estimated."""

    values: NDArray[np.float64]
    goals: NDArray[np.int64]
    source: Literal["between", "estimated"]


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
        # Scores of the curve, and estimates of them, which come sooner.
        self.between, self.estimates = Between(), Between()
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
            follows = n_states > AUTO_POLAR_LIMIT and LocalScores.of(walk, t).seconds <= _LIGHT_SECONDS
            return Plan({}, follows or n_states <= _FEW_DIRECTED)
        exact = LocalScores.of(walk, t)
        if n_states <= _WHOLE_SPECTRUM:
            # The same numbers either way; of the two the one that takes less once the decomposition is known.
            local = exact.seconds <= max(_QUICK_SECONDS, _SECONDS_PER_CUBE * n_states**3)
            return Plan({"solver": "local", "n_jobs": 1} if local else {"solver": "spectral", "n_jobs": 1}, True, 0.0)
        rough = exact.with_tolerance(_TOLERANCE)
        # A walk that is larger than its map is never quick, and to find out how slow it is would take seconds.
        beyond = exact.lattice is None and rough.lattice is not None
        if not beyond and exact.seconds <= EXACT_SECONDS:
            n_jobs = -1 if exact.seconds > _QUICK_SECONDS else 1
            return Plan({"solver": "local", "n_jobs": n_jobs}, True, exact.seconds)
        if beyond or rough.seconds < _MUCH_QUICKER * exact.seconds:
            keywords = {"solver": "local", "tolerance": _TOLERANCE}
            return Plan(keywords, rough.seconds <= _LIGHT_SECONDS, rough.seconds)
        return Plan({"solver": "local"}, exact.seconds <= _LIGHT_SECONDS, exact.seconds)

    def preview(self, t: int) -> Preview | ReturnScores | None:
        """Return what is drawn until the score at t is computed; None where that takes little time.

        From the scores at neighboring t where these are known; otherwise, on a map, an estimate. Of one that takes long
        itself: how to compute it in a process.
        """
        if t in self.between or not self._walk.symmetric:
            return None
        seconds = self.plan(t).seconds
        if seconds <= EXACT_SECONDS:
            return None
        return self.interpolated(t) or self._estimate(t, seconds)

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
        return Preview(scores, states, "between")

    def _estimate(self, t: int, seconds: float) -> Preview | ReturnScores | None:
        known = self.estimates.at(t)
        if known is not None:
            return self.estimated(known)
        if self._walk.floor is None or t <= _FIRST_ESTIMATE or seconds <= _ESTIMATED_SECONDS:
            return None
        estimate = ReturnScores.of(self._walk.floor, [t])
        if estimate.seconds > _FAR_QUICKER * seconds:
            return None
        return estimate if estimate.seconds > _LIGHT_SECONDS else self.estimated(*estimate.compute())

    def estimated(self, values: NDArray[np.float64]) -> Preview:
        """Return what is drawn of an estimate."""
        return Preview(values, find_goals(self.world, values, tolerance=_SAME_ESTIMATE).states, "estimated")

    def estimates_of(self, times: list[int]) -> list[ReturnScores]:
        """Return how to estimate the scores at several t, a few t at a time; nothing but on a map."""
        floor = self._walk.floor
        if floor is None or not self._walk.symmetric:
            return []
        bounds = zip((_FIRST_ESTIMATE, *_ESTIMATED_TOGETHER), _ESTIMATED_TOGETHER, strict=False)
        together = [[t for t in times if first < t <= last] for first, last in bounds]
        return [ReturnScores.of(floor, some) for some in together if some]

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
        """Return whether compiled functions are called at t: not for the first scores of a small map at a small t."""
        world = self.world
        return world.n_states > _SMALL_MAP or t > _SMALL_T or not (world.on_grid and world.deterministic)


def layer_values(world: World, layer: str, t: int, state: int) -> NDArray[np.float64]:
    """Return the values of a layer that is not the score."""
    if layer == "stationary":
        return np.asarray(stationary(world))
    return diffusion_distance(world, state, t)
