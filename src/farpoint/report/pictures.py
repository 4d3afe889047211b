"""Pictures of a world: values as a heat map, goals, routes, policies, the score over t.

Every function takes finished numbers and returns a matplotlib ``Figure``; write it with `save_figure`. A world with
whole-number positions is drawn as a map. Any other world is drawn as dots and edges, at its positions or at ``layout``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from farpoint.errors import InvalidInput, check_time
from farpoint.options import Option
from farpoint.report.maps import GOAL, START, heat_map, is_map, mark, places_of, sheet, sheet_size
from farpoint.report.sheets import new_figure
from farpoint.worlds import WorldLike, as_world

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_score(
    world: WorldLike,
    scores: ArrayLike,
    goals: ArrayLike | None = None,
    *,
    layout: ArrayLike | None = None,
    title: str | None = None,
    label: str = "$f_t(s)$",
) -> Figure:
    """Return a picture of one number per state, with the goals marked.

    Parameters
    ----------
    world : World
    scores : array of float, shape (n_states,)
    goals : Goals or array of int, optional
    layout : array, shape (n_states, 2), optional
        Row and column of each state, for a world without positions or in place of them.
    title : str, optional
    label : str
        Of the color bar.

    Examples
    --------
    >>> import farpoint as fp
    >>> from farpoint.report import draw_score
    >>> world = fp.ring()
    >>> scores = fp.score(world, t=4)
    >>> figure = draw_score(world, scores, fp.find_goals(world, scores))

    A graph without positions needs a layout:

    >>> cube = fp.grid((3, 3, 3))
    >>> figure = draw_score(cube, fp.score(cube), layout=fp.spectrum(cube, 3).phi[:, 1:])
    """
    world = as_world(world)
    figure, axes = sheet(world, title, layout)
    image = heat_map(axes, world, scores, layout=layout)
    if goals is not None:
        mark(axes, world, goals, layout=layout)
    figure.colorbar(image, ax=axes, label=label, fraction=0.046, pad=0.03)
    return figure


def draw_stationary(world: WorldLike, pi: ArrayLike, *, layout: ArrayLike | None = None) -> Figure:
    """Return a picture of the stationary distribution π₀: how often a long random walk is in each state.

    Examples
    --------
    >>> import farpoint as fp
    >>> from farpoint.report import draw_stationary
    >>> world = fp.four_rooms()
    >>> figure = draw_stationary(world, fp.stationary(world))
    """
    world = as_world(world)
    title = f"{world.name}: stationary distribution"
    return draw_score(world, pi, layout=layout, title=title, label=r"$\pi_0(s)$")


def draw_route(world: WorldLike, route: ArrayLike, *, layout: ArrayLike | None = None) -> Figure:
    """Return the world with a route drawn on it: the states that an agent passes, in order.

    Examples
    --------
    >>> import farpoint as fp
    >>> from farpoint.report import draw_route
    >>> world = fp.maze()
    >>> figure = draw_route(world, fp.discover(world)[0].route(world.start))
    """
    world = as_world(world)
    states = world.check_states("route", route)
    if not states.size:
        raise InvalidInput("route must have at least one state; got none.")
    figure, axes = sheet(world, f"{world.name}: {states.size - 1} steps from state {states[0]}", layout)
    heat_map(axes, world, np.zeros(world.n_states), plain=True, layout=layout)
    rows, columns = places_of(world, layout)[states].T
    axes.plot(columns, rows, color=GOAL, linewidth=2.5, solid_joinstyle="round", zorder=3)
    axes.plot(columns[0], rows[0], marker="o", color=START, markersize=8, zorder=4)
    axes.plot(columns[-1], rows[-1], marker="*", color=GOAL, markersize=14, markeredgecolor="white", zorder=4)
    return figure


def draw_policy(option: Option, *, layout: ArrayLike | None = None) -> Figure:
    """Return the world with the whole policy of an option as arrows, colored by the steps that are left.

    Where several choices are equally good there is an arrow for each of them.

    Examples
    --------
    >>> import farpoint as fp
    >>> from farpoint.report import draw_policy
    >>> figure = draw_policy(fp.discover(fp.four_rooms())[0])
    """
    if not isinstance(option, Option):
        raise InvalidInput(f"option must be an Option on a world; got {option!r}. Take one of an OptionSet.")
    world, goal = option.world, option.goal
    what = "ends at a local maximum" if goal is None else f"leads to state {goal}"
    figure, axes = sheet(world, f"{world.name}: an option that {what}", layout)
    finite = np.where(np.isfinite(option.potential), option.potential, np.nan)
    image = heat_map(axes, world, finite, layout=layout)
    label = "potential" if goal is None else "expected steps to the goal"
    figure.colorbar(image, ax=axes, label=label, fraction=0.046, pad=0.03)
    places = places_of(world, layout)
    # Arrows of states that share a place would lie on top of each other.
    if len(np.unique(places, axis=0)) == world.n_states:
        _draw_arrows(axes, option, places)
    if goal is not None:
        mark(axes, world, [goal], layout=layout)
    return figure


def draw_score_over_t(
    world: WorldLike,
    scores: Mapping[Any, ArrayLike],
    goals: Mapping[Any, ArrayLike],
    *,
    layout: ArrayLike | None = None,
) -> Figure:
    """Return a row of pictures: the score at each diffusion time, with its goals marked and counted.

    Parameters
    ----------
    world : World
    scores : mapping from t to array of float, shape (n_states,)
    goals : mapping from t to Goals or array of int
        With the same times.
    layout : array, shape (n_states, 2), optional
        Row and column of each state, for a world without positions or in place of them.

    Examples
    --------
    >>> import farpoint as fp
    >>> from farpoint.report import draw_score_over_t
    >>> world = fp.four_rooms()
    >>> scores = {t: fp.score(world, t) for t in (1, 4, 13)}
    >>> goals = {t: fp.find_goals(world, scores[t]) for t in scores}
    >>> figure = draw_score_over_t(world, scores, goals)
    """
    world = as_world(world)
    if not isinstance(scores, Mapping) or not isinstance(goals, Mapping):
        raise InvalidInput(f"scores and goals must be mappings from times; got {scores!r} and {goals!r}.")
    if not scores or scores.keys() != goals.keys():
        raise InvalidInput(
            f"scores and goals must be of the same times, at least one; got {list(scores)} and {list(goals)}."
        )
    for t in scores:
        check_time(t)
    width, height = sheet_size(places_of(world, layout))
    figure = new_figure(width * 0.8 * len(scores), height * 0.8 + 0.4)
    panels = np.atleast_1d(np.asarray(figure.subplots(1, len(scores))))
    for axes, t in zip(panels, scores, strict=True):
        states = world.check_states("goals", goals[t])
        image = heat_map(axes, world, scores[t], layout=layout)
        mark(axes, world, states, size=5, layout=layout)
        axes.set_title(f"$t = {t:g}$: {states.size} goals", fontsize=10)
        figure.colorbar(image, ax=axes, label=f"$f_{{{t:g}}}(s)$", fraction=0.046, pad=0.03, format="%.2g")
    figure.suptitle(f"{world.name}: the score $f_t(s)$ over t", fontsize=11)
    return figure


def _draw_arrows(axes: Axes, option: Option, places: NDArray[np.float64]) -> None:
    owners = option.world.choice_states
    taken = np.flatnonzero((option.choice_probabilities() > 0) & option.initiation[owners])
    # Of the states that a choice may lead to, the arrow points to the one that is nearest to the end.
    ahead = np.array([_best_next_state(option, int(choice)) for choice in taken], dtype=np.int64)
    origins = places[owners[taken]]
    step = 0.42 * (places[ahead] - origins)
    # Seen on colored cells, or thin beside the dots of a graph.
    look: dict[str, Any] = {"color": "white", "edgecolor": "black", "linewidth": 0.3, "width": 0.006}
    if not is_map(places):
        look = {"color": "#5b6875", "width": 0.0025}
    axes.quiver(
        origins[:, 1],
        origins[:, 0],
        step[:, 1],
        step[:, 0],
        angles="xy",
        scale_units="xy",
        scale=1,
        zorder=3 if is_map(places) else 2,
        **look,
    )


def _best_next_state(option: Option, choice: int) -> int:
    matrix = option.world.transitions
    states = matrix.indices[matrix.indptr[choice] : matrix.indptr[choice + 1]]
    return int(states[option.potential[states].argmin()])
