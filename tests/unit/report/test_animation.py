"""Animations show the agent where it is, one frame per step, and are the files that they say."""

from __future__ import annotations

import base64
import io
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium as gym
import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

import farpoint as fp
from farpoint import report
from farpoint.errors import InvalidInput, MissingExtra, OutputError, UnknownName
from farpoint.worlds.state_index import StateIndex
from tests.helpers.envs import make
from tests.helpers.worlds import WORLDS

GREEN = np.array([0x00, 0x9E, 0x73])


def corridor(**look: Any) -> report.Animation:
    return report.animate(fp.grid((5,)), [0, 1, 2, 3, 4], fps=5, **look)


def frames_of_gif(path: Path) -> list[np.ndarray]:
    with Image.open(path) as picture:
        frames = []
        for number in range(picture.n_frames):
            picture.seek(number)
            frames.append(np.asarray(picture.convert("RGB")).astype(int))
        return frames


def frames_of_page(page: str) -> list[np.ndarray]:
    encoded = re.findall(r'"data:image/png;base64,([^"]*)"', page)
    pictures = [Image.open(io.BytesIO(base64.b64decode(text.replace("\\\n", "")))) for text in encoded]
    return [np.asarray(picture.convert("RGB")) for picture in pictures]


def test_the_agent_moves_one_cell_to_the_right_in_each_frame(tmp_path: Path) -> None:
    frames = frames_of_gif(corridor().save(tmp_path / "walk.gif"))
    assert len(frames) == 5
    places = [np.argwhere(np.abs(frame - GREEN).sum(axis=2) < 30).mean(axis=0) for frame in frames]
    rows, columns = np.array(places).T
    np.testing.assert_allclose(rows, rows[0], atol=1.5)
    steps = np.diff(columns)
    assert steps.min() > 10
    np.testing.assert_allclose(steps, steps.mean(), atol=2.0)


@pytest.mark.parametrize(("fps", "pause"), [(5, 200), (25, 40), (1000, 20)])
def test_a_gif_has_the_speed_that_was_asked_for_and_browsers_keep(tmp_path: Path, fps: float, pause: int) -> None:
    path = report.animate(fp.grid((3,)), [0, 1, 2], fps=fps).save(tmp_path / "walk.gif")
    with Image.open(path) as picture:
        assert picture.info["duration"] == pause


def test_very_slow_animations_are_written(tmp_path: Path) -> None:
    assert corridor().save(tmp_path / "walk.gif").exists()
    slow = report.animate(fp.grid((2,)), [0, 1], fps=1e-9)
    for ending in ("gif", "html"):
        assert slow.save(tmp_path / f"slow.{ending}").stat().st_size


def test_a_page_plays_the_frames_and_needs_nothing_else(tmp_path: Path) -> None:
    page = corridor(title="1 < 2").save(tmp_path / "walk.html").read_text(encoding="utf-8")
    assert len(frames_of_page(page)) == 5
    assert "http" not in page
    assert not re.search(r"<link|@import|src=[\"'](?!data:)", page)
    assert "<title>1 &lt; 2</title>" in page
    # Every icon that a button shows has a character.
    icons = re.findall(r'<i class="fa ([^"]*)"></i>', page)
    assert len(icons) == 9
    for icon in icons:
        assert f".{icon.replace(' ', '.')}::before {{content: " in page


def test_no_frame_is_dropped_however_large_the_page() -> None:
    # In MB; beyond it matplotlib leaves frames out.
    with mpl.rc_context({"animation.embed_limit": 0.001}):
        assert len(frames_of_page(corridor().to_html())) == 5


