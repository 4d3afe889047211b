"""Worlds: maps, graphs, and a catalogue."""

from farpoint.domain.catalogue import CATALOGUE, four_rooms, grid, maze, open_room, random_maze, ring, world
from farpoint.domain.logs import Transitions, explore
from farpoint.domain.model import Domain

__all__ = [
    "CATALOGUE",
    "Domain",
    "Transitions",
    "explore",
    "four_rooms",
    "grid",
    "maze",
    "open_room",
    "random_maze",
    "ring",
    "world",
]
