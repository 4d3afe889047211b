"""The sampled states from which a score is extended."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import farpoint as fp
from farpoint.errors import InvalidInput, UnknownName


@pytest.mark.parametrize("make", [fp.four_rooms, fp.ring, fp.maze])
def test_farthest_landmarks_cover_within_twice_the_best(make: type) -> None:
    # Gonzalez: every state is no farther from the points than the points are from each other.
    world = make()
    steps = dict(nx.all_pairs_shortest_path_length(nx.from_scipy_sparse_array(world.adjacency)))
    away = np.array([[steps[u][v] for v in range(world.n_states)] for u in range(world.n_states)])
    points = fp.diffusion.choose_landmarks(world, 12, seed=4)
    between = away[np.ix_(points, points)] + 10**6 * np.eye(12, dtype=int)
    assert away[points].min(axis=0).max() <= between.min()


@pytest.mark.parametrize("method", ["farthest", "random", "leverage"])
def test_landmarks_are_different_states_and_follow_the_seed(method: str) -> None:
    world = fp.maze()
    for n in (1, 2, 20, world.n_states):
        points = fp.diffusion.choose_landmarks(world, n, method, seed=1)
        assert np.unique(points).size == n == points.size
        np.testing.assert_array_equal(points, fp.diffusion.choose_landmarks(world, n, method, seed=1))
    assert not np.array_equal(
        fp.diffusion.choose_landmarks(world, 20, method, seed=1),
        fp.diffusion.choose_landmarks(world, 20, method, seed=2),
    )


def test_bad_input_is_refused() -> None:
    with pytest.raises(UnknownName, match="method must be one of farthest, random, leverage"):
        fp.diffusion.choose_landmarks(fp.ring(), 3, "best")
    with pytest.raises(InvalidInput, match="world must be symmetric for leverage"):
        fp.diffusion.choose_landmarks(fp.four_rooms(wind=0.3), 5, "leverage")
    with pytest.raises(InvalidInput, match="n_landmarks must be at most 192"):
        fp.diffusion.choose_landmarks(fp.ring(), 193)


def test_at_least_one_landmark_and_at_most_all_states() -> None:
    world = fp.open_room(3, 3)
    assert fp.diffusion.choose_landmarks(world, 9, "random").tolist() == list(range(9))
    for wrong, rule in ((0, "at least 1"), (10, "at most 9")):
        with pytest.raises(InvalidInput, match=f"n_landmarks must be {rule}; got {wrong}"):
            fp.diffusion.choose_landmarks(world, wrong)


def test_seeds_are_not_negative() -> None:
    with pytest.raises(InvalidInput, match="seed must be at least 0; got -1"):
        fp.diffusion.choose_landmarks(fp.open_room(3, 3), 2, seed=-1)