def fake_ffmpeg(folder: Path, monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    program = folder / "ffmpeg"
    program.write_text(f"#!{sys.executable}\nimport sys\n{code}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")


def test_a_film_is_written_by_ffmpeg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    code = (
        "n_bytes = len(sys.stdin.buffer.read())\n"
        "size, rate = (sys.argv[sys.argv.index(word) + 1] for word in ('-s', '-framerate'))\n"
        "open(sys.argv[-1], 'w').write(f'{n_bytes} {size} {rate}')"
    )
    fake_ffmpeg(tmp_path / "bin", monkeypatch, code)
    animation = report.animate_env(Noise(size=(30, 41)), lambda observation: 0, n_steps=2, fps=5)
    written = animation.save(tmp_path / "walk.mp4").read_text()
    # Even sides, four bytes per pixel, three frames.
    assert written == f"{3 * 40 * 30 * 4} 40x30 5.0"
    assert repr(animation) == "Animation(3 frames of 41 × 30, 0.6 s)"


def test_an_error_of_ffmpeg_is_told_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    fake_ffmpeg(tmp_path / "bin", monkeypatch, "sys.exit('no such encoder')")
    (tmp_path / "films").mkdir()
    with pytest.raises(OutputError, match="MP4 must be written by ffmpeg; got an error from it: no such encoder"):
        corridor().save(tmp_path / "films" / "walk.mp4")
    assert list((tmp_path / "films").iterdir()) == []


def test_a_real_ffmpeg_writes_a_film(tmp_path: Path) -> None:
    from matplotlib.animation import FFMpegWriter

    if not FFMpegWriter.isAvailable():
        pytest.skip("ffmpeg is not installed")
    assert corridor().save(tmp_path / "walk.mp4").read_bytes()[4:8] == b"ftyp"


def test_without_ffmpeg_it_is_said_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingExtra, match=r"ffmpeg must be on the PATH .* Install it, or save .gif or .html"):
        corridor().save(tmp_path / "walk.mp4")
    assert list(tmp_path.iterdir()) == []


