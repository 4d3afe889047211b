"""Animations of an agent: on the picture of a world, or as its environment renders it."""

from __future__ import annotations

import re
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from subprocess import CalledProcessError
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from numpy.typing import ArrayLike, NDArray

from farpoint.agents.tabular import TabularAgent
from farpoint.envs import OptionsWrapper
from farpoint.errors import (
    InvalidInput,
    MissingExtra,
    OutputError,
    check_integer,
    check_path,
    check_positive,
    check_word,
)
from farpoint.files import atomic_write
from farpoint.report.canvas import Drawing
from farpoint.report.figures import GOAL, START
from farpoint.report.layout import Pos
from farpoint.report.tables import escaped
from farpoint.worlds import WorldLike, as_world

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FORMATS = ("gif", "mp4", "html")
_DPI = 90
_TRAIL = 25
# Browsers slow down a GIF of more frames per second, and its format has no pause above eleven minutes.
_MOST_GIF_FPS, _LEAST_GIF_FPS = 50, 0.002
# matplotlib's page loads its icons from another server; these characters replace them.
_ICONS = {
    "minus": "−", "fast-backward": "«", "step-backward": "‹", "play": "▶", "pause": "‖", "step-forward": "›",
    "fast-forward": "»", "plus": "+", "play.fa-flip-horizontal": "◀",
}  # fmt: skip
_STYLE = "".join(f".fa-{name}::before {{content: '{sign}'; font-style: normal}}\n" for name, sign in _ICONS.items())


