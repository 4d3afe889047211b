"""Expected steps between states, exactly."""

from __future__ import annotations

import re
from typing import Any

import gymnasium as gym
import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import farpoint as fp
from farpoint.errors import InvalidInput, NotConnected
from tests.helpers.chains import joint_chain
from tests.helpers.sampled import sampled_steps
from tests.helpers.strategies import connected_weights


@pytest.mark.parametrize("method", ["diffusion", "eigen", "cover", "random"])
@pytest.mark.parametrize("wind", [0.0, 0.3])
def test_exact_steps_equal_the_joint_chain(method: str, wind: float) -> None:
    world = fp.World.from_map(".....\n.#.#.\n.....\n.###.\n.....", wind=wind)
    options = fp.discover(world, method, n_options=3, seed=4)
    steps = fp.steps_between_states(world, options, option_probability=0.5)
    for target in (0, 7, world.n_states - 1):
        np.testing.assert_allclose(steps.matrix[:, target], joint_chain(world, options, target), rtol=1e-8)


@given(weights=connected_weights(most=12), seed=st.integers(0, 1000))
@settings(max_examples=40)
def test_exact_steps_on_random_graphs(weights: np.ndarray, seed: int) -> None:
    world = fp.World.from_graph(weights)
    options = fp.discover(world, "random", n_options=2, seed=seed)
    steps = fp.steps_between_states(world, options, option_probability=0.5)
    np.testing.assert_allclose(steps.matrix[:, 0], joint_chain(world, options, 0), rtol=1e-7)


def test_gamblers_ruin_by_hand() -> None:
    # On a path 0 … n − 1 the walk from s reaches 0 in s (2 (n − 1) − s) steps.
    n = 8
    steps = fp.steps_between_states(fp.grid((n,)))
    s = np.arange(n)
    np.testing.assert_allclose(steps.matrix[:, 0], s * (2 * (n - 1) - s))
    np.testing.assert_allclose(steps.per_target[0], steps.matrix[:, 0].mean())


@pytest.mark.parametrize("wind", [0.0, 0.3])
@pytest.mark.parametrize("p", [0.05, 0.5, 0.9999])
def test_targets_that_share_factors_are_those_of_a_factorization_of_their_own(wind: float, p: float) -> None:
    world = fp.random_maze(16, 16, seed=3, wind=wind)
    options = fp.discover(world, t=4)
    shared = fp.steps_between_states(world, options, option_probability=p).matrix
    for target in (0, 50, world.n_states - 1):
        alone = fp.steps_between_states(world, options, targets=[target], option_probability=p).matrix[:, 0]
        np.testing.assert_allclose(shared[:, target], alone, rtol=1e-9)


@pytest.mark.parametrize("p", [0.99, 0.9999, 1 - 1e-10])
def test_where_decisions_take_next_to_no_time_nothing_is_lost(p: float) -> None:
    """At its own goal an option ends at once: of a decision there only the primitive share takes a step."""
    world = fp.grid((10,))
    options = fp.OptionSet(world, np.array([4]))
    steps = fp.steps_between_states(world, options, option_probability=p).matrix
    alone = np.column_stack(
        [fp.steps_between_states(world, options, targets=[g], option_probability=p).matrix for g in range(10)]
    )
    np.testing.assert_array_equal(np.isfinite(steps), np.isfinite(alone))
    # Rounding grows with the longest way to a target: by 4e-15 of it where factors are shared, and 1e-15 where not.
    near = np.isfinite(alone).all(axis=0)
    longest = alone[:, near].max(axis=0)
    off = np.abs(steps[:, near] - alone[:, near]).max(axis=0) / longest
    assert (off <= 5e-15 * np.maximum(longest, 10.0)).all()


def test_many_threads_share_factors_and_give_the_same_bits() -> None:
    world = fp.random_maze(20, 20, seed=3)
    options = fp.discover(world, n_options=10)
    one, many = (fp.steps_between_states(world, options, n_jobs=n_jobs).matrix for n_jobs in (1, 8))
    np.testing.assert_array_equal(one, many)


