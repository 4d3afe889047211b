"""States drawn on one pair of axes: cells of a heat map, or dots and edges; their marks and names.

The first coordinate of a place is its row, counted downwards; the second is its column.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from farpoint.errors import InvalidInput
from farpoint.report.layout import is_map, places_of
from farpoint.worlds import World
from farpoint.worlds.arrays import real_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable

COLORS = "cividis"
WALL = "#2b2b2b"
GOAL = "#d55e00"
START = "#009e73"
TARGET = "#cc79a7"
PLAIN_DOT = "#9aa7b3"
FLOOR = "#dfe5ea"
# Up to so many marked states of a graph have a thick ring.
_FEW_MARKS = 60
# Corners of the quarter of a cell that looks right, down, left, up; a cell is one wide.
_CORNERS = {
    0: ((-0.5, 0.5), (0.5, 0.5)),
    1: ((0.5, 0.5), (0.5, -0.5)),
    2: ((0.5, -0.5), (-0.5, -0.5)),
    3: ((-0.5, -0.5), (-0.5, 0.5)),
}
# Where the middle of such a quarter is: row and column.
QUARTERS = np.array([[0.0, 0.3], [0.3, 0.0], [0.0, -0.3], [-0.3, 0.0]])
# More edges than this cannot be distinguished in a picture, so an even share of them is drawn.
_MOST_EDGES = 20_000
# One-way edges have arrowheads up to this many.
_MOST_ARROWS = 400
# A graph of more states than this has thin edges, each with a strength of its own.
FEW_STATES = 300
_THIN, _THIN_COLOR = 0.5, (0.18, 0.24, 0.32)
# Share of the picture that thin edges may cover if none overlap; a drawing is about this many points wide.
_COVERED, _POINTS_WIDE = 0.12, 300
_FAINTEST, _STRONGEST = 0.01, 0.5
_POINTS_AWAY = 6
Names = Mapping[int, str]


def heat_map(
    axes: Axes,
    world: World,
    values: ArrayLike,
    *,
    plain: bool = False,
    places: NDArray[Any] | None = None,
    **look: Any,
) -> ScalarMappable:
    """Draw one number per state: as colored cells, or as colored dots with edges between them.

    Parameters
    ----------
    axes : Axes
    world : World
    values : array of float, shape (n_states,)
        States with nan are shown without a color.
    plain : bool
        Draw all states alike, without their numbers.
    places : array, shape (n_states, 2), optional
        Row and column of each state, as `places_of` gives them. Integers are cells of a map, where what is not a state
        is wall.
    **look
        ``cmap``, ``vmin``, ``vmax``.

    Returns
    -------
    ScalarMappable
        What a color bar is made from.
    """
    places = places_of(world) if places is None else places
    numbers = check_values(world, values)
    if not is_map(places):
        return _dots(axes, world, places, numbers, plain, look)
    draw_floor(axes, places)
    return axes.images[-1] if plain else _cells(axes, places.astype(np.int64), numbers, look)


def check_values(world: World, values: ArrayLike) -> NDArray[np.float64]:
    """Return one number per state."""
    numbers = real_numbers("scores", values)
    if numbers.shape != (world.n_states,):
        raise InvalidInput(f"scores must have one entry per state ({world.n_states}); got shape {numbers.shape}.")
    return numbers


def mark(
    axes: Axes,
    world: World,
    states: ArrayLike,
    *,
    size: float = 7,
    places: NDArray[Any] | None = None,
    color: str = GOAL,
) -> None:
    """Draw a dot on each of ``states``; on a drawing of dots and edges, a ring around it."""
    places = places_of(world) if places is None else places
    chosen = places[world.check_states("goals", states)]
    if not is_map(places):
        area = 3.2 * dot_area(world.n_states)
        # Rings that lie on each other would hide what they mark.
        width = 1.8 if len(chosen) <= _FEW_MARKS else 0.9
        axes.scatter(chosen[:, 1], chosen[:, 0], facecolor="none", edgecolor=color, s=area, linewidth=width, zorder=4)
        return
    # Smaller dots on larger maps, so that neighboring ones stay apart.
    dots(axes, chosen, min(size, 150 / max(np.ptp(places, axis=0).max(), 1)), color)


def dots(axes: Axes, places: NDArray[Any], size: float, color: str) -> None:
    """Draw a dot with a white rim at each place."""
    axes.plot(
        places[:, 1],
        places[:, 0],
        linestyle="none",
        marker="o",
        markersize=size,
        markerfacecolor=color,
        markeredgecolor="white",
        markeredgewidth=size / 6,
        zorder=4,
    )


def dot_area(n_states: int) -> float:
    """Return the area of the dot of a state, in square points: smaller the more there are."""
    return float(np.clip(9_000 / n_states, 4, 70))


def draw_floor(axes: Axes, places: NDArray[Any]) -> None:
    """Draw the cells of a map white, with walls dark and a rim of wall around them."""
    rows, columns = places.astype(np.int64).T
    floor, look = _canvas(rows, columns)
    floor[rows - rows.min() + 1, columns - columns.min() + 1] = 0.0
    axes.set(xticks=[], yticks=[], facecolor=WALL)
    axes.imshow(floor, cmap="binary", vmin=0, vmax=1, **look)


def quarter_cells(
    axes: Axes, places: NDArray[Any], directions: NDArray[np.int64], values: NDArray[np.float64], look: Any
) -> ScalarMappable:
    """Draw one number per cell and direction, in the quarter of the cell on that side."""
    from matplotlib.collections import PolyCollection

    # Of several states with one place and direction (objects put down elsewhere) the highest is shown, on top.
    order = np.argsort(values)
    order = order[np.isfinite(values[order])]
    corners = np.array(
        [
            [place, *(place + np.array(_CORNERS[int(way)]))]
            for place, way in zip(places[order], directions[order], strict=True)
        ]
    ).reshape(-1, 3, 2)
    vmin, vmax, cmap = look["vmin"], look["vmax"], look["cmap"]
    quarters = PolyCollection(
        list(corners[:, :, ::-1]), array=values[order], cmap=cmap, linewidth=0.2, edgecolor="face"
    )
    quarters.set_clim(vmin, vmax)
    axes.add_collection(quarters)
    return quarters


def _canvas(rows: NDArray[np.int64], columns: NDArray[np.int64]) -> tuple[NDArray[np.float64], dict[str, Any]]:
    """Return an empty image of a map with a rim, and how it is shown."""
    top, left = rows.min() - 1, columns.min() - 1
    canvas = np.full((rows.max() - top + 2, columns.max() - left + 2), np.nan)
    bounds = (left - 0.5, left + canvas.shape[1] - 0.5, top + canvas.shape[0] - 0.5, top - 0.5)
    return canvas, {"extent": bounds, "interpolation": "nearest", "aspect": "equal"}


def _cells(axes: Axes, cells: NDArray[np.int64], values: NDArray[np.float64], look: dict[str, Any]) -> ScalarMappable:
    rows, columns = cells.T
    canvas, shown = _canvas(rows, columns)
    # Of several states in one cell (directions, passengers) the highest is shown.
    np.fmax.at(canvas, (rows - rows.min() + 1, columns - columns.min() + 1), values)
    return axes.imshow(canvas, **{"cmap": COLORS, **look}, **shown)


def _dots(
    axes: Axes,
    world: World,
    places: NDArray[Any],
    values: NDArray[np.float64],
    plain: bool,
    look: dict[str, Any],
) -> ScalarMappable:
    draw_edges(axes, world, places)
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.1)
    if not axes.yaxis_inverted():
        axes.invert_yaxis()
    axes.set_axis_off()
    area = dot_area(world.n_states)
    if plain:
        return axes.scatter(places[:, 1], places[:, 0], s=area, zorder=3, color=PLAIN_DOT)
    shown = {"cmap": COLORS, **look}
    # The largest on top, where dots overlap.
    order = np.argsort(np.nan_to_num(values, nan=-np.inf), kind="stable")
    return axes.scatter(
        places[order, 1], places[order, 0], c=values[order], s=area, zorder=3, plotnonfinite=False, **shown
    )


def draw_edges(axes: Axes, world: World, places: NDArray[Any]) -> None:
    """Draw a line between any two states that a move joins; arrowheads where it is one-way and there are few."""
    edges = world.neighbors.tocoo()
    once = edges.row < edges.col
    first, second = edges.row[once], edges.col[once]
    share = slice(None, None, max(1, first.size // _MOST_EDGES))
    ends = np.stack([places[first[share]], places[second[share]]], axis=1)
    if world.n_states > FEW_STATES:
        _draw_thin(axes, ends)
    else:
        _draw_line(axes, ends)
    if not world.symmetric and edges.nnz <= _MOST_ARROWS:
        _draw_arrowheads(axes, world, places)


def _draw_line(axes: Axes, ends: NDArray[np.float64]) -> None:
    """Draw all edges alike."""
    # One line with gaps is drawn far faster than one line per edge.
    lines = np.full((len(ends), 3, 2), np.nan)
    lines[:, :2] = ends
    rows, columns = lines.reshape(-1, 2).T
    strength = float(np.clip(60 / np.sqrt(len(ends) + 1), 0.12, 1.0))
    axes.plot(columns, rows, color="black", alpha=0.28 * strength, linewidth=0.9, zorder=1)


def _draw_thin(axes: Axes, ends: NDArray[np.float64]) -> None:
    """Draw every edge by itself: where several lie on each other it is darker, and long ones are the faintest."""
    from matplotlib.collections import LineCollection

    colors = np.column_stack([np.tile(_THIN_COLOR, (len(ends), 1)), edge_strengths(ends)])
    # In a PDF or SVG file as one image: thousands of lines would make it slow to open.
    lines = LineCollection(list(ends[:, :, ::-1]), colors=list(colors), linewidths=_THIN, zorder=1, rasterized=True)
    axes.add_collection(lines)


def edge_strengths(ends: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how opaque each edge is: so that all together leave most of the picture white, long ones the least.

    Parameters
    ----------
    ends : array, shape (n_edges, 2, 2)
        Where each edge begins and ends.

    Examples
    --------
    >>> short, long = edge_strengths(np.array([[[0.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [0.0, 100.0]]]))
    >>> bool(short > long)
    True
    """
    if not len(ends):
        return np.zeros(0)
    lengths = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
    usual = max(float(np.median(lengths)), 1e-12)
    # An edge that is longer than usual joins places that are drawn apart: it says little and crosses much.
    share = np.minimum(usual / np.maximum(lengths, 1e-12), 1.0)
    sides = np.maximum(np.ptp(ends.reshape(-1, 2), axis=0), usual)
    covered = float((lengths * share).sum() * _THIN * sides.max() / _POINTS_WIDE / sides.prod())
    return np.asarray(share * np.clip(_COVERED / max(covered, 1e-12), _FAINTEST, _STRONGEST))


