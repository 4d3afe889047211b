"""Every solver on symmetric graphs that round badly: right to its stated bound, or refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import farpoint as fp
from farpoint.errors import FarpointError
from tests.helpers import precise
from tests.helpers.nasty import SYMMETRIC, growing_path, spread_out, two_cliques
from tests.numbers.checking import TIMES, check_right, squares, without_loops

SOLVERS: list[tuple[str, dict[str, Any]]] = [
    ("local", {}),
    ("local", {"tolerance": 1e-3}),
    ("local", {"tolerance": 1e-10}),
    ("spectral", {}),
    ("truncated", {"n_components": 3}),
    ("truncated", {"n_components": 7}),
    ("probes", {"n_probes": 512}),
    ("auto", {}),
]


@pytest.mark.parametrize("t", TIMES)
@pytest.mark.parametrize("name", SYMMETRIC)
def test_every_solver_is_right_to_its_bound_or_refuses(name: str, t: float) -> None:
    weights = without_loops(SYMMETRIC[name])
    world = fp.World.from_graph(SYMMETRIC[name])
    exact, pi_squared = precise.rounded(precise.score(weights, t)), squares(weights)
    refused = set()
    for solver, settings in SOLVERS:
        try:
            found = fp.score(world, t, solver, n_jobs=1, **settings)
        except FarpointError:
            refused.add(solver)
        else:
            check_right(found, exact, pi_squared)
    # Refused are fractions of t by solvers that follow steps, and decompositions of very uneven weights.
    degrees = weights.sum(axis=0)
    uneven = degrees.max() > 1e12 * degrees.min()
    expected = {"spectral", "truncated"} if uneven else set()
    if t == 0.5:
        expected |= {"local", "probes"} | ({"auto"} if uneven else set())
    assert refused == expected


@pytest.mark.parametrize("t", [1, 4, 100])
@pytest.mark.parametrize("weight", [1e-12, 1e-8, 1e-4])
def test_nearly_repeated_eigenvalues_are_not_mixed(weight: float, t: int) -> None:
    # The eigenvalues of two cliques that are nearly apart differ by about the weight between them.
    weights = two_cliques(weight)
    found = fp.score(fp.World.from_graph(weights), t, "spectral")
    exact = precise.rounded(precise.score(weights, t))
    np.testing.assert_allclose(found, exact, rtol=1e-11)


@pytest.mark.parametrize("weights", [spread_out(16, 0), spread_out(20, 1), growing_path()])
@pytest.mark.parametrize("t", [1, 4, 13])
def test_auto_has_all_digits_where_weights_are_uneven(weights: Any, t: int) -> None:
    found = fp.score(fp.World.from_graph(weights), t)
    exact = precise.rounded(precise.score(weights, t))
    np.testing.assert_allclose(found, exact, rtol=0, atol=1e-14)


def test_very_long_walks_state_how_much_they_round() -> None:
    # 10⁹ steps add 10⁹ roundings: the scores are known to about seven digits, and say so.
    weights = two_cliques(1e-12)
    world, exact = fp.World.from_graph(weights), precise.rounded(precise.score(weights, 10**9))
    for solver in ("local", "spectral", "auto"):
        found = fp.score(world, 10**9, solver)
        assert found.error_bound is not None
        assert (np.abs(found - exact) <= found.error_bound).all()
        assert (found.error_bound <= 0.01 * exact).all()


def test_probes_follow_a_billion_steps_in_a_small_world() -> None:
    weights = two_cliques(1e-12)
    found = fp.score(fp.World.from_graph(weights), 10**9, "probes", n_probes=2048)
    exact = precise.rounded(precise.score(weights, 10**9))
    assert found.standard_error is not None
    assert (np.abs(found - exact) <= 4.0 * found.standard_error).all()
    assert (found.standard_error <= 0.2 * exact).all()