class Animation:
    """A figure that changes from frame to frame: a notebook plays it, `save` writes it.

    Like matplotlib's ``FuncAnimation``, whose movie writers it uses, but without an event loop.

    Parameters
    ----------
    figure : Figure
    update : function of int
        Changes the figure to frame 0, 1, 2, …
    n_frames : int
    fps : float
        Frames per second.
    title : str

    Examples
    --------
    >>> import farpoint as fp
    >>> figure = fp.report.new_figure(4, 3)
    >>> (line,) = figure.subplots().plot([0, 1], [0, 0])
    >>> fp.report.Animation(figure, lambda number: line.set_ydata([0, number]), n_frames=5, fps=5)
    Animation(5 frames of 360 × 270, 1.0 s)
    """

    def __init__(
        self,
        figure: Figure,
        update: Callable[[int], object],
        n_frames: int,
        fps: float = 10.0,
        title: str = "animation",
    ) -> None:
        if not callable(getattr(figure, "savefig", None)) or not callable(update):
            raise InvalidInput(f"figure and update must be a figure and a function; got {figure!r} and {update!r}.")
        self.figure, self.update = figure, update
        self.n_frames, self.fps = check_integer("n_frames", n_frames, 1), check_positive("fps", fps)
        self.title = str(title)

    def __len__(self) -> int:
        return self.n_frames

    def __repr__(self) -> str:
        # Rounded down as by matplotlib's writers.
        width, height = (self.figure.get_size_inches() * _DPI + 1e-8).astype(int)
        return f"Animation({self.n_frames} frames of {width} × {height}, {self.n_frames / self.fps:.1f} s)"

    def to_html(self) -> str:
        """Return a player of the frames: HTML and JavaScript that refer to nothing outside.

        >>> import farpoint as fp
        >>> fp.report.animate(fp.maze(), [0, 1, 2]).to_html().count("data:image/png")
        3
        """
        from matplotlib.animation import HTMLWriter

        # By default matplotlib drops frames beyond a limit, and odd rows and columns of pixels as for H.264.
        writer = HTMLWriter(embed_frames=True, embed_limit=np.inf, codec="png")
        with TemporaryDirectory() as folder:
            path = Path(folder) / "frames.html"
            self._write(writer, path, self.fps)
            page = path.read_text(encoding="utf-8")
        return re.sub("<link[^>]*>", f"<style>\n{_STYLE}</style>", page)

    _repr_html_ = to_html

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the animation as GIF, MP4 or HTML, by the ending of ``path``, and return the path.

        Raises
        ------
        UnknownName
            If the ending is another one.
        MissingExtra
            For MP4, if ffmpeg is not installed.
        OutputError
            If the file cannot be written.

        Examples
        --------
        >>> import tempfile, farpoint as fp
        >>> world = fp.maze()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     fp.report.animate(world, fp.discover(world)[0].route(world.start)).save(f"{folder}/agent.gif").name
        'agent.gif'
        """
        from matplotlib.animation import FFMpegWriter, PillowWriter

        target = check_path("path", path)
        ending = check_word("animation format", target.suffix.lstrip(".").lower(), _FORMATS)
        if ending == "mp4" and not FFMpegWriter.isAvailable():
            raise MissingExtra("ffmpeg must be on the PATH to write MP4; it is not. Install it, or save .gif or .html.")
        with atomic_write(target) as temporary:
            if ending == "gif":
                self._write(PillowWriter(), temporary, min(max(self.fps, _LEAST_GIF_FPS), _MOST_GIF_FPS))
            elif ending == "mp4":
                self._write(FFMpegWriter(), temporary, self.fps)
            else:
                head = f"<meta charset='utf-8'><title>{escaped(self.title)}</title>"
                page = f"<!DOCTYPE html><html lang='en'><head>{head}</head><body>{self.to_html()}</body></html>"
                temporary.write_text(page, encoding="utf-8")
        return target

    def _write(self, writer: Any, path: Path, fps: float) -> None:
        writer.fps = fps
        size = self.figure.get_size_inches()
        try:
            with writer.saving(self.figure, str(path), _DPI):
                for number in range(self.n_frames):
                    self.update(number)
                    writer.grab_frame()
        except CalledProcessError as error:
            raise OutputError(f"MP4 must be written by ffmpeg; got an error from it: {error.stderr}") from error
        finally:
            # That of MP4 is rounded to even numbers of pixels.
            self.figure.set_size_inches(*size)


def animate(
    world: WorldLike,
    states: ArrayLike,
    *,
    scores: ArrayLike | None = None,
    goals: ArrayLike | None = None,
    pos: Pos = None,
    labels: Any = None,
    figsize: Any = None,
    cmap: Any = None,
    fps: float = 10.0,
    max_frames: int = 500,
    title: str | None = None,
) -> Animation:
    """Return an animation of an agent that moves through ``states``, with a trail behind it.

    Parameters
    ----------
    world : World
    states : array of int
        The state at each step: a route of an option, or the log of any agent.
    scores, goals : optional
        One number per state that colors it, and states to mark; as in `draw_score`.
    pos, labels, figsize, cmap, title
        As in `draw_score`.
    fps : float
        Frames per second.
    max_frames : int
        Longer walks are shown in larger strides.

    Examples
    --------
    >>> import farpoint as fp
    >>> world = fp.maze()
    >>> fp.report.animate(world, fp.discover(world)[0].route(world.start))
    Animation(... frames of ... × ..., ... s)
    """
    world = as_world(world)
    walk = world.check_states("states", states)
    if not walk.size:
        raise InvalidInput("states must have at least one state; got none.")
    stride = -(-walk.size // check_integer("max_frames", max_frames, 1))
    title = world.name if title is None else title
    drawing = Drawing.of(
        world, title, pos=pos, labels=labels, ax=None, figsize=figsize, colorbar=scores is not None, shown=walk
    )
    if scores is None:
        drawing.plain()
    else:
        drawing.values(scores, cmap, "$f_t(s)$")
    if goals is not None:
        drawing.mark(goals, GOAL)
    look: dict[str, Any] = {
        "color": START,
        "markersize": 11,
        "markeredgecolor": "white",
        "markeredgewidth": 1.5,
        "zorder": 8,
    }
    agents = []
    for axes, panel in zip(drawing.axes, drawing.panels, strict=True):
        (trail,) = axes.plot([], [], color=GOAL, linewidth=2.5, alpha=0.7, zorder=7)
        (dot,) = axes.plot([], [], "o", **look)
        agents.append((panel.states, drawing.places_in(panel), trail, dot))
    # The layout is computed once: only the agent moves.
    drawing.figure.draw_without_rendering()
    drawing.figure.set_layout_engine("none")

    def update(number: int) -> None:
        recent = walk[max(0, number * stride - _TRAIL) : number * stride + 1]
        for inside, places, trail, dot in agents:
            rows, columns = np.where(np.isin(recent, inside)[:, None], places[recent], np.nan).T
            trail.set_data(columns, rows)
            dot.set_data(columns[-1:], rows[-1:])

    return Animation(drawing.figure, update, -(-walk.size // stride), fps, title)


def animate_env(
    env: Any,
    act: Any = None,
    *,
    n_steps: int = 200,
    seed: int = 0,
    fps: float = 10.0,
) -> Animation:
    """Return an animation of an agent in a Gymnasium environment: one rendered frame per primitive step.

    Parameters
    ----------
    env : gymnasium.Env
        Made with ``render_mode="rgb_array"``. Steps inside options of an `OptionsWrapper` are shown too.
    act : function of an observation, TabularAgent, or agent with ``predict`` as in Stable-Baselines3, optional
        Default: random decisions. An environment without options is wrapped with those of a TabularAgent.
    n_steps : int
        Largest number of decisions; the animation ends with the episode.
    seed : int
    fps : float

    Examples
    --------
    >>> import gymnasium as gym, farpoint as fp
    >>> env = gym.make("CliffWalking-v1", render_mode="rgb_array")
    >>> fp.report.animate_env(env, lambda observation: 0, n_steps=3)
    Animation(4 frames of 768 × 256, 0.4 s)
    """
    if not callable(getattr(env, "step", None)) or not callable(getattr(env, "render", None)):
        raise InvalidInput(f"env must be a Gymnasium environment; got {env!r}. Make one with gymnasium.make.")
    if getattr(env, "render_mode", None) != "rgb_array":
        raise InvalidInput(
            f"env must be made with render_mode='rgb_array'; got render_mode={getattr(env, 'render_mode', None)!r}."
        )
    n_steps, seed, fps = (
        check_integer("n_steps", n_steps, 1),
        check_integer("seed", seed, 0),
        check_positive("fps", fps),
    )
    wrapper = _options_layer(env)
    if wrapper is None and isinstance(act, TabularAgent):
        if act.env is None:
            raise InvalidInput("env must be wrapped as the agent's was, which a pickle does not keep; got no options.")
        env = wrapper = _wrap_as(env, act.env)
    decide = _decisions(env, wrapper, act, seed)
    observation, _ = env.reset(seed=seed)
    frames = [_frame(env)]
    if wrapper is not None:
        wrapper.on_step = lambda step: frames.append(_frame(env))
    try:
        for _ in range(n_steps):
            observation, _, terminated, truncated, _ = env.step(decide(observation))
            if wrapper is None:
                frames.append(_frame(env))
            if terminated or truncated:
                break
    finally:
        if wrapper is not None:
            wrapper.on_step = None
    return _animation_of(frames, fps, type(env.unwrapped).__name__)


def _options_layer(env: Any) -> OptionsWrapper | None:
    """Return the wrapper in a stack of wrappers that has options, if there is one."""
    while isinstance(env, gymnasium.Wrapper) and not isinstance(env, OptionsWrapper):
        env = env.env
    return env if isinstance(env, OptionsWrapper) else None


def _wrap_as(env: Any, other: OptionsWrapper) -> OptionsWrapper:
    """Return an environment with the options and settings of another one."""
    settings: dict[str, Any] = {"max_steps": other.max_steps, "unavailable": other.unavailable, "sample": other.sample}
    return OptionsWrapper(env, other.options, other.gamma, state=other.state, **settings)


def _decisions(env: Any, wrapper: OptionsWrapper | None, act: Any, seed: int) -> Callable[[Any], Any]:
    """Return the function from an observation to a decision, for any kind of agent."""
    if act is None:
        rng = np.random.default_rng(seed)
        env.action_space.seed(seed)
        return lambda observation: env.action_space.sample() if wrapper is None else wrapper.sample_action(rng=rng)
    if isinstance(act, TabularAgent):
        assert wrapper is not None
        wanted, found = act.values.shape[1], wrapper.n_actions + len(wrapper.options)
        if found != wanted:
            raise InvalidInput(f"env must have the {wanted} actions and options of the agent; got {found}.")
        return lambda observation: act.act(wrapper.current_key, wrapper.action_masks())
    if callable(getattr(act, "predict", None)):
        return lambda observation: act.predict(observation, deterministic=True)[0]
    if callable(act):
        return act  # type: ignore[no-any-return]
    raise InvalidInput(f"act must be a function of an observation, or an agent; got {act!r}.")


def _frame(env: Any) -> NDArray[np.uint8]:
    # A copy: some environments render into one array again and again.
    frame = np.array(env.render())
    if frame.shape[2:] != (3,) or frame.dtype != np.uint8 or not frame.size:
        raise InvalidInput(
            f"env must render arrays of shape (height, width, 3) and dtype uint8; got {frame.shape} of {frame.dtype}."
        )
    return frame


def _animation_of(frames: list[NDArray[np.uint8]], fps: float, title: str) -> Animation:
    """Return the animation of pictures, pixel by pixel."""
    from matplotlib.figure import Figure

    height, width, _ = frames[0].shape
    for frame in frames:
        if frame.shape != frames[0].shape:
            raise InvalidInput(f"env must render pictures of one size; got {frames[0].shape} and {frame.shape}.")
    figure = Figure(figsize=(width / _DPI, height / _DPI), dpi=_DPI)
    image = figure.figimage(frames[0], origin="upper")
    return Animation(figure, lambda number: image.set_data(frames[number]), len(frames), fps, title)
