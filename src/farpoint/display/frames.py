"""Results as tables of pandas and arrays of xarray."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from farpoint.errors import MissingExtra

if TYPE_CHECKING:
    import pandas
    import xarray


class Framed:
    """Something that is a table of numbers. A class says what its columns are; see `columns`.

    Examples
    --------
    >>> import farpoint as fp
    >>> isinstance(fp.maze(), Framed), isinstance(fp.cover_time("maze", n_runs=2), Framed)
    (True, True)
    """

    def columns(self) -> dict[str, Any]:
        """Return the table as one array per column, all equally long; numbers wherever they are numbers.

        Examples
        --------
        >>> import farpoint as fp
        >>> world = fp.open_room(5, 9)
        >>> fp.find_goals(world, fp.score(world)).columns()["state"]
        array([ 0,  8, 36, 44])
        """
        raise NotImplementedError

    def to_frame(self) -> pandas.DataFrame:
        """Return the table as a DataFrame (``pip install 'farpoint[data]'``).

        Raises
        ------
        MissingExtra
            If pandas is not installed.

        Examples
        --------
        >>> import farpoint as fp
        >>> fp.discover("maze", n_options=2).to_frame()[["goal", "row", "column"]]
           goal  row  column
        0     0    1       1
        1   100   10      10
        """
        frame: pandas.DataFrame = _library("pandas").DataFrame(self.columns())
        return frame


def data_array(values: Any, dimensions: tuple[str, ...], coordinates: Mapping[str, Any], name: str) -> xarray.DataArray:
    """Return an array with named dimensions; fail with how to install xarray where it is missing."""
    array: xarray.DataArray = _library("xarray").DataArray(values, dict(coordinates), dimensions, name=name)
    return array


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingExtra(f"{name} must be installed for this table. Run: pip install 'farpoint[data]'") from error
