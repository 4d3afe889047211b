"""Pictures of a world: values as a heat map, goals, routes, policies, the score over t.

Every function returns a matplotlib ``Figure`` that belongs to nobody else (pyplot's global state is not touched);
write it with `save_figure`.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from farpoint.diffusion import find_goals, score, spectrum, stationary
from farpoint.errors import InvalidInput, OutputError, check_word
from farpoint.options import Option
from farpoint.worlds import World

FORMATS = ("png", "pdf", "svg")
COLORS = "cividis"
WALL = "#2b2b2b"
GOAL = "#d55e00"
START = "#009e73"
ROUTE = "#d55e00"
_INCHES = 4.2
# Up to this size one dense decomposition serves every t.
_DENSE_STATES = 2_000


def draw_score(
    domain: World,
    scores: ArrayLike,
    goals: ArrayLike | None = None,
    *,
    title: str | None = None,
    label: str = "$f_t(s)$",
) -> Figure:
    """Return a heat map of one number a state, with the goals marked.

    Examples
    --------
    >>> import farpoint as fp
    >>> from farpoint.report import draw_score
    >>> world = fp.ring()
    >>> scores = fp.score(world, t=4)
    >>> figure = draw_score(world, scores, fp.find_goals(world, scores))
    """
    if not domain.drawable:
        return _draw_graph(domain, scores, goals, title, label)
    figure, axes = _sheet(domain, title)
    image = heat_map(axes, domain, scores)
    if goals is not None:
        mark(axes, domain, goals)
    figure.colorbar(image, ax=axes, label=label, fraction=0.046, pad=0.03)
    return figure


def _draw_graph(domain: World, scores: ArrayLike, goals: ArrayLike | None, title: str | None, label: str) -> Figure:
    """Return the states as dots where two eigenvectors put them: a layout without forces or chance."""
    both = domain.walker.adjacency + domain.walker.adjacency.T
    places = spectrum(World.from_graph(both), min(3, domain.n_states)).phi[:, 1:]
    x, y = places[:, 0], places[:, -1]
    figure = Figure(figsize=(5.4, 4.4), layout="constrained")
    axes = figure.subplots()
    edges = domain.neighbors.tocoo()
    some = slice(None, None, max(1, edges.nnz // 20_000))
    axes.plot(
        [x[edges.row[some]], x[edges.col[some]]], [y[edges.row[some]], y[edges.col[some]]], color="#00000018", lw=0.6
    )
    dots = axes.scatter(x, y, c=np.asarray(scores), cmap=COLORS, s=14, zorder=3)
    if goals is not None:
        chosen = np.asarray(goals, dtype=np.int64)
        axes.scatter(x[chosen], y[chosen], facecolor="none", edgecolor=GOAL, s=60, linewidth=1.6, zorder=4)
    axes.set_axis_off()
    if title:
        axes.set_title(title, fontsize=11)
    figure.colorbar(dots, ax=axes, label=label, fraction=0.046, pad=0.03)
    return figure


def draw_stationary(domain: World) -> Figure:
    """Return a heat map of the stationary distribution π₀: where a random walk is found in the long run.

    Examples
    --------
    >>> import farpoint as fp
    >>> from farpoint.report import draw_stationary
    >>> figure = draw_stationary(fp.four_rooms())
    """
    return draw_score(domain, stationary(domain), title=f"{domain.name}: stationary distribution", label=r"$\pi_0(s)$")


def draw_route(option: Option, from_state: int, *, seed: int = 0) -> Figure:
    """Return the map with one route of an option drawn from a state to where it ends.

    Examples
    --------
    >>> import farpoint as fp
    >>> from farpoint.report import draw_route
    >>> world = fp.maze()
    >>> figure = draw_route(fp.discover(world)[0], world.start)
    """
    domain = option.world
    route = option.route(from_state, seed=seed)
    figure, axes = _sheet(domain, f"{domain.name}: {route.size - 1} steps from state {from_state}")
    heat_map(axes, domain, np.zeros(domain.n_states), plain=True)
    cells = _positions(domain)[route]
    axes.plot(cells[:, 1], cells[:, 0], color=ROUTE, linewidth=2.5, solid_joinstyle="round", zorder=3)
    axes.plot(*cells[0, ::-1], marker="o", color=START, markersize=8, zorder=4)
    axes.plot(*cells[-1, ::-1], marker="*", color=GOAL, markersize=14, markeredgecolor="white", zorder=4)
    return figure


def draw_policy(option: Option) -> Figure:
    """Return the map with an option's whole policy as arrows, shaded by the steps that are left.

    Where several choices are equally good there is an arrow for each.

    Examples
    --------
    >>> import farpoint as fp
    >>> from farpoint.report import draw_policy
    >>> figure = draw_policy(fp.discover(fp.four_rooms())[0])
    """
    domain = option.world
    goal = option.goal
    what = "ends where nothing is higher" if goal is None else f"leads to state {goal}"
    figure, axes = _sheet(domain, f"{domain.name}: an option that {what}")
    finite = np.where(np.isfinite(option.potential), option.potential, np.nan)
    image = heat_map(axes, domain, finite)
    label = "potential" if goal is None else "expected steps to the goal"
    figure.colorbar(image, ax=axes, label=label, fraction=0.046, pad=0.03)
    # Where several states share a cell their arrows would too.
    if len(np.unique(_positions(domain), axis=0)) == domain.n_states:
        _draw_arrows(axes, option)
    if goal is not None:
        mark(axes, domain, [goal])
    return figure


def draw_score_over_t(domain: World, times: Sequence[float] = (1, 4, 13, 100), *, form: str = "auto") -> Figure:
    """Return a row of heat maps, the score at each diffusion time, with its goals marked and counted.

    Examples
    --------
    >>> import farpoint as fp
    >>> from farpoint.report import draw_score_over_t
    >>> figure = draw_score_over_t(fp.four_rooms(), times=(1, 4, 13))
    """
    width, height = _size(domain)
    figure = Figure(figsize=(width * 0.8 * len(times), height * 0.8 + 0.4), layout="constrained")
    panels = np.atleast_1d(np.asarray(figure.subplots(1, len(times))))
    parts = spectrum(domain) if domain.symmetric and domain.n_states <= _DENSE_STATES else None
    for axes, t in zip(panels, times, strict=True):
        scores = score(domain, t, form=form, decomposition=parts)
        goals = find_goals(domain, scores)
        image = heat_map(axes, domain, scores)
        mark(axes, domain, goals, size=5)
        axes.set_title(f"$t = {t:g}$: {len(goals)} goals", fontsize=10)
        figure.colorbar(image, ax=axes, label=f"$f_{{{t:g}}}(s)$", fraction=0.046, pad=0.03, format="%.2g")
    figure.suptitle(f"{domain.name}: the score $f_t(s)$ over t", fontsize=11)
    return figure


def save_figure(figure: Figure, path: str | PathLike[str]) -> Path:
    """Write a figure as PNG, PDF or SVG, by the ending of ``path``, and return the path.

    Examples
    --------
    >>> import tempfile, farpoint as fp
    >>> from farpoint.report import draw_stationary, save_figure
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_figure(draw_stationary(fp.ring()), f"{folder}/ring.svg").name
    'ring.svg'
    """
    target = Path(path)
    ending = check_word("picture format", target.suffix.lstrip(".").lower(), FORMATS)
    # No date and a fixed salt: the same picture gives the same file.
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(ending, {})
    import matplotlib as mpl

    try:
        with mpl.rc_context({"svg.hashsalt": "farpoint"}):
            figure.savefig(target, dpi=160, metadata=metadata)
    except OSError as error:
        raise OutputError(f"{target} must be a file that can be written; got {error.strerror}.") from error
    return target


def heat_map(axes: Axes, domain: World, values: ArrayLike, *, plain: bool = False) -> ScalarMappable:
    """Draw one number a state into ``axes``, with walls dark and a rim of wall around; ``plain`` leaves floor white."""
    rows, columns = _positions(domain).T
    top, left = rows.min() - 1, columns.min() - 1
    canvas = np.full((rows.max() - top + 2, columns.max() - left + 2), np.nan)
    # Several states in one cell (directions, passengers): the highest of them is seen.
    np.fmax.at(canvas, (rows - top, columns - left), np.asarray(values, dtype=np.float64))
    extent = (left - 0.5, left + canvas.shape[1] - 0.5, top + canvas.shape[0] - 0.5, top - 0.5)
    floor = np.where(np.isnan(canvas), np.nan, 0.0)
    floor[rows - top, columns - left] = 0.0
    axes.set_facecolor(WALL)
    # Floor first, so that a state without a number is seen as floor and not as wall.
    image = axes.imshow(floor, cmap="binary", vmin=0, vmax=1, extent=extent, interpolation="nearest", aspect="equal")
    if not plain:
        image = axes.imshow(canvas, cmap=COLORS, extent=extent, interpolation="nearest", aspect="equal")
    axes.set_xticks([])
    axes.set_yticks([])
    return image


def mark(axes: Axes, domain: World, states: ArrayLike, *, size: float = 7) -> None:
    """Draw a ring around each of ``states``."""
    cells = _positions(domain)[np.asarray(states, dtype=np.int64)]
    # Rings that stay apart: smaller ones on larger maps.
    size = min(size, 150 / max(np.ptp(_positions(domain), axis=0).max(), 1))
    axes.plot(
        cells[:, 1],
        cells[:, 0],
        linestyle="none",
        marker="o",
        markersize=size,
        markerfacecolor=GOAL,
        markeredgecolor="white",
        markeredgewidth=size / 6,
        zorder=4,
    )


def _draw_arrows(axes: Axes, option: Option) -> None:
    domain = option.world
    cells = _positions(domain)
    chances = option.choice_probabilities()
    owners = domain.choice_states
    taken = np.flatnonzero((chances > 0) & option.initiation[owners])
    # Of the states that a choice may lead to, the arrow points to the one that it is taken for.
    targets = np.array([_aim(option, int(choice)) for choice in taken], dtype=np.int64)
    origins = owners[taken]
    step = cells[targets] - cells[origins]
    axes.quiver(
        cells[origins, 1],
        cells[origins, 0],
        0.42 * step[:, 1],
        0.42 * step[:, 0],
        color="white",
        edgecolor="black",
        linewidth=0.3,
        angles="xy",
        scale_units="xy",
        scale=1,
        width=0.006,
        zorder=3,
    )


def _aim(option: Option, choice: int) -> int:
    matrix = option.world.transitions
    targets = matrix.indices[matrix.indptr[choice] : matrix.indptr[choice + 1]]
    return int(targets[option.potential[targets].argmin()])


def _positions(domain: World) -> NDArray[np.int32]:
    if not domain.drawable:
        raise InvalidInput(f"world must have a row and a column for each state to be drawn; got {domain!r} without.")
    assert domain.positions is not None
    return domain.positions


def _size(domain: World) -> tuple[float, float]:
    rows, columns = np.ptp(_positions(domain), axis=0) + 3
    scale = _INCHES / max(rows, columns)
    return max(columns * scale, 1.5) + 1.1, max(rows * scale, 1.2) + 0.4


def _sheet(domain: World, title: str | None) -> tuple[Figure, Axes]:
    figure = Figure(figsize=_size(domain), layout="constrained")
    axes = figure.subplots()
    if title:
        axes.set_title(title, fontsize=11)
    return figure, axes
