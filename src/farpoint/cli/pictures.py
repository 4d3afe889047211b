"""The pictures that ``farpoint discover`` writes: the numbers are computed here, then drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from farpoint.diffusion import find_goals, score, spectrum, stationary
from farpoint.errors import FarpointError, InvalidInput
from farpoint.options import OptionSet
from farpoint.report import (
    draw_curve,
    draw_policy,
    draw_route,
    draw_score,
    draw_score_over_t,
    draw_stationary,
    save_figure,
)
from farpoint.worlds import World

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TIMES = (1, 4, 13, 100)
# With more states than this a picture of the whole world has less than a pixel per state.
_MOST_STATES = 1_000_000
# With more states than this, scores at several t take too long.
_MOST_STATES_OVER_T = 20_000
# Up to this many states one dense decomposition serves every t.
_DENSE_STATES = 2_000
# Of a map of more states these are computed to this relative error, with the same goals in a fraction of the time.
_SMALL_MAP = 500
_TOLERANCE = 1e-6
# The route that is drawn is the longest of this many options, up to so many steps.
_ROUTES_TRIED = 32
_LONGEST_ROUTE = 10_000


def draw_options(
    options: OptionSet, folder: Path, formats: Sequence[str], tolerance: float | None = None
) -> dict[str, str]:
    """Write pictures of the world and its options.

    Parameters
    ----------
    options : OptionSet
    folder : Path
    formats : sequence of str
    tolerance : float, optional
        Relative error that the score may have.

    Returns
    -------
    dict
        The pictures that this world does not have, each with the reason.
    """
    world = options.world
    if world.n_states > _MOST_STATES:
        return {"world": f"it has more than {_MOST_STATES:,} states."}
    t, form = options.record.get("t", 4), options.record.get("form", "auto")
    pictures: dict[str, Callable[[], Figure]] = {
        "score": lambda: draw_score(
            world,
            score(world, t, form=form, tolerance=tolerance),
            options.goals,
            title=f"{world.name}: $f_{{{t:g}}}(s)$ and {len(options)} {options.method} goals",
            label=f"$f_{{{t:g}}}(s)$",
        ),
        "stationary": lambda: draw_stationary(world, stationary(world)),
    }
    if world.n_states <= _MOST_STATES_OVER_T:
        pictures["score_over_t"] = lambda: _draw_over_t(world, form)
    if len(options):
        pictures["policy"] = lambda: draw_policy(options[0])
        pictures["route"] = lambda: draw_route(world, _longest_route(options))
    if "curve" in options.record:
        pictures["curve"] = lambda: draw_curve(options.record["curve"], len(options), method=options.method)
    skipped = {}
    for name, draw in pictures.items():
        try:
            figure = draw()
        except FarpointError as error:
            skipped[name] = str(error)
            continue
        for ending in formats:
            save_figure(figure, folder / f"{name}.{ending}")
    return skipped


def _draw_over_t(world: World, form: str) -> Figure:
    if world.symmetric and world.floor is not None and world.n_states > _SMALL_MAP:
        scores = {t: score(world, t, tolerance=_TOLERANCE) for t in _TIMES}
    else:
        eigen = spectrum(world) if world.symmetric and world.n_states <= _DENSE_STATES else None
        scores = {t: score(world, t, form=form, decomposition=eigen) for t in _TIMES}
    goals = {t: find_goals(world, values) for t, values in scores.items()}
    return draw_score_over_t(world, scores, goals)


def _longest_route(options: OptionSet) -> NDArray[np.int64]:
    """Return, of the first few options, the longest route from the start that is short enough to be drawn."""
    begin = options.world.start if options.world.start is not None else 0
    lengths = {}
    for index, option in enumerate(options[:_ROUTES_TRIED]):
        start = begin if option.initiation[begin] else int(option.initiation.argmax())
        steps = option.potential[start] if option.goal is not None else 1.0
        if option.initiation[start] and steps <= _LONGEST_ROUTE:
            lengths[index, start] = steps
    if not lengths:
        raise InvalidInput(f"some option must reach its end within {_LONGEST_ROUTE} steps; got none that does.")
    index, start = max(lengths, key=lambda key: lengths[key])
    return options[index].route(start, seed=0)
