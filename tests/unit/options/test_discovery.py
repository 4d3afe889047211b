"""Discovery by name; the number of goals, and exchanges of goals against trying everything."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import farpoint as fp
from farpoint.errors import InvalidInput, UnknownName
from farpoint.options.goal_tables import (
    both_ways,
    drawn_targets,
    exchanged_goals,
    goal_steps,
    is_crossable,
    mean_objective,
)


def test_asking_for_twenty_options_just_gives_them() -> None:
    for name in ("ring", "maze", "four_rooms", "random_maze"):
        options = fp.discover(fp.worlds.named_world(name), n_options=16)
        assert len(options) == 16
        assert len(set(options.goals.tolist())) == 16


@pytest.mark.parametrize("method", ["diffusion", "random", "betweenness"])
@pytest.mark.parametrize("n_jobs", [0, "two"])
def test_workers_are_checked_whatever_the_method(method: str, n_jobs: object) -> None:
    with pytest.raises(InvalidInput, match="n_jobs must be a whole number"):
        fp.discover(fp.maze(), method, n_options=2, n_jobs=n_jobs)


def test_more_options_than_there_are() -> None:
    with pytest.raises(InvalidInput, match=r"at most the number of states \(104\); got 105"):
        fp.discover(fp.four_rooms(), n_options=105)
    with pytest.raises(InvalidInput, match="got 20, and there are 4 for any t from 1 to 4"):
        fp.discover(fp.open_room(), n_options=20)
    with pytest.raises(InvalidInput, match="got 19, and there are 14 at t = 13"):
        fp.discover(fp.maze(), t=13, n_options=19)
    with pytest.raises(InvalidInput, match="n_options must be at least 1"):
        fp.discover(fp.maze(), n_options=0)


def test_unknown_method_names_those_that_exist() -> None:
    with pytest.raises(
        UnknownName, match=r"one of diffusion, farpoint, average, eigen, .*; got 'difusion'\. Did you mean diffusion"
    ):
        fp.discover(fp.maze(), "difusion")


@pytest.mark.parametrize("method", fp.options.METHODS)
def test_keywords_of_the_score_are_passed_on(method: str) -> None:
    options = fp.discover(fp.maze(), method, t=4, solver="local", tolerance=1e-3, n_jobs=1)
    assert len(options) == (0 if method == "none" else 19)
    if method == "diffusion":
        assert (options.record["solver"], options.record["form"]) == ("local", "walk")


def test_keywords_that_do_not_exist() -> None:
    with pytest.raises(UnknownName, match=r"keyword must be one of .*; got 'steps'"):
        fp.discover(fp.maze(), steps=3)
    with pytest.raises(InvalidInput, match="tolerance must go with solver='local'; got solver='spectral'"):
        fp.discover(fp.maze(), t=4, solver="spectral", tolerance=0.1)
    with pytest.raises(InvalidInput, match=r"world must be a World, or the name of one .*; got \[0, 1\]\."):
        fp.discover([0, 1])  # type: ignore[arg-type]


def test_a_checkpoint_is_that_of_one_score(tmp_path: Path) -> None:
    options = fp.discover(fp.maze(), t=4, solver="local", checkpoint=tmp_path)
    assert list(tmp_path.glob("block-*.npz"))
    again = fp.discover(fp.maze(), t=4, solver="local", checkpoint=tmp_path)
    assert again.goals.tolist() == options.goals.tolist()
    with pytest.raises(InvalidInput, match="checkpoint must go with t; got n_options alone"):
        fp.discover(fp.maze(), n_options=4, checkpoint=tmp_path)


WORLDS: dict[str, Callable[[], fp.World]] = {
    "rooms": fp.four_rooms,
    "windy": lambda: fp.four_rooms(wind=0.2),
    "karate": lambda: fp.World.from_graph(nx.karate_club_graph()),
    "one way": lambda: fp.World.from_graph(nx.cycle_graph(9, create_using=nx.DiGraph)),
}


@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.parametrize("chance", [0.5, 0.03])
def test_the_tables_say_what_exact_steps_say(name: str, chance: float) -> None:
    world = WORLDS[name]()
    goals = np.random.default_rng(1).choice(world.n_states, size=5, replace=False)
    targets = np.arange(0, world.n_states, 3)
    tables = goal_steps(world, goals, targets, chance, 1)
    exact = fp.steps_between_states(
        world, fp.OptionSet(world, goals), targets=targets, option_probability=chance, n_jobs=1
    )
    # Rounding grows with the steps, as `steps_between_states` says, here also with those of the goals that are left.
    sets = [np.arange(2), np.array([0, 2]), np.arange(3), np.arange(4), np.arange(5)]
    longest = max(tables.mean_steps(goals).max() for goals in sets)
    rounding = 1e-9 + 1e-14 * longest
    assert np.allclose(tables.mean_steps(np.arange(5)), exact.per_target, rtol=rounding)
    # One more, and one in place of another, by terms of rank one.
    more = tables.with_one_more(np.arange(4), 1)[:, 4]
    assert np.allclose(more, exact.per_target, rtol=rounding)
    replaced = tables.with_one_replaced(np.array([0, 1, 2]), 1)
    assert np.allclose(replaced[:, 1, 4], tables.mean_steps(np.array([0, 4, 2])), rtol=rounding)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1000), st.floats(0.02, 0.8))
def test_no_exchange_is_left_that_helps(seed: int, chance: float) -> None:
    world = fp.World.from_graph(nx.connected_watts_strogatz_graph(14, 4, 0.3, seed=seed))
    everywhere = np.arange(14)
    tables = goal_steps(world, everywhere, everywhere, chance, 1)
    goals, value = exchanged_goals(tables, np.array([0, 1, 2]), 1)
    assert value == pytest.approx(float(mean_objective(tables.mean_steps(goals))))
    for place in range(3):
        for other in np.setdiff1d(everywhere, goals):
            trial = goals.copy()
            trial[place] = other
            assert float(mean_objective(tables.mean_steps(trial))) >= value * (1 - 1e-8)


def test_farpoint_is_the_best_pair_of_a_small_world() -> None:
    world = fp.grid((4, 4))
    found = fp.discover(world, "farpoint", n_options=2, option_probability=0.3)
    means = {
        pair: fp.steps_between_states(world, fp.OptionSet(world, np.array(pair)), option_probability=0.3, n_jobs=1).mean
        for pair in combinations(range(16), 2)
    }
    assert means[tuple(found.goals.tolist())] == pytest.approx(min(means.values()))
    assert found.record["value"] == pytest.approx(min(means.values()))


def test_drawn_targets_have_the_mean_of_all_states() -> None:
    world = fp.open_room(60, 60)
    values = np.hypot(*np.asarray(world.positions, dtype=float).T)
    means = []
    for seed in range(20):
        targets = drawn_targets(world, np.array([0]), 200, np.random.default_rng(seed))
        assert np.unique(targets.states).size == targets.states.size
        assert targets.weights.sum() == pytest.approx(1.0)
        means.append(targets.weights @ values[targets.states])
    assert np.mean(means) == pytest.approx(values.mean(), rel=0.01)


def test_worlds_that_cannot_be_crossed_are_planned_both_ways() -> None:
    world = fp.World.from_graph(nx.path_graph(5, create_using=nx.DiGraph))
    assert not is_crossable(world)
    assert is_crossable(both_ways(world))
    assert len(fp.discover(world, "farpoint", n_options=2)) == 2


def test_farpoint_says_how_often() -> None:
    options = fp.discover(fp.grid((6, 6)), "farpoint", n_options=4)
    assert options.option_probability == options.record["option_probability"]
    assert options[:2].option_probability != options.option_probability
    assert fp.discover(fp.grid((6, 6)), "farpoint", n_options=4, option_probability=0.25).option_probability == 0.25
    with pytest.raises(InvalidInput, match="option_probability must be above 0 and below 1; got 1"):
        fp.discover(fp.grid((6, 6)), "farpoint", option_probability=1)


@pytest.mark.parametrize("all_targets", [True, False])
def test_sampled_candidates_and_targets(monkeypatch: pytest.MonkeyPatch, all_targets: bool) -> None:
    # As in a large world: few candidates at a time, and a new sample of targets in each round.
    settings = {"SMALL": 20, "ALL_TARGETS": 500 if all_targets else 20, "TARGETS": 60, "ENTRIES": 60 * 30**2}
    for name, value in settings.items():
        monkeypatch.setattr(f"farpoint.options.methods.farpoint.{name}", value)
    world = fp.random_maze(13, 13, seed=5)
    found = [fp.discover(world, "farpoint", n_options=6, n_jobs=n_jobs, seed=2) for n_jobs in (1, 2)]
    assert found[0].goals.tolist() == found[1].goals.tolist()
    means = [
        fp.steps_between_states(world, options, option_probability=options.option_probability, n_jobs=1).mean
        for options in (found[0], fp.discover(world, n_options=6))
    ]
    assert means[0] < 0.95 * means[1]


def test_goals_of_an_estimate_are_said_to_be_that() -> None:
    world = fp.random_maze(30, 30, seed=4)
    options = fp.discover(world, t=20, solver="probes", n_probes=200)
    # √(2 / 200), the standard error of a mean of squares of normal variables.
    assert "maxima of an estimate (standard error 0.1 of a score)" in options.record["choice"]
    scores = fp.score(world, 20, "probes", n_probes=200)
    np.testing.assert_array_equal(options.goals, fp.find_goals(world, scores).states)
    assert "estimate" not in fp.discover(world, t=20).record["choice"]
    with pytest.raises(InvalidInput, match="min_prominence must be at least 0; got 'high'"):
        fp.discover(world, min_prominence="high", n_probes=4)  # type: ignore[arg-type]


def test_farpoint_refuses_what_diffusion_refuses() -> None:
    with pytest.raises(InvalidInput, match=r"min_prominence must leave at least one goal; got 1e\+09"):
        fp.discover(fp.four_rooms(), "farpoint", n_options=3, min_prominence=1e9)
    with pytest.raises(InvalidInput, match="form must be"):
        fp.discover(fp.four_rooms(), "farpoint", n_options=3, form="strange")
    # Only more options than the score has maxima are found elsewhere.
    assert len(fp.discover(fp.open_room(5, 5), "farpoint", n_options=6)) == 6
