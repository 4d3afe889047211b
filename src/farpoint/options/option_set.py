"""A set of options on one world."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property, partial
from os import PathLike
from threading import Lock
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from farpoint.errors import InvalidInput
from farpoint.options.option import Option
from farpoint.options.routes import steps_to
from farpoint.worlds import World
from farpoint.worlds.arrays import read_only

# Potentials are kept while they fit here (at least two, at most 256), so that K options never cost K × n_states.
_CACHE_BYTES = 256 * 2**20


def check_same_world(world: World, options: OptionSet | None) -> None:
    """Fail unless the options belong to the world."""
    if options is not None and options.world is not world and options.world.fingerprint != world.fingerprint:
        raise InvalidInput(f"options must belong to this world; got {options!r} and {world!r}.")


class _Potentials:
    """The steps to each goal from everywhere: computed when asked for, kept while they fit."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._room = int(np.clip(_CACHE_BYTES // (8 * world.n_states), 2, 256))
        self._kept: OrderedDict[int, NDArray[np.float64]] = OrderedDict()
        self._lock = Lock()

    def of(self, goal: int) -> NDArray[np.float64] | Callable[[], NDArray[np.float64]]:
        """Return the potential of a goal if it is there, or what makes it."""
        with self._lock:
            if goal in self._kept:
                self._kept.move_to_end(goal)
                return self._kept[goal]
        return partial(self._make, goal)

    def _make(self, goal: int) -> NDArray[np.float64]:
        with self._lock:
            if goal in self._kept:
                return self._kept[goal]
        potential = read_only(steps_to(self._world, goal))
        # Threads that simulate or solve share the set of options.
        with self._lock:
            self._kept[goal] = potential
            while len(self._kept) > self._room:
                self._kept.popitem(last=False)
        return potential


@dataclass(frozen=True, eq=False, repr=False)
class OptionSet(Sequence[Option]):
    """A read-only sequence of options on one world.

    Made by `discover` or `load_options`. The route of an option is computed when it is first used.

    Attributes
    ----------
    world : World
    goals : array of int
        The state that each option leads to; of an option that climbs a function, the highest state of that function.
    method : str
    record : dict
        How the options were found: t, solver, heights and prominences of the goals, seed, …
    starts : array of int, optional
        Of options that start in one state only, that state. Default: every state from which the goal can be reached.
    climbs : array of float, shape (n_options, n_states), optional
        What each option climbs, for options that end at any local maximum instead of a goal.

    Examples
    --------
    >>> import farpoint as fp
    >>> options = fp.discover(fp.four_rooms(), t=4)
    >>> options
    OptionSet(20 diffusion options on four_rooms, t=4)
    >>> options[0].route(options.world.start).size
    13
    """

    world: World
    goals: NDArray[np.int64]
    method: str
    record: dict[str, Any] = field(default_factory=dict)
    starts: NDArray[np.int64] | None = None
    climbs: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "goals", self._read_only_states("goals", self.goals))
        if self.starts is not None:
            object.__setattr__(self, "starts", self._read_only_states("starts", self.starts))
        if self.climbs is not None:
            climbs = np.asarray(self.climbs, dtype=np.float64)
            if climbs.shape != (len(self), self.world.n_states):
                raise InvalidInput(f"climbs must be of shape {(len(self), self.world.n_states)}; got {climbs.shape}.")
            object.__setattr__(self, "climbs", climbs)

    @cached_property
    def _potentials(self) -> _Potentials:
        return _Potentials(self.world)

    def __reduce__(self) -> tuple[Any, ...]:
        return OptionSet, tuple(getattr(self, part.name) for part in fields(self))

    def _read_only_states(self, what: str, states: NDArray[np.int64]) -> NDArray[np.int64]:
        checked = self.world.check_states(what, states)
        if checked.size != len(self):
            raise InvalidInput(f"{what} must have one state an option ({len(self)}); got {checked.size}.")
        checked.setflags(write=False)
        return checked

    def __len__(self) -> int:
        return int(np.size(self.goals))

    @overload
    def __getitem__(self, index: int) -> Option: ...
    @overload
    def __getitem__(self, index: slice) -> OptionSet: ...
    def __getitem__(self, index: int | slice) -> Option | OptionSet:
        if isinstance(index, slice):
            record = {
                name: value[index] if isinstance(value, np.ndarray) else value for name, value in self.record.items()
            }
            starts = None if self.starts is None else self.starts[index]
            climbs = None if self.climbs is None else self.climbs[index]
            return OptionSet(self.world, self.goals[index], self.method, record, starts, climbs)
        if self.climbs is not None:
            return Option(self.world, -self.climbs[index])
        goal = int(self.goals[index])
        only_from = None if self.starts is None else int(self.starts[index])
        return Option(self.world, self._potentials.of(goal), goal, only_from)

    def __iter__(self) -> Iterator[Option]:
        return (self[index] for index in range(len(self)))

    def act(self, option: int, state: Hashable, *, seed: int | np.random.Generator = 0) -> int | None:
        """Return the environment's action that an option takes in a state, or None where it ends: no state is kept.

        Parameters
        ----------
        option : int
        state : hashable
            The key of the state: a discrete observation, or what ``state=`` of `World.from_env` gives.
        seed : int or Generator
            For ties; pass a Generator to draw anew each time.

        Examples
        --------
        >>> import gymnasium as gym, farpoint as fp
        >>> world = fp.World.from_env(gym.make("FrozenLake-v1", is_slippery=False))
        >>> options = fp.discover(world, n_options=1)
        >>> [options.act(0, observation) for observation in world.labels[:4]]
        [2, 2, 2, None]
        """
        number = self.world.state_of(state)
        chances = self[option].policy(number)
        if not chances.any():
            return None
        rng = np.random.default_rng(seed) if isinstance(seed, int) else seed
        assert self.world.actions is not None
        return int(self.world.actions[self.world.choice_ptr[number] + rng.choice(chances.size, p=chances)])

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
        return self.world.to_text(dict.fromkeys(self.goals.tolist(), "*"))

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
        return f"OptionSet({len(self)} {self.method} options on {self.world.name}{time})"
