"""Titles and colors of methods and worlds, the same in every table and figure."""

from __future__ import annotations

METHOD_TITLES = {
    "diffusion": "diffusion options",
    "farpoint": "farpoint options",
    "eigen": "eigenoptions",
    "cover": "cover options",
    "neo": "NEO",
    "betweenness": "betweenness options",
    "bottleneck": "bottleneck options",
    "louvain": "Louvain skills",
    "successor": "successor options",
    "visits": "often visited states",
    "random": "random options",
    "novelty": "least known states",
    "tried": "primitive actions, least tried first",
    "none": "primitive actions",
}
# The palette of Okabe and Ito, which people with any color vision can tell apart, and a few more.
METHOD_COLORS = {
    "diffusion": "#0072b2",
    "farpoint": "#000000",
    "eigen": "#d55e00",
    "cover": "#cc79a7",
    "neo": "#332288",
    "betweenness": "#56b4e9",
    "bottleneck": "#f0e442",
    "louvain": "#8c564b",
    "successor": "#999933",
    "visits": "#882255",
    "random": "#009e73",
    "novelty": "#e69f00",
    "tried": "#44aa99",
    "none": "#7f7f7f",
}
METHOD_LINES = {
    "diffusion": "-",
    "farpoint": "-",
    "eigen": "--",
    "cover": "-.",
    "neo": (0, (8, 2)),
    "betweenness": (0, (4, 2)),
    "bottleneck": (0, (6, 1, 1, 1)),
    "louvain": (0, (2, 1)),
    "successor": (0, (5, 2, 1, 2)),
    "visits": (0, (1, 2)),
    "random": ":",
    "novelty": (0, (5, 1)),
    "tried": (0, (1, 1)),
    "none": (0, (3, 1, 1, 1)),
}
WORLD_TITLES = {"ring": "Ring", "maze": "Maze", "four_rooms": "4Rooms", "open_room": "open room"}
