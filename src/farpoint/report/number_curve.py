"""The picture of mean steps over the number of options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from farpoint.report.curves import tidy
from farpoint.report.names import METHOD_COLORS, METHOD_TITLES
from farpoint.report.sheets import new_figure

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
    figure = new_figure(5, 3.5)
    axes = figure.subplots()
    color = METHOD_COLORS.get(method, "black")
    axes.plot(curve["numbers"], curve["steps"], marker="o", markersize=3, color=color, linewidth=1.5)
    axes.axvline(chosen, color="black", linewidth=0.8, linestyle=":")
    axes.annotate(f" {chosen}", (chosen, max(curve["steps"])), fontsize=9, va="top")
    axes.set_yscale("log")
    axes.set_xlabel("options")
    axes.set_ylabel("mean steps between states")
    axes.set_title(METHOD_TITLES.get(method, method), fontsize=10)
    tidy(axes)
    return figure
