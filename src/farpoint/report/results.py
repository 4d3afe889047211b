"""Pictures of results: steps between states, cover time, learning, exploration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from farpoint.agents import LearningResult
from farpoint.agents.episodic import EpisodicResult
from farpoint.errors import InvalidInput
from farpoint.exploration import Exploration
from farpoint.measures import CoverTime, StepsBetweenStates
from farpoint.report.curves import band, tidy
from farpoint.report.sheets import new_figure
from farpoint.report.stage import check_axes, check_cmap, check_size, figure_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SIZE = (5.2, 3.4)


def draw_steps(steps: StepsBetweenStates, *, ax: Any = None, figsize: Any = None, cmap: Any = None) -> Figure:
    """Return a histogram of the expected steps to each target, with their median.

    Examples
    --------
    >>> import farpoint as fp
    >>> figure = draw_steps(fp.steps_between_states(fp.maze()))
    """
    _check("steps", steps, StepsBetweenStates)
    axes = _axes(ax, figsize)
    values = steps.per_target[np.isfinite(steps.per_target)]
    _histogram(axes, values, cmap)
    if np.isfinite(steps.median):
        axes.axvline(steps.median, color="black", linewidth=1.4, label=f"median {steps.median:,.0f}")
        axes.legend(frameon=False)
    beyond = steps.targets.size - values.size
    axes.set_xlabel("expected steps to a target" + (f" ({beyond} never reached)" if beyond else ""))
    axes.set_ylabel("targets")
    return figure_of(axes)


def draw_cover_time(cover: CoverTime, *, ax: Any = None, figsize: Any = None, cmap: Any = None) -> Figure:
    """Return a histogram of the walks, with their mean and its interval.

    Examples
    --------
    >>> import farpoint as fp
    >>> figure = draw_cover_time(fp.cover_time(fp.maze()))
    """
    _check("cover", cover, CoverTime)
    axes = _axes(ax, figsize)
    _histogram(axes, cover.walks.astype(np.float64), cmap)
    axes.axvspan(cover.low, cover.high, color="#00000025", linewidth=0)
    axes.axvline(cover.mean, color="black", linewidth=1.4, label=f"mean {cover.mean:,.0f} (band: 95 %)")
    axes.legend(frameon=False)
    axes.set(xlabel="steps to visit every state", ylabel="walks")
    return figure_of(axes)


def draw_learning(result: LearningResult, *, ax: Any = None, figsize: Any = None, cmap: Any = None) -> Figure:
    """Return the learning curve: the mean over runs and targets, and its spread over targets.

    With ``cmap``, the curve of each target is drawn too, in colors of that map.

    Examples
    --------
    >>> import farpoint as fp
    >>> figure = draw_learning(fp.learn(fp.four_rooms(), n_runs=2, n_episodes=30))
    """
    _check("result", result, LearningResult)
    axes = _axes(ax, figsize)
    episodes = np.arange(1, result.curve.size + 1)
    if cmap is not None:
        colors = _color_map(cmap)(np.linspace(0.1, 0.9, result.targets.size))
        for color, curve in zip(colors, result.curves.mean(axis=0), strict=True):
            axes.plot(episodes, curve, color=color, linewidth=0.6, alpha=0.6)
    band(axes, episodes, result.curve, result.spread, color="#0072b2", label="mean (band: spread over targets)")
    axes.set(xlabel="episode", ylabel="steps to the target", ylim=(0, None), xlim=(1, None))
    axes.legend(frameon=False)
    return figure_of(axes)


def draw_episodes(result: EpisodicResult, *, ax: Any = None, figsize: Any = None, cmap: Any = None) -> Figure:
    """Return the share of runs that had reached a target, and were near-optimal, after so many steps.

    Examples
    --------
    >>> import gymnasium as gym, farpoint as fp
    >>> world = fp.World.from_env(gym.make("FrozenLake-v1", is_slippery=False))
    >>> figure = draw_episodes(fp.learn_episodes(world, n_steps=20_000, n_runs=4))
    """
    _check("result", result, EpisodicResult)
    axes = _axes(ax, figsize)
    colors = ("#0072b2", "#d55e00") if cmap is None else _color_map(cmap)([0.2, 0.8])
    parts = {"target first reached": result.first_target, "near-optimal": result.near_optimal}
    for color, (name, steps) in zip(colors, parts.items(), strict=True):
        done = np.sort(steps[np.isfinite(steps)])
        shares = np.arange(1, done.size + 1) / steps.size
        axes.step(np.repeat(done, 1), shares, where="post", color=color, linewidth=1.8, marker=".", label=name)
    axes.set(xlabel="steps", ylabel="share of runs", ylim=(0, 1.03))
    if any(np.isfinite(steps).any() for steps in parts.values()):
        axes.set_xscale("log")
    axes.legend(frameon=False)
    return figure_of(axes)


def draw_coverage(found: Exploration, *, ax: Any = None, figsize: Any = None, cmap: Any = None) -> Figure:
    """Return how many states had been seen after so many steps.

    With ``cmap``, the line is of the first color of that map.

    Examples
    --------
    >>> import farpoint as fp
    >>> figure = draw_coverage(fp.explore(fp.maze(), 500, max_episode_steps=100))
    """
    _check("found", found, Exploration)
    axes = _axes(ax, figsize)
    color = "#0072b2" if cmap is None else _color_map(cmap)(0.2)
    seen = [*range(1, found.n_states + 1), found.n_states]
    axes.step([*found.coverage, found.n_steps], seen, where="post", color=color, linewidth=1.8)
    axes.set(xlabel="steps", ylabel="states seen", xlim=(0, found.n_steps), ylim=(0, None))
    return figure_of(axes)


def _axes(ax: Any, figsize: Any) -> Axes:
    if ax is not None and figsize is not None:
        raise InvalidInput(f"figsize must go without ax, whose figure has its size; got {figsize!r}.")
    axes = check_axes(ax) if ax is not None else new_figure(*check_size(figsize, _SIZE)).subplots()
    tidy(axes)
    return axes


def _histogram(axes: Axes, values: NDArray[np.float64], cmap: Any) -> None:
    color = "#0072b2" if cmap is None else _color_map(cmap)(0.3)
    if values.size:
        axes.hist(values, bins=min(30, max(5, int(np.sqrt(values.size)) * 2)), color=color, alpha=0.85)


def _color_map(cmap: Any) -> Any:
    import matplotlib as mpl

    checked = check_cmap(cmap)
    return mpl.colormaps[checked] if isinstance(checked, str) else checked


def _check(what: str, value: Any, kind: type[Any]) -> None:
    if not isinstance(value, kind):
        raise InvalidInput(f"{what} must be a {kind.__name__}; got {value!r}.")