def test_chosen_targets_are_columns_of_the_whole() -> None:
    world = fp.maze()
    options = fp.discover(world, t=13)
    whole, some = fp.steps_between_states(world, options), fp.steps_between_states(world, options, targets=[3, 100])
    np.testing.assert_allclose(some.matrix, whole.matrix[:, [3, 100]])


def test_bad_input() -> None:
    world = fp.maze()
    with pytest.raises(InvalidInput, match="options must belong to this world"):
        fp.steps_between_states(world, fp.discover(fp.ring()))
    one_way = fp.World.from_graph(nx.DiGraph([(0, 1), (1, 2), (2, 1)]))
    with pytest.raises(NotConnected, match="every state must be reachable from every other; got 1 state of 3 that"):
        fp.steps_between_states(one_way)
    big = fp.random_maze(60, 60)
    with pytest.raises(InvalidInput, match=r"must fit in 4 GiB.*Pass targets="):
        fp.steps_between_states(big, fp.discover(big, "random", n_options=100), targets=np.arange(big.n_states))
    path = fp.grid((60,))
    with pytest.raises(InvalidInput, match="targets must have at least one state"):
        fp.steps_between_states(path, targets=[])
    with pytest.raises(InvalidInput, match="n_jobs must be a whole number other than 0"):
        fp.steps_between_states(path, n_jobs=0)
    with pytest.raises(InvalidInput, match="targets must be named or drawn; got both"):
        fp.steps_between_states(path, targets=[0], n_targets=3)
    with pytest.raises(InvalidInput, match="n_targets must be at least 1; got 0"):
        fp.steps_between_states(path, n_targets=0)


@pytest.mark.parametrize(
    ("world", "message"),
    [
        # The largest part is {1, 2}, from which nothing leads back to 0; in the next it is {0, 1}, and 2 leads away.
        (
            fp.World.from_graph(nx.DiGraph([(0, 1), (1, 2), (2, 1)])),
            "got 1 state of 3 that cannot be reached from state 1, such as 0. Some moves cannot be undone: use",
        ),
        (
            fp.World.from_graph(nx.DiGraph([(0, 1), (1, 0), (1, 2), (2, 3)])),
            "got 2 states of 4 without a way to state 0, such as 2. Some moves cannot be undone: use measures",
        ),
        (
            fp.World.from_env(gym.make("FrozenLake-v1", is_slippery=False)),
            "In a world with episodes use measures.first_visits or learn_episodes, which begin anew where one ends.",
        ),
        (
            fp.World.from_matrix(csr_array(np.eye(4)[[1, 0, 3, 2]]), np.arange(5)),
            "got 2 states of 4 that cannot be reached from state 0, such as 2. Build the world with largest_component",
        ),
    ],
)
def test_a_world_that_cannot_be_crossed_says_what_is_missing_and_what_to_do(world: fp.World, message: str) -> None:
    for measure in (fp.steps_between_states, fp.cover_time):
        with pytest.raises(NotConnected, match=re.escape(message)) as failure:
            measure(world)
        assert "…" not in str(failure.value), "nothing is left out of the message"


@pytest.mark.parametrize(("length", "known"), [(12, True), (20, True), (30, False), (60, False)])
def test_a_state_that_options_put_out_of_reach_is_infinitely_far(length: int, known: bool) -> None:
    # One option back to the start: every step forward must outrun it. Beyond about 1e13 a double cannot tell how far.
    world = fp.grid((length,))
    options = fp.OptionSet(world, np.array([0]))
    steps = fp.steps_between_states(world, options, targets=[length - 1], option_probability=0.5)
    assert np.isfinite(steps.matrix[0, 0]) == known
    assert (steps.matrix >= 0).all()
    if known:
        exact = joint_chain(world, options, length - 1)[0]
        assert steps.matrix[0, 0] == pytest.approx(exact, rel=1e-4)


