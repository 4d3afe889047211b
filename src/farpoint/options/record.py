"""How options were found: a dict of facts, some of which are computed when they are first read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any


class Later:
    """A value that is computed when it is first read."""

    def __init__(self, compute: Callable[[], Any]) -> None:
        self.compute = compute


class Record(dict[str, Any]):
    """A dict in which a `Later` is computed when it is first read, in whatever way.

    Examples
    --------
    >>> record = Record(t=4.0, prominences=Later(lambda: [1, 2]))
    >>> record["prominences"]
    [1, 2]
    """

    def __getitem__(self, name: str) -> Any:
        value = super().__getitem__(name)
        if isinstance(value, Later):
            value = value.compute()
            self[name] = value
        return value

    # A class that has this has its items read one by one by dict(record) and {**record}, not copied as they are.
    def __iter__(self) -> Iterator[str]:
        return super().__iter__()

    def get(self, name: str, default: Any = None) -> Any:
        """Return the value of a name, or the default."""
        try:
            return self[name]
        except KeyError:
            return default

    def items(self) -> Any:
        """Return all names with their values."""
        return self._whole().items()

    def values(self) -> Any:
        """Return all values."""
        return self._whole().values()

    def copy(self) -> dict[str, Any]:
        """Return a plain dict."""
        return self._whole()

    def _whole(self) -> dict[str, Any]:
        return {name: self[name] for name in self}

    def __or__(self, other: Any) -> Any:
        return self._whole() | other

    def __eq__(self, other: object) -> bool:
        return self._whole() == other

    __hash__ = None

    def __repr__(self) -> str:
        return repr(self._whole())

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (self._whole(),)
