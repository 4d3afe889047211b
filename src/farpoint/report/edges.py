"""The edges of a graph, drawn behind its states: paler the more there are, so that the states stay in front."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from farpoint.worlds import World

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# More edges than this cannot be distinguished in a picture, so an even share of them is drawn.
_MOST_EDGES = 20_000
# One-way edges have arrowheads up to this many.
_MOST_ARROWS = 400
# A graph of more states than this has thin edges, each with a strength of its own.
FEW_STATES = 300
_THIN, _THIN_COLOR = 0.5, (0.18, 0.24, 0.32)
# Which share of the picture thin edges would cover if none lay on another; a drawing is about so many points wide.
_COVERED, _POINTS_WIDE = 0.12, 300
_FAINTEST, _STRONGEST = 0.01, 0.5


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