def _draw_arrowheads(axes: Axes, world: World, places: NDArray[Any]) -> None:
    """Draw an arrowhead on each edge that leads in one direction only."""
    one_way = (world.adjacency != 0).astype(np.int8)
    moves = (one_way - one_way.multiply(one_way.T)).tocoo()
    begin, step = places[moves.row], places[moves.col] - places[moves.row]
    for (row, column), (down, right) in zip(begin + 0.55 * step, 0.02 * step, strict=True):
        axes.annotate(
            "",
            (column + right, row + down),
            (column, row),
            arrowprops={"arrowstyle": "-|>", "color": "#5b6875", "linewidth": 0, "mutation_scale": 14},
            zorder=2,
        )


def name_inside(axes: Axes, places: NDArray[Any], names: Names) -> None:
    """Write names into the cells of a map."""
    for state, name in names.items():
        _write(axes, name, places[state], (0, 0), ha="center", va="center")


def name_above(axes: Axes, places: NDArray[Any], names: Names) -> None:
    """Write names above the dots of a graph."""
    for state, name in names.items():
        _write(axes, name, places[state], (0, _POINTS_AWAY), ha="center", va="bottom")


def name_outside(axes: Axes, places: NDArray[Any], names: Names) -> None:
    """Write names above the upper dots and below the lower ones, where a graph of many states has the most room."""
    rows = places[:, 0]
    middle = (rows.min() + rows.max()) / 2.0
    for state, name in names.items():
        below = bool(rows[state] > middle)
        offset = (0, -_POINTS_AWAY if below else _POINTS_AWAY)
        _write(axes, name, places[state], offset, ha="center", va="top" if below else "bottom")


def _write(axes: Axes, name: str, place: NDArray[np.float64], offset: tuple[float, float], **sides: str) -> None:
    from matplotlib.patheffects import withStroke

    row, column = place
    look: dict[str, Any] = {"fontsize": 7, "color": "#1c2530", "zorder": 6, **sides}
    # With a white rim, so that it can be read on dots and edges.
    rim = [withStroke(linewidth=2.5, foreground="white")]
    # A dollar sign would begin a formula.
    text = axes.annotate(name, (column, row), xytext=offset, textcoords="offset points", path_effects=rim, **look)
    text.set_parse_math(False)
