"""A world drawn on axes: states as cells of a heat map or as dots with edges, in one panel or in several; marks, names.

The first coordinate of a place is its row, counted downwards; the second is its column.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from farpoint.errors import InvalidInput
from farpoint.report.figures import GOAL, axes_for, check_size, color_map, figure_of, new_figure
from farpoint.report.layout import Pos, is_map, places_of
from farpoint.worlds import World
from farpoint.worlds.arrays import real_numbers
from farpoint.worlds.world import state_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.figure import Figure

_INCHES = 4.2
_GRAPH_INCHES = (5.4, 4.4)
_PANEL_INCHES = 2.6
_PANELS_PER_ROW = 4
# Up to so many states, those of a graph are named without being asked to; beyond, its goals, up to so many.
_MOST_LABELS = 40
_MOST_NAMED_GOALS = 30
# As MiniGrid numbers them; it need not be installed to draw a world that was saved.
_COLORS = ("red", "green", "blue", "purple", "yellow", "grey")
_OBJECTS = ("unseen", "empty", "wall", "floor", "door", "key", "ball", "box", "goal", "lava", "agent")
_DOOR_STATES = ("open", "closed", "locked")
_DOOR = _OBJECTS.index("door")
MOST_PANELS = 12
WALL = "#2b2b2b"
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


class Panel(NamedTuple):
    """Some states of a world that are drawn together, and in which direction the agent looks in each (0: right)."""

    title: str
    states: NDArray[np.int64]
    directions: NDArray[np.int64] | None


@dataclass(frozen=True, eq=False)
class Drawing:
    """A world that is being drawn: its figure, its axes, which states are drawn on each, and at which places."""

    world: World
    figure: Figure
    axes: Sequence[Axes]
    panels: Sequence[Panel]
    places: NDArray[Any]
    labels: Any

    @classmethod
    def of(
        cls,
        world: World,
        title: str | None,
        *,
        pos: Pos,
        labels: Any,
        ax: Any,
        figsize: Any,
        colorbar: bool = True,
        shown: NDArray[np.int64] | None = None,
    ) -> Drawing:
        """Return an empty drawing of a world, on ``ax`` or a figure that fits it, with the panels of ``shown``."""
        places = places_of(world, pos)
        panels = panels_of(world) if ax is None and pos is None else []
        if shown is not None:
            panels = [panel for panel in panels if np.isin(panel.states, shown).any()]
        if len(panels) > 1 or (panels and panels[0].directions is not None):
            axes = _panel_axes(panels, places, figsize)
            if title:
                figure_of(axes[0]).suptitle(title, fontsize=11)
        else:
            axes = axes_for(ax, figsize, sheet_size(places, colorbar=colorbar))
            if title:
                axes[0].set_title(title, fontsize=11 if ax is None else 10)
        everything = [Panel("", np.arange(world.n_states), None)]
        drawn = panels if len(panels) == len(axes) and panels else everything
        return cls(world, figure_of(axes[0]), axes, drawn, places, labels)

    def values(self, values: ArrayLike, cmap: Any, label: str) -> None:
        """Draw one number per state, with a color bar."""
        numbers = check_values(self.world, values)
        finite = numbers[np.isfinite(numbers)]
        look = {"cmap": color_map(cmap), "vmin": finite.min(initial=np.inf), "vmax": finite.max(initial=-np.inf)}
        if not finite.size:
            look |= {"vmin": 0.0, "vmax": 1.0}
        pairs = zip(self.axes, self.panels, strict=True)
        images = [self._panel(axes, panel, numbers, look) for axes, panel in pairs]
        self.colorbar(images[0], label)
        self._name()

    def colorbar(self, image: ScalarMappable, label: str) -> None:
        """Draw the color bar of an image beside all panels."""
        width = 0.046 if len(self.axes) == 1 else 0.02
        bar = self.figure.colorbar(image, ax=list(self.axes), label=label, fraction=width, pad=0.03, format="%.3g")
        values = np.asarray(image.get_array(), dtype=np.float64)
        if (np.isnan(values) | (values == np.round(values))).all():
            # Counts have no fractions.
            from matplotlib.ticker import MaxNLocator

            bar.locator = MaxNLocator(integer=True)
            bar.update_ticks()

    def states(self, cmap: Any) -> None:
        """Draw all states alike or, with a color map, by how many choices they have."""
        if cmap is None:
            self.plain()
        else:
            self.values(np.diff(self.world.choice_ptr), cmap, "choices")

    def plain(self) -> None:
        """Draw all states alike."""
        for axes, panel in zip(self.axes, self.panels, strict=True):
            if panel.directions is None:
                heat_map(axes, self.world, np.zeros(self.world.n_states), plain=True, places=self.places)
            else:
                self._panel(axes, panel, np.ones(self.world.n_states), {"cmap": _pale(), "vmin": 0.0, "vmax": 1.0})
        self._name()

    def mark(self, states: ArrayLike, color: str, *, size: float = 7) -> None:
        """Mark some states; the goals of a graph whose states are too many to be named are named too."""
        chosen = self.world.check_states("goals", states)
        for axes, panel in zip(self.axes, self.panels, strict=True):
            here = chosen[np.isin(chosen, panel.states)]
            if panel.directions is None:
                mark(axes, self.world, here, size=size, places=self.places, color=color)
            elif here.size:
                smaller = min(size, 60 / max(np.ptp(self.places, axis=0).max(), 1))
                dots(axes, self.places_in(panel)[here], smaller, color)
        many = self.world.n_states > _MOST_LABELS and not self.on_map
        if color == GOAL and self.labels is None and many and chosen.size <= _MOST_NAMED_GOALS:
            names = {int(state): state_name(self.world, int(state)) for state in chosen}
            write_names(self.axes[0], self.places, names, "outside")

    def places_in(self, panel: Panel) -> NDArray[Any]:
        """Return the places of all states; of those of a panel with directions, the middle of their quarter."""
        if panel.directions is None:
            return self.places
        places = self.places.astype(np.float64)
        places[panel.states] += QUARTERS[panel.directions]
        return places

    @property
    def on_map(self) -> bool:
        """Whether states are cells of a map."""
        return is_map(self.places)

    def _panel(self, axes: Axes, panel: Panel, numbers: NDArray[np.float64], look: dict[str, Any]) -> ScalarMappable:
        if panel.directions is None:
            return heat_map(axes, self.world, numbers, places=self.places, **look)
        draw_floor(axes, self.places)
        axes.set_title(panel.title, fontsize=8)
        return quarter_cells(axes, self.places[panel.states], panel.directions, numbers[panel.states], look)

    def _name(self) -> None:
        """Write the label of each state beside it, where that was asked for or there are few."""
        names = labels_to_show(self.world, self.labels, on_map=self.on_map)
        write_names(self.axes[0], self.places, names, "inside" if self.on_map else "above")


def labels_to_show(world: World, labels: Any, *, on_map: bool) -> dict[int, str]:
    """Return the text beside each state that has one.

    >>> import farpoint as fp
    >>> labels_to_show(fp.grid((2,)), True, on_map=True), labels_to_show(fp.grid((2,)), ["in", "out"], on_map=True)
    ({0: '0', 1: '1'}, {0: 'in', 1: 'out'})
    """
    own = range(world.n_states) if world.labels is None else world.labels
    if labels is None:
        labels = not on_map and world.labels is not None and world.n_states <= _MOST_LABELS
    if isinstance(labels, (bool, np.bool_)):
        return {state: str(label) for state, label in enumerate(own)} if labels else {}
    if isinstance(labels, dict):
        return {state: str(labels[label]) for state, label in enumerate(own) if label in labels}
    if not isinstance(labels, Iterable) or isinstance(labels, str):
        raise InvalidInput(f"labels must be True, False, a mapping from labels, or one text per state; got {labels!r}.")
    names = [str(name) for name in labels]
    if len(names) != world.n_states:
        raise InvalidInput(f"labels must be one text per state ({world.n_states}); got {len(names)}.")
    return dict(enumerate(names))


def sheet_size(places: NDArray[Any], *, colorbar: bool = True) -> tuple[float, float]:
    """Return the width and height, in inches, of a figure for states at these places."""
    if not is_map(places):
        return _GRAPH_INCHES
    rows, columns = np.ptp(places, axis=0) + 3
    scale = _INCHES / max(rows, columns)
    return max(columns * scale, 1.5) + (1.1 if colorbar else 0.1), max(rows * scale, 1.2) + 0.4


def panels_of(world: World) -> list[Panel]:
    """Return the panels of a world: all its states in one, or by what is carried and which doors are open in MiniGrid.

    Panels are in the order in which an agent would first see them; at most twelve, those with most states.

    Examples
    --------
    >>> import farpoint as fp
    >>> [panel.title for panel in panels_of(fp.maze())]
    ['']
    """
    labels = world.labels
    if labels is None or not all(is_minigrid(label) for label in labels):
        return [Panel("", np.arange(world.n_states), None)]
    groups: dict[Hashable, list[int]] = {}
    for state, label in enumerate(labels):
        parts: Any = label
        doors = tuple((place, code) for place, code in parts[5] if code[0] == _DOOR)
        groups.setdefault((parts[4], doors), []).append(state)
    largest = sorted(groups, key=lambda key: -len(groups[key]))[:MOST_PANELS]
    directions = np.array([label[3] for label in labels])  # type: ignore[index]
    panels = []
    for key, states in groups.items():
        if key in largest:
            chosen = np.array(states)
            panels.append(Panel(_title(key), chosen, directions[chosen]))
    return panels


def is_minigrid(label: Any) -> bool:
    """Return whether a label is that of a MiniGrid state: walls, x, y, direction, what is carried, every object."""
    if not isinstance(label, tuple) or len(label) != 6 or not isinstance(label[5], tuple):
        return False
    return isinstance(label[0], str) and label[3] in range(4) and (label[4] is None or len(label[4]) == 3)


def thing_name(code: tuple[int, int, int]) -> str:
    """Return an object of MiniGrid in words.

    >>> thing_name((4, 4, 2)), thing_name((5, 4, 0))
    ('locked yellow door', 'yellow key')
    """
    state = f"{_DOOR_STATES[code[2]]} " if code[0] == _DOOR else ""
    return f"{state}{_COLORS[code[1]]} {_OBJECTS[code[0]]}"


def _title(key: Any) -> str:
    carrying, doors = key
    words = ["carries nothing" if carrying is None else f"carries the {thing_name(carrying)}"]
    words += [f"{_COLORS[code[1]]} door {_DOOR_STATES[code[2]]}" for _, code in doors[:3]]
    if len(doors) > 3:
        n_open = sum(code[2] == 0 for _, code in doors)
        words[1:] = [f"{n_open} of {len(doors)} doors open"]
    return "\n".join([words[0], ", ".join(words[1:])]).strip()


def _panel_axes(panels: Sequence[Panel], places: NDArray[Any], figsize: Any) -> list[Axes]:
    rows = -(-len(panels) // _PANELS_PER_ROW)
    # As many in each row as the others have: 3 and 3, not 4 and 2.
    columns = -(-len(panels) // rows)
    tall, wide = np.ptp(places, axis=0) + 3
    height = _PANEL_INCHES * tall / max(tall, wide)
    width = _PANEL_INCHES * wide / max(tall, wide)
    figure = new_figure(*check_size(figsize, (columns * width + 0.9, rows * (height + 0.5) + 0.3)))
    every = list(np.atleast_1d(figure.subplots(rows, columns)).ravel())
    for spare in every[len(panels) :]:
        spare.set_axis_off()
    return every[: len(panels)]


def _pale() -> Any:
    from matplotlib.colors import ListedColormap

    return ListedColormap([FLOOR])


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
    return axes.imshow(canvas, **{"cmap": color_map(None), **look}, **shown)


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
    shown = {"cmap": color_map(None), **look}
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


def write_names(axes: Axes, places: NDArray[Any], names: Mapping[int, str], where: str) -> None:
    """Write names of states ``"inside"`` the cells of a map, ``"above"`` dots, or ``"outside"``.

    Outside is above the upper dots and below the lower ones, where a graph of many states has the most room.
    """
    from matplotlib.patheffects import withStroke

    middle = (places[:, 0].min() + places[:, 0].max()) / 2.0
    # With a white rim, so that it can be read on dots and edges.
    rim = [withStroke(linewidth=2.5, foreground="white")]
    for state, name in names.items():
        row, column = places[state]
        below = where == "outside" and row > middle
        up, side = (0, "center") if where == "inside" else (-_POINTS_AWAY, "top") if below else (_POINTS_AWAY, "bottom")
        text = axes.annotate(
            name, (column, row), xytext=(0, up), textcoords="offset points", path_effects=rim, fontsize=7,
            color="#1c2530", zorder=6, ha="center", va=side,
        )  # fmt: skip
        # A dollar sign would begin a formula.
        text.set_parse_math(False)
