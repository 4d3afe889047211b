"""The score of every state: what may be asked for, which solver and form are taken, and what comes back."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import fields
from inspect import signature
from typing import Any

import networkx as nx
import numpy as np
import pytest

import farpoint as fp
from farpoint.diffusion import ScoreRequest, Walk
from farpoint.diffusion.scores import choose
from farpoint.diffusion.scores.choose import choose_solver
from farpoint.errors import InvalidInput, NotConnected, UnknownName
from tests.helpers import brute
from tests.helpers.envs import make
from tests.helpers.graphs import with_episodes


def test_three_state_path_by_hand() -> None:
    # W = ½(I + M D⁻¹), one step: columns (½, ½, 0), (¼, ½, ¼), (0, ½, ½); π₀ = (¼, ½, ¼).
    scores = fp.score(fp.grid((3,)), t=1)
    np.testing.assert_allclose(scores, [2 / 16, 0.0, 2 / 16], atol=1e-15)


def test_fraction_of_t_lies_between_its_neighbors() -> None:
    world = fp.maze()
    low, middle, high = (np.asarray(fp.score(world, t)) for t in (3, 3.5, 4))
    assert ((low > middle) & (middle > high)).all()


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


def test_auto_takes_the_walk_where_algorithm_2_explodes() -> None:
    edges = [(0, i) for i in range(1, 51)] + [(1, 0)] + [(i, 1) for i in range(2, 51)]
    world = fp.World.from_graph(nx.DiGraph(edges))
    scores = fp.score(world, 100)
    assert scores.form == "walk"
    assert "would explode" in scores.reason
    assert 0 <= scores.max() < 2
    with pytest.raises(InvalidInput, match=r"must lie in −1 … 1; got -2\.57"):
        fp.score(world, form="polar")


def test_a_state_in_which_the_walk_begins_again_and_lands_by_hand() -> None:
    # 0 – 1, and from 1 the walk begins again, always in 1: weights 0 → 1 (1) and 1 → 0 (½), 1 → 1 (½).
    world = fp.World.from_graph([[0, 1], [1, 0]])
    world = fp.World(world.transitions, world.choice_ptr, restart=np.array([0.0, 0.5]), starts=np.array([0.0, 1.0]))
    # W = ½ (I + M D⁻¹): columns (½, ½) and (¼, ¾), so π₀ = (⅓, ⅔).
    np.testing.assert_allclose(fp.stationary(world), [1 / 3, 2 / 3], rtol=1e-14)
    expected = [2 * (1 / 2 - 1 / 3) ** 2, 2 * (1 / 4 - 1 / 3) ** 2]
    np.testing.assert_allclose(fp.score(world, 1, form="walk"), expected, rtol=1e-13)


@pytest.mark.parametrize("name", ["FrozenLake-v1", "CliffWalking-v1"])
def test_every_form_of_a_world_with_episodes_is_that_of_its_weights(name: str) -> None:
    world = fp.World.from_env(make(name))
    assert world.restart is not None
    assert world.starts is not None
    weights = brute.restart_weights(world.adjacency.toarray(), world.restart, world.starts)
    np.testing.assert_allclose(fp.score(world, 4, form="walk"), brute.walk_score(weights, 4), rtol=1e-9)
    np.testing.assert_allclose(fp.score(world, 4, form="symmetrized"), brute.score(weights + weights.T, 4), rtol=1e-9)
    # Algorithm 2: Eq. 1 on the left singular vectors of N.
    left, nu, _ = np.linalg.svd(brute.laplacian(weights))
    degrees, omega = weights.sum(axis=0), 1.0 - nu[:-1] / 2.0
    phi, phi_tilde = left[:, :-1] / np.sqrt(degrees)[:, None], left[:, :-1] * np.sqrt(degrees)[:, None]
    polar = (((phi * omega**4) @ phi_tilde.T) ** 2).sum(axis=1)
    scores = fp.score(world, 4, "spectral", form="polar")
    np.testing.assert_allclose(scores, polar, rtol=1e-8, atol=1e-12)


def test_restarts_that_are_never_taken_change_nothing() -> None:
    world = fp.maze()
    still = with_episodes(world, terminal=0)
    starts = still.starts
    never = fp.World(world.transitions, world.choice_ptr, restart=np.zeros(world.n_states), starts=starts)
    np.testing.assert_allclose(fp.score(never, 6, form="walk"), fp.score(world, 6), rtol=1e-11)


@pytest.mark.parametrize("t", [0, -1, float("nan"), float("inf"), "four", None, True])
def test_bad_t(t: object) -> None:
    with pytest.raises(InvalidInput, match="t must be a finite number above 0"):
        fp.score(fp.ring(), t)  # type: ignore[arg-type]


def test_unknown_words() -> None:
    with pytest.raises(UnknownName, match=r"solver must be one of auto, spectral, .* Did you mean local"):
        fp.score(fp.ring(), solver="locall")
    with pytest.raises(UnknownName, match="form must be one of auto, polar, walk"):
        fp.score(fp.ring(), form="poler")


def test_what_goes_with_which_solver() -> None:
    world = fp.ring()
    with pytest.raises(InvalidInput, match="tolerance must go with solver='local'; got solver='spectral'"):
        fp.score(world, 4, "spectral", tolerance=1e-3)
    with pytest.raises(InvalidInput, match="tolerance must be a number from 1e-10 to 1; got 0"):
        fp.score(world, 4, tolerance=0.0)
    with pytest.raises(InvalidInput, match="n_probes must go with solver='probes'"):
        fp.score(world, 4, "local", n_probes=10)
    with pytest.raises(InvalidInput, match="checkpoint must go with t"):
        fp.discover(world, n_options=4, checkpoint="here")


def test_the_request_has_the_parameters_of_score() -> None:
    names = {field.name for field in fields(ScoreRequest)}
    assert names == set(signature(fp.score).parameters) - {"world"}
    for field in fields(ScoreRequest):
        assert field.default == signature(fp.score).parameters[field.name].default


def test_keywords_that_score_does_not_have() -> None:
    with pytest.raises(UnknownName, match=r"keyword must be one of t, solver, .* got 'tolerence'\. Did you mean toler"):
        ScoreRequest.of(tolerence=0.1)
    with pytest.raises(UnknownName, match="keyword must be one of"):
        fp.discover(fp.ring(), tolerence=0.1)


def test_numbers_of_any_kind() -> None:
    request = ScoreRequest.of(t=np.int64(3), tolerance=np.float32(0.5), seed=np.int64(1), n_jobs=np.int8(2))
    assert (request.t, request.tolerance, request.seed, request.n_jobs) == (3.0, 0.5, 1, 2)
    numbers: Any = (np.float32(4), np.float32(0.25))
    assert fp.score(fp.ring(), numbers[0], tolerance=numbers[1]).error_bound is not None


@pytest.mark.parametrize(
    ("settings", "solver"),
    [
        ({"tolerance": 0.1}, "local"),
        ({"n_probes": 10}, "probes"),
        ({"n_components": 3}, "truncated"),
        ({"checkpoint": "here"}, "auto"),
    ],
)
def test_a_parameter_of_one_solver_chooses_it(settings: dict[str, object], solver: str) -> None:
    assert ScoreRequest.of(**settings).solver == solver


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_jobs": 0}, "n_jobs must be a whole number other than 0"),
        ({"seed": -1}, "seed must be at least 0"),
        ({"n_probes": 1}, "n_probes must be at least 2"),
        ({"n_components": 0}, "n_components must be at least 1"),
        ({"tolerance": True}, "tolerance must be a number from 1e-10 to 1; got True"),
        ({"tolerance": "small"}, "tolerance must be a number from 1e-10 to 1; got 'small'"),
        ({"tolerance": 1.0}, "tolerance must be a number from 1e-10 to 1; got 1.0"),
        ({"t": 2e9}, r"t must be at most 1e\+09"),
    ],
)
def test_bad_parameters(settings: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        ScoreRequest.of(**settings)


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


def test_scores_are_an_array_that_remembers_its_making_and_passes_nothing_on() -> None:
    scores = fp.score(fp.ring(), 4)
    assert isinstance(scores, np.ndarray)
    assert (scores.t, scores.solver, scores.form) == (4.0, "local", "walk")
    for derived in (scores[:3], scores * 2, np.sqrt(scores), scores - scores):
        assert type(derived) is np.ndarray
    assert isinstance(scores[0], float)
    assert isinstance(scores.max(), float)


def test_scores_keep_their_record_when_copied() -> None:
    scores = fp.score(fp.ring(), 4)
    for same in (scores.copy(), copy.deepcopy(scores), pickle.loads(pickle.dumps(scores))):
        assert (same.t, same.solver, same.reason) == (scores.t, scores.solver, scores.reason)
        np.testing.assert_array_equal(same, scores)


MADE: dict[str, Callable[[Any], Any]] = {
    "reshape": lambda a: a.reshape(16, 12),
    "reshape to the same": lambda a: a.reshape(-1),
    "T": lambda a: a.T,
    "transpose": lambda a: a.transpose(),
    "astype": lambda a: a.astype(np.float32),
    "astype to the same": lambda a: a.astype(np.float64),
    "ravel": lambda a: a.ravel(),
    "flatten": lambda a: a.flatten(),
    "squeeze": lambda a: a.squeeze(),
    "argsort": lambda a: a.argsort(),
    "argpartition": lambda a: a.argpartition(3),
    "take": lambda a: a.take([3, 1]),
    "compress": lambda a: a.compress([True, False, True]),
    "repeat": lambda a: a.repeat(2),
    "clip": lambda a: a.clip(0.0, 0.1),
    "round": lambda a: a.round(3),
    "cumsum": lambda a: a.cumsum(),
    "cumprod": lambda a: a.cumprod(),
    "conj": lambda a: a.conj(),
    "byteswap": lambda a: a.byteswap(),
    "swapaxes": lambda a: a.swapaxes(0, 0),
    "slice": lambda a: a[10:20],
    "all": lambda a: a[:],
    "mask": lambda a: a[a > 0.1],
    "new axis": lambda a: a[:, None],
    "ellipsis": lambda a: a[...],
    "sum with an axis": lambda a: a[None].sum(axis=0),
    "negative": lambda a: -a,
    "comparison": lambda a: a > 0.1,
    "sort": np.sort,
    "concatenate": lambda a: np.concatenate([a, a]),
    "where": lambda a: np.where(a > 0.1, a, 0.0),
    "asarray": np.asarray,
    "out of a ufunc": lambda a: np.add(a, 1.0),
    "cumulative ufunc": np.maximum.accumulate,
    "partition": lambda a: np.partition(a, 3),
    "zeros_like": np.zeros_like,
    "copy of numpy": np.copy,
    "stack": lambda a: np.stack([a, a]),
}


@pytest.mark.parametrize("name", MADE)
def test_what_is_made_of_scores_is_a_plain_array_with_the_same_numbers(name: str) -> None:
    scores = fp.score(fp.ring(), 4)
    made = MADE[name](scores)
    assert type(made) is np.ndarray
    np.testing.assert_array_equal(made, MADE[name](np.asarray(scores)))


@pytest.mark.parametrize("name", ["sum", "min", "mean", "std", "argmax"])
def test_reductions_are_plain_numbers(name: str) -> None:
    scores = fp.score(fp.ring(), 4)
    reduced = getattr(scores, name)()
    assert not isinstance(reduced, np.ndarray)
    assert reduced == getattr(np.asarray(scores), name)()
