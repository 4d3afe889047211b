"""Figures that compare methods on one world."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from farpoint.agents import LearningResult
from farpoint.errors import InvalidInput
from farpoint.measures import Estimate, StepsBetweenStates
from farpoint.report.curves import Curves, interval_dot, learning_curves, tidy
from farpoint.report.names import METHOD_COLORS, METHOD_TITLES
from farpoint.report.sheets import new_figure
from farpoint.report.stage import check_axes, check_cmap, check_size, figure_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class _Spread(NamedTuple):
    """How dots of equal value are spread out in height, so that all of them are seen."""

    rng: np.random.Generator
    height: float = 0.22

    def around(self, place: int, n_dots: int) -> NDArray[np.float64]:
        return place + self.rng.uniform(-self.height, self.height, size=n_dots)


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
    panels = 2 if lines else 1
    axes = _axes_of(ax, panels, figsize, (10.5, 4.0) if lines else (6.4, 3.8))
    spread = _Spread(np.random.default_rng(0))
    for place, (method, per_target) in enumerate(numbers.items()):
        heights = spread.around(place, per_target.size)
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
    axes = _axes_of(ax, len(panels), figsize, (5.4 * len(panels), 3.4))
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


def _axes_of(ax: Any, number: int, figsize: Any, size: tuple[float, float]) -> list[Axes]:
    if ax is None:
        return list(np.atleast_1d(np.asarray(new_figure(*check_size(figsize, size)).subplots(1, number))))
    axes = [check_axes(one) for one in np.ravel(np.asarray(ax, dtype=object))]
    if len(axes) != number:
        raise InvalidInput(f"ax must be {number} pairs of axes; got {len(axes)}.")
    return axes


def _method_colors(methods: Sequence[str], cmap: Any) -> dict[str, Any]:
    if cmap is None:
        return {method: METHOD_COLORS.get(method, "#444444") for method in methods}
    import matplotlib as mpl

    chosen = check_cmap(cmap)
    colors = mpl.colormaps[chosen] if isinstance(chosen, str) else chosen
    different = list(dict.fromkeys(methods))
    return dict(zip(different, colors(np.linspace(0.1, 0.9, len(different))), strict=True))


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
