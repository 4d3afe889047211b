"""Which solver and which form `score` takes."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import farpoint as fp
from farpoint.diffusion import ScoreRequest, Walk
from farpoint.diffusion.scores import choose
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
    choice = choose_solver(walk, ScoreRequest(t=20_000), "walk")
    assert (choice.solver, choice.plan) == ("probes", None)
    assert "would take" in choice.reason


def test_a_plan_is_made_once_and_holds_what_was_requested() -> None:
    walk = Walk.of(fp.ring())
    choice = choose_solver(walk, ScoreRequest(t=9, tolerance=0.1), "walk")
    assert choice.plan is not None
    assert (choice.solver, choice.reason) == ("local", "requested")
    assert (choice.plan.t, choice.plan.tolerance) == (9, 0.1)
    assert choice.plan.walk is walk


def towns(n_towns: int, size: int) -> fp.World:
    """Expanders, joined in a ring by single edges: few slow components, all others die out soon."""
    graph = nx.disjoint_union_all([nx.random_regular_graph(6, size, seed=town) for town in range(n_towns)])
    graph.add_edges_from((size * town, size * ((town + 1) % n_towns) + 1) for town in range(n_towns))
    return fp.World.from_graph(graph)


def test_auto_takes_the_leading_components_where_they_suffice(monkeypatch: pytest.MonkeyPatch) -> None:
    world = towns(6, 60)
    exact = fp.score(world, 100, "spectral")
    monkeypatch.setattr(choose, "DENSE_LIMIT", 100)
    monkeypatch.setattr(choose, "GLANCE_SECONDS", 0.0)
    scores = fp.score(world, 100)
    assert scores.solver == "truncated"
    assert scores.reason.startswith("auto: 50 components are within 0.001; all of 100 steps would take about")
    assert scores.error_bound is not None
    assert (scores.error_bound <= 1e-3 * scores).all()
    assert (np.abs(scores - exact) <= scores.error_bound).all()


def test_auto_follows_the_part_that_matters_of_a_planar_network(monkeypatch: pytest.MonkeyPatch) -> None:
    world = fp.World.from_graph(fp.open_room(40, 40).adjacency)
    exact = fp.score(world, 60, "spectral")
    monkeypatch.setattr(choose, "DENSE_LIMIT", 100)
    assert fp.score(world, 60).reason.endswith("1600 states are too many for a whole decomposition")
    monkeypatch.setattr(choose, "GLANCE_SECONDS", 0.0)
    scores = fp.score(world, 60)
    assert scores.solver == "local"
    assert "all of 60 steps would take about" in scores.reason
    assert (np.abs(scores - exact) <= 1e-3 * exact).all()


def test_auto_stays_exact_where_nothing_is_far_cheaper(monkeypatch: pytest.MonkeyPatch) -> None:
    world = fp.World.from_graph(nx.barabasi_albert_graph(300, 2, seed=0))
    monkeypatch.setattr(choose, "DENSE_LIMIT", 100)
    monkeypatch.setattr(choose, "GLANCE_SECONDS", 0.0)
    assert fp.score(world, 4).reason.endswith("300 states are too many for a whole decomposition")
