"""Worlds by name: the three of the paper, grids, and random mazes of any size."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path

import numpy as np

from farpoint.errors import InvalidInput, check_fraction, check_integer, check_memory, check_word
from farpoint.worlds.arrays import whole_numbers
from farpoint.worlds.floors import row_pieces
from farpoint.worlds.maps import BYTES_PER_CELL, BYTES_PER_MAP_CELL, ENDINGS, read_map, world_from_floor, world_from_map
from farpoint.worlds.world import World

# What stands for a world, wherever one is taken: the world, a name of the catalogue, or a map file.
WorldLike = World | str | PathLike[str]
# As many as NumPy's arrays may have, with room for one more.
_MOST_AXES = 30

FOUR_ROOMS = """\
#############
#.....#GGGGG#
#.....#GGGGG#
#......GGGGG#
#.....#GGGGG#
#.....#GGGGG#
##.####GGGGG#
#.....###.###
#.....#.....#
#.....#.....#
#...........#
#S....#.....#
#############"""

MAZE = """\
################
#S.............#
#..............#
#######..#######
#.....#........#
#.....#........#
#..#####..######
#..............#
#..............#
#..#..#..#######
#..#..#..#GGG..#
#..#..#..#GGG..#
#..####..####..#
#.....#........#
#.....#........#
################"""

RING = """\
####################
########...#########
#####.........######
####...........#####
###.............####
##...............###
##..........GGGGG###
##......###.GGGGG###
#......#####GGGGG.##
#.S....#####GGGGG.##
#......#####GGGGG.##
##......###.GGGGG###
##...............###
##...............###
###.............####
####...........#####
#####.........######
########...#########
####################
####################"""


def four_rooms(wind: float = 0.0) -> World:
    """Return the 4Rooms world of the paper: 104 states, start bottom left, 30 targets in the top right room.

    Parameters
    ----------
    wind : float
        Probability of being blown down whatever was chosen, where down is a choice.

    Examples
    --------
    >>> import farpoint as fp
    >>> world = fp.four_rooms()
    >>> world.n_states, world.positions[world.start], len(world.targets)
    (104, array([11,  1], dtype=int32), 30)
    """
    return world_from_map(FOUR_ROOMS, wind, name="four_rooms")


def maze(wind: float = 0.0) -> World:
    """Return the Maze world of the paper: 148 states, start top left, 6 targets at the end of a corridor.

    Examples
    --------
    >>> import farpoint as fp
    >>> fp.maze()
    World('maze', 148 states, 440 choices, deterministic)
    """
    return world_from_map(MAZE, wind, name="maze")


def ring(wind: float = 0.0) -> World:
    """Return the Ring world of the paper: 192 states between two circles.

    Floor where 2.4² ≤ (r − 9)² + (c − 9)² ≤ 8.2², rows and columns counted from 0.

    Examples
    --------
    >>> import farpoint as fp
    >>> fp.ring().n_states
    192
    """
    return world_from_map(RING, wind, name="ring")


def open_room(n_rows: int = 12, n_cols: int = 12, wind: float = 0.0) -> World:
    """Return an empty rectangular room.

    Examples
    --------
    >>> import farpoint as fp
    >>> fp.open_room(12, 12).n_states
    144
    """
    shape = _checked_map(n_rows, n_cols, wind)
    return world_from_floor(np.ones(shape, dtype=bool), wind, name="open_room")


def grid(shape: Sequence[int]) -> World:
    """Return the grid of the given shape, in any number of dimensions: the product of path graphs.

    Examples
    --------
    >>> import farpoint as fp
    >>> fp.grid((3, 4, 5)).n_states
    60
    """
    lengths = np.atleast_1d(whole_numbers("shape", shape, np.int64))
    if lengths.ndim != 1 or not 0 < lengths.size <= _MOST_AXES or (lengths < 1).any():
        raise InvalidInput(f"shape must be 1 to {_MOST_AXES} lengths of at least 1; got {shape!r}.")
    return world_from_floor(np.ones(_checked_shape(*lengths.tolist()), dtype=bool), name="grid")


def random_maze(n_rows: int, n_cols: int, wall: float = 0.25, *, seed: int = 0, wind: float = 0.0) -> World:
    """Return the largest connected component of a grid whose cells are wall with probability ``wall``.

    A hundred million cells take seconds; the same seed gives the same maze.

    Examples
    --------
    >>> import farpoint as fp
    >>> fp.random_maze(20, 30, seed=1)
    World('random_maze', 451 states, 1330 choices, deterministic)
    """
    shape = _checked_map(n_rows, n_cols, wind)
    wall = check_fraction("wall", wall)
    rng = np.random.default_rng(check_integer("seed", seed, 0))
    floor = np.empty(shape, dtype=bool)
    for first, last in row_pieces(floor):
        np.greater_equal(rng.random((last - first, shape[1]), dtype=np.float32), wall, out=floor[first:last])
    if not floor.any():
        raise InvalidInput(f"wall must leave some floor; got none with wall={wall:g}. Take a smaller value.")
    return world_from_floor(floor, wind, name="random_maze", largest_component=True)


def _checked_map(n_rows: int, n_cols: int, wind: float) -> tuple[int, int]:
    shape = check_integer("n_rows", n_rows, 1), check_integer("n_cols", n_cols, 1)
    _checked_shape(*shape, bytes_per_cell=BYTES_PER_MAP_CELL if check_fraction("wind", wind) == 0.0 else BYTES_PER_CELL)
    return shape


def _checked_shape(*lengths: int, bytes_per_cell: int = BYTES_PER_CELL) -> tuple[int, ...]:
    check_memory("size of the world", " × ".join(map(str, lengths)), bytes_per_cell * math.prod(lengths))
    return lengths


CATALOGUE: dict[str, Callable[[float], World]] = {
    "four_rooms": four_rooms,
    "maze": maze,
    "ring": ring,
    "open_room": lambda wind: open_room(wind=wind),
    "random_maze": lambda wind: random_maze(40, 60, wind=wind),
}


def named_world(name: str, wind: float = 0.0) -> World:
    """Return the world of the catalogue with this name.

    Examples
    --------
    >>> import farpoint as fp
    >>> fp.worlds.named_world("ring").n_states
    192
    """
    return CATALOGUE[check_word("world", name, CATALOGUE)](wind)


def as_world(world: WorldLike) -> World:
    """Return a world as it is, or the one that a name of the catalogue or the path of a map stands for.

    Examples
    --------
    >>> import farpoint as fp
    >>> fp.worlds.as_world("ring").n_states
    192
    >>> fp.worlds.as_world("rign")
    Traceback (most recent call last):
    farpoint.errors.UnknownName: world must be a World, a map file or one of four_rooms, ... Did you mean ring?
    """
    if isinstance(world, World):
        return world
    if isinstance(world, str) and world in CATALOGUE:
        return CATALOGUE[world](0.0)
    if isinstance(world, (str, PathLike)) and _is_file(world):
        if Path(world).suffix.lower() in ENDINGS:
            return World.from_array(world)
        return World.from_map(read_map(world), name=Path(world).stem)
    if isinstance(world, (str, PathLike)):
        check_word("world", str(world), CATALOGUE, "a World, a map file or ")
    raise InvalidInput(
        f"world must be a World, or the name of one ({', '.join(CATALOGUE)}); got {world!r}. Make one with "
        "World.from_graph, from_map, from_array or from_env."
    )


def _is_file(path: str | PathLike[str]) -> bool:
    try:
        return Path(path).is_file()
    except (OSError, ValueError, TypeError):  # too long for a name, a zero byte, a path of bytes
        return False
