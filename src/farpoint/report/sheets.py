"""Empty figures, and figures as files.

Figures never touch the global state of pyplot, and matplotlib is imported only when the first of them is made.
"""

from __future__ import annotations

import base64
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from farpoint.errors import InvalidInput, check_path, check_positive, check_word
from farpoint.files import whole_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = ("png", "pdf", "svg")


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of this size in inches, which a notebook shows by itself.

    >>> new_figure(4, 3).get_size_inches()
    array([4., 3.])
    """
    from farpoint.report.inline import InlineFigure

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

    with whole_file(target) as temporary, mpl.rc_context({"svg.hashsalt": "farpoint"}):
        figure.savefig(temporary, dpi=160, metadata=dates.get(ending, {}))
    return target


def inline_image(figure: Figure, *, dpi: float = 110) -> str:
    """Return a figure as an address that holds the whole image, for pages without outside references.

    >>> inline_image(new_figure(1, 1))[:22]
    'data:image/png;base64,'
    """
    from farpoint.report.inline import png_of

    return "data:image/png;base64," + base64.b64encode(png_of(figure, dpi)).decode()
