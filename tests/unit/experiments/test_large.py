"""Worlds too large to enumerate: small versions of what ``farpoint large`` does."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from farpoint.experiments.large_parts import goals_found
from farpoint.experiments.runner import run as run_experiments
from farpoint.experiments.store import Store
from farpoint.report.large_page import large_page

import farpoint as fp
from farpoint.cli import large as command
from farpoint.errors import MissingExtra, UnknownName
from farpoint.experiments import coverage, large
from farpoint.experiments.paper import QUICK
from farpoint.measures.statistics import Estimate, mean_of_runs


def test_goals_count_as_found_within_two_moves() -> None:
    world = fp.grid((20,))
    true, near, far = np.zeros(20), np.zeros(20), np.zeros(20)
    true[[5, 15]], near[[7, 15]], far[[8, 15]] = 1.0, 1.0, 1.0
    assert goals_found(world, true, near) == 1.0
    assert goals_found(world, true, far) == 0.5


def test_options_from_samples_alone_show_more_of_the_maze() -> None:
    """The issue's bar: coverage above that of primitive actions, with intervals of 95 % that do not overlap."""
    env = coverage.make_maze()
    setting = coverage.SETTINGS["maze"]
    world = coverage.sampled_world(env, setting, seed=0)
    goals = coverage.goals_of(world, "diffusion", setting.n_options, seed=0)
    assert world.observations is not None
    options = fp.GraphOptions(
        world, world.observations, goals, fp.direction_controller(env.displacements), radius=setting.radius
    )
    checkpoints = np.array([600])

    def seen(acting: Sequence[Any]) -> Estimate:
        return mean_of_runs([coverage.cells_seen(env, acting, 600, seed, checkpoints)[0] for seed in range(10)])

    helped, alone = seen(options), seen([])
    assert helped.low > alone.high


def test_every_method_has_its_goals() -> None:
    world = coverage.sampled_world(coverage.make_maze(), coverage.SETTINGS["maze"], seed=1)
    for method in ("diffusion", "eigen", "random"):
        goals = coverage.goals_of(world, method, 12, seed=0)
        assert len(set(goals.tolist())) == 12
    assert coverage.goals_of(world, "none", 12, seed=0).size == 0


@pytest.mark.slow
def test_the_page_shows_what_was_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = large.Work(draws=1, neural_steps=3, cosine_steps=3, coverage_steps=60, seeds=2, training=300)
    monkeypatch.setattr(large, "QUICK_WORK", small)
    monkeypatch.setattr(large, "WORLDS", ("four_rooms",))
    monkeypatch.setattr(large, "LARGE", "ring")
    monkeypatch.setattr(large, "COSINE_WORLDS", ("four_rooms",))
    monkeypatch.setattr("farpoint.report.large_page.WORLDS", ("four_rooms",))
    monkeypatch.setattr("farpoint.report.large_page.LARGE", "ring")
    experiments = large.EXPERIMENTS[:3]
    # Policies trained for so short a time fail, and are dropped with a warning.
    with warnings.catch_warnings(action="ignore"):
        results = run_experiments(experiments, QUICK, Store(tmp_path, "test"))
    text = large_page(results, experiments).to_html()
    for experiment in experiments:
        assert experiment.title in text
    assert text.count("<img") == 2
    assert len(large.extension_rows(results)) == 2 * (2 + 2) + 2
    assert {row["world"] for row in large.cosine_rows(results)} == {"4Rooms"}
    assert len(large.coverage_rows(results)) == 7


def test_unknown_sections_and_missing_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownName, match="section must be one of extension, eigenfunctions, coverage, pointmaze"):
        command.run("everything", True, 1, tmp_path)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "torch" else True)
    with pytest.raises(MissingExtra, match=r"pip install 'farpoint\[deep\]'"):
        command.run(None, True, 1, tmp_path)


def test_point_maze_is_an_extra_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gymnasium_robotics", None)
    with pytest.raises(MissingExtra, match="pip install gymnasium-robotics"):
        coverage.SETTINGS["pointmaze"].make()
    monkeypatch.setattr(large, "find_spec", lambda name: None)
    assert [experiment.name for experiment in large.choose_large(None)] == ["extension", "eigenfunctions", "coverage"]
