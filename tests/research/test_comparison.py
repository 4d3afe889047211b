"""The ranking of all methods: what is measured, and that the order follows the numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import farpoint as fp
from farpoint.errors import InvalidInput
from farpoint.report.figures import METHOD_TITLES
from farpoint.report.tables import Share
from research.comparison import computation
from research.comparison.computation import measures_of
from research.comparison.pages import draw_profiles, ranking_rows
from research.comparison.plan import METHODS, Results, Scale, make_world
from research.comparison.profiles import (
    FACTORS,
    profile_of,
    ratios_to_best,
    typical_ratio,
    with_interval,
)

TINY = Scale(n_mazes=4, n_graphs=2, n_environments=1, n_runs=2, n_episodes=5, n_cover_runs=3)


def made_up(steps: dict[str, float]) -> Results:
    """Return results in which every method needs so many steps in each maze."""
    return MadeUp(steps)


class MadeUp(Results):
    def __init__(self, steps: dict[str, float]) -> None:
        super().__init__(TINY)
        self.steps = steps

    def get(self, function: Any, **params: Any) -> dict[str, Any]:
        return {"steps": np.array(self.steps[params["method"]])} if function is measures_of else {}


SIZES = {"n_runs": TINY.n_runs, "n_episodes": TINY.n_episodes, "n_cover_runs": TINY.n_cover_runs, "n_jobs": 1}


@pytest.mark.parametrize("method", ["diffusion", "louvain"])
def test_every_method_is_measured_with_its_best_probability(method: str) -> None:
    found = measures_of("graphs", "karate club", method, **SIZES)
    world = make_world("graphs", "karate club")
    options = fp.discover(world, method, n_options=10)
    assert int(found["n_options"]) == len(options)
    for p in (0.05, 0.2, 0.5, options.option_probability):
        assert found["steps"] <= 1.001 * fp.steps_between_states(world, options, option_probability=p).mean
    assert found["cover"] > world.n_states
    assert found["decisions"] == fp.measures.decisions_between_states(world, options).mean()
    assert 0 < found["learning"] <= 100


def test_in_an_environment_the_steps_to_a_target_are_counted() -> None:
    found = measures_of("environments", "FrozenLake 8x8", "diffusion", **SIZES)
    # Fourteen moves lead from the start to the goal.
    assert 14 <= found["target"] < 100_000
    assert "steps" not in found


def test_a_world_whose_states_are_all_alike_has_one_far_point() -> None:
    assert measures_of("graphs", "hypercube", "diffusion", **SIZES)["n_options"] == 1


def test_seconds_are_of_one_run_and_leave_out_failed_attempts(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(1_000))
    monkeypatch.setattr("time.perf_counter", lambda: float(next(clock)))
    tried = []

    def refusing(world: fp.World, method: str, n_options: int, n_jobs: int) -> fp.OptionSet:
        tried.append(n_options)
        next(clock)
        if n_options > 7:
            raise InvalidInput("too many")
        return fp.discover(world, "random", n_options=n_options)

    monkeypatch.setattr(computation, "discover", refusing)
    options, seconds = computation.discovered(fp.ring(), "random", 10)
    assert tried == [10, 9, 8, 7]
    assert len(options) == 7
    assert seconds == 2.0, "one tick inside the call and one after it; three attempts before do not count"


def test_the_ranking_follows_the_numbers() -> None:
    steps = {method: 100.0 * (1 + number) for number, method in enumerate(reversed(METHODS))}
    rows = ranking_rows(made_up(steps), families=["mazes"])
    assert [row["method"] for row in rows] == [METHOD_TITLES[method] for method in reversed(METHODS)]
    assert [str(row["times the best, IQM"]) for row in rows][:2] == ["1.00 [1.00, 1.00]", "2.00 [2.00, 2.00]"]
    assert [row["within 1 % of the best"] for row in rows][:2] == [Share(1.0), Share(0.0)]
    profile, legend = draw_profiles(made_up(steps), families=["mazes"])[0][1].axes
    assert len(profile.lines) == len(METHODS)
    named = legend.get_legend()
    assert named is not None
    assert [text.get_text() for text in named.get_texts()] == [METHOD_TITLES[method] for method in METHODS]


def test_a_profile_is_the_share_of_worlds_within_each_factor() -> None:
    values = np.random.default_rng(0).uniform(1, 30, size=(12, 3))
    ratios = ratios_to_best(values)
    profile = profile_of(ratios)
    for method in range(3):
        for place, factor in enumerate(FACTORS):
            within = [row[method] <= factor * min(row) * (1 + 1e-12) for row in values]
            assert profile[method, place] == pytest.approx(np.mean(within))


def test_worlds_are_resampled_within_their_families() -> None:
    families = np.repeat([0, 1], [3, 9])
    # All that differs is the family, so that a stratified resample has the same mean whenever it is drawn.
    ratios = np.where(families == 0, 4.0, 1.0)[:, None]
    found = with_interval(lambda some: some.mean(axis=0), ratios, families)
    assert [float(end[0]) for end in found] == [1.75, 1.75, 1.75]
    spread = with_interval(typical_ratio, np.geomspace(1, 8, 12)[:, None], families)
    assert spread.low < spread.value < spread.high
