"""Objects that draw themselves, although the code that draws them lies in a layer above theirs.

`farpoint.report` imports worlds, options and results, so these cannot import it. They inherit `Drawn`, which names one
module of it as a text and imports that when something is drawn; the module knows a painter for each class.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PAINTERS = "farpoint.report.painters"


class Drawn:
    """Something that has a picture: `draw` for a figure of any size, and a small one beside its facts in a notebook.

    Examples
    --------
    >>> import farpoint as fp
    >>> isinstance(fp.maze(), Drawn), isinstance(fp.score("maze"), Drawn), isinstance(fp.discover("maze"), Drawn)
    (True, True, True)
    """

    def draw(self, **look: Any) -> Figure:
        """Return a picture, shown at once where it ends a cell of a notebook.

        Parameters
        ----------
        **look
            ``ax``, ``figsize``, ``cmap``, ``pos``, ``labels``, ``title``: as in `farpoint.report.draw_score`.

        Examples
        --------
        >>> import farpoint as fp
        >>> figure = fp.maze().draw(figsize=(4, 4))
        >>> figure = fp.discover("maze").draw(cmap="magma")
        """
        figure: Figure = importlib.import_module(_PAINTERS).painted(self, **look)
        return figure

    def _repr_html_(self) -> str:
        text: str = importlib.import_module(_PAINTERS).html_of(self)
        return text
