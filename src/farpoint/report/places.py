"""Where states are drawn: at the world's positions, at places that are given, or at a layout of the graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.errors import InvalidInput
from farpoint.report.layouts import graph_layout
from farpoint.worlds import World
from farpoint.worlds.arrays import real_numbers

# Of a grid in three dimensions: how far a step in depth goes to the right, and upwards.
_DEPTH = (0.42, 0.28)
Pos = Any


def places_of(world: World, pos: Pos = None) -> NDArray[np.float64]:
    """Return row (counted downwards) and column of every state.

    Parameters
    ----------
    world : World
    pos : mapping from label to (x, y), or array of shape (n_states, 2), optional
        As in networkx: x to the right, y upwards. Default: the positions of the world; without them its observations,
        or a layout of the graph in which distances are about as long as routes.

    Raises
    ------
    InvalidInput
        If ``pos`` lacks a state or has another shape.

    Examples
    --------
    >>> import farpoint as fp
    >>> places_of(fp.open_room(1, 2))
    array([[0., 0.],
           [0., 1.]])
    >>> places_of(fp.grid((2,)), {0: (0.5, 2), 1: (1, 3)})
    array([[-2. ,  0.5],
           [-3. ,  1. ]])
    """
    if pos is not None:
        x, y = _given(world, pos).T
        # Adding 0 turns −0 into 0.
        return np.stack([-y + 0.0, x], axis=1)
    if world.positions is not None and world.positions.shape[1] <= 3:
        return _flat(np.asarray(world.positions, dtype=np.float64))
    return graph_layout(world)


def is_map(places: NDArray[np.float64]) -> bool:
    """Return whether states at these places are cells of a map: whether all coordinates are whole numbers."""
    return bool((places == np.round(places)).all())


def _given(world: World, pos: Pos) -> NDArray[np.float64]:
    if isinstance(pos, Mapping):
        labels = range(world.n_states) if world.labels is None else world.labels
        missing = [label for label in labels if label not in pos]
        if missing:
            raise InvalidInput(f"pos must have a place for every state; got none for {missing[0]!r}.")
        pos = [pos[label] for label in labels]
    places = real_numbers("pos", pos)
    if places.shape != (world.n_states, 2) or not np.isfinite(places).all():
        raise InvalidInput(
            f"pos must be x and y of every state, finite and of shape ({world.n_states}, 2); got shape {places.shape}."
        )
    return places


def _flat(positions: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return positions in the plane: a line as one row, a solid seen from the side and above."""
    if positions.shape[1] == 1:
        return np.concatenate([np.zeros_like(positions), positions], axis=1)
    if positions.shape[1] == 2:
        return positions
    depth, row, column = positions.T
    return np.stack([row - _DEPTH[1] * depth, column + _DEPTH[0] * depth], axis=1)
