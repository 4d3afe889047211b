"""Several sets of options by the same measures."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest

import farpoint as fp
from farpoint.errors import InvalidInput, NotConnected
from farpoint.measures import compare, estimate, first_visits
from farpoint.measures.comparison import effect_of
from tests.helpers.envs import make
from tests.helpers.graphs import without_map


def test_each_row_is_what_the_measures_give_alone() -> None:
    world = fp.four_rooms()
    sets = [fp.discover(world, n_options=5), fp.discover(world, "none")]
    told: list[str] = []
    found = compare(world, sets, n_runs=10, seed=3, progress=lambda row: told.append(row.options.method))
    assert told == ["diffusion", "none"]
    assert (found.sampled, found.targets.size) == (False, world.n_states)
    for row, options in zip(found.rows, sets, strict=True):
        assert row.options is options
        assert row.steps is not None
        assert row.cover is not None
        np.testing.assert_array_equal(row.steps.matrix, fp.steps_between_states(world, options).matrix)
        cover = fp.cover_time(world, options, n_runs=10, seed=3)
        assert (row.cover.value, row.cover.low, row.cover.high) == (cover.mean, cover.low, cover.high)
    assert [row.option_probability for row in found.rows] == [sets[0].option_probability, 0.0]
    half = compare(world, sets, option_probability=0.5, n_runs=2, max_steps=5)
    assert [row.option_probability for row in half.rows] == [0.5, 0.0]
    # Nobody visits 104 states in 5 steps.
    assert [(row.cover.value, row.cover.capped) for row in half.rows if row.cover] == [(5.0, True)] * 2
    table = found.columns()
    assert table["method"] == ["diffusion", "none"]
    assert table["steps_worst"] == [row.steps.worst for row in found.rows if row.steps]


@pytest.mark.parametrize("n_targets", [None, 7])
@pytest.mark.parametrize("large", [False, True])
def test_worst_is_the_largest_mean_over_starts_at_every_size(
    large: bool, n_targets: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if large:
        monkeypatch.setattr("farpoint.measures.steps.MOST_DENSE_STATES", 100)
    world = fp.maze()
    (row,) = compare(world, [fp.discover(world, "none")], n_targets=n_targets, n_runs=2, seed=5).rows
    assert row.steps is not None
    assert (row.steps.matrix is None) == large
    # Mean steps of a random walk, from the fundamental matrix of a chain without options.
    moves = world.adjacency.toarray() / world.adjacency.toarray().sum(axis=1, keepdims=True)
    stationary = world.adjacency.toarray().sum(axis=1) / world.adjacency.sum()
    fundamental = np.linalg.inv(np.eye(world.n_states) - moves + stationary)
    steps = (np.diag(fundamental) - fundamental) / stationary
    assert row.steps.worst == pytest.approx(steps.mean(axis=0)[row.steps.targets].max(), rel=1e-9)
    assert row.steps.mean == pytest.approx(steps.mean(axis=0)[row.steps.targets].mean(), rel=1e-9)


def test_all_sets_are_measured_to_the_targets_that_the_largest_can_afford(monkeypatch: pytest.MonkeyPatch) -> None:
    world = fp.maze()
    sets = [fp.discover(world, "none"), fp.discover(world, "random", n_options=30)]
    # Enough for 148 targets without options, and not with 30.
    monkeypatch.setattr("farpoint.measures.steps.MOST_WORK", 2 * world.n_states**3)
    found = compare(world, sets, n_runs=2, seed=4)
    assert found.sampled
    assert found.targets.size == 100
    for row in found.rows:
        assert row.steps is not None
        np.testing.assert_array_equal(row.steps.targets, found.targets)
    assert not compare(world, sets[:1], n_runs=2).sampled


def test_a_world_with_episodes_is_measured_by_its_targets() -> None:
    world = fp.World.from_env(make("CliffWalking-v1"))
    found = compare(world, [fp.discover(world, "none")], n_runs=6, max_steps=400, seed=1)
    (row,) = found.rows
    assert (row.steps, row.cover) == (None, None)
    visits = first_visits(world, n_steps=400, n_runs=6, seed=1)[:, world.targets].min(axis=1)
    assert row.first_target == estimate(visits, limit=400, seed=1)
    assert found.targets is world.targets
    assert set(found.columns()) > {"first_target", "first_target_capped"}


def test_bad_input() -> None:
    world = fp.maze()
    wrong: tuple[Any, ...] = ([], fp.discover(world, "none"), None)
    for sets in wrong:
        with pytest.raises(InvalidInput, match="sets must be a list of option sets, at least one"):
            compare(world, sets)
    with pytest.raises(InvalidInput, match="options must belong to this world"):
        compare(world, [fp.discover(fp.ring(), "none")])
    one_way = fp.World.from_graph(nx.DiGraph([(0, 1), (1, 2), (2, 1)]))
    with pytest.raises(NotConnected, match="every state must be reachable"):
        compare(one_way, [fp.discover(one_way, "none")])


def test_few_options_taken_every_second_time_harm_and_taken_seldom_help() -> None:
    world = fp.maze()
    options = fp.discover(world, n_options=6)
    often, seldom = effect_of(world, options, option_probability=0.5), effect_of(world, options)
    assert often is not None
    assert seldom is not None
    assert often.harms
    assert not seldom.harms
    assert often.alone == seldom.alone == fp.steps_between_states(world, n_targets=20).mean
    assert often.measure == "steps between states"


def test_an_environment_is_judged_by_its_targets() -> None:
    world = fp.World.from_env(make("CliffWalking-v1"))
    effect = effect_of(world, fp.discover(world))
    assert effect is not None
    assert effect.measure == "steps until a target is first reached"
    assert effect.helped < effect.alone / 5


def test_what_cannot_be_judged() -> None:
    one_way = fp.World.from_graph(np.array([[0, 1, 0], [0, 0, 1], [0, 1, 0]]))
    assert effect_of(one_way, fp.OptionSet(one_way, np.array([2]))) is None
    # Too many states of a map, too many of a graph, and too many options.
    for world, n_options in (
        (fp.open_room(320, 320), 1),
        (without_map(fp.open_room(60, 60)), 1),
        (fp.open_room(300, 300), 23),
    ):
        assert effect_of(world, fp.OptionSet(world, np.arange(n_options))) is None
    with pytest.raises(InvalidInput, match="option_probability must be"):
        effect_of(fp.maze(), fp.discover(fp.maze(), n_options=2), option_probability=1.5)


@pytest.mark.parametrize("n_cells", [1, 2])
def test_the_smallest_worlds(n_cells: int) -> None:
    world = fp.grid((n_cells,))
    effect = effect_of(world, fp.OptionSet(world, np.array([0])))
    assert effect is not None
    assert not effect.harms


def test_options_of_thousands_of_states_are_judged() -> None:
    world = fp.random_maze(30, 30, seed=1)
    options = fp.discover(world, n_options=10)
    effect = effect_of(world, options)
    assert effect is not None
    dense = [
        fp.steps_between_states(world, chosen, n_targets=20, option_probability=options.option_probability).mean
        for chosen in (options, None)
    ]
    np.testing.assert_allclose((effect.helped, effect.alone), dense, rtol=1e-9)
    larger = fp.random_maze(80, 80, seed=1)
    helped = effect_of(larger, fp.discover(larger, n_options=10))
    assert helped is not None
    assert helped.helped < 0.9 * helped.alone
