"""The methods of discovery, and those of worlds too large to decompose anew against the plain way."""

from __future__ import annotations

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import linalg
from scipy.sparse import diags_array
from scipy.sparse.csgraph import dijkstra

import farpoint as fp
from farpoint.diffusion import Walk
from farpoint.diffusion.scoring import POLAR_LIMIT
from farpoint.diffusion.spectral import fixed_signs
from farpoint.errors import InvalidInput
from farpoint.options.methods import eigen
from farpoint.options.methods.bottleneck import normalized_cut
from farpoint.options.methods.eigen import affordable_walk
from farpoint.options.methods.louvain import communities
from farpoint.options.methods.successor import GAMMA, successor_features
from farpoint.options.methods.visits import random_routes
from tests.helpers import brute
from tests.helpers.envs import TAXI, make
from tests.helpers.graphs import with_episodes


def windy_maze(side: int) -> fp.World:
    return fp.World.from_map(fp.random_maze(side, side).to_text(), wind=1 / 3, largest_component=True)


@pytest.mark.parametrize(
    "world",
    [fp.random_maze(36, 36), windy_maze(30), with_episodes(windy_maze(30), terminal=0)],
    ids=["maze", "windy", "episodes"],
)
def test_cover_options_equal_those_of_a_new_dense_decomposition_each_time(world: fp.World) -> None:
    options = fp.discover(world, "cover", n_options=7)
    assert options.initiation is not None
    weights = Walk.of(world).weights().toarray()
    for pair in range(4):
        fiedler = fixed_signs(linalg.svd(brute.laplacian(weights))[0][:, -2:-1])[:, 0]
        low, high = int(fiedler.argmin()), int(fiedler.argmax())
        assert (options.initiation[2 * pair], options.goals[2 * pair]) == (low, high)
        weights[low, high] += 1.0
        weights[high, low] += 1.0


@pytest.fixture(scope="module")
def dense_vectors() -> NDArray[np.float64]:
    laplacian = brute.laplacian(fp.random_maze(40, 40).adjacency.toarray())
    return fixed_signs(linalg.eigh(laplacian, subset_by_index=[0, 3])[1])


