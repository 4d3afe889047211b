"""Every result is a table of numbers that pandas and xarray read."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import farpoint as fp
from farpoint.display import Tabular
from farpoint.errors import InvalidInput, MissingExtra
from tests.helpers.envs import make
from tests.helpers.worlds import WORLDS

pandas = pytest.importorskip("pandas")


@cache
def lake() -> fp.World:
    return fp.World.from_env(make("FrozenLake-v1", is_slippery=False))


def small() -> fp.World:
    return fp.World.from_map("S..\n...\n...")


def trained() -> Tabular:
    env = make("FrozenLake-v1", is_slippery=False)
    return fp.train_tabular(fp.OptionsWrapper(env, fp.discover(lake(), n_options=2)), 500)


# Each with how many rows it has.
RESULTS: dict[str, tuple[Callable[[], Tabular], int]] = {
    "world": (fp.maze, 148),
    "scores": (lambda: fp.score(fp.maze()), 148),
    "probes": (lambda: fp.score(fp.maze(), solver="probes"), 148),
    "goals": (lambda: fp.find_goals(fp.maze(), fp.score(fp.maze())), 19),
    "options": (lambda: fp.discover(fp.maze(), n_options=5), 5),
    "eigenoptions": (lambda: fp.discover(fp.maze(), "eigen", n_options=4), 4),
    "spectrum": (lambda: fp.spectrum(fp.maze(), 6), 6),
    "steps": (lambda: fp.steps_between_states(fp.maze()), 148),
    "cover time": (lambda: fp.cover_time(fp.maze(), n_runs=7), 7),
    "learning": (lambda: fp.learn(fp.four_rooms(), n_runs=2, n_episodes=3), 2 * 30 * 3),
    "episodes": (lambda: fp.learn_episodes(lake(), n_steps=500, n_runs=3), 3),
    "exploration": (lambda: fp.explore(small(), 300, max_episode_steps=30), 9),
    "from scratch": (lambda: fp.learn_from_scratch(small(), 300, targets=[8], max_episode_steps=30), 9),
}


@pytest.mark.parametrize("name", RESULTS)
def test_every_result_is_a_frame_of_numbers(name: str) -> None:
    make_it, n_rows = RESULTS[name]
    result = make_it()
    frame = result.to_frame()
    assert len(frame) == n_rows
    numbers = frame.select_dtypes(["number", "bool"])
    # Nothing but a label is not a number.
    assert set(frame.columns) - set(numbers.columns) <= {"label", "keyed_by"}
    for column, values in result.columns().items():
        assert list(frame[column]) == list(values), column


def test_the_rewards_of_an_agent_are_a_frame() -> None:
    frame = trained().to_frame()
    assert list(frame.columns) == ["episode", "reward"]
    assert frame["reward"].dtype == np.float64


def test_a_frame_is_read_back_from_csv_with_the_same_numbers(tmp_path: Path) -> None:
    frame = fp.discover(fp.maze(), n_options=5).to_frame()
    frame.to_csv(tmp_path / "options.csv", index=False)
    pandas.testing.assert_frame_equal(pandas.read_csv(tmp_path / "options.csv"), frame, check_dtype=False)


@pytest.mark.parametrize("name", sorted(WORLDS))
def test_every_kind_of_world_is_a_frame(name: str) -> None:
    world = WORLDS[name]()
    frame = world.to_frame()
    assert len(frame) == world.n_states
    assert frame["n_choices"].sum() == world.n_choices


def test_arrays_have_named_dimensions() -> None:
    pytest.importorskip("xarray")
    learned = fp.learn(fp.four_rooms(), n_runs=2, n_episodes=3, targets=[5, 9])
    array = learned.to_xarray()
    assert array.dims == ("run", "target", "episode")
    assert float(array.sel(run=1, target=9, episode=3)) == learned.curves[1, 1, 2]
    steps = fp.steps_between_states(fp.grid((5,)), targets=[1, 4])
    assert float(steps.to_xarray().sel(start=0, target=4)) == steps.matrix[0, 1]
    large = fp.measures.StepsBetweenStates(None, np.array([1]), np.array([2.0]), 9)
    with pytest.raises(InvalidInput, match="matrix must be kept"):
        large.to_xarray()


def test_what_must_be_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(
        MissingExtra, match=r"pandas must be installed for this table. Run: pip install 'farpoint\[data\]'"
    ):
        fp.maze().to_frame()


@pytest.mark.parametrize("thing", [fp.score(fp.ring()), fp.find_goals(fp.ring(), fp.score(fp.ring()))])
def test_a_pickle_leaves_the_world_behind(thing: Any) -> None:
    again = pickle.loads(pickle.dumps(thing))
    assert thing.world is not None
    assert again.world is None
    assert len(pickle.dumps(thing)) < 10_000
    with pytest.raises(InvalidInput, match="world must be known to draw"):
        again.draw()