def test_pyplot_is_not_imported() -> None:
    code = """
import sys, tempfile, farpoint as fp
animation = fp.report.animate(fp.grid((2,)), [0, 1])
with tempfile.TemporaryDirectory() as folder:
    for ending in ("gif", "html"):
        animation.save(f"{folder}/walk.{ending}")
print("matplotlib.pyplot" in sys.modules)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


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
        assert len(frames_of_page(animation.to_html())) == route.size


class Noise(gym.Env[int, int]):
    """Renders random pixels, always into one array, and remembers them; ``size`` may grow in each step."""

    render_mode = "rgb_array"
    action_space = gym.spaces.Discrete(1)  # type: ignore[assignment]
    observation_space = gym.spaces.Discrete(1)  # type: ignore[assignment]

    def __init__(self, size: int | tuple[int, int], dtype: type = np.uint8, growth: int = 0) -> None:
        self.picture = np.zeros((*np.broadcast_to(size, 2), 3), dtype)
        self.growth = growth
        self.rendered: list[np.ndarray] = []

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        self.rng = np.random.default_rng(seed)
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        if self.growth:
            self.picture = np.pad(self.picture, ((0, self.growth), (0, 0), (0, 0)))
        return 0, 0.0, False, False, {}

    def render(self) -> Any:
        self.picture[:] = self.rng.integers(256, size=self.picture.shape)
        self.rendered.append(self.picture.copy())
        return self.picture


def test_frames_of_an_environment_are_shown_pixel_by_pixel() -> None:
    env = Noise(size=(31, 47))
    animation = report.animate_env(env, lambda observation: 0, n_steps=3)
    assert repr(animation) == "Animation(4 frames of 47 × 31, 0.4 s)"
    for shown, rendered in zip(frames_of_page(animation.to_html()), env.rendered, strict=True):
        np.testing.assert_array_equal(shown, rendered)


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


def cell_name(env: Any, observation: Any) -> str:
    return f"cell {observation}"


def lake(**settings: Any) -> Any:
    return make("FrozenLake-v1", is_slippery=False, **settings)


# The option to 8 (two steps), then right, down, right, right:
#  S  1  2  3
#  4  H  6  H
#  8  9 10  H
#  H 13 14  G
BEST = {0: 4, 8: 2, 9: 1, 13: 2, 14: 2}


def agent_for(env: fp.OptionsWrapper, key: Any = lambda cell: cell, best: dict[int, int] = BEST) -> Any:
    """An agent that takes one action in each cell."""
    agent = fp.agents.TabularAgent(env, StateIndex.exact(map(key, best)))
    agent.values[range(len(best)), list(best.values())] = 1.0
    return agent


@pytest.mark.parametrize("state", [None, cell_name])
@pytest.mark.parametrize("wrap", ["plain", "wrapped", "wrapped twice"])
def test_a_tabular_agent_plays_in_another_environment(wrap: str, state: Any) -> None:
    world = fp.World.from_env(lake(), state=state)
    key = (lambda cell: cell) if state is None else (lambda cell: f"cell {cell}")
    goal = world.find_state(key(8))
    assert goal is not None
    options = fp.OptionSet(world, np.array([goal]))
    agent = agent_for(fp.OptionsWrapper(lake(), options, state=state), key)
    env = lake(render_mode="rgb_array")
    if wrap != "plain":
        env = fp.OptionsWrapper(env, options, state=state)
    if wrap == "wrapped twice":
        env = gym.wrappers.RecordEpisodeStatistics(env)
    animation = report.animate_env(env, agent)
    # One frame before the first step; two steps of the option and four actions.
    assert len(animation) == 1 + 2 + 4
    assert env.unwrapped.s == 15


def test_an_agent_that_discovers_options_plays_in_a_plain_environment() -> None:
    agent = agent_for(fp.DiscoveringWrapper(lake(), n_options=2), best={0: 1, 4: 1, 8: 2, 9: 1, 13: 2, 14: 2})
    env = lake(render_mode="rgb_array")
    assert len(report.animate_env(env, agent)) == 1 + 6
    assert env.unwrapped.s == 15


def test_an_agent_of_another_environment_is_refused() -> None:
    world = fp.World.from_env(lake())
    agent = agent_for(fp.OptionsWrapper(lake(), fp.OptionSet(world, np.array([8]))))
    with pytest.raises(InvalidInput, match="options must be of a world made from this environment"):
        report.animate_env(Noise(size=4), agent)
    other = fp.OptionsWrapper(lake(render_mode="rgb_array"), fp.OptionSet(world, np.array([8, 3])))
    with pytest.raises(InvalidInput, match="env must have the 5 actions and options of the agent; got 6"):
        report.animate_env(other, agent)


def test_what_cannot_be_animated(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="env must be made with render_mode='rgb_array'; got render_mode=None"):
        report.animate_env(gym.make("FrozenLake-v1"))
    with pytest.raises(InvalidInput, match="env must be a Gymnasium environment"):
        report.animate_env(fp.maze())
    with pytest.raises(InvalidInput, match=r"env must render arrays of shape .* got \(4, 4, 3\) of float64"):
        report.animate_env(Noise(size=4, dtype=np.float64))
    with pytest.raises(InvalidInput, match=r"env must render pictures of one size; got \(4, 4, 3\) and \(6, 4, 3\)"):
        report.animate_env(Noise(size=4, growth=2), n_steps=1)
    untouched = Noise(size=4)
    with pytest.raises(InvalidInput, match="fps must be a finite number above 0; got -1"):
        report.animate_env(untouched, fps=-1)
    assert not untouched.rendered
    with pytest.raises(InvalidInput, match="states must have at least one state"):
        report.animate(fp.maze(), [])
    with pytest.raises(InvalidInput, match="fps must be a finite number above 0; got 0"):
        report.animate(fp.maze(), [0], fps=0)
    with pytest.raises(InvalidInput, match="n_frames must be at least 1; got 0"):
        report.Animation(Figure(), print, 0)
    with pytest.raises(InvalidInput, match="figure and update must be a figure and a function; got 3"):
        report.Animation(3, print, 1)  # type: ignore[arg-type]
    with pytest.raises(UnknownName, match="animation format must be one of gif, mp4, html; got 'avi'"):
        corridor().save("walk.avi")
    with pytest.raises(OutputError, match="must be a file that can be written"):
        corridor().save(tmp_path / "no" / "walk.gif")