@pytest.mark.parametrize("sparse", [False, True])
def test_targets_out_of_reach_are_named(sparse: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if sparse:
        monkeypatch.setattr("farpoint.measures.steps.MOST_DENSE_STATES", 10)
    world = fp.grid((60,))
    options = fp.OptionSet(world, np.array([0]))
    steps = fp.steps_between_states(world, options, targets=[5, 58, 59], option_probability=0.5)
    assert steps.out_of_reach.tolist() == [58, 59]
    assert "out of reach: 58, 59" in repr(steps)
    near = fp.steps_between_states(world, options, targets=[5], option_probability=0.5)
    assert (near.out_of_reach.size, "out of reach" in repr(near)) == (0, False)


def test_targets_are_sampled_where_all_of_them_take_long() -> None:
    world = fp.random_maze(52, 52, seed=1)
    assert world.n_states > 2_000
    options = fp.OptionSet(world, np.arange(4))
    steps = fp.steps_between_states(world, options, seed=3)
    assert (steps.sampled, steps.targets.size, steps.matrix.shape) == (True, 100, (world.n_states, 100))
    assert f"over 100 sampled of {world.n_states} targets" in repr(steps)
    # Named targets are not sampled.
    some = fp.steps_between_states(world, options, targets=steps.targets[:3])
    assert not some.sampled
    np.testing.assert_allclose(some.per_target, steps.per_target[:3], rtol=1e-9)


def test_sampling_on_small_worlds() -> None:
    world = fp.maze()
    whole = fp.steps_between_states(world)
    some = fp.steps_between_states(world, n_targets=20, seed=2)
    np.testing.assert_allclose(some.matrix, whole.matrix[:, some.targets])
    assert some.sampled
    all_of_them = fp.steps_between_states(world, n_targets=5000)
    assert not all_of_them.sampled
    np.testing.assert_array_equal(all_of_them.per_target, whole.per_target)
    for estimate, value in ((whole.mean_estimate, whole.mean), (whole.median_estimate, whole.median)):
        assert estimate.low == estimate.value == estimate.high == pytest.approx(value)


@pytest.mark.parametrize("p", [0.1, 0.9])
@pytest.mark.parametrize("method", ["diffusion", "eigen", "cover"])
def test_the_share_of_options_is_that_of_the_joint_chain_and_of_simulations(method: str, p: float) -> None:
    world = fp.World.from_map(".....\n.#.#.\n.....\n.###.\n.....", wind=0.1)
    options = fp.discover(world, method, n_options=3, seed=4)
    targets = [0, 9]
    steps = fp.steps_between_states(world, options, targets=targets, option_probability=p)
    for column, target in enumerate(targets):
        np.testing.assert_allclose(steps.matrix[:, column], joint_chain(world, options, target, p), rtol=1e-7)
    sampled = sampled_steps(world, options, targets=targets, option_probability=p, n_runs=200, seed=1)
    assert (np.abs(sampled.per_target - steps.per_target) < 4 * sampled.standard_error).all()
    half = fp.steps_between_states(world, options, targets=targets, option_probability=0.5)
    assert (np.abs(sampled.per_target - half.per_target) > 4 * sampled.standard_error).any()


def test_no_share_of_options_is_no_options() -> None:
    world = fp.maze()
    none = fp.steps_between_states(world, fp.discover(world), option_probability=0.0)
    np.testing.assert_allclose(none.matrix, fp.steps_between_states(world).matrix, rtol=1e-10)
    with pytest.raises(InvalidInput, match=r"option_probability must be a number from 0 to 1; got 1\.5"):
        fp.steps_between_states(world, option_probability=1.5)


def test_choices_are_taken_by_their_weights() -> None:
    # From 1 the walk goes to 0 three times as often as to 2: h₁ = 1 + ¾ (1 + h₁), so h₁ = 7 and h₀ = 8.
    world = fp.World.from_graph([[0, 3, 0], [3, 0, 1], [0, 1, 0]])
    np.testing.assert_allclose(fp.steps_between_states(world, targets=[2]).matrix[:, 0], [8.0, 7.0, 0.0], rtol=1e-13)


def test_summary_follows_hazens_rule() -> None:
    steps = fp.measures.StepsBetweenStates(np.array([[1.0, 2.0, 3.0, 4.0]]), np.arange(4))
    assert (steps.median, steps.iqr, steps.mean) == (2.5, 2.0, 2.5)
    assert steps.std == pytest.approx(np.std([1, 2, 3, 4], ddof=1))


def test_intervals_cover_what_all_targets_give() -> None:
    world = fp.random_maze(16, 24, seed=3)
    whole = fp.steps_between_states(world)
    means, medians = 0, 0
    for seed in range(100):
        targets = np.random.default_rng(seed).choice(world.n_states, 80, replace=False)
        drawn = fp.measures.StepsBetweenStates(None, targets, whole.per_target[targets], world.n_states, True)
        means += drawn.mean_estimate.low <= whole.mean <= drawn.mean_estimate.high
        medians += drawn.median_estimate.low <= whole.median <= drawn.median_estimate.high
    # 95 of 100, give or take four standard deviations of a count (2.2) and no more than all.
    assert means >= 87
    assert medians >= 87
    one = fp.steps_between_states(world, n_targets=80, seed=0)
    assert one.mean_estimate.low <= whole.mean <= one.mean_estimate.high
    # Without the correction for drawing without replacement the intervals would be wider by 1 / √(1 − 80 / n).
    as_if_infinite = fp.measures.StepsBetweenStates(None, one.targets, one.per_target, 10**9, True).mean_estimate
    narrower = (one.mean_estimate.high - one.mean_estimate.low) / (as_if_infinite.high - as_if_infinite.low)
    assert narrower == pytest.approx(np.sqrt(1 - 80 / world.n_states), rel=1e-6)


def test_summaries_with_targets_out_of_reach() -> None:
    steps = fp.measures.StepsBetweenStates(
        None, np.arange(6), np.array([1.0, 2.0, 3.0, 4.0, np.inf, np.inf]), 1000, True
    )
    assert (steps.median, steps.mean, steps.iqr) == (3.5, np.inf, np.inf)
    assert steps.mean_estimate.high == np.inf
    assert steps.median_estimate.value == 3.5
    assert steps.median_estimate.low >= 1.0
    assert steps.median_estimate.high == np.inf
    assert "inf" in repr(steps)


@pytest.mark.parametrize(("world", "settings"), [(fp.four_rooms(), {"t": 4}), (fp.maze(), {"n_options": 10})])
def test_no_other_probability_has_fewer_steps(world: fp.World, settings: dict[str, Any]) -> None:
    options = fp.discover(world, **settings)
    best = fp.best_option_probability(world, options)
    fewest = fp.steps_between_states(world, options, option_probability=best).mean
    others = [
        fp.steps_between_states(world, options, option_probability=p).mean
        for p in (*np.geomspace(0.004, 0.95, 12), 0.98 * best, 1.02 * best)
    ]
    assert fewest <= min(others) * (1 + 1e-4)


def test_options_that_only_hinder_are_not_taken() -> None:
    # A complete graph: every state is one move away, and an option to one of them is a wasted decision.
    world = fp.World.from_graph(1.0 - np.eye(6))
    assert fp.best_option_probability(world, fp.OptionSet(world, np.array([2]))) == 0.0


@pytest.mark.parametrize("n_options", [1, 2])
def test_very_small_probabilities_are_found(n_options: int) -> None:
    world = fp.maze()
    options = fp.discover(world, n_options=n_options)
    p = fp.best_option_probability(world, options, n_targets=10)
    best = fp.steps_between_states(world, options, n_targets=10, option_probability=p).mean
    assert 0 < p < 0.005
    for other in (0.0005, 0.001, 0.002, 0.005):
        assert best <= 1.001 * fp.steps_between_states(world, options, n_targets=10, option_probability=other).mean
