"""Names of states, written on a picture: inside their cells, or above or below their dots."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_POINTS_AWAY = 6
Names = Mapping[int, str]


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
