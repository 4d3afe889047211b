"""The score of what was seen, the ways to goals, and what the methods choose."""

from __future__ import annotations

from collections import Counter

import networkx as nx
import numpy as np
import pytest

import farpoint as fp
from farpoint.exploration.explorer import Explorer, ExploreSettings
from farpoint.exploration.goals import FarPoints, Seen, rarity
from farpoint.exploration.memory_kernels import neighbor_graph


def wanderer(n_steps: int, world: fp.World, seed: int = 0, chance: float = 0.0) -> tuple[Explorer, list[tuple[int, int, int]]]:
    """An explorer that was told of a random walk, and the walk in its own numbers."""
    rng = np.random.default_rng(seed)
    explorer = Explorer(ExploreSettings(), 4, seed)
    number: dict[int, int] = {}

    def visit(state: int, step: int) -> int:
        if state not in number:
            number[state] = explorer.new_state(step, len(world.choices(state)))
        explorer.visit(number[state])
        return number[state]

    here, walk = 0, []
    visit(here, 0)
    for step in range(n_steps):
        choices = world.choices(here)
        action = int(rng.integers(len(choices)))
        taken = int(rng.integers(len(choices))) if rng.random() < chance else action
        there = int(world.transitions[[choices[taken]]].indices[0])
        before, after = number[here], visit(there, step + 1)
        explorer.remember(before, action, after)
        walk.append((before, action, after))
        here = there
    return explorer, walk


def test_the_score_is_that_of_the_whole_graph_though_only_changes_are_computed() -> None:
    world = fp.random_maze(12, 12, seed=3)
    far = FarPoints(4)
    for n_steps in (30, 60, 400, 401, 3_000):
        explorer, _ = wanderer(n_steps, world)
        indptr, indices = neighbor_graph(explorer.memory)
        if n_steps != 30:
            explorer.memory.changed[:] = False
            fresh = FarPoints(4)
        fresh = FarPoints(4)
        explorer.memory.changed[: explorer.n_states] = True
        scores = fresh.scores(explorer.memory, indptr, indices)
        graph = Seen(explorer.memory, indptr, indices, np.random.default_rng(0), far).walk.moves
        np.testing.assert_allclose(scores, fp.score(fp.World.from_graph(graph), 4), rtol=1e-11)
