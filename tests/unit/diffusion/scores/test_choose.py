"""Which solver and which form `score` takes."""

from __future__ import annotations

import networkx as nx
import pytest

import farpoint as fp
from farpoint.diffusion import ScoreRequest, Walk
from farpoint.diffusion.scores.choose import choose_solver
from farpoint.errors import InvalidInput


def test_auto_says_what_it_picked() -> None:
    world = fp.four_rooms()
    assert fp.score(world, 4).solver == "local"
    assert "cheaper" in fp.score(world, 4).reason
    assert fp.score(world, 1000).solver == "spectral"
    assert fp.score(world, 2.5).solver == "spectral"
    assert fp.score(world, 4, n_components=10).solver == "truncated"
    assert fp.score(fp.random_maze(120, 120), 2.5, n_components=5).solver == "truncated"


def test_fraction_of_t_with_the_local_solver() -> None:
    with pytest.raises(InvalidInput, match=r"t must be a whole number with solver='local'; got 2\.5"):
        fp.score(fp.ring(), 2.5, "local")


def test_forms_and_solvers_that_do_not_go_together() -> None:
    windy = fp.four_rooms(wind=0.2)
    with pytest.raises(InvalidInput, match="form must be 'walk' with solver='local'"):
        fp.score(windy, form="polar", solver="local")
    with pytest.raises(InvalidInput, match="form must be 'polar' with solver='spectral'"):
        fp.score(windy, form="walk", solver="spectral")
    with pytest.raises(InvalidInput, match="whole number with form='walk'"):
        fp.score(windy, 1.5, form="walk")
    with pytest.raises(InvalidInput, match="n_components must go with solver='truncated'"):
        fp.score(windy, solver="spectral", n_components=3)
    with pytest.raises(InvalidInput, match="decomposition must be whole"):
        fp.score(fp.ring(), solver="spectral", decomposition=fp.spectrum(fp.ring(), 5))


def two_sources() -> fp.World:
    # Nothing leads into {0, 1} nor into {2, 3}, so N has two eigenvalues 0 and Algorithm 2 leaves out one of them.
    edges = [(0, 1), (1, 0), (1, 4), (2, 3), (3, 2), (3, 4), (4, 5), (5, 6), (6, 4), (5, 4)]
    return fp.World.from_graph(nx.DiGraph(edges))


def test_auto_takes_the_walk_where_algorithm_2_is_not_defined() -> None:
    scores = fp.score(two_sources())
    assert scores.form == "walk"
    assert "got 2" in scores.reason
    with pytest.raises(InvalidInput, match="at most one set of states may have no way in"):
        fp.score(two_sources(), form="polar")


def test_auto_gives_an_approximation_where_nothing_exact_is_affordable() -> None:
    walk = Walk.of(fp.random_maze(130, 130))
    choice = choose_solver(walk, ScoreRequest(t=700), "walk")
    assert choice.solver == "local"
    assert choice.plan is not None
    assert choice.plan.tolerance == 1e-3
    assert "would take" in choice.reason
    choice = choose_solver(walk, ScoreRequest(t=5000), "walk")
    assert (choice.solver, choice.plan) == ("probes", None)
    assert "would take" in choice.reason


def test_a_plan_is_made_once_and_holds_what_was_requested() -> None:
    walk = Walk.of(fp.ring())
    choice = choose_solver(walk, ScoreRequest(t=9, tolerance=0.1), "walk")
    assert choice.plan is not None
    assert (choice.solver, choice.reason) == ("local", "requested")
    assert (choice.plan.t, choice.plan.tolerance) == (9, 0.1)
    assert choice.plan.walk is walk
