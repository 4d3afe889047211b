"""Worlds too large to enumerate: small versions of what ``python -m research.large`` does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import farpoint as fp
from farpoint.errors import MissingExtra
from farpoint.measures.statistics import Estimate, estimate
from research.large import SUITE, coverage
from research.large.computation import share_of_goals
from research.large.figures import draw_coverage
from research.large.plan import Results, Scale
from research.large.rows import coverage_rows, over_logs

TINY = Scale(
    n_draws=1,
    n_neural_steps=3,
    n_cosine_steps=3,
    n_coverage_steps=60,
    n_agents=2,
    n_logs=2,
    n_log_steps=4_000,
    n_trials=1,
    worlds=("four_rooms",),
    large_worlds=("ring",),
    cosine_worlds=("four_rooms",),
)


def test_goals_count_as_found_within_two_moves() -> None:
    world = fp.grid((20,))
    true, near, far = np.zeros(20), np.zeros(20), np.zeros(20)
    true[[5, 15]], near[[7, 15]], far[[8, 15]] = 1.0, 1.0, 1.0
    assert share_of_goals(world, true, near) == 1.0
    assert share_of_goals(world, true, far) == 0.5


def test_options_from_samples_alone_show_more_of_the_maze() -> None:
    """Coverage is above that of primitive actions, with 95 % intervals that do not overlap."""
    env = coverage.make_maze()
    setting = coverage.SETTINGS["maze"]
    recorded = coverage.record(setting, 60_000, seed=0)
    world = coverage.sampled_world(recorded, setting, seed=0)
    goals = coverage.goals_of(world, "diffusion", setting.n_options, seed=0)
    assert world.observations is not None
    policy = fp.GoalPolicy.from_log(recorded, radius=setting.radius, reversible=True)
    options = fp.options.GoalOptions(policy, world.observations[goals])
    checkpoints = np.array([600])

    def covered(acting: fp.options.Options[Any]) -> Estimate:
        return estimate(
            [coverage.cells_seen(env, acting, 0.5, checkpoints, seed=seed)[0] for seed in range(10)], "mean"
        )

    helped, alone = covered(options), covered(fp.options.OptionList([]))
    assert helped.low > alone.high


def test_every_method_has_its_goals() -> None:
    setting = coverage.SETTINGS["maze"]
    world = coverage.sampled_world(coverage.record(setting, 30_000, seed=1), setting, seed=1)
    for method in ("diffusion", "eigen", "random"):
        goals = coverage.goals_of(world, method, 12, seed=0)
        assert len(set(goals.tolist())) == 12
    assert coverage.goals_of(world, "none", 12, seed=0).size == 0


@pytest.mark.slow
def test_the_page_shows_what_was_measured() -> None:
    sections = SUITE.choose(["extension", "eigenfunctions", "coverage"])
    report = SUITE.page(Results(TINY), sections)
    text = report.html
    for section in sections:
        assert section.title in text
    assert text.count("<img") == 2
    assert len(report.tables["extension"]) == 2 * (2 + 2) + 2
    assert {row["world"] for row in report.tables["eigenfunctions"]} == {"4Rooms"}
    assert len(report.tables["coverage"]) == 4
    last = report.tables["coverage"][-1]
    assert (last["steps"], last["with its log"]) == (60, 60)
    assert report.tables["coverage"][0]["with its log"] == 4_060


def test_intervals_are_over_logs_and_agents() -> None:
    rng = np.random.default_rng(0)
    # Logs that differ much, agents that hardly do: the interval is that of the three means, not of thirty runs.
    values = np.array([0.2, 0.5, 0.8])[:, None] + rng.normal(0, 0.01, (3, 10))
    both = over_logs(values)
    alone = estimate(values.ravel(), "mean")
    assert both.value == pytest.approx(values.mean())
    assert both.high - both.low > 1.5 * (alone.high - alone.low)


class MadeUp(Results):
    """Results that are the same whatever is asked for."""

    def __init__(self, scale: Scale, arrays: dict[str, Any]) -> None:
        super().__init__(scale)
        self.arrays = arrays

    def get(self, function: Any, **params: Any) -> dict[str, Any]:
        return self.arrays


def test_figure_and_table_show_the_same_interval() -> None:
    rng = np.random.default_rng(0)
    shares = np.array([0.2, 0.5, 0.8])[:, None, None] + rng.normal(0, 0.01, (3, 10, 2))
    arrays = {
        "shares": shares, "checkpoints": np.array([30, 60]), "floor": np.ones((2, 2), dtype=bool),
        "goals": np.zeros((1, 2)), "success": np.ones(1), "log_steps": np.array(0),
    }  # fmt: skip
    results = MadeUp(TINY, arrays)
    _, panel = draw_coverage(results, env="pointmaze")[0][1].axes
    heights = np.array(panel.collections[0].get_paths()[0].vertices)[:, 1]
    table = coverage_rows(results, env="pointmaze")[0]["share of the cells seen"]
    assert isinstance(table, Estimate)
    # Both checkpoints have nearly the same numbers. Thirty independent agents would give a band of half that width.
    assert np.ptp(heights) == pytest.approx(100 * (table.high - table.low), rel=0.05)


def test_missing_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "torch" else True)
    with pytest.raises(MissingExtra, match=r"pip install 'farpoint\[deep\]'"):
        SUITE.choose()


def test_point_maze_is_left_out_where_it_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "gymnasium_robotics" else True)
    assert [section.name for section in SUITE.choose()] == ["extension", "eigenfunctions", "coverage"]
    with pytest.raises(MissingExtra, match=r"pip install 'farpoint\[robotics\]'"):
        SUITE.choose(["pointmaze"])
