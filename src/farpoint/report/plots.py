"""Pictures of a world: values as a heat map, goals, routes, policies, the score over t.

Every function takes finished numbers and returns the matplotlib ``Figure`` on which it drew: a new one, which a
notebook shows by itself, or that of ``ax``. Write it with `save_figure`. A world whose positions are cells and whose
moves mostly join cells that touch is drawn as a map, MiniGrid as one map for each thing carried and state of the
doors, with a quarter of a cell per direction. Any other world, and one with ``pos``, is drawn as dots and edges: at
``pos``, at its positions, or at a layout of its graph.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from farpoint.errors import InvalidInput, check_time
from farpoint.options import Option
from farpoint.report.canvas import FEW_STATES, Drawing, heat_map, mark, sheet_size
from farpoint.report.figures import GOAL, START, TARGET, axes_for, color_map, figure_of
from farpoint.report.layout import Pos, places_of
from farpoint.worlds import WorldLike, as_world
from farpoint.worlds.world import state_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_world(
    world: WorldLike,
    *,
    goals: ArrayLike | None = None,
    pos: Pos = None,
    labels: Any = None,
    ax: Any = None,
    figsize: Any = None,
    cmap: Any = None,
    title: str | None = None,
) -> Figure:
    """Return a picture of a world: its states, where it starts (green), its targets (pink) or ``goals`` (red).

    Parameters
    ----------
    world : World
    goals : Goals or array of int, optional
        States to be marked, in place of the targets.
    pos, labels, ax, figsize, title
        As in `draw_score`.
    cmap : colormap or str, optional
        With it, states are colored by how many choices they have.

    Examples
    --------
    >>> import farpoint as fp
    >>> from farpoint.report import draw_world
    >>> figure = draw_world(fp.four_rooms())
    """
    world = as_world(world)
    title = f"{world.name}, {world.n_states:,} states" if title is None else title
    look = {"pos": pos, "labels": labels, "ax": ax, "figsize": figsize, "colorbar": cmap is not None}
    drawing = Drawing.of(world, title, **look)
    drawing.states(cmap)
    first = [] if world.start is None else [world.start]
    drawing.mark(first if world.starts is None else np.flatnonzero(world.starts), START)
    if goals is not None:
        drawing.mark(goals, GOAL)
    elif world.targets is not None:
        drawing.mark(world.targets, TARGET)
    return drawing.figure


def draw_score(
    world: WorldLike,
    scores: ArrayLike,
    goals: ArrayLike | None = None,
    *,
    pos: Pos = None,
    labels: Any = None,
    ax: Any = None,
    figsize: Any = None,
    cmap: Any = None,
    title: str | None = None,
    label: str = "$f_t(s)$",
) -> Figure:
    """Return a picture of one number per state, with the goals marked.

    Parameters
    ----------
    world : World
    scores : array of float, shape (n_states,)
    goals : Goals or array of int, optional
    pos : mapping from label to (x, y), or array of shape (n_states, 2), optional
        Where each state is drawn, as in networkx: x to the right, y upwards. Default: the positions of the world, its
        observations, or a layout of its graph.
    labels : bool, mapping from label to text, or one text per state, optional
        What is written beside states. Default: their labels, on a graph of up to 40 states that has some; on a larger
        graph, those of up to 30 goals.
    ax : Axes, optional
        Where to draw. Default: a figure of its own.
    figsize : (float, float), optional
        Width and height of that figure, in inches.
    cmap : colormap or str, optional
    title : str, optional
    label : str
        Of the color bar.

    Returns
    -------
    Figure
        A new one, or that of ``ax``.

    Examples
    --------
    >>> import farpoint as fp
    >>> from farpoint.report import draw_score
    >>> world = fp.ring()
    >>> scores = fp.score(world, t=4)
    >>> figure = draw_score(world, scores, fp.find_goals(world, scores), cmap="magma", figsize=(5, 5))

    A network, at places of its own:

    >>> import networkx as nx
    >>> club = nx.karate_club_graph()
    >>> world = fp.World.from_graph(club)
    >>> figure = draw_score(world, fp.score(world), pos=nx.circular_layout(club), labels=True)
    """
    world = as_world(world)
    drawing = Drawing.of(world, title, pos=pos, labels=labels, ax=ax, figsize=figsize)
    drawing.values(scores, cmap, label)
    if goals is not None:
        drawing.mark(goals, GOAL)
    return drawing.figure


def draw_stationary(
    world: WorldLike,
    pi: ArrayLike,
    *,
    pos: Pos = None,
    labels: Any = None,
    ax: Any = None,
    figsize: Any = None,
    cmap: Any = None,
) -> Figure:
    """Return a picture of the stationary distribution π₀: how often a long random walk is in each state.

    The keywords are those of `draw_score`.

    Examples
    --------
    >>> import farpoint as fp
    >>> from farpoint.report import draw_stationary
    >>> world = fp.four_rooms()
    >>> figure = draw_stationary(world, fp.stationary(world))
    """
    world = as_world(world)
    title = f"{world.name}: stationary distribution"
    look = {"pos": pos, "labels": labels, "ax": ax, "figsize": figsize, "cmap": cmap}
    return draw_score(world, pi, title=title, label=r"$\pi_0(s)$", **look)


def draw_route(
    world: WorldLike,
    route: ArrayLike,
    *,
    pos: Pos = None,
    labels: Any = None,
    ax: Any = None,
    figsize: Any = None,
    cmap: Any = None,
) -> Figure:
    """Return the world with a route drawn on it: the states that an agent passes, in order.

    The keywords are those of `draw_score`; with ``cmap``, states are colored by how many choices they have.

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
    title = f"{world.name}: {states.size - 1} steps from state {states[0]}"
    look = {"pos": pos, "labels": labels, "ax": ax, "figsize": figsize, "colorbar": cmap is not None}
    drawing = Drawing.of(world, title, shown=states, **look)
    drawing.states(cmap)
    for axes, panel in zip(drawing.axes, drawing.panels, strict=True):
        # A route leaves a panel where something is picked up or a door opens: there the line has a gap.
        inside = np.isin(states, panel.states)
        if not inside.any():
            continue
        rows, columns = np.where(inside[:, None], drawing.places_in(panel)[states], np.nan).T
        axes.plot(columns, rows, color=GOAL, linewidth=2.5, solid_joinstyle="round", zorder=3.5)
        if inside[0]:
            axes.plot(columns[0], rows[0], marker="o", color=START, markersize=8, markeredgecolor="white", zorder=5)
        if inside[-1]:
            axes.plot(columns[-1], rows[-1], marker="*", color=GOAL, markersize=14, markeredgecolor="white", zorder=5)
    return drawing.figure


