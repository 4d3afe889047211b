"""The picture of mean steps over the number of options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from farpoint.errors import InvalidInput, check_integer, check_word
from farpoint.report.curves import tidy
from farpoint.report.names import METHOD_COLORS, METHOD_TITLES
from farpoint.report.sheets import new_figure
from farpoint.worlds.arrays import real_numbers

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_curve(curve: Mapping[str, Sequence[float]], chosen: int, *, method: str = "diffusion") -> Figure:
    """Draw steps over the number of options, and the number that was chosen.

    Parameters
    ----------
    curve : mapping
        ``record["curve"]`` of an `OptionSet`: ``numbers`` and ``steps``.
    chosen : int
    method : str

    Examples
    --------
    >>> import farpoint as fp
    >>> options = fp.discover(fp.four_rooms(), n_options="auto")
    >>> draw_curve(options.record["curve"], len(options)).axes[0].get_xlabel()
    'options'
    """
    if not isinstance(curve, Mapping) or not {"numbers", "steps"} <= curve.keys():
        raise InvalidInput(f"curve must have numbers and steps; got {curve!r:.80}. Pass options.record['curve'].")
    numbers, steps = real_numbers("numbers", curve["numbers"]), real_numbers("steps", curve["steps"])
    if numbers.ndim != 1 or numbers.shape != steps.shape or not numbers.size:
        raise InvalidInput(f"curve must have as many steps as numbers; got {numbers.size} and {steps.size}.")
    chosen = check_integer("chosen", chosen, 0)
    check_word("method", method, METHOD_TITLES)
    figure = new_figure(5, 3.5)
    axes = figure.subplots()
    color = METHOD_COLORS.get(method, "black")
    axes.plot(numbers, steps, marker="o", markersize=3, color=color, linewidth=1.5)
    axes.axvline(chosen, color="black", linewidth=0.8, linestyle=":")
    axes.annotate(f" {chosen}", (chosen, float(steps.max())), fontsize=9, va="top")
    axes.set_yscale("log")
    axes.set_xlabel("options")
    axes.set_ylabel("mean steps between states")
    axes.set_title(METHOD_TITLES.get(method, method), fontsize=10)
    tidy(axes)
    return figure
