"""Walks that are not symmetric, with and without restarts: stationary distributions and scores of both forms."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import farpoint as fp
from farpoint.diffusion.walk import Walk
from farpoint.errors import FarpointError, InvalidInput
from tests.helpers import brute, precise
from tests.helpers.nasty import DIRECTED, SYMMETRIC
from tests.numbers.checking import check_right, squares, without_loops

# Form, solver and settings; only Algorithm 2, which is not defined everywhere, may be refused.
REQUESTS: list[tuple[str, str, dict[str, Any]]] = [
    ("walk", "local", {}),
    ("walk", "local", {"tolerance": 1e-6}),
    ("walk", "probes", {"n_probes": 512}),
    ("auto", "auto", {}),
    ("auto", "auto", {"tolerance": 1e-6}),
    ("polar", "spectral", {}),
    ("polar", "truncated", {"n_components": 4}),
]


@pytest.mark.parametrize("name", DIRECTED)
def test_every_state_of_the_stationary_distribution_has_its_digits(name: str) -> None:
    walk = Walk.of(fp.World.from_graph(DIRECTED[name]))
    exact = precise.rounded(precise.stationary(DIRECTED[name]))
    assert (np.abs(walk.pi - exact) <= (walk.pi_error + 1e-15 * exact.size) * exact).all()
    assert walk.pi_error < 1e-12
    assert (np.abs(walk.pi - exact) <= 1e-12 * exact).all()


@pytest.mark.parametrize("t", [1, 4, 100, 10_000, 10**9])
@pytest.mark.parametrize("name", DIRECTED)
def test_every_solver_is_right_to_its_bound_or_refuses(name: str, t: int) -> None:
    weights = DIRECTED[name]
    world, pi_squared = fp.World.from_graph(weights), squares(weights)
    by_walk = precise.rounded(precise.score(weights, t))
    for form, solver, settings in REQUESTS:
        try:
            found = fp.score(world, t, solver, form=form, n_jobs=1, **settings)
        except FarpointError:
            assert form == "polar"
            continue
        if found.form == "walk":
            check_right(found, by_walk, pi_squared)
        elif t <= 10_000:
            check_right(found, precise.rounded(precise.polar_score(weights, t)), pi_squared)


def test_leading_components_of_an_exploding_form_are_refused_as_all_of_them_are() -> None:
    # The smallest ω of Algorithm 2 is −10¹⁰ here: its power 13 has no place in a double times another.
    world = fp.World.from_graph(DIRECTED["24 orders"])
    for solver, settings in (("spectral", {}), ("truncated", {"n_components": 4})):
        with pytest.raises(InvalidInput, match="the eigenvalues ω of Algorithm 2 must lie in −1 … 1"):
            fp.score(world, 100, solver, form="polar", **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize("restart", [1e-12, 1e-3, 0.5])
@pytest.mark.parametrize("name", ["cliques 1e-8", "long path", "one-way cliques 1e-12", "12 orders"])
def test_restarts_however_rare_are_right_to_their_bound(name: str, restart: float) -> None:
    weights = without_loops({**SYMMETRIC, **DIRECTED}[name])
    chances = np.full(len(weights), restart)
    chances[-1] = 1.0
    starts = np.zeros(len(weights))
    starts[:3] = [0.5, 0.25, 0.25]
    world = replace(fp.World.from_graph(weights), restart=chances, starts=starts)
    everything = brute.restart_weights(weights, chances, starts)
    exact_pi = precise.rounded(precise.stationary(everything))
    np.testing.assert_allclose(fp.stationary(world), exact_pi, rtol=1e-11)
    for t in (1, 13, 500):
        exact = precise.rounded(precise.score(everything, t))
        for settings in ({}, {"tolerance": 1e-6}):
            found = fp.score(world, t, "local", form="walk", n_jobs=1, **settings)  # type: ignore[arg-type]
            check_right(found, exact, squares(everything))
