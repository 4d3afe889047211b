"""Arrays that cannot be changed."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a view that cannot be written; the array itself stays as it is."""
    view = array.view()
    view.setflags(write=False)
    return view
