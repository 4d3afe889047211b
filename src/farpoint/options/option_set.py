"""A set of options on one world."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from os import PathLike
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from farpoint.domain import Domain
from farpoint.options.option import Option
from farpoint.options.routes import steps_to

# Potentials are kept while they fit here (at least two, at most 256), so that K options never cost K × n_states.
_CACHE_BYTES = 256 * 2**20


@dataclass(frozen=True, eq=False, repr=False)
class OptionSet(Sequence[Option]):
    """A read-only sequence of options on one world.

    Made by `discover` or `load_options`. The route of an option is computed when it is first used.

    Attributes
    ----------
    domain : Domain
    goals : array of int
        The state that each option leads to.
    method : str
    record : dict
        How the options were found: t, solver, heights and prominences of the goals, seed, …

    Examples
    --------
    >>> import farpoint as fp
    >>> options = fp.discover(fp.four_rooms(), t=4)
    >>> options
    OptionSet(20 diffusion options on four_rooms, t=4)
    >>> options[0].route(options.domain.start).size
    13
    """

    domain: Domain
    goals: NDArray[np.int64]
    method: str
    record: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        goals = self.domain.check_states("goals", self.goals)
        goals.setflags(write=False)
        object.__setattr__(self, "goals", goals)
        room = int(np.clip(_CACHE_BYTES // (8 * self.domain.n_states), 2, 256))
        object.__setattr__(self, "_potential", lru_cache(maxsize=room)(partial(steps_to, self.domain)))

    def __len__(self) -> int:
        return int(self.goals.size)

    @overload
    def __getitem__(self, index: int) -> Option: ...
    @overload
    def __getitem__(self, index: slice) -> OptionSet: ...
    def __getitem__(self, index: int | slice) -> Option | OptionSet:
        if isinstance(index, slice):
            record = {
                name: value[index] if isinstance(value, np.ndarray) else value for name, value in self.record.items()
            }
            return OptionSet(self.domain, self.goals[index], self.method, record)
        goal = int(self.goals[index])
        return Option(self.domain, self._potential(goal), goal)  # type: ignore[attr-defined]

    def __iter__(self) -> Iterator[Option]:
        return (self[index] for index in range(len(self)))

    def to_text(self) -> str:
        """Return the map of the world with the goals marked ``*``.

        Examples
        --------
        >>> import farpoint as fp
        >>> print(fp.discover(fp.open_room(3, 4)).to_text())
        ######
        #*..*#
        #....#
        #*..*#
        ######
        """
        return self.domain.to_text(dict.fromkeys(self.goals.tolist(), "*"))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the options to one ``.npz`` file, without pickle; see `load_options`.

        Examples
        --------
        >>> import tempfile, os, farpoint as fp
        >>> world = fp.ring()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "ring.npz")
        ...     fp.discover(world).save(path)
        ...     fp.load_options(path, world)
        OptionSet(32 diffusion options on ring, t=4)
        """
        from farpoint.options.storage import save_options

        save_options(self, path)

    def __repr__(self) -> str:
        time = f", t={self.record['t']:g}" if "t" in self.record else ""
        return f"OptionSet({len(self)} {self.method} options on {self.domain.name}{time})"
