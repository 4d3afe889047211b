"""Titles and colors of methods and worlds, the same in every table and figure."""

from __future__ import annotations

METHOD_TITLES = {
    "diffusion": "diffusion options",
    "eigen": "eigenoptions",
    "cover": "cover options",
    "random": "random options",
    "novelty": "least known states",
    "tried": "primitive actions, least tried first",
    "none": "primitive actions",
}
# The palette of Okabe and Ito, which people with any color vision can tell apart.
METHOD_COLORS = {
    "diffusion": "#0072b2",
    "eigen": "#d55e00",
    "cover": "#cc79a7",
    "random": "#009e73",
    "novelty": "#e69f00",
    "tried": "#000000",
    "none": "#7f7f7f",
}
METHOD_LINES = {
    "diffusion": "-",
    "eigen": "--",
    "cover": "-.",
    "random": ":",
    "novelty": (0, (5, 1)),
    "tried": (0, (1, 1)),
    "none": (0, (3, 1, 1, 1)),
}
WORLD_TITLES = {"ring": "Ring", "maze": "Maze", "four_rooms": "4Rooms", "open_room": "open room"}
