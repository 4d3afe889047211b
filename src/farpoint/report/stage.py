"""A figure, or axes that are given, on which a world is drawn: one panel, or several where states share a cell."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from farpoint.errors import InvalidInput, check_positive
from farpoint.report.canvas import (
    COLORS,
    FLOOR,
    GOAL,
    QUARTERS,
    check_values,
    dots,
    draw_floor,
    heat_map,
    mark,
    name_above,
    name_inside,
    name_outside,
    quarter_cells,
)
from farpoint.report.layout import Pos, is_map, places_of
from farpoint.report.sheets import new_figure
from farpoint.worlds import World
from farpoint.worlds.naming import state_name

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
# A label of a MiniGrid state: walls, x, y, direction, what is carried, every object.
_PARTS = 6
MOST_PANELS = 12


class Panel(NamedTuple):
    """Some states of a world that are drawn together, and in which direction the agent looks in each (0: right)."""

    title: str
    states: NDArray[np.int64]
    directions: NDArray[np.int64] | None


@dataclass(frozen=True, eq=False)
class Stage:
    """Where a world is drawn: its figure, its axes, which states are drawn on each, and at which places."""

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
    ) -> Stage:
        """Return the stage for a world: on ``ax``, or on a figure that fits it; of panels only those with ``shown``."""
        places = places_of(world, pos)
        panels = panels_of(world) if ax is None and pos is None else []
        if shown is not None:
            panels = [panel for panel in panels if np.isin(panel.states, shown).any()]
        if ax is not None:
            axes = [check_axes(ax)]
            if figsize is not None:
                raise InvalidInput(f"figsize must go without ax, whose figure has its size; got {figsize!r}.")
            figure = figure_of(axes[0])
            if title:
                axes[0].set_title(title, fontsize=10)
        elif len(panels) > 1 or (panels and panels[0].directions is not None):
            figure, axes = _panel_axes(panels, places, figsize)
            if title:
                figure.suptitle(title, fontsize=11)
        else:
            figure = new_figure(*check_size(figsize, sheet_size(places, colorbar=colorbar)))
            axes = [figure.subplots()]
            if title:
                axes[0].set_title(title, fontsize=11)
        everything = [Panel("", np.arange(world.n_states), None)]
        return cls(world, figure, axes, panels if len(panels) == len(axes) and panels else everything, places, labels)

    def values(self, values: ArrayLike, cmap: Any, label: str) -> None:
        """Draw one number per state, with a color bar."""
        numbers = check_values(self.world, values)
        finite = numbers[np.isfinite(numbers)]
        look = {"cmap": check_cmap(cmap), "vmin": finite.min(initial=np.inf), "vmax": finite.max(initial=-np.inf)}
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
            name_outside(
                self.axes[0], self.places, {int(state): state_name(self.world, int(state)) for state in chosen}
            )

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
        if self.on_map:
            name_inside(self.axes[0], self.places, names)
        else:
            name_above(self.axes[0], self.places, names)


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


def check_size(figsize: Any, default: tuple[float, float]) -> tuple[float, float]:
    """Return the width and height of a figure, in inches."""
    if figsize is None:
        return default
    try:
        width, height = figsize
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"figsize must be width and height in inches; got {figsize!r}.") from error
    return check_positive("figsize", width), check_positive("figsize", height)


def check_axes(ax: Any) -> Axes:
    """Return ``ax`` if it is a pair of axes of matplotlib."""
    if not (callable(getattr(ax, "imshow", None)) and callable(getattr(ax, "get_figure", None))):
        raise InvalidInput(f"ax must be axes of matplotlib; got {ax!r}. Make them with figure.subplots().")
    return ax  # type: ignore[no-any-return]


def figure_of(axes: Axes) -> Figure:
    """Return the figure that axes belong to, also those of a part of it."""
    return axes.get_figure(root=True)  # type: ignore[return-value]


def check_cmap(cmap: Any) -> Any:
    """Return a color map, or the default."""
    if cmap is None:
        return COLORS
    import matplotlib as mpl
    from matplotlib.colors import Colormap

    if not isinstance(cmap, Colormap) and (not isinstance(cmap, str) or cmap not in mpl.colormaps):
        raise InvalidInput(f"cmap must be a color map of matplotlib or its name; got {cmap!r}. Try 'viridis'.")
    return cmap


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
    if labels is None or not all(_is_minigrid(label) for label in labels):
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


def _is_minigrid(label: Any) -> bool:
    if not isinstance(label, tuple) or len(label) != _PARTS or not isinstance(label[5], tuple):
        return False
    return isinstance(label[0], str) and label[3] in range(4) and (label[4] is None or len(label[4]) == 3)


def _title(key: Any) -> str:
    carrying, doors = key
    words = ["carries nothing" if carrying is None else f"carries the {_color(carrying)} {_OBJECTS[carrying[0]]}"]
    words += [f"{_color(code)} door {_DOOR_STATES[code[2]]}" for _, code in doors[:3]]
    if len(doors) > 3:
        n_open = sum(code[2] == 0 for _, code in doors)
        words[1:] = [f"{n_open} of {len(doors)} doors open"]
    return "\n".join([words[0], ", ".join(words[1:])]).strip()


def _color(code: tuple[int, int, int]) -> str:
    return _COLORS[code[1]]


def _panel_axes(panels: Sequence[Panel], places: NDArray[Any], figsize: Any) -> tuple[Figure, list[Axes]]:
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
    return figure, every[: len(panels)]


def _pale() -> Any:
    from matplotlib.colors import ListedColormap

    return ListedColormap([FLOOR])
