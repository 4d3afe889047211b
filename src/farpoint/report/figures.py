"""Empty figures, figures as files, and the titles and colors that are the same in every table and figure.

Figures never touch the global state of pyplot, and matplotlib is imported only when the first of them is made.
"""

from __future__ import annotations

import base64
import io
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from farpoint.errors import InvalidInput, check_path, check_positive, check_word
from farpoint.files import atomic_write

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

FORMATS = ("png", "pdf", "svg")
_DPI = 110
# Of one number per state.
COLOR_MAP = "viridis"
GOAL, START, TARGET = "#d55e00", "#009e73", "#cc79a7"
# Of what has no other color: a histogram, the one curve of a figure.
LINE = "#0072b2"
# Title, color and line of each method. Colors are the palette of Okabe and Ito, which people with any color vision can
# tell apart, and a few more.
_METHODS: dict[str, tuple[str, str, Any]] = {
    "diffusion": ("diffusion options", "#0072b2", "-"),
    "farpoint": ("farpoint options", "#000000", "-"),
    "average": ("average options", "#a6761d", (0, (3, 1))),
    "eigen": ("eigenoptions", "#d55e00", "--"),
    "cover": ("cover options", "#cc79a7", "-."),
    "neo": ("NEO", "#332288", (0, (8, 2))),
    "betweenness": ("betweenness options", "#56b4e9", (0, (4, 2))),
    "bottleneck": ("bottleneck options", "#f0e442", (0, (6, 1, 1, 1))),
    "louvain": ("Louvain skills", "#8c564b", (0, (2, 1))),
    "successor": ("successor options", "#999933", (0, (5, 2, 1, 2))),
    "visits": ("often visited states", "#882255", (0, (1, 2))),
    "random": ("random options", "#009e73", ":"),
    "novelty": ("least known states", "#e69f00", (0, (5, 1))),
    "tried": ("primitive actions, least tried first", "#404040", (0, (1, 1))),
    "none": ("primitive actions", "#7f7f7f", (0, (3, 1, 1, 1))),
}
METHOD_TITLES = {name: title for name, (title, _, _) in _METHODS.items()}
METHOD_COLORS = {name: color for name, (_, color, _) in _METHODS.items()}
METHOD_LINES = {name: line for name, (_, _, line) in _METHODS.items()}
WORLD_TITLES = {"ring": "Ring", "maze": "Maze", "four_rooms": "4Rooms", "open_room": "open room", "t_shape": "T"}
WORLD_COLORS = {"ring": "#0072b2", "maze": "#d55e00", "four_rooms": "#009e73"}


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of this size in inches, which a notebook shows by itself.

    >>> new_figure(4, 3).get_size_inches()
    array([4., 3.])
    """
    from farpoint.report.notebook import InlineFigure

    size = check_positive("width", width), check_positive("height", height)
    return InlineFigure(figsize=size, layout="constrained")


def save_figure(figure: Figure, path: str | PathLike[str]) -> Path:
    """Write a figure as PNG, PDF or SVG, by the ending of ``path``, and return the path.

    The same figure always gives the same file.

    Raises
    ------
    UnknownName
        If the ending is another one.
    OutputError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile, farpoint as fp
    >>> from farpoint.report import draw_stationary, save_figure
    >>> world = fp.ring()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_figure(draw_stationary(world, fp.stationary(world)), f"{folder}/ring.svg").name
    'ring.svg'
    """
    target = check_path("path", path)
    if not callable(getattr(figure, "savefig", None)):
        raise InvalidInput(f"figure must be a figure of matplotlib; got {figure!r}.")
    ending = check_word("picture format", target.suffix.lstrip(".").lower(), FORMATS)
    # No date and a fixed salt, so that the file depends on the figure only.
    dates: dict[str, dict[str, Any]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    import matplotlib as mpl

    with atomic_write(target) as temporary, mpl.rc_context({"svg.hashsalt": "farpoint"}):
        figure.savefig(temporary, dpi=160, metadata=dates.get(ending, {}))
    return target


def png_of(figure: Figure, dpi: float = _DPI) -> bytes:
    """Return a figure as the bytes of a PNG file.

    >>> png_of(new_figure(1, 1))[1:4]
    b'PNG'
    """
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi)
    return buffer.getvalue()


def inline_image(figure: Figure, *, dpi: float = _DPI) -> str:
    """Return a figure as an address that holds the whole image, for pages without outside references.

    >>> inline_image(new_figure(1, 1))[:22]
    'data:image/png;base64,'
    """
    return "data:image/png;base64," + base64.b64encode(png_of(figure, dpi)).decode()


def axes_for(ax: Any, figsize: Any, size: tuple[float, float], n_axes: int = 1) -> list[Axes]:
    """Return the axes that were given, or a row of new ones on a figure of ``figsize``, by default ``size``, in inches.

    >>> [axes.get_figure().get_size_inches().tolist() for axes in axes_for(None, None, (4, 3), 2)]
    [[4.0, 3.0], [4.0, 3.0]]
    """
    if ax is None:
        return list(np.atleast_1d(np.asarray(new_figure(*check_size(figsize, size)).subplots(1, n_axes))))
    axes = list(np.ravel(np.asarray(ax, dtype=object)))
    for one in axes:
        if not (callable(getattr(one, "imshow", None)) and callable(getattr(one, "get_figure", None))):
            raise InvalidInput(f"ax must be axes of matplotlib; got {one!r}. Make them with figure.subplots().")
    if len(axes) != n_axes:
        raise InvalidInput(f"ax must have {n_axes} pairs of axes here; got {len(axes)}.")
    if figsize is not None:
        raise InvalidInput(f"figsize must go without ax, whose figure has its size; got {figsize!r}.")
    return axes


def check_size(figsize: Any, default: tuple[float, float]) -> tuple[float, float]:
    """Return the width and height of a figure, in inches."""
    if figsize is None:
        return default
    try:
        width, height = figsize
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"figsize must be width and height in inches; got {figsize!r}.") from error
    return check_positive("figsize", width), check_positive("figsize", height)


def figure_of(axes: Axes) -> Figure:
    """Return the figure that axes belong to, also those of a part of it."""
    # Of a part of a figure, too, this is the whole one; get_figure(root=True) is new in Matplotlib 3.10.
    return axes.figure.figure


def color_map(cmap: Any) -> Colormap:
    """Return a color map of matplotlib by its name or as it is; the default for None."""
    import matplotlib as mpl
    from matplotlib.colors import Colormap

    found = COLOR_MAP if cmap is None else cmap
    if isinstance(found, Colormap):
        return found
    if not isinstance(found, str) or found not in mpl.colormaps:
        raise InvalidInput(f"cmap must be a color map of matplotlib or its name; got {cmap!r}. Try 'viridis'.")
    return mpl.colormaps[found]
