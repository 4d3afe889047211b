"""MiniGrid from the image of the whole grid and from its own view of 7 × 7 cells, stepped as it is."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import gymnasium as gym

from farpoint.exploration import explore
from research.exploration.places import make_env
from research.exploration.plan import SHOWN, VIEW_PLACES, VIEW_RUNS, VIEWS, explorer_of, named, part_of, seeds_of
from research.runner import Part, Row

_PLACES = named(VIEW_PLACES)


def measure_view(
    place: str, view: str, method: str, probability: float | None, stage: str, n_runs: int, limit: int
) -> list[Row]:
    """Return after how many steps each run first reached the goal of an environment, where it ends."""
    where, rows = _PLACES[place], []
    for seed in seeds_of(stage, n_runs):
        layout = seed % where.n_layouts
        env = _UntilReward(make_env(where.world.removeprefix("gym:"), view))
        first = None
        with warnings.catch_warnings():
            # What the view hides is what is measured here.
            warnings.filterwarnings("ignore", "observations must show all")
            try:
                explore(env, limit, layout=layout, option_probability=probability, seed=seed, **explorer_of(method))
            except _Rewarded:
                first = env.n_steps
        rows.append({"seed": seed, "layout": layout, "first": first})
    return rows


def parts_of_views(quick: bool) -> Iterator[Part]:
    for place in VIEW_PLACES:
        for view, method in VIEWS.items():
            part = part_of(place, method, None, SHOWN, quick)
            yield {"place": part.pop("place"), "view": view, **part, "n_runs": min(part["n_runs"], VIEW_RUNS)}


class _Rewarded(Exception):
    """The goal was reached."""


class _UntilReward(gym.Wrapper[Any, Any, Any, Any]):
    """Counts steps and stops at the first positive reward."""

    n_steps = 0

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Take a step."""
        found = self.env.step(action)
        self.n_steps += 1
        if float(found[1]) > 0:
            raise _Rewarded
        return found
