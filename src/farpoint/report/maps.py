"""States drawn where they lie: cells of a heat map, or dots and edges where positions are not whole numbers.

The first coordinate of a state is its row, counted downwards; the second is its column.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from farpoint.errors import InvalidInput
from farpoint.report.sheets import new_figure
from farpoint.worlds import World
from farpoint.worlds.arrays import real_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.figure import Figure

COLORS = "cividis"
WALL = "#2b2b2b"
GOAL = "#d55e00"
START = "#009e73"
_INCHES = 4.2
_GRAPH_INCHES = (5.4, 4.4)
# More edges than this cannot be distinguished in a picture, so an even share of them is drawn.
_MOST_EDGES = 20_000


def has_places(world: World) -> bool:
    """Return whether the states of a world have positions in the plane.

    >>> import farpoint as fp
    >>> has_places(fp.ring()), has_places(fp.grid((2, 2, 2)))
    (True, False)
    """
    return world.positions is not None and world.positions.shape[1] == 2


def places_of(world: World, layout: ArrayLike | None = None) -> NDArray[np.float64]:
    """Return row and column of every state: ``layout`` if it is given, otherwise the positions of the world.

    >>> import farpoint as fp
    >>> places_of(fp.open_room(1, 2))
    array([[0., 0.],
           [0., 1.]])

    Raises
    ------
    InvalidInput
        If the world has no positions in the plane and no layout is given, or the layout has another shape.
    """
    if layout is None and not has_places(world):
        raise InvalidInput(
            f"layout must be given for a world without positions in the plane; got None for {world!r}. Pass an array "
            f"of shape ({world.n_states}, 2), for example two eigenvectors."
        )
    places = real_numbers("layout", world.positions if layout is None else layout)  # type: ignore[arg-type]
    if places.shape != (world.n_states, 2) or not np.isfinite(places).all():
        raise InvalidInput(f"layout must be finite and of shape ({world.n_states}, 2); got shape {places.shape}.")
    return places


def sheet(world: World, title: str | None, layout: ArrayLike | None = None) -> tuple[Figure, Axes]:
    """Return a figure that fits the world, and its axes."""
    figure = new_figure(*sheet_size(places_of(world, layout)))
    axes = figure.subplots()
    if title:
        axes.set_title(title, fontsize=11)
    return figure, axes


def sheet_size(places: NDArray[np.float64]) -> tuple[float, float]:
    """Return the width and height, in inches, of a figure for states at these places."""
    if not is_map(places):
        return _GRAPH_INCHES
    rows, columns = np.ptp(places, axis=0) + 3
    scale = _INCHES / max(rows, columns)
    return max(columns * scale, 1.5) + 1.1, max(rows * scale, 1.2) + 0.4


def heat_map(
    axes: Axes, world: World, values: ArrayLike, *, plain: bool = False, layout: ArrayLike | None = None
) -> ScalarMappable:
    """Draw one number per state: as colored cells, or as colored dots with edges between them.

    Parameters
    ----------
    axes : Axes
    world : World
    values : array of float, shape (n_states,)
        States with nan are shown without a color.
    plain : bool
        Draw all states white, without their numbers.
    layout : array, shape (n_states, 2), optional
        Row and column of each state. Default: the positions of the world. Whole numbers are cells of a map, where
        what is not a state is wall.

    Returns
    -------
    ScalarMappable
        What a color bar is made from.
    """
    places = places_of(world, layout)
    numbers = real_numbers("scores", values)
    if numbers.shape != (world.n_states,):
        raise InvalidInput(f"scores must have one entry per state ({world.n_states}); got shape {numbers.shape}.")
    axes.set_xticks([])
    axes.set_yticks([])
    if is_map(places):
        return _cells(axes, places.astype(np.int64), numbers, plain)
    return _dots(axes, world, places, numbers, plain)


def mark(axes: Axes, world: World, states: ArrayLike, *, size: float = 7, layout: ArrayLike | None = None) -> None:
    """Draw a dot on each of ``states``; on a drawing of dots and edges, a ring around it."""
    places = places_of(world, layout)
    chosen = places[world.check_states("goals", states)]
    if not is_map(places):
        axes.scatter(chosen[:, 1], chosen[:, 0], facecolor="none", edgecolor=GOAL, s=60, linewidth=1.6, zorder=4)
        return
    # Smaller dots on larger maps, so that neighboring ones stay apart.
    size = min(size, 150 / max(np.ptp(places, axis=0).max(), 1))
    axes.plot(
        chosen[:, 1],
        chosen[:, 0],
        linestyle="none",
        marker="o",
        markersize=size,
        markerfacecolor=GOAL,
        markeredgecolor="white",
        markeredgewidth=size / 6,
        zorder=4,
    )


def is_map(places: NDArray[np.float64]) -> bool:
    """Return whether states at these places are cells of a map: whether all coordinates are whole numbers."""
    return bool((places == np.round(places)).all())


def _cells(axes: Axes, cells: NDArray[np.int64], values: NDArray[np.float64], plain: bool) -> ScalarMappable:
    """Draw cells, with walls dark and a rim of wall around the map."""
    rows, columns = cells.T
    top, left = rows.min() - 1, columns.min() - 1
    canvas = np.full((rows.max() - top + 2, columns.max() - left + 2), np.nan)
    # Of several states in one cell (directions, passengers) the highest is shown.
    np.fmax.at(canvas, (rows - top, columns - left), values)
    floor = np.full_like(canvas, np.nan)
    floor[rows - top, columns - left] = 0.0
    bounds = (left - 0.5, left + canvas.shape[1] - 0.5, top + canvas.shape[0] - 0.5, top - 0.5)
    look: dict[str, Any] = {"extent": bounds, "interpolation": "nearest", "aspect": "equal"}
    axes.set_facecolor(WALL)
    # Floor first, so that a state without a number looks like floor and not like wall.
    image = axes.imshow(floor, cmap="binary", vmin=0, vmax=1, **look)
    return image if plain else axes.imshow(canvas, cmap=COLORS, **look)


def _dots(
    axes: Axes, world: World, places: NDArray[np.float64], values: NDArray[np.float64], plain: bool
) -> ScalarMappable:
    edges = world.neighbors.tocoo()
    once = edges.row < edges.col
    first, second = edges.row[once], edges.col[once]
    share = slice(None, None, max(1, first.size // _MOST_EDGES))
    # One line with gaps is drawn far faster than one line per edge.
    lines = np.full((3, first[share].size, 2), np.nan)
    lines[0], lines[1] = places[first[share]], places[second[share]]
    rows, columns = lines.transpose(1, 0, 2).reshape(-1, 2).T
    axes.plot(columns, rows, color="#00000018", linewidth=0.6)
    axes.invert_yaxis()
    axes.set_axis_off()
    look: dict[str, Any] = {"color": "#d0d0d0"} if plain else {"c": values, "cmap": COLORS}
    return axes.scatter(places[:, 1], places[:, 0], s=14, zorder=3, **look)
