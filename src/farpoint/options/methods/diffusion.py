"""Diffusion options: one to each local maximum of the score (Algorithm 1 and 2 of the paper)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from farpoint.diffusion import Goals, Scores, Spectrum, Walk, find_goals, refine_goals
from farpoint.diffusion.scores.choose import choose_form, only_symmetrized
from farpoint.diffusion.scores.local import LocalScores
from farpoint.diffusion.scores.request import DEFAULT_T
from farpoint.diffusion.scores.solve import walk_scores
from farpoint.diffusion.spectra.decomposition import walk_spectrum
from farpoint.errors import InvalidInput
from farpoint.options.methods.request import DiscoveryRequest, goal_states
from farpoint.options.option_set import OptionSet
from farpoint.worlds import World

# Up to this size one dense decomposition serves every t, up to this t.
_DENSE_STATES = 2_000
_LONGEST_T = 1_000
# Beyond it, a search for t stops before a single score would take this long.
_PATIENCE_SECONDS = 1.0
_VANISHED = 1e-200


def diffusion_options(world: World, request: DiscoveryRequest) -> OptionSet:
    """Return an option to each local maximum of the score, or to the ``n_options`` most prominent ones."""
    walk = Walk.of(world)
    if request.n_options is not None and not request.t_given:
        scores, goals = _SearchForT(world, walk, request, request.n_options).largest()
    else:
        scores = walk_scores(walk, request.scoring)
        goals = _goals_of(world, scores, request)
    if len(goals) == 0:
        raise InvalidInput(f"min_prominence must leave at least one goal; got {request.min_prominence:g}.")
    if request.n_options is not None:
        if request.n_options > len(goals):
            raise InvalidInput(_too_few(request.n_options, len(goals), f"at t = {scores.t:g}"))
        goals = goals.most_prominent(request.n_options)
    record = {
        "t": scores.t,
        "solver": scores.solver,
        "form": scores.form,
        "reason": scores.reason,
        "heights": goals.heights,
        "prominences": goals.prominences,
    }
    return OptionSet(world, goals.states, "diffusion", record)


def count_options(world: World, request: DiscoveryRequest) -> int:
    """Return how many options are requested: by default as many as there are diffusion options."""
    return len(diffusion_options(world, request)) if request.n_options is None else request.n_options


def _goals_of(world: World, scores: Scores, request: DiscoveryRequest) -> Goals:
    """Return the local maxima, without states in which an episode ends: an option into those would end it."""
    if scores.solver == "probes":
        goals = refine_goals(world, scores, n_jobs=request.scoring.n_jobs)
        goals = goals.where(goals.prominences >= request.min_prominence)
    else:
        goals = find_goals(world, scores, min_prominence=request.min_prominence)
    return goals.where(np.isin(goals.states, goal_states(world)))


def _too_few(wanted: int, available: int, where: str) -> str:
    return (
        f"n_options must be at most the number of local maxima of the score; got {wanted}, and there are {available} "
        f"{where}. Ask for fewer, or use method='random'."
    )


class _SearchForT:
    """The search for a large whole t that has at least ``n_options`` local maxima."""

    def __init__(self, world: World, walk: Walk, request: DiscoveryRequest, n_options: int) -> None:
        scoring = request.scoring
        if scoring.form == scoring.solver == "auto" and only_symmetrized(walk):
            request = replace(request, scoring=replace(scoring, form="symmetrized"))
        self._world, self._walk, self._request, self._n_options = world, walk, request, n_options
        self._decomposition = self._one_for_all()

    def _one_for_all(self) -> Spectrum | None:
        """Return a decomposition that serves every t, where one is affordable and needed."""
        scoring, walk = self._request.scoring, self._walk
        if scoring.solver not in ("auto", "spectral"):
            return None
        if scoring.form == "symmetrized":
            walk = walk.symmetrized()
        if walk.symmetric:
            return walk_spectrum(walk) if walk.n_states <= _DENSE_STATES else None
        if choose_form(walk, scoring.form, scoring.solver)[0] != "polar":
            return None
        spectrum = walk_spectrum(walk)
        # Where Algorithm 2 explodes, auto takes the form of the walk, which needs no decomposition.
        return spectrum if np.abs(spectrum.omega).max() <= 1.0 + 1e-9 or scoring.form == "polar" else None

    def _look(self, t: int) -> tuple[Scores, Goals]:
        scoring = replace(self._request.scoring, t=t)
        if self._decomposition is not None:
            scoring = replace(scoring, solver="spectral", decomposition=self._decomposition)
        scores = walk_scores(self._walk, scoring)
        return scores, _goals_of(self._world, scores, self._request)

    def _enough(self, found: tuple[Scores, Goals]) -> bool:
        # The maxima of scores that have all but vanished are rounding.
        return len(found[1]) >= self._n_options and float(found[0].max()) > _VANISHED

    def _affordable(self, t: int) -> bool:
        if self._decomposition is not None:
            return True
        return LocalScores.of(self._walk, t, self._request.scoring.tolerance).seconds <= _PATIENCE_SECONDS

    def largest(self) -> tuple[Scores, Goals]:
        """Return score and goals at the t that was found.

        The number of maxima falls with t, though not strictly from one t to the next: the first few are all looked at,
        then t is doubled while there are enough, then halved in between. So the next t has too few, though a still
        larger one may have enough again.
        """
        found = {t: self._look(t) for t in range(1, DEFAULT_T + 1)}
        enough = [t for t, tried in found.items() if self._enough(tried)]
        if not enough:
            most = max(len(goals) for _, goals in found.values())
            raise InvalidInput(_too_few(self._n_options, most, f"for any t from 1 to {DEFAULT_T}"))
        low = max(enough)
        if low < DEFAULT_T:
            return found[low]
        best, high = found[low], low
        while low < _LONGEST_T and self._affordable(further := min(2 * low, _LONGEST_T)):
            high, tried = further, self._look(further)
            if not self._enough(tried):
                break
            low, best = further, tried
        while high - low > 1:
            middle = (low + high) // 2
            tried = self._look(middle)
            if self._enough(tried):
                low, best = middle, tried
            else:
                high = middle
        return best
