"""Figures that show themselves in a notebook."""

from __future__ import annotations

import io

from matplotlib.figure import Figure

_DPI = 110


class InlineFigure(Figure):
    """A figure that a notebook shows where it ends a cell, without a magic line and without pyplot."""

    def _repr_png_(self) -> bytes:
        return png_of(self)


def png_of(figure: Figure, dpi: float = _DPI) -> bytes:
    """Return a figure as the bytes of a PNG file.

    >>> png_of(InlineFigure(figsize=(1, 1)))[1:4]
    b'PNG'
    """
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi)
    return buffer.getvalue()
