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
# Up to this many cells, a map may be nearly empty; a larger one has at least one state in 64 cells.
_SMALL_MAP, _SPARSEST = 10**6, 64
Pos = Any


def places_of(world: World, pos: Pos = None) -> NDArray[Any]:
    """Return row (counted downwards) and column of every state: integers for the cells of a map, else floats.

    A world is a map if its positions are whole numbers and most of its moves join cells that touch. Anything else is
    drawn as dots and edges.

    Parameters
    ----------
    world : World
    pos : mapping from label to (x, y), or array of shape (n_states, 2), optional
        As in networkx: x to the right, y upwards; never a map. Default: the positions of the world; without them its
        observations, or a layout of the graph in which distances are about as long as routes.

    Raises
    ------
    InvalidInput
        If ``pos`` lacks a state or has another shape.

    Examples
    --------
    >>> import farpoint as fp
    >>> places_of(fp.open_room(1, 2))
    array([[0, 0],
           [0, 1]])
    >>> places_of(fp.grid((2,)), {0: (0.5, 2), 1: (1, 3)})
    array([[-2. ,  0.5],
           [-3. ,  1. ]])
    """
    if pos is not None:
        x, y = _given(world, pos).T
        # Adding 0 turns −0 into 0.
        return np.stack([-y + 0.0, x], axis=1)
    if world.positions is not None and world.positions.shape[1] <= 3:
        places = _flat(np.asarray(world.positions, dtype=np.float64))
        return places.astype(np.int64) if _is_grid(world, places) else places
    return graph_layout(world)


def is_map(places: NDArray[Any]) -> bool:
    """Return whether places are cells of a map, which `places_of` gives as integers."""
    return np.issubdtype(places.dtype, np.integer)


def _is_grid(world: World, places: NDArray[np.float64]) -> bool:
    if world.known.floor is not None:
        return True
    assert world.positions is not None
    if not np.issubdtype(world.positions.dtype, np.integer) or (places != np.round(places)).any():
        return False
    # An image has all cells of the rectangle around the states.
    if np.prod(np.ptp(places, axis=0) + 1) > max(_SMALL_MAP, _SPARSEST * world.n_states):
        return False
    moves = world.neighbors.tocoo()
    lengths = np.abs(places[moves.row] - places[moves.col]).max(axis=1)
    return not lengths.size or float(np.median(lengths)) <= 1.0


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
