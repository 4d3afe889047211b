"""Worlds: maps, graphs, and a catalogue."""

from farpoint.worlds.catalogue import CATALOGUE, four_rooms, grid, maze, named_world, open_room, random_maze, ring
from farpoint.worlds.logs import Log, explore
from farpoint.worlds.samples import nearest_state
from farpoint.worlds.world import World

__all__ = [
    "CATALOGUE",
    "Log",
    "World",
    "explore",
    "four_rooms",
    "grid",
    "maze",
    "named_world",
    "nearest_state",
    "open_room",
    "random_maze",
    "ring",
]
