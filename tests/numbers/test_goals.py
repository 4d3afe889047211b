"""Goals of graphs that round badly are the maxima of the decimal scores."""

from __future__ import annotations

import numpy as np
import pytest

import farpoint as fp
from tests.helpers import brute, precise
from tests.helpers.nasty import DIRECTED, SYMMETRIC
from tests.numbers.checking import without_loops

GRAPHS = {**SYMMETRIC, **{f"directed {name}": weights for name, weights in DIRECTED.items()}}


@pytest.mark.parametrize("t", [1, 4, 13])
@pytest.mark.parametrize("name", GRAPHS)
def test_goals_are_the_maxima_of_the_exact_score(name: str, t: int) -> None:
    weights = without_loops(GRAPHS[name])
    world = fp.World.from_graph(weights)
    exact = precise.rounded(precise.score(weights, t))
    found = fp.find_goals(world, fp.score(world, t, "local", form="walk"))
    around = (weights + weights.T) > 0
    plateau = brute.plateaus(around.astype(float), exact)
    expected = set()
    for number in set(plateau.values()):
        states = [state for state in plateau if plateau[state] == number]
        near = {int(other) for state in states for other in np.flatnonzero(around[state])} - set(states)
        if all(exact[other] < min(exact[states]) for other in near):
            expected.add(min(states))
    assert set(found) == expected
    # Scores near zero have the rounding of the numbers that were subtracted, not their own.
    np.testing.assert_allclose(found.heights, exact[found.states], rtol=1e-9, atol=1e-16)
    lowest = max(exact.min(), 0.0)
    falls = [brute.prominence(around.astype(float), exact, int(state)) for state in found.states]
    np.testing.assert_allclose(found.prominences, falls, rtol=1e-6, atol=1e-9 * exact.max() + lowest * 1e-9)
