"""Worlds: from maps, graphs, environments, logs and samples, and a catalogue of known ones."""

from farpoint.worlds.catalogue import (
    CATALOGUE,
    WorldLike,
    as_world,
    four_rooms,
    grid,
    maze,
    named_world,
    open_room,
    random_maze,
    ring,
)
from farpoint.worlds.logs import Log
from farpoint.worlds.world import World

__all__ = [
    "CATALOGUE",
    "Log",
    "World",
    "WorldLike",
    "as_world",
    "four_rooms",
    "grid",
    "maze",
    "named_world",
    "open_room",
    "random_maze",
    "ring",
]
