"""Worlds: from maps, graphs, environments, logs and samples, and a catalogue of known ones."""

from farpoint.worlds.catalogue import (
    CATALOGUE,
    as_world,
    four_rooms,
    grid,
    maze,
    named_world,
    open_room,
    random_maze,
    ring,
)
from farpoint.worlds.catalogue import WorldLike as WorldLike
from farpoint.worlds.logs import Log, read_log
from farpoint.worlds.world import World

__all__ = [
    "CATALOGUE",
    "Log",
    "World",
    "as_world",
    "four_rooms",
    "grid",
    "maze",
    "named_world",
    "open_room",
    "random_maze",
    "read_log",
    "ring",
]
