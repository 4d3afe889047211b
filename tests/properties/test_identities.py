"""Identities of the paper on graphs that hypothesis finds; expected values from matrix powers, not from the package."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import farpoint as fp
from farpoint.diffusion.gpu import has_gpu
from tests.helpers import brute
from tests.helpers.strategies import connected_weights

Weights = NDArray[np.float64]
times = st.integers(1, 30)


@given(weights=connected_weights(), t=times)
@settings(max_examples=150)
def test_spectral_and_local_equal_brute_force(weights: Weights, t: int) -> None:
    world = fp.World.from_graph(weights)
    expected = brute.score(weights, t)
    np.testing.assert_allclose(fp.score(world, t, "spectral"), expected, atol=1e-12, rtol=0)
    np.testing.assert_allclose(fp.score(world, t, "local"), expected, atol=1e-12, rtol=0)


@given(rows=st.integers(2, 9), cols=st.integers(2, 9), wall=st.floats(0, 0.5), seed=st.integers(0, 999), t=times)
def test_every_solver_agrees_on_random_maps(rows: int, cols: int, wall: float, seed: int, t: int) -> None:
    floor = np.random.default_rng(seed).random((rows, cols)) >= wall
    floor[0, :2] = True
    world = fp.World.from_array(floor, largest_component=True)
    graph = fp.World.from_graph(world.adjacency)
    expected = brute.score(world.adjacency.toarray(), t)
    found = {
        f"{solver} {on.name}": fp.score(on, t, solver) for on in (world, graph) for solver in ("spectral", "local")
    }
    if has_gpu():
        found["gpu"] = fp.score(world, t, device="gpu")
    goals = fp.find_goals(graph, expected).states
    for name, scores in found.items():
        np.testing.assert_allclose(scores, expected, atol=1e-12, rtol=0, err_msg=name)
        # Scores that are rounding alone have no order.
        if expected.min() > 1e-4:
            np.testing.assert_array_equal(fp.find_goals(world, scores).states, goals, err_msg=name)


@given(weights=connected_weights(), t=times)
def test_proposition_1_with_the_average_weighted_by_the_stationary_distribution(weights: Weights, t: int) -> None:
    # f_t(s) = Σ_s′ π₀(s′) D_t²(s, s′) − const; the printed, unweighted average does not hold on unequal degrees.
    world = fp.World.from_graph(weights)
    after = np.linalg.matrix_power(brute.walk(weights), t)
    pi = weights.sum(axis=1) / weights.sum()
    squared = ((after[:, :, None] - after[:, None, :]) ** 2).sum(axis=0)
    constant = squared @ pi - np.asarray(fp.score(world, t))
    np.testing.assert_allclose(constant, constant[0], atol=1e-12)


def test_proposition_1_as_printed_is_false_on_a_grid() -> None:
    world = fp.grid((5, 7))
    after = np.linalg.matrix_power(brute.walk(world.adjacency.toarray()), 4)
    squared = ((after[:, :, None] - after[:, None, :]) ** 2).sum(axis=0)
    scores = np.asarray(fp.score(world, 4))
    constant = squared.mean(axis=1) - scores
    assert 0.05 < np.ptp(constant) / np.ptp(scores) < 0.15


@given(weights=connected_weights(), t=times)
def test_upper_bound_of_proposition_2(weights: Weights, t: int) -> None:
    world = fp.World.from_graph(weights)
    pi = weights.sum(axis=1) / weights.sum()
    eigenvalues = np.sort(np.linalg.eigvals(brute.walk(weights)).real)
    bound = eigenvalues[-2] ** (2 * t) * (1 / pi - 1)
    np.testing.assert_allclose(fp.diffusion.score_bound(world, t), bound, rtol=1e-6, atol=1e-12)
    assert (np.asarray(fp.score(world, t)) <= bound * (1 + 1e-9) + 1e-14).all()


@given(weights=connected_weights())
def test_walk_and_stationary_distribution(weights: Weights) -> None:
    world = fp.World.from_graph(weights)
    walk = fp.diffusion.lazy_walk(world).toarray()
    np.testing.assert_allclose(walk, brute.walk(weights), atol=1e-15)
    np.testing.assert_allclose(walk.sum(axis=0), 1.0, atol=1e-12)
    np.testing.assert_allclose(walk @ fp.stationary(world), fp.stationary(world), atol=1e-14)


@given(weights=connected_weights(), t=times, seed=st.integers(0, 2**16))
def test_relabeling_the_states_changes_nothing(weights: Weights, t: int, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(weights))
    world, shuffled = fp.World.from_graph(weights), fp.World.from_graph(weights[np.ix_(order, order)])
    ours, theirs = np.asarray(fp.score(world, t, "local")), np.asarray(fp.score(shuffled, t, "local"))
    np.testing.assert_allclose(theirs, ours[order], atol=1e-13)
    # Which state of a plateau stands for it depends on the numbering; its height and prominence do not.
    goals, moved = fp.find_goals(world, ours), fp.find_goals(shuffled, theirs)
    assert len(goals) == len(moved)
    np.testing.assert_allclose(moved.heights, goals.heights, rtol=1e-7, atol=1e-15)
    np.testing.assert_allclose(np.sort(moved.prominences), np.sort(goals.prominences), rtol=1e-6, atol=1e-12)
    plateau = brute.plateaus(weights, ours)
    assert {plateau[state] for state in goals} == {plateau[int(order[state])] for state in moved}


@given(weights=connected_weights(most=25), t=times)
def test_goals_are_the_plateaus_without_a_higher_neighbor(weights: Weights, t: int) -> None:
    world = fp.World.from_graph(weights)
    # Rounded, so that plateaus are exact and the brute-force version needs no tolerance.
    values = np.asarray(fp.score(world, t, "spectral")).round(6)
    goals = fp.find_goals(world, values)
    expected = set()
    for s in range(len(weights)):
        plateau, frontier = {s}, [s]
        while frontier:
            here = frontier.pop()
            for there in np.flatnonzero(weights[here]):
                if values[there] == values[s] and int(there) not in plateau:
                    plateau.add(int(there))
                    frontier.append(int(there))
        if all(values[v] <= values[s] for u in plateau for v in np.flatnonzero(weights[u])):
            expected.add(min(plateau))
    assert set(goals) == expected
    for state, height, fall in zip(goals.states, goals.heights, goals.prominences, strict=True):
        assert height == values[state]
        if (values[goals.states] == height).sum() == 1:  # of equally high peaks only one may rise above the others
            np.testing.assert_allclose(fall, brute.prominence(weights, values, int(state)), atol=1e-12)


@given(weights=connected_weights(), t=st.floats(0.5, 20), k=st.integers(1, 60))
def test_truncated_score_is_within_its_bound(weights: Weights, t: float, k: int) -> None:
    world = fp.World.from_graph(weights)
    scores = fp.score(world, t, "truncated", n_components=min(k, len(weights)))
    assert scores.error_bound is not None
    error = np.abs(np.asarray(scores) - np.asarray(fp.score(world, t, "spectral")))
    assert (error <= scores.error_bound + 1e-12).all()


@given(weights=connected_weights(most=30), t=times)
def test_diffusion_map_distances_are_weighted_diffusion_distances(weights: Weights, t: int) -> None:
    world = fp.World.from_graph(weights)
    after = np.linalg.matrix_power(brute.walk(weights), t)
    pi = weights.sum(axis=1) / weights.sum()
    plain = np.linalg.norm(after - after[:, :1], axis=0)
    weighted = np.linalg.norm((after - after[:, :1]) / np.sqrt(pi)[:, None], axis=0)
    np.testing.assert_allclose(fp.diffusion_distance(world, 0, t), plain, atol=1e-12)
    np.testing.assert_allclose(fp.diffusion_distance(world, 0, t, norm="weighted"), weighted, atol=1e-9)
    points = fp.diffusion.diffusion_map(world, t)
    np.testing.assert_allclose(np.linalg.norm(points - points[0], axis=1), weighted, atol=1e-7)


@given(weights=connected_weights(most=40), t=times, seed=st.integers(0, 2**16), share=st.floats(0.0, 1.0))
def test_restarts_are_the_weights_written_out(weights: Weights, t: int, seed: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    n = len(weights)
    restart = np.where(rng.random(n) < 0.2, 1.0, share * rng.random(n))
    starts = rng.random(n) * (rng.random(n) < 0.5)
    starts[0] += 0.1
    starts /= starts.sum()
    world = replace(fp.World.from_graph(weights), restart=restart, starts=starts)
    written = brute.restart_weights(weights, restart, starts)
    exact = {"walk": brute.walk_score(written, t), "symmetrized": brute.score(written + written.T, t)}
    for form, expected in exact.items():
        np.testing.assert_allclose(fp.score(world, t, "local", form=form), expected, rtol=1e-8, atol=1e-11)