@pytest.mark.parametrize("include_first", [True, False])
@pytest.mark.parametrize("n_options", [1, 4, 5])
def test_eigenoptions_of_a_large_world_climb_the_eigenvectors_down_then_up(
    include_first: bool, n_options: int, dense_vectors: NDArray[np.float64]
) -> None:
    world = fp.random_maze(40, 40)
    climbs = fp.discover(world, "eigen", n_options=n_options, include_first=include_first).climbs
    assert climbs is not None
    assert climbs.shape == (n_options, world.n_states)
    for option, climb in enumerate(climbs):
        column = dense_vectors[:, option // 2 + (0 if include_first else 1)]
        np.testing.assert_allclose(climb, column if option % 2 else -column, atol=1e-9)


def test_eigenoptions_of_a_windy_world_beyond_the_dense_limit_climb_left_singular_vectors() -> None:
    world = windy_maze(64)
    assert world.n_states > POLAR_LIMIT
    climbs = fp.discover(world, "eigen", n_options=6).climbs
    assert climbs is not None
    laplacian = fp.diffusion.normalized_laplacian(world)
    for climb in climbs:
        image = laplacian @ (laplacian.T @ climb)
        np.testing.assert_allclose(image, climb * (climb @ image), atol=1e-10)


def test_worlds_without_a_polar_factor_or_with_wide_layers_are_symmetrized(monkeypatch: pytest.MonkeyPatch) -> None:
    n = POLAR_LIMIT + 1
    path = diags_array([1.0, 1.0], offsets=[-1, 1], shape=(n, n)).tolil()
    path[1, 0] = 0.0
    no_way_in = Walk.of(fp.World.from_graph(path))
    assert not no_way_in.symmetric
    assert affordable_walk(no_way_in).symmetric
    windy = Walk.of(windy_maze(64))
    assert affordable_walk(windy) is windy
    monkeypatch.setattr(eigen, "is_wide", lambda pattern: True)
    both_ways = affordable_walk(windy)
    assert (both_ways.moves != windy.moves + windy.moves.T).nnz == 0
    small = Walk.of(fp.maze(wind=0.3))
    assert affordable_walk(small) is small


def test_eigenoptions_do_not_depend_on_the_basis_of_repeated_eigenvalues() -> None:
    # On the ring most eigenvalues come twice. Another order of the states is another problem for the solver.
    ring = fp.ring()
    first = fp.discover(ring, "eigen", n_options=20)
    again = fp.discover(fp.World.from_graph(ring.adjacency), "eigen", n_options=20)
    assert first.climbs is not None
    assert again.climbs is not None
    np.testing.assert_allclose(again.climbs, first.climbs, atol=1e-9)
    np.testing.assert_array_equal(again.goals, first.goals)


def test_options_that_would_not_fit_are_refused_before_any_work() -> None:
    with pytest.raises(InvalidInput, match=r"n_options must leave .* vectors of 1000000 states within 4 GiB; got 900"):
        fp.discover(fp.open_room(1000, 1000), "eigen", n_options=900)


def test_n_options_alone_takes_the_papers_t_or_the_largest_below_that_has_enough() -> None:
    four, two = fp.discover(fp.four_rooms(), n_options=10), fp.discover(fp.maze(), n_options=20)
    assert four.record["choice"].startswith("t = 4, as in the paper; of its 20 local maxima the highest and those")
    # 16, 20, 19 and 19 local maxima at t = 1, 2, 3 and 4.
    assert [len(fp.discover(fp.maze(), t=t)) for t in (1, 2, 3, 4)] == [16, 20, 19, 19]
    assert two.record["choice"] == "t = 2, the largest up to 4 with 20 local maxima; all of its 20 local maxima"


def test_n_options_alone_takes_the_highest_and_those_farthest_from_each_other() -> None:
    world = fp.ring()
    every, few = fp.discover(world), fp.discover(world, n_options=5)
    moves = dijkstra(world.adjacency, unweighted=True, indices=every.goals)[:, every.goals]
    taken = [0]
    while len(taken) < 5:
        nearest = moves[taken].min(axis=0)
        taken.append(int(nearest.argmax()))
    assert sorted(few.goals.tolist()) == sorted(every.goals[taken].tolist())


def test_an_environment_has_twenty_options_by_default_the_most_prominent() -> None:
    world = fp.World.from_env(make(TAXI))
    few, every = fp.discover(world), fp.discover(world, t=4)
    assert (len(few), len(every)) == (20, 87)
    assert few.record["choice"] == "t = 4, as in the paper; of its 87 local maxima the 20 most prominent"
    assert every.record["choice"] == "t = 4, as asked for; all of its 87 local maxima"
    assert np.sort(few.record["maxima"].prominences).min() >= np.sort(every.record["maxima"].prominences)[-20]
    assert len(fp.discover(world, "random")) == 20


def test_n_options_takes_the_most_prominent() -> None:
    world = fp.maze()
    few, all_of_them = fp.discover(world, t=4, n_options=6), fp.discover(world, t=4)
    kept, every = few.record["maxima"].prominences, all_of_them.record["maxima"].prominences
    np.testing.assert_allclose(np.sort(kept)[::-1], np.sort(every)[::-1][:6])
    assert set(few.goals) <= set(all_of_them.goals)


def test_n_options_on_a_world_too_large_for_a_dense_spectrum() -> None:
    options = fp.discover(fp.random_maze(80, 80), n_options=40)
    assert len(options) == 40
    assert options.record["solver"] == "local"
    assert options.record["t"] == 4


def test_flat_scores() -> None:
    # On a nearly complete graph the score has all but vanished long before: its last maxima would be rounding.
    weights = np.ones((5, 5)) + np.triu(np.arange(25).reshape(5, 5) / 80, 1)
    world = fp.World.from_graph((weights + weights.T) * (1 - np.eye(5)))
    assert fp.discover(world, n_options=1).record["maxima"].heights[0] > 1e-200


def test_nothing_prominent_enough() -> None:
    with pytest.raises(InvalidInput, match="min_prominence must leave at least one goal; got 100"):
        fp.discover(fp.ring(), min_prominence=100)


def test_eigenoptions_climb_to_a_local_maximum() -> None:
    world = fp.maze()
    options = fp.discover(world, "eigen", n_options=7)
    assert options.climbs is not None
    psi = fp.spectrum(world).psi
    for index, climb in enumerate(options.climbs):
        np.testing.assert_allclose(np.abs(climb @ psi[:, index // 2]), 1.0)
        end = int(options[index].route(0)[-1])
        matrix = world.adjacency
        around = matrix.indices[matrix.indptr[end] : matrix.indptr[end + 1]]
        assert (climb[around] <= climb[end] + 1e-9).all()
    with_first = fp.discover(world, "eigen", n_options=8).climbs
    without = fp.discover(world, "eigen", n_options=6, include_first=False).climbs
    assert with_first is not None
    assert without is not None
    np.testing.assert_allclose(without, with_first[2:])


def test_cover_options_join_the_ends_of_the_fiedler_vector() -> None:
    # networkx's own Fiedler vector, of the graph with the edges added so far.
    world = fp.maze()
    options = fp.discover(world, "cover", n_options=5)
    assert options.initiation is not None
    graph = nx.from_scipy_sparse_array(world.adjacency)
    for pair in range(3):
        vector = nx.fiedler_vector(graph, weight="weight", normalized=True, tol=1e-12, method="lanczos", seed=1)
        ends = {int(np.argmin(vector)), int(np.argmax(vector))}
        assert {int(options.initiation[2 * pair]), int(options.goals[2 * pair])} == ends
        graph.add_edge(*ends)
    assert options[0].initiation.sum() == 1
    assert options[0].route(int(options.initiation[0]))[-1] == options.goals[0]


def test_no_options_at_all() -> None:
    assert len(fp.discover(fp.maze(), "none")) == 0


def test_random_options_are_as_many_as_diffusion_options_and_follow_the_seed() -> None:
    world = fp.ring()
    assert len(fp.discover(world, "random")) == 32
    first, again, other = (fp.discover(world, "random", n_options=9, seed=seed).goals for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    assert len(set(first.tolist())) == 9


def test_min_prominence_leaves_out_the_flat_ones() -> None:
    world = fp.maze()
    every = fp.discover(world).record["maxima"].prominences
    limit = float(np.median(every))
    assert len(fp.discover(world, min_prominence=limit)) == (every >= limit).sum()


def test_cover_options_of_two_states() -> None:
    options = fp.discover(fp.grid((2,)), "cover", n_options=2)
    assert sorted(options.goals) == [0, 1]


BARBELL = nx.barbell_graph(8, 3)  # two cliques, 0 … 7 and 11 … 18, joined by 8, 9, 10


def test_betweenness_finds_the_middle_of_a_barbell() -> None:
    options = fp.discover(fp.World.from_graph(BARBELL), "betweenness", n_options=3)
    assert options.goals[0] == 9
    assert "1 highest" in options.record["choice"]
    assert all(option.initiation.all() for option in options)


def test_the_first_cut_of_a_barbell() -> None:
    world = fp.World.from_graph(BARBELL)
    options = fp.discover(world, "bottleneck", n_options=2)
    # Each starts on its side and ends in the first state of the other.
    sides = [set(np.flatnonzero(option.initiation).tolist()) for option in options]
    assert sides[0].isdisjoint(sides[1])
    assert sides[0] | sides[1] == set(range(19))
    for option, own, other in zip(options, sides, reversed(sides), strict=True):
        assert option.goal in other
        assert any(option.goal in BARBELL[state] for state in own)
    # The best cut along the path is the best of all thresholds by brute force.
    weights = nx.to_numpy_array(BARBELL)
    best = min(
        nx.cut_size(BARBELL, side) * (1 / weights[side].sum() + 1 / np.delete(weights, side, axis=0).sum())
        for side in ([*range(8)], [*range(9)], [*range(10)], [*range(11)])
    )
    assert normalized_cut(world.neighbors).value == pytest.approx(best)


def test_skills_between_communities() -> None:
    world = fp.World.from_graph(nx.connected_caveman_graph(4, 6))
    levels = communities(world)
    assert levels[-1].max() + 1 >= 2
    # Levels are nested: states of one community are in one of the next level.
    for fine, coarse in pairwise(levels):
        assert all(np.unique(coarse[fine == number]).size == 1 for number in range(int(fine.max()) + 1))
    options = fp.discover(world, "louvain", n_options=2)
    for option in options:
        start = int(np.flatnonzero(option.initiation)[0])
        members = levels[-1]
        route = option.route(start)
        assert members[route[-1]] != members[start]
        assert (members[route[:-1]] == members[start]).all()  # it ends as soon as it has left


def test_more_skills_than_there_are() -> None:
    with pytest.raises(fp.errors.InvalidInput, match=r"pairs of neighboring communities; got 3, and there are 0\."):
        fp.discover(fp.World.from_graph(nx.complete_graph(5)), "louvain", n_options=3)


def test_the_successor_representation() -> None:
    world = fp.grid((4,))
    moves = np.array([[0, 1, 0, 0], [0.5, 0, 0.5, 0], [0, 0.5, 0, 0.5], [0, 0, 1, 0]])
    assert np.allclose(successor_features(world), np.linalg.inv(np.eye(4) - GAMMA * moves))
    # A projection keeps distances about.
    large = fp.open_room(40, 40)
    assert successor_features(large).shape == (1600, 256)


def test_landmarks_are_one_per_clique() -> None:
    options = fp.discover(fp.World.from_graph(nx.connected_caveman_graph(5, 8)), "successor", n_options=5)
    assert sorted(goal // 8 for goal in options.goals.tolist()) == [0, 1, 2, 3, 4]


def test_the_middle_of_a_corridor_is_visited_most() -> None:
    world = fp.grid((21,))
    options = fp.discover(world, "visits", n_options=3)
    assert abs(int(options.goals[0]) - 10) <= 3
    assert options[0].initiation.any()
    routes = random_routes(world, 30, seed=1)
    assert all((np.diff(route) == 1).all() for route in routes)


def test_regions_are_saved_and_checked(tmp_path: object) -> None:
    world = fp.maze()
    options = fp.discover(world, "bottleneck", n_options=4)
    path = f"{tmp_path}/options.npz"
    options.save(path)
    again = fp.OptionSet.load(path, world)
    assert again.regions is not None
    assert options.regions is not None
    assert (again.regions == options.regions).all()
    assert options[1:3].regions is not None
    outside = int(np.flatnonzero(~options.regions[0])[0])
    with pytest.raises(fp.errors.InvalidInput, match="initiation set"):
        options[0].route(outside)
    with pytest.raises(fp.errors.InvalidInput, match=r"regions must be of shape \(1, 148\); got \(1, 2\)"):
        fp.OptionSet(world, np.array([0]), regions=np.ones((1, 2), dtype=bool))
    with pytest.raises(fp.errors.InvalidInput, match="regions must be an array of True and False"):
        fp.OptionSet(world, np.array([0]), regions=np.ones((1, 148)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "method", ["betweenness", "bottleneck", "louvain", "successor", "visits", "farpoint", "average"]
)
def test_no_option_leads_into_the_end_of_an_episode(method: str) -> None:
    import gymnasium as gym

    world = fp.World.from_env(gym.make("FrozenLake-v1", is_slippery=False))
    options = fp.discover(world, method, n_options=3)
    assert not world.terminal[options.goals].any()


def test_regions_are_those_that_were_given() -> None:
    mine = np.ones((1, 148), dtype=bool)
    options = fp.OptionSet(fp.maze(), np.array([0]), regions=mine)
    mine[:] = False
    assert options.regions is not None
    assert options.regions.all()
