"""Worlds: maps, graphs, and a catalogue."""

from farpoint.domain.catalogue import CATALOGUE, four_rooms, grid, maze, open_room, random_maze, ring, world
from farpoint.domain.logs import Transitions, explore
from farpoint.domain.model import Domain
from farpoint.domain.samples import nearest_state

__all__ = [
    "CATALOGUE",
    "Domain",
    "Transitions",
    "explore",
    "four_rooms",
    "grid",
    "maze",
    "nearest_state",
    "open_room",
    "random_maze",
    "ring",
    "world",
]
