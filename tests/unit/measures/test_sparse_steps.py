"""Mean steps on worlds too large for dense tables, against dense ones, by hand, and by simulation."""

from __future__ import annotations

import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import farpoint as fp
from farpoint.errors import InvalidInput
from farpoint.measures import sparse_steps
from farpoint.measures.sparse_steps import mean_steps
from tests.helpers.sampled import sampled_steps
from tests.helpers.strategies import connected_weights


def directed_graph() -> fp.World:
    """A weighted directed graph that is strongly connected: a cycle and some more edges."""
    rng = np.random.default_rng(1)
    weights = np.where(rng.random((80, 80)) < 0.05, rng.uniform(0.1, 3.0, (80, 80)), 0.0)
    np.fill_diagonal(weights, 0.0)
    weights[np.arange(80), (np.arange(80) + 1) % 80] = 1.0
    return fp.World.from_graph(weights)


WORLDS = {
    "four_rooms": fp.four_rooms(),
    "maze": fp.maze(),
    "ring": fp.ring(),
    "windy": fp.four_rooms(wind=0.2),
    "directed": directed_graph(),
}


@pytest.mark.parametrize("method", ["diffusion", "eigen", "cover", "random", "none"])
@pytest.mark.parametrize("name", WORLDS)
def test_equal_to_the_dense_systems(name: str, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    world = WORLDS[name]
    options = None if method == "none" else fp.discover(world, method, n_options=12, seed=1)
    targets = np.arange(0, world.n_states, 3)
    dense = fp.steps_between_states(world, options, targets=targets, option_probability=0.5).per_target
    # Dense systems lose a digit for each digit of their solution: there, equality to 1e-8 has an end.
    known = dense < 1e7
    assert known.mean() > 0.9
    for many_ends in (64, 2):  # ends as columns; options with more than two ends in the sparse system
        monkeypatch.setattr(sparse_steps, "MANY_ENDS", many_ends)
        sparse = mean_steps(world, options, targets, 0.5, 2)
        np.testing.assert_allclose(sparse[known], dense[known], rtol=1e-8)


def test_options_with_ends_everywhere() -> None:
    # An eigenvector of a maze has a local maximum in every fifth state: far beyond the columns for ends.
    world = fp.random_maze(30, 30, seed=2)
    options = fp.discover(world, "eigen", n_options=6)
    targets = np.arange(0, world.n_states, 60)
    dense = fp.steps_between_states(world, options, targets=targets, option_probability=0.5).per_target
    np.testing.assert_allclose(mean_steps(world, options, targets, 0.5, 2), dense, rtol=1e-8)


@given(weights=connected_weights(most=12), seed=st.integers(0, 1000))
@settings(max_examples=30, deadline=None)
def test_equal_on_random_graphs(weights: np.ndarray, seed: int) -> None:
    world = fp.World.from_graph(weights)
    for options in (None, fp.discover(world, "random", n_options=2, seed=seed)):
        dense = fp.steps_between_states(world, options, option_probability=0.5).per_target
        np.testing.assert_allclose(mean_steps(world, options, np.arange(world.n_states), 0.5, 1), dense, rtol=1e-7)


def test_a_long_path_and_a_large_circle_by_hand() -> None:
    # On a path 0 … n − 1 the walk from s reaches 0 in s (2 (n − 1) − s) steps; on a circle k steps away, in k (n − k).
    n = 7000
    s = np.arange(n, dtype=np.float64)
    path = fp.steps_between_states(fp.grid((n,)), targets=[0, n - 1])
    assert path.matrix is None
    np.testing.assert_allclose(path.per_target, np.mean(s * (2 * (n - 1) - s)), rtol=1e-9)
    around = np.arange(n)
    circle = fp.World.from_log(np.r_[around, around], np.r_[(around + 1) % n, (around - 1) % n])
    steps = fp.steps_between_states(circle, n_targets=3)
    np.testing.assert_allclose(steps.per_target, np.mean(s * (n - s)), rtol=1e-9)


def test_a_windy_shaft_by_hand() -> None:
    # Down a shaft: from row i to row i + 1 takes m_i = (1 + up m_{i − 1}) / down steps, from the top 1.
    n, wind = 7000, 0.3
    shaft = fp.World.from_map("\n".join("." * n), wind=wind)
    one_down = np.ones(n - 1)
    for row in range(1, n - 1):
        one_down[row] = (1.0 + 0.5 * (1 - wind) * one_down[row - 1]) / (wind + 0.5 * (1 - wind))
    from_row = np.append(np.cumsum(one_down[::-1])[::-1], 0.0)
    steps = fp.steps_between_states(shaft, targets=[n - 1, 0])
    np.testing.assert_allclose(steps.per_target, [from_row.mean(), np.inf], rtol=1e-9)


def exact_steps_against_an_option(length: int) -> Fraction:
    """Mean steps to the end of a path whose one option leads back to its beginning, in whole fractions."""
    # From s: with ½ a random move, with ½ back to 0 in s steps. h(s) = x_s + z_s h(0), eliminated from the beginning:
    # each row gives h(s + 1) from h(s) and h(s − 1) as a + b h(0).
    half = Fraction(1, 2)
    values = [(Fraction(0), Fraction(1))]
    for s in range(length - 1):
        a, b = values[s]
        cost = half + half * s
        back = (Fraction(0), half)  # ½ h(0)
        if s == 0:  # the option ends where it starts: h(0) = ½ (1 + h(1)) + ½ h(0)
            values.append(((a - cost) * 2, (b - back[1]) * 2))
        else:  # h(s) = cost + ½ h(0) + ¼ h(s − 1) + ¼ h(s + 1)
            before = values[s - 1]
            values.append(((a - cost) * 4 - before[0], (b - back[1]) * 4 - before[1]))
    end = values[-1]
    start = -end[0] / end[1]
    return sum((a + b * start for a, b in values), Fraction(0)) / length


@pytest.mark.parametrize("length", [5, 12, 20, 22])
def test_far_is_exact_as_far_as_it_is_told(length: int) -> None:
    world = fp.grid((length,))
    options = fp.OptionSet(world, np.array([0]))
    steps = mean_steps(world, options, np.array([length - 1]), 0.5, 1)
    np.testing.assert_allclose(steps, float(exact_steps_against_an_option(length)), rtol=1e-9)


@pytest.mark.parametrize("length", [30, 60, 400])
def test_too_far_to_tell_is_infinite(length: int) -> None:
    world = fp.grid((length,))
    options = fp.OptionSet(world, np.array([0]))
    assert float(exact_steps_against_an_option(length)) > 1e13
    assert mean_steps(world, options, np.array([length - 1]), 0.5, 1) == np.inf


def test_equal_to_simulation_on_a_large_maze() -> None:
    world = fp.random_maze(104, 104, seed=5)
    assert world.n_states > 7_900
    options = fp.discover(world, "random", n_options=3, seed=3)
    # Options carry the agent to their goals: those, and what lies on the way, are reached in affordable time.
    targets = np.r_[options.goals[0], options[0].route(int(options.goals[1]))[[-2, -10]]]
    exact = fp.steps_between_states(world, options, targets=targets, option_probability=0.5)
    sampled = sampled_steps(world, options, targets=targets, n_runs=8, seed=1, option_probability=0.5)
    assert (np.abs(sampled.per_target - exact.per_target) < 4 * sampled.standard_error).all()
    assert (sampled.standard_error < 0.02 * exact.per_target).all()


def test_sampled_targets_are_a_seeds_and_workers_do_not_matter() -> None:
    world = fp.random_maze(100, 100, seed=1)
    options = fp.discover(world, "cover", n_options=3)
    one, two = (fp.steps_between_states(world, options, n_targets=70, seed=4, n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(one.per_target, two.per_target)
    assert one.sampled
    assert one.matrix is None
    assert np.unique(one.targets).size == 70
    named = fp.steps_between_states(world, options, targets=one.targets[:5])
    np.testing.assert_allclose(named.per_target, one.per_target[:5], rtol=1e-10)
    assert not named.sampled
    other = fp.steps_between_states(world, options, n_targets=70, seed=5)
    assert not np.array_equal(one.targets, other.targets)
    assert repr(fp.steps_between_states(world)).endswith(f"over 100 sampled of {world.n_states} targets)")


def test_workers_elsewhere_get_the_same_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    world = fp.maze()
    options = fp.discover(world, "eigen", n_options=4)
    targets = np.array([3, 50])
    monkeypatch.setattr(sparse_steps, "MANY_ENDS", 2)
    here = mean_steps(world, options, targets, 0.5, 1)

    def elsewhere(function: Any, shared: Any, tasks: Any, *, n_jobs: int, label: str) -> Any:
        sent = pickle.dumps((function, shared))
        for task in tasks:
            function, shared = pickle.loads(sent)
            yield function(shared, pickle.loads(pickle.dumps(task)))

    monkeypatch.setattr(sparse_steps, "parallel_map", elsewhere)
    np.testing.assert_array_equal(mean_steps(world, options, targets, 0.5, 1), here)


@pytest.mark.parametrize("p", [0.0, 0.1, 0.9])
@pytest.mark.parametrize("method", ["diffusion", "eigen", "cover"])
def test_another_share_of_options_is_that_of_the_dense_systems(
    method: str, p: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = WORLDS["windy"]
    options = fp.discover(world, method, n_options=7)
    targets = np.arange(0, world.n_states, 5)
    dense = fp.steps_between_states(world, options, targets=targets, option_probability=p).per_target
    # Dense systems lose a digit for each digit of their solution.
    known = dense < 1e7
    assert known.sum() > 5
    for many_ends in (64, 2):
        monkeypatch.setattr(sparse_steps, "MANY_ENDS", many_ends)
        sparse = mean_steps(world, options, targets, p, 1)
        np.testing.assert_allclose(sparse[known], dense[known], rtol=1e-8)


def test_too_many_options_are_refused_before_any_work() -> None:
    world = fp.random_maze(100, 100)
    options = fp.OptionSet(world, np.arange(4000))
    with pytest.raises(InvalidInput, match=r"must fit in 4 GiB; got 4000 options × 4000 ends × 100 targets\. Ask for"):
        fp.steps_between_states(world, options)
