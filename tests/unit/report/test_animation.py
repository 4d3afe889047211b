"""Animations show the agent where it is, one frame per step, and are the files that they say."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from PIL import Image

import farpoint as fp
from farpoint import report
from farpoint.errors import InvalidInput, MissingExtra, UnknownName
from tests.helpers.envs import make
from tests.helpers.worlds import WORLDS

GREEN = np.array([0x00, 0x9E, 0x73])


def corridor() -> report.Animation:
    return report.animate(fp.grid((5,)), [0, 1, 2, 3, 4], fps=5)


def frames_of(path: Path) -> list[np.ndarray]:
    with Image.open(path) as picture:
        frames = []
        for number in range(picture.n_frames):
            picture.seek(number)
            frames.append(np.asarray(picture.convert("RGB")).astype(int))
        return frames


def test_the_agent_moves_one_cell_to_the_right_in_each_frame(tmp_path: Path) -> None:
    frames = frames_of(corridor().save(tmp_path / "walk.gif"))
    assert len(frames) == 5
    places = [np.argwhere(np.abs(frame - GREEN).sum(axis=2) < 30).mean(axis=0) for frame in frames]
    rows, columns = np.array(places).T
    np.testing.assert_allclose(rows, rows[0], atol=1.5)
    steps = np.diff(columns)
    assert steps.min() > 10
    np.testing.assert_allclose(steps, steps.mean(), atol=2.0)


def test_a_page_plays_the_frames(tmp_path: Path) -> None:
    page = corridor().save(tmp_path / "walk.html").read_text(encoding="utf-8")
    assert page.count("iVBOR") == 5
    assert "http" not in page.replace("http-equiv", "")


def test_a_film_is_one(tmp_path: Path) -> None:
    imageio_ffmpeg = pytest.importorskip("imageio_ffmpeg")
    path = corridor().save(tmp_path / "walk.mp4")
    assert path.read_bytes()[4:8] == b"ftyp"
    n_frames, seconds = imageio_ffmpeg.count_frames_and_secs(str(path))
    assert (n_frames, round(seconds, 2)) == (5, 1.0)


def test_without_ffmpeg_it_is_said_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setitem(__import__("sys").modules, "imageio_ffmpeg", None)
    with pytest.raises(MissingExtra, match=r"pip install 'farpoint\[video\]', or save a .gif or .html"):
        corridor().save(tmp_path / "walk.mp4")
    assert list(tmp_path.iterdir()) == []


def test_long_walks_go_in_strides() -> None:
    walk = np.arange(1000) % 5
    assert len(report.animate(fp.grid((5,)), walk, max_frames=50)) == 50


def test_panels_and_networks_are_animated() -> None:
    for name in ("door_key", "karate"):
        world = WORLDS[name]()
        option = fp.discover(world, n_options=2)[0]
        route = option.route(int(option.initiation.argmax()))
        animation = report.animate(world, route, scores=fp.score(world), goals=[0])
        assert len(animation) == route.size


def test_every_primitive_step_of_an_option_is_a_frame() -> None:
    env = make("FrozenLake-v1", is_slippery=False, render_mode="rgb_array")
    options = fp.discover(fp.World.from_env(env), n_options=2)
    wrapped = fp.OptionsWrapper(env, options)
    taken: list[int] = []

    def act(observation: Any) -> int:
        taken.append(4)
        return 4 if len(taken) == 1 else 0

    animation = report.animate_env(wrapped, act, n_steps=1)
    _, info = wrapped.reset(seed=0)
    *_, info = wrapped.step(4)
    assert len(animation) == 1 + info["duration"]
    assert wrapped.on_step is None


def test_agents_of_all_kinds_decide() -> None:
    env = make("FrozenLake-v1", is_slippery=False, render_mode="rgb_array")
    predicting = SimpleNamespace(predict=lambda observation, deterministic: (0, None))
    wrapped = fp.OptionsWrapper(env, fp.discover(fp.World.from_env(env), n_options=2))
    trained = fp.train_tabular(wrapped, 300)
    for decider, place in ((None, env), (predicting, env), (None, wrapped), (trained, wrapped)):
        assert len(report.animate_env(place, decider, n_steps=3)) >= 2


def test_what_cannot_be_animated() -> None:
    with pytest.raises(InvalidInput, match="env must be made with render_mode='rgb_array'; got render_mode=None"):
        report.animate_env(gym.make("FrozenLake-v1"))
    with pytest.raises(InvalidInput, match="env must be a Gymnasium environment"):
        report.animate_env(fp.maze())
    with pytest.raises(InvalidInput, match="states must have at least one state"):
        report.animate(fp.maze(), [])
    with pytest.raises(InvalidInput, match="frames must have at least one picture"):
        report.Animation([])
    with pytest.raises(InvalidInput, match="frames must be arrays of one shape"):
        report.Animation([np.zeros((3, 3))])  # type: ignore[list-item]
    with pytest.raises(UnknownName, match="animation format must be one of gif, mp4, html; got 'avi'"):
        corridor().save("walk.avi")
