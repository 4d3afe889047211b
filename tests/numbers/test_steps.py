"""Expected steps between states of graphs that round badly, against decimal solutions."""

from __future__ import annotations

from decimal import localcontext

import numpy as np
import pytest
from numpy.typing import NDArray

import farpoint as fp
from tests.helpers import precise
from tests.helpers.nasty import DIRECTED, SYMMETRIC
from tests.numbers.checking import without_loops

GRAPHS = {**SYMMETRIC, **{f"directed {name}": weights for name, weights in DIRECTED.items()}}


def expected_steps(weights: NDArray[np.float64], target: int) -> NDArray[np.float64]:
    """h = 1 + P h outside the target, 0 there."""
    others = np.delete(np.arange(len(weights)), target)
    with localcontext(prec=precise.DIGITS):
        moves = precise.exactly(weights)
        chances = moves / moves.sum(axis=1)[:, None]
        system = precise.identity(others.size) - chances[np.ix_(others, others)]
    steps = np.zeros(len(weights))
    steps[others] = precise.rounded(precise.solve(system, precise.exactly(np.ones(others.size))))
    return steps


@pytest.mark.parametrize("name", GRAPHS)
def test_steps_have_the_digits_that_are_promised_or_are_infinite(name: str) -> None:
    weights = without_loops(GRAPHS[name])
    targets = [0, len(weights) // 2, len(weights) - 1]
    found = fp.steps_between_states(fp.World.from_graph(weights), targets=targets, n_jobs=1).matrix
    for column, target in zip(found.T, targets, strict=True):
        exact = expected_steps(weights, target)
        if np.isfinite(column).all():
            np.testing.assert_allclose(column, exact, rtol=1e-15 * exact.max() + 1e-14)
        else:
            # Every start but the target is out of reach, and some of them is far indeed.
            assert np.isinf(np.delete(column, target)).all()
            assert exact.max() > 1e12


def test_two_parts_joined_by_a_thread() -> None:
    # From one clique of twelve into the other, at the joined states: of every 1 / π(0) steps one is in state 0, and of
    # those one in 11 / w + 1 crosses.
    weight = 1e-4
    found = fp.steps_between_states(fp.World.from_graph(SYMMETRIC["cliques 1e-4"]), targets=[12]).matrix[0, 0]
    # The commute time of an edge is the total weight over its own: by symmetry each way takes half of it.
    total = 2 * 12 * 11 + 2 * weight
    assert found == pytest.approx(total / weight / 2, rel=1e-9)
