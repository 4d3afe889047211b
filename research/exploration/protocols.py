"""Exploring as others have measured it: the protocol of NEO (Theophilou and Şimşek, NeurIPS 2025)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from farpoint.measures.statistics import estimate
from farpoint.paper.framework import Part
from farpoint.report.names import METHOD_TITLES
from farpoint.report.tables import Count, Row
from research.exploration.plan import N_LAYOUTS, Place, Results, Scale

NEO_METHODS = ("diffusion", "novelty", "neo", "eigen", "cover", "random", "none")
# 125,000 steps where there are fewer than 1,000 states, else 250,000; episodes of 500 steps, or of as many as there are
# states; options made anew every max(1000, 5 n) steps. Random mazes stand for the authors' maze of 5,363 states.
NEO_PLACES = (
    Place("neo-rooms25", "Four rooms of 11 × 11", "large_four_rooms", 125_000, 500, N_LAYOUTS, remake_every=2_440),
    Place("neo-hanoi", "Towers of Hanoi, 6 discs", "hanoi", 125_000, 500, N_LAYOUTS, remake_every=3_645),
    Place("neo-torus", "Torus of 30 × 30", "torus", 125_000, 500, N_LAYOUTS, remake_every=4_500),
    Place("neo-mazes5000", "Random mazes of 5,000 states", "maze_5000", 250_000, 5_000, N_LAYOUTS, remake_every=25_000),
)
_PROBABILITY, _N_OPTIONS = 0.1, 4


def neo_part(place: Place, method: str, scale: Scale) -> Part:
    """Return the exploration of a place by one method, uniformly random where it takes no option."""
    return place.exploring(
        scale, method=method, probability=_PROBABILITY, n_options=_N_OPTIONS, actions="uniform",
        remake_every=place.remake_every,
    )  # fmt: skip


def neo_parts(scale: Scale) -> list[Part]:
    """Return every place and method."""
    return [neo_part(place, method, scale) for place in NEO_PLACES for method in NEO_METHODS]


def neo_rows(results: Results, places: Sequence[Place] = NEO_PLACES) -> list[Row]:
    """Return how many states each method has seen at the end, and after how many steps nine tenths."""
    rows: list[Row] = []
    for place in places:
        for method in NEO_METHODS:
            arrays = results[neo_part(place, method, results.scale)]
            layouts = place.layouts(arrays["most"].size)
            rows.append(
                {
                    "world": place.title,
                    "method": METHOD_TITLES[method],
                    "states": float(arrays["n_states"].mean()),
                    "seen at the end": estimate(arrays["share"][:, -1] * arrays["n_states"], "mean", layouts),
                    "90 % seen": estimate(arrays["most"], groups=layouts, limit=float(arrays["points"][-1])),
                    "90 % seen, runs": Count(int(np.isfinite(arrays["most"]).sum()), arrays["most"].size),
                }
            )
    return rows
