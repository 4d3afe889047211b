from __future__ import annotations

import copy
import pickle

import networkx as nx
import numpy as np
import pytest

import farpoint as fp
from farpoint.errors import InvalidInput, NotConnected, UnknownName
from tests.helpers import brute


def test_three_state_path_by_hand() -> None:
    # W = ½(I + M D⁻¹), one step: columns (½, ½, 0), (¼, ½, ¼), (0, ½, ½); π₀ = (¼, ½, ¼).
    scores = fp.score(fp.grid((3,)), t=1)
    np.testing.assert_allclose(scores, [2 / 16, 0.0, 2 / 16], atol=1e-15)


@pytest.mark.parametrize("shape", [(20, 20), (5,), (6, 8), (5, 6, 7), (4, 4, 4, 4)])
@pytest.mark.parametrize("t", [1, 4, 13])
def test_goals_of_a_grid_are_its_corners(shape: tuple[int, ...], t: int) -> None:
    # Grids that t steps do not nearly cross: in a 3×9 room at t = 13 the short side has mixed; its middle is a goal.
    world = fp.grid(shape)
    assert set(fp.find_goals(world, fp.score(world, t))) == brute.corners(shape)


def test_cylinder_has_one_goal_a_rim() -> None:
    # All states of a rim are alike, so each rim is one plateau.
    world = fp.World.from_graph(nx.cartesian_product(nx.cycle_graph(24), nx.path_graph(8)))
    assert len(fp.find_goals(world, fp.score(world, 4))) == 2


def test_a_world_of_equal_states_is_one_plateau() -> None:
    world = fp.World.from_graph(nx.cycle_graph(9))
    goals = fp.find_goals(world, fp.score(world, 3))
    assert goals.states.tolist() == [0]
    assert goals.prominences[0] == pytest.approx(0, abs=1e-15)


def test_auto_says_what_it_picked() -> None:
    world = fp.four_rooms()
    assert fp.score(world, 4).solver == "local"
    assert "cheaper" in fp.score(world, 4).reason
    assert fp.score(world, 1000).solver == "spectral"
    assert fp.score(world, 2.5).solver == "spectral"
    assert fp.score(world, 4, n_components=10).solver == "truncated"
    assert fp.score(fp.random_maze(120, 120), 2.5, n_components=5).solver == "truncated"


def test_fraction_of_t_lies_between_its_neighbors() -> None:
    world = fp.maze()
    low, middle, high = (np.asarray(fp.score(world, t)) for t in (3, 3.5, 4))
    assert ((low > middle) & (middle > high)).all()


def test_scores_are_an_array_that_remembers_its_making_and_passes_nothing_on() -> None:
    scores = fp.score(fp.ring(), 4)
    assert isinstance(scores, np.ndarray)
    assert (scores.t, scores.solver, scores.form) == (4.0, "local", "walk")
    for derived in (scores[:3], scores * 2, np.sqrt(scores), scores - scores):
        assert type(derived) is np.ndarray
    assert isinstance(scores[0], float)
    assert isinstance(scores.max(), float)


@pytest.mark.parametrize("t", [0, -1, float("nan"), float("inf"), "four", None, True])
def test_bad_t(t: object) -> None:
    with pytest.raises(InvalidInput, match="t must be a finite number above 0"):
        fp.score(fp.ring(), t)  # type: ignore[arg-type]


def test_fraction_of_t_with_the_local_solver() -> None:
    with pytest.raises(InvalidInput, match=r"t must be a whole number with solver='local'; got 2\.5"):
        fp.score(fp.ring(), 2.5, "local")


def test_unknown_words() -> None:
    with pytest.raises(UnknownName, match=r"solver must be one of auto, spectral, .* Did you mean local"):
        fp.score(fp.ring(), solver="locall")
    with pytest.raises(UnknownName, match="form must be one of auto, polar, walk"):
        fp.score(fp.ring(), form="poler")


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


def test_worlds_that_have_no_score() -> None:
    with pytest.raises(InvalidInput, match="at least 2 states"):
        fp.score(fp.grid((1,)))
    apart = fp.World(fp.grid((2,)).transitions, np.array([0, 2, 2]))
    assert fp.score(apart, form="walk").shape == (2,)
    blown = fp.World.from_map(".\n.\n.", wind=1.0)
    with pytest.raises(InvalidInput, match=r"for Algorithm 2; got none into state 0\. Use form='walk'"):
        fp.score(blown, form="polar")
    assert fp.score(blown).form == "walk"


