"""The score of every state: its form follows from the world alone, and whatever is asked for decides only how."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

import farpoint as fp
from farpoint.diffusion import Walk, scoring
from farpoint.diffusion.graphs import GraphPlan
from farpoint.diffusion.maps import MapPlan
from farpoint.diffusion.scoring import choose_solver
from farpoint.errors import InvalidInput, NotConnected, UnknownName, WrongCheckpoint
from tests.helpers import brute
from tests.helpers.envs import TAXI, make
from tests.helpers.graphs import with_episodes, without_map

# Each of these says how a score is computed.
HOW: dict[str, dict[str, Any]] = {
    "tolerance": {"tolerance": 1e-3},
    "components": {"n_components": 5},
    "spectral": {"solver": "spectral"},
    "truncated": {"solver": "truncated"},
    "local": {"solver": "local"},
    "probes": {"n_probes": 64},
    "decomposition": {"decomposition": None},
    "device": {"device": "auto"},
    "one job": {"n_jobs": 1},
}


def directed_ring(n_states: int) -> fp.World:
    graph = nx.DiGraph([(state, (state + 1) % n_states) for state in range(n_states)])
    graph.add_edges_from((state, (7 * state + 3) % n_states) for state in range(0, n_states, 2))
    return fp.World.from_graph(graph)


def nearly_in_two_parts(n_states: int) -> fp.World:
    """Two directed rings joined by a move of weight 1e-12 each way."""
    ring = np.roll(np.eye(n_states), 1, axis=1) + 0.5 * np.roll(np.eye(n_states), 2, axis=1)
    weights = np.block([[ring, np.zeros_like(ring)], [np.zeros_like(ring), ring]])
    weights[0, n_states] = weights[n_states, 0] = 1e-12
    return fp.World.from_graph(weights)


WORLDS: dict[str, Callable[[], fp.World]] = {
    "FrozenLake": lambda: fp.World.from_env(make("FrozenLake-v1")),
    "CliffWalking": lambda: fp.World.from_env(make("CliffWalking-v1")),
    "Taxi": lambda: fp.World.from_env(make(TAXI)),
    "directed": lambda: directed_ring(200),
    "large and directed": lambda: directed_ring(1_200),
    "windy": lambda: fp.four_rooms(wind=0.2),
    "symmetric": fp.maze,
    "episodes": lambda: with_episodes(fp.four_rooms()),
    "nearly in two parts": lambda: nearly_in_two_parts(20),
}


def computed_or_refused(world: fp.World, settings: dict[str, Any]) -> fp.diffusion.Scores | None:
    """Return the score, or None where it is refused with an error that names both ways out."""
    try:
        return fp.score(world, 4, **settings)
    except InvalidInput as error:
        named = all(word in str(error) for word in ("form=", "solver="))
        return None if named else pytest.fail(str(error))


@pytest.mark.parametrize(
    ("world", "settings"),
    [
        (fp.maze(), {}),
        (fp.maze(), {"solver": "spectral"}),
        (fp.open_room(90, 90), {}),
        (fp.open_room(90, 90), {"solver": "local", "tolerance": 1e-3}),
        (directed_ring(200), {"form": "walk"}),
        (directed_ring(200), {"form": "polar"}),
    ],
)
def test_a_score_of_one_block_is_the_same_when_it_is_followed_or_kept(
    world: fp.World, settings: dict[str, Any], tmp_path: Path
) -> None:
    told: list[tuple[int, int]] = []
    alone = fp.score(world, 4, **settings)
    followed = fp.score(world, 4, progress=lambda done, total: told.append((done, total)), **settings)
    kept = fp.score(world, 4, out=tmp_path / "scores.npy", **settings)
    assert told[-1][0] == told[-1][1] == len(told)
    for other in (followed, kept):
        assert (other.values == alone.values).all()
        if alone.error_bound is None or other.error_bound is None:
            assert alone.error_bound is other.error_bound
        else:
            assert alone.error_bound.tolist() == other.error_bound.tolist()


@pytest.mark.parametrize("name", WORLDS)
def test_how_never_changes_what(name: str, tmp_path: Path) -> None:
    world = WORLDS[name]()
    expected = fp.score(world, 4)
    others = 0
    for how, settings in {**HOW, "checkpoint": {"checkpoint": tmp_path / "blocks"}}.items():
        if "decomposition" in settings:
            try:
                settings = {"decomposition": fp.spectrum(world)}
            except InvalidInput:
                continue
        found = computed_or_refused(world, settings)
        if found is None:
            continue
        others += 1
        assert found.form == expected.form, how
        if found.standard_error is not None:
            assert (np.abs(found - expected) <= 8.0 * found.standard_error + 1e-12).mean() > 0.99, how
            continue
        allowed = 0.0 if found.error_bound is None else found.error_bound
        assert (np.abs(found - expected) <= allowed + 1e-9 * (expected + 1e-3)).all(), how
    assert others >= 4


def test_a_nearly_split_directed_world_has_the_walk_form() -> None:
    world = nearly_in_two_parts(20)
    scores = fp.score(world)
    assert scores.form == "walk"
    assert "nearly in two parts" in scores.reason
    np.testing.assert_array_equal(scores, fp.score(world, form="walk"))
    # Of more than 500 states the stationary distribution would have no correct digits.
    assert fp.score(nearly_in_two_parts(300)).form == "symmetrized"


def test_the_form_is_decided_once_per_world() -> None:
    walk = fp.diffusion.Walk.of(fp.four_rooms(wind=0.2))
    assert walk.default_form == ("polar", "Algorithm 2, because the world is not symmetric")
    assert walk.default_form is walk.default_form


def test_a_map_in_another_frame_does_not_get_the_blocks_of_this_one(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    floor = rng.random((300, 260)) < 0.75
    world = fp.World.from_array(floor, largest_component=True)
    expected = np.asarray(fp.score(world, 3, "local", checkpoint=tmp_path / "blocks"))
    assert world.floor is not None
    framed = fp.World.from_array(np.pad(world.floor, ((7, 0), (3, 1))))
    assert framed.fingerprint == world.fingerprint
    with pytest.raises(WrongCheckpoint, match="another frame"):
        fp.score(framed, 3, "local", checkpoint=tmp_path / "blocks")
    np.testing.assert_array_equal(fp.score(framed, 3, "local", checkpoint=tmp_path / "other"), expected)
    # The same world from its file, whose map may be cut to its floor.
    world.save(tmp_path / "world.npz")
    loaded = fp.World.load(tmp_path / "world.npz")
    try:
        found = np.asarray(fp.score(loaded, 3, "local", checkpoint=tmp_path / "blocks"))
    except WrongCheckpoint:
        found = np.asarray(fp.score(loaded, 3, "local", checkpoint=tmp_path / "third"))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_a_graph_in_another_order_of_blocks_is_another_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = without_map(fp.random_maze(270, 270))
    shuffled = np.random.default_rng(0).permutation(world.n_states)
    mixed = fp.World.from_graph(world.adjacency[shuffled][:, shuffled])
    fp.score(mixed, 2, "local", checkpoint=tmp_path)
    monkeypatch.setattr("farpoint.diffusion.graphs.better_order", lambda moves: None)
    with pytest.raises(WrongCheckpoint, match="another order"):
        fp.score(mixed, 2, "local", checkpoint=tmp_path)


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
    apart = fp.World.from_matrix(fp.grid((2,)).transitions, np.array([0, 2, 2]))
    assert fp.score(apart, form="walk").shape == (2,)
    blown = fp.World.from_map(".\n.\n.", wind=1.0)
    with pytest.raises(InvalidInput, match=r"for Algorithm 2; got none into state 0\. Use form='walk'"):
        fp.score(blown, form="polar")
    assert fp.score(blown).form == "walk"


def test_disconnected_constructor_is_refused_by_the_score() -> None:
    two = fp.grid((2,)).transitions.toarray()
    matrix = np.block([[two, np.zeros((2, 2))], [np.zeros((2, 2)), two]])
    world = fp.World.from_matrix(matrix, np.array([0, 1, 2, 3, 4]))
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
    world = replace(world, restart=np.array([0.0, 0.5]), starts=np.array([0.0, 1.0]))
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
    never = replace(world, restart=np.zeros(world.n_states), starts=starts)
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


def test_keywords_that_score_does_not_have() -> None:
    with pytest.raises(UnknownName, match=r"keyword must be one of t, solver, .* got 'tolerence'\. Did you mean toler"):
        fp.discover(fp.ring(), tolerence=0.1)


def test_numbers_of_any_kind() -> None:
    settings: dict[str, Any] = {"tolerance": np.float32(0.25), "seed": np.int64(1), "n_jobs": np.int8(2)}
    time: Any = np.float32(4)
    assert fp.score(fp.ring(), time, **settings).error_bound is not None


@pytest.mark.parametrize(
    ("settings", "solver"),
    [
        ({"tolerance": 0.1}, "local"),
        ({"n_probes": 10}, "probes"),
        ({"n_components": 3}, "truncated"),
        ({}, "local"),
    ],
)
def test_a_parameter_of_one_solver_chooses_it(settings: dict[str, Any], solver: str) -> None:
    assert fp.score(fp.ring(), 4, **settings).solver == solver


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
def test_bad_parameters(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        fp.score(fp.ring(), **settings)


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
    with pytest.raises(InvalidInput, match=r"'spectral' or 'truncated' .*; got solver='local'\. Pass form"):
        fp.score(windy, form="polar", solver="local")
    with pytest.raises(InvalidInput, match=r"solver must be 'local' or 'probes' .*; got solver='spectral'\. Pass form"):
        fp.score(windy, form="walk", solver="spectral")
    with pytest.raises(InvalidInput, match="whole number for form='walk'"):
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
    plan, reason = choose_solver(walk, "walk", 1500)
    assert isinstance(plan, MapPlan | GraphPlan)
    assert plan.tolerance == 1e-3
    assert "would take" in reason
    plan, reason = choose_solver(walk, "walk", 20_000)
    assert plan.solver == "probes"
    assert "would take" in reason


def test_a_plan_holds_what_was_requested() -> None:
    walk = Walk.of(fp.ring())
    plan, reason = choose_solver(walk, "walk", 40, wanted="local", tolerance=0.1)
    assert isinstance(plan, MapPlan)
    assert (plan.solver, reason) == ("local", "requested")
    assert (plan.t, plan.tolerance) == (40, 0.1)
    assert plan.floor is walk.floor


def towns(n_towns: int, size: int) -> fp.World:
    """Expanders, joined in a ring by single edges: few slow components, all others die out soon."""
    graph = nx.disjoint_union_all([nx.random_regular_graph(6, size, seed=town) for town in range(n_towns)])
    graph.add_edges_from((size * town, size * ((town + 1) % n_towns) + 1) for town in range(n_towns))
    return fp.World.from_graph(graph)


def test_auto_takes_the_leading_components_where_they_suffice(monkeypatch: pytest.MonkeyPatch) -> None:
    world = towns(6, 60)
    exact = fp.score(world, 100, "spectral")
    monkeypatch.setattr(scoring, "DENSE_LIMIT", 100)
    monkeypatch.setattr(scoring, "GLANCE_SECONDS", 0.0)
    scores = fp.score(world, 100)
    assert scores.solver == "truncated"
    assert scores.reason.startswith("auto: 50 components are within 0.001; all of 100 steps would take about")
    assert scores.error_bound is not None
    assert (scores.error_bound <= 1e-3 * scores).all()
    assert (np.abs(scores - exact) <= scores.error_bound).all()


def test_auto_follows_the_part_that_matters_of_a_planar_network(monkeypatch: pytest.MonkeyPatch) -> None:
    world = fp.World.from_graph(fp.open_room(40, 40).adjacency)
    exact = fp.score(world, 60, "spectral")
    monkeypatch.setattr(scoring, "DENSE_LIMIT", 100)
    assert fp.score(world, 60).reason.endswith("1600 states are too many for a whole decomposition")
    monkeypatch.setattr(scoring, "GLANCE_SECONDS", 0.0)
    scores = fp.score(world, 60)
    assert scores.solver == "local"
    assert "all of 60 steps would take about" in scores.reason
    assert (np.abs(scores - exact) <= 1e-3 * exact).all()


def test_auto_stays_exact_where_nothing_is_far_cheaper(monkeypatch: pytest.MonkeyPatch) -> None:
    world = fp.World.from_graph(nx.barabasi_albert_graph(300, 2, seed=0))
    monkeypatch.setattr(scoring, "DENSE_LIMIT", 100)
    monkeypatch.setattr(scoring, "GLANCE_SECONDS", 0.0)
    assert fp.score(world, 4).reason.endswith("300 states are too many for a whole decomposition")


@pytest.mark.parametrize("settings", [{"t": 3}, {"t": 30, "tolerance": 1e-3}, {"t": 3, "n_probes": 16}, {"t": 2.5}])
@pytest.mark.parametrize("graph", [False, True])
def test_scores_in_a_file_are_those_in_memory(settings: dict[str, Any], graph: bool, tmp_path: Path) -> None:
    world = fp.random_maze(60, 50, seed=1)
    world = without_map(world) if graph else world
    expected = fp.score(world, **settings)
    found = fp.score(world, **settings, out=tmp_path / "scores.npy")
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.load(tmp_path / "scores.npy"), expected)
    assert (found.solver, found.form, found.reason) == (expected.solver, expected.form, expected.reason)
    for name in ("error_bound", "standard_error"):
        assert (getattr(found, name) is None) == (getattr(expected, name) is None)
        if getattr(found, name) is not None:
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    np.testing.assert_array_equal(fp.find_goals(world, found).states, fp.find_goals(world, expected).states)


def test_a_file_of_scores_is_complete_or_not_there(tmp_path: Path) -> None:
    # A map in a file, its scores in another, and those blocks that were computed before an interruption are kept.
    np.save(tmp_path / "map.npy", np.random.default_rng(0).random((600, 500)) < 0.8)
    floor = fp.World.from_array(tmp_path / "map.npy", largest_component=True).floor
    assert floor is not None
    np.save(tmp_path / "map.npy", floor.cells.copy())
    world, out = fp.World.from_array(tmp_path / "map.npy"), tmp_path / "scores.npy"

    def interrupt(done: int, total: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fp.score(world, 2, out=out, checkpoint=tmp_path / "blocks", progress=interrupt, n_jobs=1)
    assert {path.name for path in tmp_path.iterdir()} == {"map.npy", "blocks"}
    reported: list[int] = []
    found = fp.score(
        world, 2, out=out, checkpoint=tmp_path / "blocks", progress=lambda done, total: reported.append(done)
    )
    assert reported[0] == 4
    np.testing.assert_array_equal(found, fp.score(world, 2))
    goals = fp.find_goals(world, np.load(out, mmap_mode="r"))
    np.testing.assert_array_equal(goals.states, fp.find_goals(world, np.array(found)).states)
    with pytest.raises(InvalidInput, match=r"out must be the name of a \.npy file; got 'scores\.txt'"):
        fp.score(world, 2, out="scores.txt")
    for path in (tmp_path / "map.npy", tmp_path / "folder" / ".." / "map.npy"):
        (tmp_path / "folder").mkdir(exist_ok=True)
        with pytest.raises(InvalidInput, match="out must be another file than the map of the world"):
            fp.score(world, 2, out=path)
    np.testing.assert_array_equal(np.load(tmp_path / "map.npy"), floor.cells)
    with pytest.raises(InvalidInput, match="out must go with t"):
        fp.discover(world, n_options=4, out=out)
