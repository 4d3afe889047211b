from __future__ import annotations

import pickle

import networkx as nx
import numpy as np
import pytest
from joblib import Parallel, delayed

import farpoint as fp
from farpoint.errors import InvalidInput, UnknownName


def test_asking_for_twenty_options_just_gives_them() -> None:
    for name in ("ring", "maze", "four_rooms", "random_maze"):
        options = fp.discover(fp.worlds.named_world(name), n_options=16)
        assert len(options) == 16
        assert len(set(options.goals.tolist())) == 16


def test_n_options_takes_the_largest_t_that_has_enough() -> None:
    world = fp.four_rooms()
    t = int(fp.discover(world, n_options=10).record["t"])

    def count(t: int) -> int:
        return len(fp.find_goals(world, fp.score(world, t)))

    assert count(t) >= 10 > count(t + 1)


def test_n_options_takes_the_most_prominent() -> None:
    world = fp.maze()
    few, all_of_them = fp.discover(world, t=4, n_options=6), fp.discover(world, t=4)
    kept, every = few.record["prominences"], all_of_them.record["prominences"]
    np.testing.assert_allclose(np.sort(kept)[::-1], np.sort(every)[::-1][:6])
    assert set(few.goals) <= set(all_of_them.goals)


def test_n_options_on_a_world_too_large_for_a_dense_spectrum() -> None:
    options = fp.discover(fp.random_maze(80, 80), n_options=40)
    assert len(options) == 40
    assert options.record["solver"] == "local"
    assert options.record["t"] > 4


def test_more_options_than_there_are() -> None:
    with pytest.raises(InvalidInput, match=r"at most the number of states \(104\); got 105"):
        fp.discover(fp.four_rooms(), n_options=105)
    with pytest.raises(InvalidInput, match="got 20, and there are 4 for any t from 1 to 4"):
        fp.discover(fp.open_room(), n_options=20)
    with pytest.raises(InvalidInput, match="got 19, and there are 14 at t = 13"):
        fp.discover(fp.maze(), t=13, n_options=19)
    with pytest.raises(InvalidInput, match="n_options must be at least 1"):
        fp.discover(fp.maze(), n_options=0)


def test_small_requests_and_flat_scores() -> None:
    assert fp.discover(fp.four_rooms(), n_options=1).record["t"] == 1000
    # On a nearly complete graph the score has all but vanished long before: its last maxima would be rounding.
    weights = np.ones((5, 5)) + np.triu(np.arange(25).reshape(5, 5) / 80, 1)
    world = fp.World.from_graph((weights + weights.T) * (1 - np.eye(5)))
    assert fp.discover(world, n_options=1).record["heights"][0] > 1e-200


def test_nothing_prominent_enough() -> None:
    with pytest.raises(InvalidInput, match="min_prominence must leave at least one goal; got 100"):
        fp.discover(fp.ring(), min_prominence=100)


def test_options_travel_to_other_processes() -> None:
    options = fp.discover(fp.maze())
    copy = pickle.loads(pickle.dumps(options))
    assert repr(copy) == repr(options)
    np.testing.assert_array_equal(copy[2].route(0), options[2].route(0))
    found = Parallel(n_jobs=2)(delayed(fp.discover)(world) for world in (fp.ring(), fp.maze()))
    assert [len(options) for options in found] == [32, 19]


def test_a_route_cannot_be_spoiled() -> None:
    option = fp.discover(fp.maze())[0]
    with pytest.raises(ValueError, match="read-only"):
        option.potential[:] = 0


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
    assert options.starts is not None
    graph = nx.from_scipy_sparse_array(world.adjacency)
    for pair in range(3):
        vector = nx.fiedler_vector(graph, weight="weight", normalized=True, tol=1e-12, method="lanczos", seed=1)
        ends = {int(np.argmin(vector)), int(np.argmax(vector))}
        assert {int(options.starts[2 * pair]), int(options.goals[2 * pair])} == ends
        graph.add_edge(*ends)
    assert options[0].initiation.sum() == 1
    assert options[0].route(int(options.starts[0]))[-1] == options.goals[0]


def test_no_options_at_all() -> None:
    assert len(fp.discover(fp.maze(), "none")) == 0


def test_unknown_method_names_those_that_exist() -> None:
    with pytest.raises(
        UnknownName, match=r"one of diffusion, eigen, cover, random, none; got 'difusion'\. Did you mean diffusion"
    ):
        fp.discover(fp.maze(), "difusion")


def test_random_options_are_as_many_as_diffusion_options_and_follow_the_seed() -> None:
    world = fp.ring()
    assert len(fp.discover(world, "random")) == 32
    first, again, other = (fp.discover(world, "random", n_options=9, seed=seed).goals for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    assert len(set(first.tolist())) == 9


def test_a_set_is_a_read_only_sequence() -> None:
    options = fp.discover(fp.maze(), t=13)
    assert [option.goal for option in options] == options.goals.tolist()
    assert options[-1].goal == options.goals[-1]
    assert isinstance(options[2:5], fp.OptionSet)
    assert options[2:5].goals.tolist() == options.goals[2:5].tolist()
    assert options[2:5].record["heights"].tolist() == options.record["heights"][2:5].tolist()
    with pytest.raises(IndexError):
        options[14]
    with pytest.raises(ValueError, match="read-only"):
        options.goals[0] = 1


def test_min_prominence_leaves_out_the_flat_ones() -> None:
    world = fp.maze()
    every = fp.discover(world).record["prominences"]
    limit = float(np.median(every))
    assert len(fp.discover(world, min_prominence=limit)) == (every >= limit).sum()
