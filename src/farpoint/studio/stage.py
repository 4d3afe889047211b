"""What a tab shows: a world, where its states are drawn, and the lines of Python that make it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.errors import InvalidInput, check_fraction, check_integer
from farpoint.worlds import World

# The cells of a map, one byte each, as the page keeps them.
WALL, FLOOR, START, TARGET = range(4)
SYMBOLS = "#.SG"
# Of a map; larger ones are for the command line.
MOST_CELLS = 4_000_000


@dataclass(frozen=True, eq=False)
class Canvas:
    """A map as the page keeps it: one code per cell.

    >>> canvas = Canvas.of_text("S.#")
    >>> canvas.cells
    array([[2, 1, 0]], dtype=uint8)
    >>> print(canvas.text())
    S.#
    """

    cells: NDArray[np.uint8]

    @classmethod
    def of_bytes(cls, n_rows: object, n_cols: object, cells: NDArray[Any]) -> Canvas:
        """Return the map of so many rows and columns, cell by cell."""
        shape = check_size(n_rows, n_cols)
        if cells.dtype != np.uint8 or cells.size != shape[0] * shape[1] or cells.max(initial=0) > TARGET:
            raise InvalidInput(f"cells must be {shape[0]} × {shape[1]} codes from 0 to {TARGET}; got {cells.size}.")
        return cls(cells.reshape(shape).copy())

    @classmethod
    def of_world(cls, world: World) -> Canvas:
        """Return the map of a world on a grid, with walls around it, as `World.to_text` draws it."""
        assert world.positions is not None
        places = world.positions - world.positions.min(axis=0) + 1
        cells = np.zeros(places.max(axis=0) + 2, dtype=np.uint8)
        cells[places[:, 0], places[:, 1]] = FLOOR
        if world.targets is not None:
            cells[tuple(places[world.targets].T)] = TARGET
        if world.start is not None:
            cells[tuple(places[world.start])] = START
        return cls(cells)

    @classmethod
    def of_text(cls, text: str) -> Canvas:
        """Return the map of a text, checked in size before it is read."""
        from farpoint.worlds.maps import parse_map

        lines = text.count("\n") + 1
        longest = max(map(len, text.splitlines()), default=0)
        if lines * longest > 2 * MOST_CELLS:
            raise InvalidInput(f"map must have at most {MOST_CELLS:,} cells; got {lines} lines of {longest}.")
        parsed = parse_map(text)
        check_size(*parsed.floor.shape)
        cells = parsed.floor.astype(np.uint8)
        cells[tuple(parsed.targets.T)] = TARGET
        if parsed.start is not None:
            cells[parsed.start] = START
        return cls(cells)

    def with_edits(self, places: NDArray[Any], codes: NDArray[Any]) -> Canvas:
        """Return the map after some cells were painted, the last of several paints of one cell counting."""
        if places.size != codes.size or (places.size and not 0 <= places.min() <= places.max() < self.cells.size):
            raise InvalidInput(f"edits must name cells of this map ({self.cells.size}); got others.")
        if codes.max(initial=0) > TARGET:
            raise InvalidInput(f"cells must have codes from 0 to {TARGET}; got {codes.max()}.")
        cells = self.cells.copy()
        cells.flat[places] = codes
        return Canvas(cells)

    def text(self) -> str:
        """Return the map as text."""
        symbols = np.frombuffer(SYMBOLS.encode(), dtype=np.uint8)[self.cells]
        return "\n".join(row.tobytes().decode() for row in symbols)

    def world(self, wind: float, name: str) -> World:
        """Return the world of the largest connected part of the floor."""
        from farpoint.worlds.maps import world_from_floor

        floor = self.cells != WALL
        if not floor.any():
            raise InvalidInput("map must have floor; got walls only. Paint some floor.")
        starts = np.argwhere(self.cells == START)
        return world_from_floor(
            floor,
            check_fraction("wind", wind),
            tuple(starts[0].tolist()) if len(starts) else None,
            np.argwhere(self.cells == TARGET),
            name=name,
            largest_component=True,
        )


def check_size(n_rows: object, n_cols: object) -> tuple[int, int]:
    """Return rows and columns if a map may have so many.

    >>> check_size(12, 20)
    (12, 20)
    """
    rows, cols = check_integer("rows", n_rows, 1, MOST_CELLS), check_integer("columns", n_cols, 1, MOST_CELLS)
    if rows * cols > MOST_CELLS:
        raise InvalidInput(f"map must have at most {MOST_CELLS:,} cells; got {rows} × {cols}.")
    return rows, cols


@dataclass(frozen=True, eq=False)
class Stage:
    """A world on the page.

    Attributes
    ----------
    world : World
    canvas : Canvas or None
        The map that can be painted; None for graphs and environments.
    code : function
        The lines of Python that make the world, as a text.
    note : str
        What the page says about the world.
    """

    world: World
    canvas: Canvas | None
    code: Callable[[], str]
    note: str = ""
    links: NDArray[np.int32] | None = field(default=None)

    @property
    def on_map(self) -> bool:
        """Whether states are drawn as cells of a map."""
        return self.canvas is not None or self.world.on_grid

    def frame(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what the page needs to draw the world."""
        world = self.world
        header: dict[str, Any] = {
            "name": world.name,
            "n_states": world.n_states,
            "n_choices": world.n_choices,
            "deterministic": world.deterministic,
            "symmetric": world.symmetric,
            "episodes": world.restart is not None,
            "editable": self.canvas is not None,
            "start": world.start,
            "note": self.note,
        }
        arrays: dict[str, NDArray[Any]] = {
            "targets": np.asarray([] if world.targets is None else world.targets, dtype=np.int32)
        }
        if self.on_map:
            assert world.positions is not None
            if self.canvas is not None:
                rows, cols = self.canvas.cells.shape
                places = world.positions
                arrays["cells"] = self.canvas.cells.ravel()
            else:
                drawn = Canvas.of_world(world).cells
                rows, cols = drawn.shape
                places = world.positions - world.positions.min(axis=0) + 1
                arrays["cells"] = drawn.ravel()
            header |= {"drawn": "map", "rows": rows, "cols": cols}
            # Where every floor cell is a state, row by row, the page can count them itself.
            if self.canvas is None or int((self.canvas.cells != WALL).sum()) > world.n_states:
                arrays["state_cell"] = (places[:, 0] * cols + places[:, 1]).astype(np.int32)
        else:
            header |= {"drawn": "graph", "labels": _labels(world)}
            assert world.positions is not None
            assert self.links is not None
            # Positions are rows and columns; the page draws x to the right.
            arrays["places"] = np.ascontiguousarray(world.positions[:, 1::-1], dtype=np.float32).ravel()
            arrays["links"] = self.links
        return header, arrays


def _labels(world: World) -> list[str]:
    if world.labels is None:
        return []
    return [str(label)[:40] for label in world.labels]
