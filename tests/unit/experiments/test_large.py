"""Worlds too large to enumerate: small versions of what ``farpoint large`` does."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import farpoint as fp
from farpoint.errors import MissingExtra
from farpoint.experiments.framework import run
from farpoint.experiments.framework.reporting import build_report
from farpoint.experiments.large import SUITE, coverage
from farpoint.experiments.large.computation import share_of_goals
from farpoint.experiments.large.plan import Scale
from farpoint.measures.statistics import Estimate, mean_of_runs

TINY = Scale(
    n_draws=1,
    n_neural_steps=3,
    n_cosine_steps=3,
    n_coverage_steps=60,
    n_agents=2,
    n_training_steps=300,
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
    world = coverage.sampled_world(env, setting, seed=0)
    goals = coverage.goals_of(world, "diffusion", setting.n_options, seed=0)
    control = fp.options.direction_controller(env.displacements)
    options = fp.GraphOptions(fp.OptionSet(world, goals), control, radius=setting.radius)
    checkpoints = np.array([600])

    def covered(acting: fp.options.Options[Any]) -> Estimate:
        return mean_of_runs(
            [coverage.cells_seen(env, acting, 0.5, 600, checkpoints, seed=seed)[0] for seed in range(10)]
        )

    helped, alone = covered(options), covered(fp.options.OptionList([]))
    assert helped.low > alone.high


def test_every_method_has_its_goals() -> None:
    world = coverage.sampled_world(coverage.make_maze(), coverage.SETTINGS["maze"], seed=1)
    for method in ("diffusion", "eigen", "random"):
        goals = coverage.goals_of(world, method, 12, seed=0)
        assert len(set(goals.tolist())) == 12
    assert coverage.goals_of(world, "none", 12, seed=0).size == 0


@pytest.mark.slow
def test_the_page_shows_what_was_measured() -> None:
    experiments = SUITE.choose(["extension", "eigenfunctions", "coverage"])
    # Policies that were trained for so short a time fail, and are left out with a warning.
    with warnings.catch_warnings(action="ignore"):
        results = run(SUITE, experiments, TINY)
    report = build_report(SUITE, experiments, results)
    text = report.page.to_html()
    for experiment in experiments:
        assert experiment.title in text
    assert text.count("<img") == 2
    assert len(report.tables["extension"]) == 2 * (2 + 2) + 2
    assert {row["world"] for row in report.tables["eigenfunctions"]} == {"4Rooms"}
    assert len(report.tables["coverage"]) == 7


def test_missing_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "torch" else True)
    with pytest.raises(MissingExtra, match=r"pip install 'farpoint\[deep\]'"):
        SUITE.choose()


def test_point_maze_is_left_out_where_it_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "gymnasium_robotics" else True)
    assert [experiment.name for experiment in SUITE.choose()] == ["extension", "eigenfunctions", "coverage"]
    with pytest.raises(MissingExtra, match="pip install 'gymnasium-robotics'"):
        SUITE.choose(["pointmaze"])