def draw_policy(
    option: Option,
    *,
    pos: Pos = None,
    labels: Any = None,
    ax: Any = None,
    figsize: Any = None,
    cmap: Any = None,
) -> Figure:
    """Return the world with the whole policy of an option as arrows, colored by the steps that are left.

    Where several choices are equally good there is an arrow for each of them. A graph of more than 300 states has the
    colors alone: so many arrows would hide them. The keywords are those of `draw_score`.

    Examples
    --------
    >>> import farpoint as fp
    >>> from farpoint.report import draw_policy
    >>> figure = draw_policy(fp.discover(fp.four_rooms())[0])
    """
    if not isinstance(option, Option):
        raise InvalidInput(f"option must be an Option on a world; got {option!r}. Take one of an OptionSet.")
    world, goal = option.world, option.goal
    what = "an option that ends at a local maximum" if goal is None else f"an option, goal: {state_name(world, goal)}"
    finite = np.where(np.isfinite(option.potential), option.potential, np.nan)
    look = {"pos": pos, "labels": labels, "ax": ax, "figsize": figsize, "shown": np.flatnonzero(np.isfinite(finite))}
    drawing = Drawing.of(world, f"{world.name}: {what}", **look)
    drawing.values(finite, cmap, "potential" if goal is None else "expected steps to the goal")
    # Arrows of states that share a place would lie on top of each other.
    apart = len(np.unique(drawing.places, axis=0)) == world.n_states
    if apart and (drawing.on_map or world.n_states <= FEW_STATES):
        _draw_arrows(drawing.axes[0], option, drawing.places, on_map=drawing.on_map)
    if goal is not None:
        drawing.mark([goal], GOAL)
    return drawing.figure


def draw_score_over_t(
    world: WorldLike,
    scores: Mapping[Any, ArrayLike],
    goals: Mapping[Any, ArrayLike],
    *,
    pos: Pos = None,
    ax: Any = None,
    figsize: Any = None,
    cmap: Any = None,
) -> Figure:
    """Return a row of pictures: the score at each diffusion time, with its goals marked and counted.

    Parameters
    ----------
    world : World
    scores : mapping from t to array of float, shape (n_states,)
    goals : mapping from t to Goals or array of int
        With the same times.
    pos, figsize, cmap
        As in `draw_score`.
    ax : sequence of Axes, optional
        One for each time.

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
    places, colors = places_of(world, pos), color_map(cmap)
    width, height = sheet_size(places)
    row = axes_for(ax, figsize, (width * 0.8 * len(scores), height * 0.8 + 0.4), len(scores))
    figure = figure_of(row[0])
    for axes, t in zip(row, scores, strict=True):
        states = world.check_states("goals", goals[t])
        image = heat_map(axes, world, scores[t], places=places, cmap=colors)
        mark(axes, world, states, size=5, places=places)
        axes.set_title(f"$t = {t:g}$: {states.size} goals", fontsize=10)
        figure.colorbar(image, ax=axes, label=f"$f_{{{t:g}}}(s)$", fraction=0.046, pad=0.03, format="%.2g")
    if ax is None:
        figure.suptitle(f"{world.name}: the score $f_t(s)$ over t", fontsize=11)
    return figure


def _draw_arrows(axes: Axes, option: Option, places: NDArray[Any], *, on_map: bool) -> None:
    owners = option.world.choice_states
    taken = np.flatnonzero((option.choice_probabilities() > 0) & option.initiation[owners])
    # Of the states that a choice may lead to, the arrow points to the one that is nearest to the end.
    ahead = np.array([_best_next_state(option, int(choice)) for choice in taken], dtype=np.int64)
    origins = places[owners[taken]]
    step = (0.42 if on_map else 0.8) * (places[ahead] - origins)
    # Seen on colored cells, or along the edges of a graph.
    look: dict[str, Any] = {"color": "white", "edgecolor": "black", "linewidth": 0.3, "width": 0.006}
    if not on_map:
        look = {"color": "#3b4754", "width": 0.0035 if taken.size < 150 else 0.0018, "headwidth": 5}
    axes.quiver(
        origins[:, 1],
        origins[:, 0],
        step[:, 1],
        step[:, 0],
        angles="xy",
        scale_units="xy",
        scale=1,
        zorder=3 if on_map else 2,
        **look,
    )


def _best_next_state(option: Option, choice: int) -> int:
    matrix = option.world.transitions
    states = matrix.indices[matrix.indptr[choice] : matrix.indptr[choice + 1]]
    return int(states[option.potential[states].argmin()])
