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
from farpoint.options.curves import exchanged_curve, judge_sets
from farpoint.options.exchange import exchanged_goals, objective_of
from farpoint.options.goal_tables import goal_steps
from farpoint.options.planning import both_ways, drawn_targets, is_crossable


def test_asking_for_twenty_options_just_gives_them() -> None:
    for name in ("ring", "maze", "four_rooms", "random_maze"):
        options = fp.discover(fp.worlds.named_world(name), n_options=16)
        assert len(options) == 16
        assert len(set(options.goals.tolist())) == 16


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
        UnknownName, match=r"one of diffusion, farpoint, eigen, .*; got 'difusion'\. Did you mean diffusion"
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
@given(st.integers(0, 1000), st.floats(0.02, 0.8), st.sampled_from(["mean", "worst", "cover"]))
def test_no_exchange_is_left_that_helps(seed: int, chance: float, objective: str) -> None:
    world = fp.World.from_graph(nx.connected_watts_strogatz_graph(14, 4, 0.3, seed=seed))
    everywhere = np.arange(14)
    tables = goal_steps(world, everywhere, everywhere, chance, 1)
    goals, value = exchanged_goals(tables, np.array([0, 1, 2]), objective, 1)
    assert value == pytest.approx(float(objective_of(tables.mean_steps(goals), objective)))
    for place in range(3):
        for other in np.setdiff1d(everywhere, goals):
            trial = goals.copy()
            trial[place] = other
            assert float(objective_of(tables.mean_steps(trial), objective)) >= value * (1 - 1e-8)


def test_farpoint_is_the_best_pair_of_a_small_world() -> None:
    world = fp.grid((4, 4))
    found = fp.discover(world, "farpoint", n_options=2, option_probability=0.3)
    means = {
        pair: fp.steps_between_states(world, fp.OptionSet(world, np.array(pair)), option_probability=0.3, n_jobs=1).mean
        for pair in combinations(range(16), 2)
    }
    assert means[tuple(found.goals.tolist())] == pytest.approx(min(means.values()))
    assert found.record["value"] == pytest.approx(min(means.values()))


def test_the_cover_estimate_is_that_of_independent_arrivals() -> None:
    # Inclusion and exclusion, by hand: 90 − (1/(1/10+1/20) + 1/(1/10+1/60) + 1/(1/20+1/60)) + 1/(1/10+1/20+1/60).
    assert float(objective_of(np.array([10.0, 20.0, 60.0]), "cover")) == pytest.approx(65.762, rel=1e-4)
    # And the value of one set of goals is not that of the sets beside it.
    beside = np.stack([[10.0, 20.0, 60.0], [1.0, 2.0, 3e5]], axis=1)
    alone = objective_of(beside[:, :1], "cover")[0]
    assert objective_of(beside, "cover")[0] == pytest.approx(alone, rel=1e-12)
    # Many equal means: h (1 + 1/2 + … + 1/n).
    many = float(objective_of(np.full(2_000, 7.0), "cover"))
    assert many == pytest.approx(7.0 * (1.0 / np.arange(1, 2_001)).sum(), rel=1e-4)


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


def test_the_knee() -> None:
    options = fp.discover(fp.maze(), n_options="auto")
    curve = options.record["curve"]
    assert len(options) in curve["numbers"]
    assert 2 < len(options) < max(curve["numbers"])
    assert "knee" in options.record["choice"]
    judged = judge_sets(fp.maze(), [options.goals])
    assert judged.values[0] == pytest.approx(curve["steps"][curve["numbers"].index(len(options))], rel=1e-6)


def test_steps_fall_along_the_curve() -> None:
    curve = exchanged_curve(fp.grid((5, 5)), np.arange(25), 6, n_jobs=1)
    assert (np.diff(curve.steps) <= 0).all()
    assert (np.diff(curve.probabilities) >= 0).all()


def test_t_is_chosen_by_steps() -> None:
    world = fp.maze()
    chosen = fp.discover(world, t="auto", n_options=10)
    default = fp.discover(world, n_options=10)
    values = judge_sets(world, [chosen.goals, default.goals]).values
    assert values[0] <= values[1] * (1 + 1e-9)
    with pytest.raises(fp.errors.InvalidInput, match="t must be a number or 'auto'; got 'best'"):
        fp.discover(world, t="best")
    with pytest.raises(fp.errors.InvalidInput, match="n_options must be a number for method 'cover'"):
        fp.discover(world, "cover", n_options="auto")
    with pytest.raises(fp.errors.InvalidInput, match="option_probability must be above 0 and below 1; got 1"):
        fp.discover(world, "farpoint", option_probability=1)


def test_farpoint_says_how_often() -> None:
    options = fp.discover(fp.grid((6, 6)), "farpoint", n_options=4)
    assert options.option_probability == options.record["option_probability"]
    assert options[:2].option_probability != options.option_probability
    assert fp.discover(fp.grid((6, 6)), "farpoint", n_options=4, option_probability=0.25).option_probability == 0.25


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
