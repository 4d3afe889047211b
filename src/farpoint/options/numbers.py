"""``n_options="auto"``: the number of options at the knee of their curve."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from farpoint.errors import InvalidInput
from farpoint.options.curves import NUMBERS, OptionsCurve, exchanged_curve, judge_sets
from farpoint.options.methods import METHODS, DiscoveryRequest
from farpoint.options.methods.diffusion import diffusion_options, goals_over_time
from farpoint.options.methods.farpoint import SMALL
from farpoint.options.methods.request import goal_states
from farpoint.options.methods.spread import farthest_first, spread_states
from farpoint.options.option_set import OptionSet
from farpoint.worlds import World

# The methods whose options lead to one state from everywhere, so that sets of them can be judged together.
AUTO_METHODS = ("diffusion", "farpoint", "betweenness", "successor", "random")
_MOST_CANDIDATES = 128


def options_at_knee(world: World, method: str, request: DiscoveryRequest) -> OptionSet:
    """Return as many options as the knee of the method's curve says; ``record["curve"]`` holds the curve."""
    if method not in AUTO_METHODS:
        raise InvalidInput(
            f"n_options must be a number for method {method!r}; got 'auto', which is for {', '.join(AUTO_METHODS)}."
        )
    curve = options_curve(world, method, request)
    # The knee of diffusion options is that of the best t.
    t_auto = method == "diffusion" and not request.t_given
    options = METHODS[method](world, replace(request, n_options=curve.knee, t_auto=t_auto))
    said = f"{curve.knee} options, at the knee of the curve up to {curve.numbers[-1]}"
    choice = options.record.get("choice")
    record = options.record | {"curve": curve.to_record(), "choice": said if choice is None else f"{said}; {choice}"}
    return replace(options, record=record)


def options_curve(world: World, method: str, request: DiscoveryRequest) -> OptionsCurve:
    """Return mean steps over the number of options of a method.

    Up to twice as many as there are local maxima at the paper's t, and at most 64.
    """
    n_jobs, objective = request.scoring.n_jobs, request.objective
    allowed = goal_states(world)
    everything = diffusion_options(world, replace(request, n_options=None, t_auto=False))
    most = int(min(NUMBERS[-1], allowed.size, 2 * len(everything)))
    numbers = [number for number in NUMBERS if number <= most]
    if method == "farpoint":
        candidates = allowed
        if world.n_states > SMALL:
            spread = spread_states(world, allowed, min(_MOST_CANDIDATES, allowed.size))
            candidates = np.union1d(spread, everything.goals[:_MOST_CANDIDATES])
        return exchanged_curve(world, candidates, most, objective=objective, seed=request.seed, n_jobs=n_jobs)
    sets = _sets(world, method, request, numbers)
    judged = judge_sets(
        world, [goals for _, goals in sets], objective=objective, seed=request.seed, n_jobs=n_jobs
    )  # fmt: skip
    sizes = np.array([number for number, _ in sets])
    kept = np.unique(sizes)
    best = [int(np.flatnonzero(sizes == number)[judged.values[sizes == number].argmin()]) for number in kept]
    return OptionsCurve(kept, judged.values[best], judged.probabilities[best])


def _sets(
    world: World, method: str, request: DiscoveryRequest, numbers: list[int]
) -> list[tuple[int, NDArray[np.int64]]]:
    """Return the goals of every number of options; of diffusion options, those of every t."""
    if method != "diffusion":
        return [(number, METHODS[method](world, replace(request, n_options=number)).goals) for number in numbers]
    if request.t_given:
        most = len(diffusion_options(world, replace(request, n_options=None)))
        return [
            (number, diffusion_options(world, replace(request, n_options=number)).goals)
            for number in numbers
            if number <= most
        ]
    found = goals_over_time(world, request)
    return [
        (number, farthest_first(world, goals, number).states)
        for number in numbers
        for _, goals in found
        if len(goals) >= number
    ]
