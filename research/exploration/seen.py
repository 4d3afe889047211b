"""How soon a place is seen, by methods that differ in where options lead; and the same by the protocol of NEO."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from farpoint.exploration import Exploration, explore
from farpoint.exploration.loops import TERMINATED
from farpoint.worlds import World
from farpoint.worlds.state_index import is_end
from research.exploration.places import make_place
from research.exploration.plan import (
    N_OPTIONS,
    NEO_METHODS,
    NEO_OPTIONS,
    NEO_PLACES,
    NEO_PROBABILITY,
    NEO_REMAKES,
    SEEN_PLACES,
    SHOWN,
    explorer_of,
    finite,
    named,
    part_of,
    seeds_of,
)
from research.runner import Part, Row

# A run goes on by this factor until it has seen what is measured, which is not asked after every step.
_FIRST_SHARE, _LONGER = 16, 1.5
_PLACES, _NEO_PLACES = named(SEEN_PLACES), named(NEO_PLACES)


def measure_seen(place: str, method: str, probability: float | None, stage: str, n_runs: int, limit: int) -> list[Row]:
    """Return after how many steps each run had seen half and nine tenths of a place, and its target.

    A run ends once it has seen nine tenths and the target, or with its last step.
    """
    where, rows = _PLACES[place], []
    for seed in seeds_of(stage, n_runs):
        layout = seed % where.n_layouts
        world = make_place(where.world, layout)
        found = explored(
            world, limit, seed=seed, n_options=N_OPTIONS, option_probability=probability,
            max_episode_steps=where.episode, **explorer_of(method),
        )  # fmt: skip
        rows.append({"seed": seed, "layout": layout, **_seen(where.world, layout, found)})
    return rows


def measure_neo(place: str, method: str, probability: float | None, stage: str, n_runs: int, limit: int) -> list[Row]:
    """Return the same with four options that are made anew seldom; every run takes all its steps."""
    where, rows = _NEO_PLACES[place], []
    for seed in seeds_of(stage, n_runs):
        layout = seed % where.n_layouts
        found = explore(
            make_place(where.world, layout), limit, method, seed=seed, n_options=NEO_OPTIONS, actions="uniform",
            option_probability=probability, max_episode_steps=where.episode, remake_every=NEO_REMAKES[place],
        )  # fmt: skip
        rows.append({"seed": seed, "layout": layout, **_seen(where.world, layout, found)})
    return rows


def parts_of_neo(quick: bool) -> Iterator[Part]:
    for place in NEO_PLACES:
        for method in NEO_METHODS:
            yield part_of(place, method, None if method == "none" else NEO_PROBABILITY, SHOWN, quick)


def explored(world: World, limit: int, **settings: Any) -> Exploration:
    """Return an exploration that ends soon after nine tenths of a world and a target were seen.

    Up to there it is that of all steps: an exploration is continued until enough was seen.
    """
    n_steps, enough = limit / _FIRST_SHARE, math.ceil(0.9 * count_places(world))
    with tempfile.TemporaryDirectory() as folder:
        while True:
            found = explore(world, min(math.ceil(n_steps), limit), checkpoint=folder, **settings)
            arrived = world.targets is None or math.isfinite(first_target(world, found))
            if found.n_steps == limit or (found.n_states >= enough and arrived):
                return found
            n_steps *= _LONGER


def _seen(name: str, layout: int, found: Exploration) -> Row:
    n_places, world = _n_places(name, layout), make_place(name, layout)
    return {
        "n_states": n_places,
        "n_unseen": n_places - found.n_states,
        **finite(
            {
                "half": found.steps_until(math.ceil(n_places / 2)),
                "most": found.steps_until(math.ceil(0.9 * n_places)),
                "target": first_target(world, found),
            }
        ),
    }


def first_target(world: World, found: Exploration) -> float:
    """Return after how many steps a target of the world was first reached."""
    names = world.labels or range(world.n_states)
    targets: list[Any] = [names[state] for state in ([] if world.targets is None else world.targets.tolist())]
    steps, first = found.steps, float("inf")
    for target in targets:
        # Where a place is also passed through, only an arrival that ends the episode is one at the target.
        place = target[1] if is_end(target) else target
        if place in found.labels:
            there = steps.after == found.labels.index(place)
            arrived = np.flatnonzero(there & (steps.ended == TERMINATED) if is_end(target) else there)
            first = min(first, float(arrived[0] + 1) if arrived.size else float("inf"))
    return first


def count_places(world: World) -> int:
    """Return the number of states; one that also ends episodes counts once."""
    labels: list[Any] = [label for label in world.labels or () if is_end(label)]
    return world.n_states - sum(world.find_state(label[1]) is not None for label in labels)


@cache
def _n_places(name: str, layout: int) -> int:
    return count_places(make_place(name, layout))
