"""An agent on its way, as an animation: on the picture of a world, or as its environment draws it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from farpoint.agents.tabular import TabularAgent
from farpoint.envs import OptionsWrapper
from farpoint.errors import InvalidInput, check_integer
from farpoint.report.maps import GOAL, START
from farpoint.report.movies import Animation
from farpoint.report.places import Pos
from farpoint.report.stage import Stage
from farpoint.worlds import WorldLike, as_world

if TYPE_CHECKING:
    from matplotlib.artist import Artist

_DPI = 90
_TRAIL = 25


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
    """Return an animation of an agent that is in one state after another.

    Parameters
    ----------
    world : World
    states : array of int
        Where the agent is in each step: a route of an option, or the log of any agent.
    scores, goals : optional
        What the states are colored by, and which are marked; as in `draw_score`.
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
    stage = Stage.of(
        world, title, pos=pos, labels=labels, ax=None, figsize=figsize, colorbar=scores is not None, shown=walk
    )
    if scores is None:
        stage.plain()
    else:
        stage.values(scores, cmap, "$f_t(s)$")
    if goals is not None:
        stage.mark(goals, GOAL)
    return Animation(_frames(stage, walk, stride), fps, title)


def animate_env(
    env: Any,
    act: Any = None,
    *,
    n_steps: int = 200,
    seed: int = 0,
    fps: float = 10.0,
) -> Animation:
    """Return an animation of an agent in a Gymnasium environment: one frame per primitive step, drawn by it.

    Parameters
    ----------
    env : gymnasium.Env
        Made with ``render_mode="rgb_array"``. Steps inside options of an `OptionsWrapper` are shown too.
    act : function of an observation, TabularAgent, or agent with ``predict`` as in Stable-Baselines3, optional
        Default: random decisions.
    n_steps : int
        Decisions at most; it ends with the episode.
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
    n_steps, seed = check_integer("n_steps", n_steps, 1), check_integer("seed", seed, 0)
    decide = _decisions(env, act, seed)
    observation, info = env.reset(seed=seed)
    frames = [np.asarray(env.render())]
    wrapper = env if isinstance(env, OptionsWrapper) else None
    if wrapper is not None:
        wrapper.on_step = lambda step: frames.append(np.asarray(env.render()))
    try:
        for _ in range(n_steps):
            observation, _, terminated, truncated, info = env.step(decide(observation, info))
            if wrapper is None:
                frames.append(np.asarray(env.render()))
            if terminated or truncated:
                break
    finally:
        if wrapper is not None:
            wrapper.on_step = None
    return Animation(frames, fps, type(env.unwrapped).__name__)


def _decisions(env: Any, act: Any, seed: int) -> Callable[[Any, dict[str, Any]], Any]:
    """Return what is done after an observation and its info, whatever kind of agent decides."""
    if act is None:
        rng = np.random.default_rng(seed)
        env.action_space.seed(seed)
        if isinstance(env, OptionsWrapper):
            return lambda observation, info: env.sample_action(rng=rng)
        return lambda observation, info: env.action_space.sample()
    if isinstance(act, TabularAgent):
        return lambda observation, info: act.act(act.env.read(observation), info["action_mask"].astype(bool))
    if callable(getattr(act, "predict", None)):
        return lambda observation, info: act.predict(observation, deterministic=True)[0]
    if callable(act):
        return lambda observation, info: act(observation)
    raise InvalidInput(f"act must be a function of an observation, or an agent; got {act!r}.")


def _frames(stage: Stage, walk: NDArray[np.int64], stride: int) -> list[NDArray[np.uint8]]:
    """Return the picture of the stage with the agent in each place; only what moves is drawn anew."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = stage.figure
    figure.set_dpi(_DPI)
    canvas: Any = FigureCanvasAgg(figure)
    moving = [_Agent(stage, number) for number in range(len(stage.axes))]
    canvas.draw()
    background = canvas.copy_from_bbox(figure.bbox)
    frames = []
    for step in range(0, walk.size, stride):
        canvas.restore_region(background)
        for agent in moving:
            agent.draw(walk, step)
        frames.append(np.asarray(canvas.buffer_rgba())[:, :, :3].copy())
    return frames


class _Agent:
    """The agent and where it came from, on one panel."""

    def __init__(self, stage: Stage, number: int) -> None:
        self.axes, self.panel = stage.axes[number], stage.panels[number]
        self.places = stage.places_in(self.panel)
        (self.trail,) = self.axes.plot([], [], color=GOAL, linewidth=2.5, alpha=0.7, animated=True, zorder=7)
        (self.dot,) = self.axes.plot(
            [],
            [],
            "o",
            color=START,
            markersize=11,
            markeredgecolor="white",
            markeredgewidth=1.5,
            animated=True,
            zorder=8,
        )

    def draw(self, walk: NDArray[np.int64], step: int) -> None:
        recent = walk[max(0, step - _TRAIL) : step + 1]
        inside = np.isin(recent, self.panel.states)
        rows, columns = np.where(inside[:, None], self.places[recent], np.nan).T
        self.trail.set_data(columns, rows)
        self.dot.set_data(columns[-1:], rows[-1:])
        parts: list[Artist] = [self.trail, self.dot]
        for part in parts:
            self.axes.draw_artist(part)