def test_disconnected_constructor_is_refused_by_the_score() -> None:
    two = fp.grid((2,)).transitions.toarray()
    matrix = np.block([[two, np.zeros((2, 2))], [np.zeros((2, 2)), two]])
    world = fp.World(matrix, np.array([0, 1, 2, 3, 4]))
    with pytest.raises(NotConnected, match=r"2 components \(sizes 2, 2\)"):
        fp.score(world)


def test_walk_form_with_a_state_that_keeps_the_walker() -> None:
    # 0 → 1 → 2, and 2 has no move: everything ends there.
    world = fp.World.from_graph([[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    np.testing.assert_allclose(fp.stationary(world), [0, 0, 1])
    # After one step from 0: (½, ½, 0), so f = ¼ + ¼ + 1; from 1: (0, ½, ½); from 2 it is there.
    np.testing.assert_allclose(fp.score(world, 1, form="walk"), [1.5, 0.5, 0.0], atol=1e-15)


def test_stationary_distribution_of_two_ends_is_refused() -> None:
    fork = fp.World.from_graph([[0, 1, 1], [0, 0, 0], [0, 0, 0]])
    with pytest.raises(NotConnected, match="one set of states that a walk ends in; got 2"):
        fp.stationary(fork)


def test_scores_that_are_no_scores() -> None:
    with pytest.raises(InvalidInput, match=r"one entry a state \(192\)"):
        fp.find_goals(fp.ring(), np.zeros(5))
    with pytest.raises(InvalidInput, match="must be finite; got 1"):
        fp.find_goals(fp.grid((3,)), [0.0, np.nan, 1.0])
    with pytest.raises(InvalidInput, match="min_prominence must be at least 0"):
        fp.find_goals(fp.grid((3,)), [0.0, 2.0, 1.0], min_prominence=-1)


def test_prominence_by_hand() -> None:
    # Heights along a path: peaks 5, 4 and 3 with saddles 1 and 2.
    world = fp.grid((7,))
    goals = fp.find_goals(world, [5.0, 1.0, 4.0, 2.0, 3.0, 2.5, 0.5])
    assert goals.states.tolist() == [0, 2, 4]
    assert goals.prominences.tolist() == [4.5, 3.0, 1.0]
    assert fp.find_goals(world, [5.0, 1.0, 4.0, 2.0, 3.0, 2.5, 0.5], min_prominence=2).states.tolist() == [0, 2]
    assert np.asarray(goals.most_prominent(2)).tolist() == [0, 2]


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


def test_auto_takes_the_walk_where_algorithm_2_explodes() -> None:
    edges = [(0, i) for i in range(1, 51)] + [(1, 0)] + [(i, 1) for i in range(2, 51)]
    world = fp.World.from_graph(nx.DiGraph(edges))
    scores = fp.score(world, 100)
    assert scores.form == "walk"
    assert "would explode" in scores.reason
    assert 0 <= scores.max() < 2
    with pytest.raises(InvalidInput, match=r"must lie in −1 … 1; got -2\.57"):
        fp.score(world, form="polar")


def test_decompositions_are_checked() -> None:
    world, windy = fp.ring(), fp.four_rooms(wind=0.2)
    with pytest.raises(InvalidInput, match=r"decomposition must be of this world \(192 states\)"):
        fp.score(world, decomposition=fp.spectrum(fp.maze()))
    with pytest.raises(InvalidInput, match="form must be 'polar' with a decomposition"):
        fp.score(windy, form="walk", decomposition=fp.spectrum(windy))
    assert fp.score(world, decomposition=fp.spectrum(world, 10)).solver == "truncated"


def test_auto_gives_an_approximation_where_nothing_exact_is_affordable() -> None:
    from farpoint.diffusion.scores.choose import choose_solver

    world = fp.random_maze(130, 130)
    solver, tolerance, reason = choose_solver(world, 700.0, "auto", "walk", None, None, 256)
    assert (solver, tolerance) == ("local", 1e-3)
    assert "would take" in reason
    solver, tolerance, reason = choose_solver(world, 5000.0, "auto", "walk", None, None, 256)
    assert (solver, tolerance) == ("probes", None)
    assert "would take" in reason


def test_scores_keep_their_record_when_copied() -> None:
    scores = fp.score(fp.ring(), 4)
    for same in (scores.copy(), copy.deepcopy(scores), pickle.loads(pickle.dumps(scores))):
        assert (same.t, same.solver, same.reason) == (scores.t, scores.solver, scores.reason)
        np.testing.assert_array_equal(same, scores)


def test_what_is_no_world() -> None:
    with pytest.raises(InvalidInput, match="world must be a World; got ndarray"):
        fp.score(np.eye(3))  # type: ignore[arg-type]
