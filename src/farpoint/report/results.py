"""Pictures of results: steps between states, cover time, learning, exploration, and comparisons of methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from farpoint.agents import LearningResult
from farpoint.agents.learning import EpisodicResult
from farpoint.errors import InvalidInput
from farpoint.exploration import Exploration
from farpoint.measures import CoverTime, Estimate, StepsBetweenStates, format_number
from farpoint.report.figures import (
    GOAL,
    LINE,
    METHOD_COLORS,
    METHOD_LINES,
    METHOD_TITLES,
    axes_for,
    color_map,
    figure_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SIZE = (5.2, 3.4)
# Dots of equal value are spread out in height by up to this, so that all of them are seen.
_SPREAD = 0.22
# Per method: the mean after each episode and its spread.
Curves = Mapping[str, tuple[NDArray[np.float64], NDArray[np.float64]]]


def learning_curves(
    axes: Axes, curves: Curves, *, legend: bool = True, colors: Mapping[str, Any] = METHOD_COLORS
) -> None:
    """Draw steps to the goal over episodes: for each method the mean as a line and its spread as a band.

    >>> from farpoint.report.figures import new_figure
    >>> axes = new_figure(4, 3).subplots()
    >>> learning_curves(axes, {"none": (np.full(9, 5.0), np.ones(9))})
    >>> axes.get_xlabel()
    'episode'
    """
    for method, (mean, spread) in curves.items():
        episodes = np.arange(1, mean.size + 1)
        line, title = METHOD_LINES.get(method, "-"), METHOD_TITLES.get(method, method)
        band(axes, episodes, mean, spread, color=colors[method], label=title, linestyle=line)
    axes.set_xlabel("episode")
    axes.set_ylabel("steps to goal")
    axes.set_ylim(0, 1.07 * max(float(mean.max()) for mean, _ in curves.values()))
    axes.set_xlim(1, None)
    tidy(axes)
    if legend:
        axes.legend(frameon=False, fontsize=8)


def band(
    axes: Axes,
    x: ArrayLike,
    mean: NDArray[np.float64],
    spread: NDArray[np.float64],
    *,
    color: Any,
    label: str,
    linestyle: Any = "-",
) -> None:
    """Draw a line with a band of ``spread`` to either side."""
    axes.fill_between(np.asarray(x), mean - spread, mean + spread, color=color, alpha=0.18, linewidth=0)
    axes.plot(np.asarray(x), mean, color=color, linestyle=linestyle, linewidth=1.6, label=label)


def interval_dot(
    axes: Axes, y: float, value: float, low: float, high: float, *, color: Any, label: str | None = None
) -> None:
    """Draw an estimate as a dot at height ``y`` with its interval as a line."""
    axes.plot([low, high], [y, y], color=color, linewidth=2)
    axes.plot(value, y, "o", color=color, markersize=6, label=label)


def tidy(axes: Axes) -> None:
    """Remove the upper and the right side of the frame."""
    axes.spines[["top", "right"]].set_visible(False)


def draw_steps(steps: StepsBetweenStates, *, ax: Any = None, figsize: Any = None, cmap: Any = None) -> Figure:
    """Return a histogram of the expected steps to each target, with their median.

    Examples
    --------
    >>> import farpoint as fp
    >>> figure = draw_steps(fp.steps_between_states(fp.maze()))
    """
    axes = _axes(ax, figsize)
    values = steps.per_target[np.isfinite(steps.per_target)]
    _histogram(axes, values, cmap)
    if np.isfinite(steps.median):
        axes.axvline(steps.median, color="black", linewidth=1.4, label=f"median {format_number(steps.median)}")
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
    axes = _axes(ax, figsize)
    _histogram(axes, cover.walks.astype(np.float64), cmap)
    axes.axvspan(cover.low, cover.high, color="#00000025", linewidth=0)
    axes.axvline(
        cover.mean, color="black", linewidth=1.4, label=f"mean {Estimate(cover.mean, cover.low, cover.high)} (95 %)"
    )
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
    axes = _axes(ax, figsize)
    episodes = np.arange(1, result.curve.size + 1)
    if cmap is not None:
        colors = color_map(cmap)(np.linspace(0.1, 0.9, result.targets.size))
        for color, curve in zip(colors, result.curves.mean(axis=0), strict=True):
            axes.plot(episodes, curve, color=color, linewidth=0.6, alpha=0.6)
    band(axes, episodes, result.curve, result.spread, color=LINE, label="mean (band: spread over targets)")
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
    axes = _axes(ax, figsize)
    colors = (LINE, GOAL) if cmap is None else color_map(cmap)([0.2, 0.8])
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
    axes = _axes(ax, figsize)
    seen = [*range(1, found.n_states + 1), found.n_states]
    axes.step([*found.coverage, found.n_steps], seen, where="post", color=_color(cmap, 0.2), linewidth=1.8)
    axes.set(xlabel="steps", ylabel="states seen", xlim=(0, found.n_steps), ylim=(0, None))
    return figure_of(axes)


def _axes(ax: Any, figsize: Any) -> Axes:
    (axes,) = axes_for(ax, figsize, _SIZE)
    tidy(axes)
    return axes


def _color(cmap: Any, share: float) -> Any:
    """Return the color of the only thing in a figure: the same in all, or one of a color map."""
    return LINE if cmap is None else color_map(cmap)(share)


def _histogram(axes: Axes, values: NDArray[np.float64], cmap: Any) -> None:
    if values.size:
        axes.hist(values, bins=min(30, max(5, int(np.sqrt(values.size)) * 2)), color=_color(cmap, 0.3), alpha=0.85)


def draw_comparison(
    world_name: str,
    steps: Mapping[str, Any],
    curves: Mapping[str, Any] | None = None,
    *,
    ax: Any = None,
    figsize: Any = None,
    cmap: Any = None,
) -> Figure:
    """Return steps between states (one dot per target) beside learning curves, for each method.

    Parameters
    ----------
    world_name : str
        Of the title.
    steps : mapping from method to StepsBetweenStates, or to an array of steps to each target
    curves : mapping from method to LearningResult, or to (mean, spread) after each episode, optional
    ax : Axes, or two of them where there are curves, optional
    figsize : (float, float), optional
    cmap : colormap or str, optional
        Colors of the methods. Default: each has its own, the same in every figure.

    Examples
    --------
    >>> import farpoint as fp
    >>> world = fp.four_rooms()
    >>> found = {method: fp.discover(world, method) for method in ("diffusion", "none")}
    >>> steps = {method: fp.steps_between_states(world, options) for method, options in found.items()}
    >>> figure = fp.report.draw_comparison("4Rooms", steps)
    """
    numbers = {method: _per_target(value) for method, value in _checked("steps", steps).items()}
    lines: Curves = {method: _curve(value) for method, value in _checked("curves", curves or {}).items()}
    colors = _method_colors([*numbers, *lines], cmap)
    axes = axes_for(ax, figsize, (10.5, 4.0) if lines else (6.4, 3.8), 2 if lines else 1)
    rng = np.random.default_rng(0)
    for place, (method, per_target) in enumerate(numbers.items()):
        heights = place + rng.uniform(-_SPREAD, _SPREAD, size=per_target.size)
        axes[0].plot(per_target, heights, linestyle="none", marker="o", markersize=3, color=colors[method], alpha=0.45)
        axes[0].plot(np.median(per_target), place, marker="|", markersize=22, markeredgewidth=2.5, color="black")
    _name_rows(axes[0], list(numbers))
    axes[0].set_xlabel("expected steps to a state, mean over starts (bar: median)")
    if lines:
        learning_curves(axes[1], lines, colors=colors)
    if ax is None:
        figure_of(axes[0]).suptitle(f"{world_name}: options compared", fontsize=12)
    return figure_of(axes[0])


def draw_intervals(
    world_name: str,
    panels: Mapping[str, Mapping[str, Estimate]],
    *,
    ax: Any = None,
    figsize: Any = None,
    cmap: Any = None,
) -> Figure:
    """Return a panel per measure, with the number and the interval of each method; an arrow where the number is larger.

    Examples
    --------
    >>> import farpoint as fp
    >>> figure = draw_intervals("lake", {"steps": {"none": fp.measures.estimate([8.0, 9.0, 10.0])}})
    """
    axes = axes_for(ax, figsize, (5.4 * len(panels), 3.4), len(panels))
    for one, (name, numbers) in zip(axes, panels.items(), strict=True):
        colors = _method_colors(list(numbers), cmap)
        for place, (method, number) in enumerate(numbers.items()):
            low, high = np.nan_to_num([number.low, number.high], nan=number.value)
            interval_dot(one, place, number.value, float(low), float(high), color=colors[method])
            if number.capped:
                one.annotate(
                    "→",
                    (max(number.value, high), place),
                    xytext=(6, -4),
                    textcoords="offset points",
                    color=colors[method],
                    fontsize=13,
                )
        _name_rows(one, list(numbers))
        one.set_xlabel(name)
    if ax is None:
        figure_of(axes[0]).suptitle(f"{world_name}: options compared", fontsize=12)
    return figure_of(axes[0])


def _name_rows(axes: Axes, methods: Sequence[str]) -> None:
    axes.set_yticks(range(len(methods)), [METHOD_TITLES.get(method, method) for method in methods])
    axes.set_ylim(len(methods) - 0.5, -0.5)
    axes.set_xscale("log")
    # Within a decade the labels between powers of ten would lie on each other.
    axes.xaxis.set_minor_formatter("")
    tidy(axes)


def _method_colors(methods: Sequence[str], cmap: Any) -> dict[str, Any]:
    if cmap is None:
        return {method: METHOD_COLORS.get(method, "#444444") for method in methods}
    different = list(dict.fromkeys(methods))
    return dict(zip(different, color_map(cmap)(np.linspace(0.1, 0.9, len(different))), strict=True))


def _checked(what: str, values: Any) -> Mapping[str, Any]:
    if not isinstance(values, Mapping) or (what == "steps" and not values):
        raise InvalidInput(f"{what} must be a mapping from methods to results, at least one; got {values!r}.")
    return values


def _per_target(value: Any) -> NDArray[np.float64]:
    if isinstance(value, StepsBetweenStates):
        return value.per_target
    array = np.asarray(value)
    if array.ndim != 1 or not np.issubdtype(array.dtype, np.number):
        raise InvalidInput(f"steps must be StepsBetweenStates or one number per target; got {value!r}.")
    return array.astype(np.float64)


def _curve(value: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if isinstance(value, LearningResult):
        return value.curve, value.spread
    try:
        mean, spread = value
        return np.asarray(mean, dtype=np.float64), np.asarray(spread, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"curves must be LearningResults, or mean and spread; got {value!r}.") from error
