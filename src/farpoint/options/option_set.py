"""A set of options on the states of one world."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, fields
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.diffusion import Goals
from farpoint.display import Plottable, Tabular
from farpoint.errors import InvalidFile, InvalidInput, check_fraction, check_generator, check_integer
from farpoint.files import read_arrays, write_arrays
from farpoint.options.option import Option
from farpoint.options.probability import usual_option_probability
from farpoint.options.protocol import Options
from farpoint.options.routes import Potentials
from farpoint.simulation.tables import OptionTable
from farpoint.worlds import World, WorldLike, as_world
from farpoint.worlds.arrays import owned, read_only, real_numbers
from farpoint.worlds.environments import simulator_state
from farpoint.worlds.state_index import state_key
from farpoint.worlds.world import state_columns

_KIND = "farpoint-options"
_OPTIONAL = ("initiation", "climbs", "regions")
_OF_MAXIMA = ("heights", "prominences")
_MOST_BYTES = 4 * 2**30


def _of_some(value: Any, chosen: NDArray[np.int64], n_options: int) -> Any:
    """Return what a value of the record is for some of the options; one without an entry per option stays whole."""
    if isinstance(value, Goals):
        return value.where(chosen)
    return value[chosen] if isinstance(value, np.ndarray) and value.shape[:1] == (n_options,) else value


def check_same_world(world: World, options: OptionSet | None) -> None:
    """Fail unless the options belong to the world."""
    if options is not None and not isinstance(options, OptionSet):
        raise InvalidInput(
            f"options must be an OptionSet or None; got {options!r}. Make them with farpoint.discover(world)."
        )
    if options is not None and options.world is not world and options.world.fingerprint != world.fingerprint:
        raise InvalidInput(f"options must belong to this world; got {options!r} and {world!r}.")


@dataclass(frozen=True, eq=False, repr=False)
class OptionSet(Plottable, Tabular, Options[Option]):
    """A read-only sequence of options on one world; a slice is an `OptionSet` too.

    Made by `discover` or `OptionSet.load`, or from goals of your own. The routes of an option are computed when it is
    first used. The methods that take an observation take the label of a state (its number in worlds without labels).

    Attributes
    ----------
    world : World
    goals : array of int
        The state that each option leads to; of an option that climbs a function, the highest state of that function.
    method : str
    record : dict
        How the options were found: t, solver, the local maxima with their heights and prominences, seed, …
    initiation : array of int, optional
        Of options that start in one state only, that state. Default: every state from which the goal can be reached.
    climbs : array of float, shape (n_options, n_states), optional
        What each option climbs, for options that end at any local maximum instead of a goal.
    regions : array of bool, shape (n_options, n_states), optional
        Of options that start in some states only, those states.

    Examples
    --------
    >>> import farpoint as fp
    >>> options = fp.discover(fp.four_rooms(), t=4)
    >>> options
    OptionSet(20 diffusion options on four_rooms, t=4)
    >>> options[0].route(options.world.start).size
    13
    >>> fp.OptionSet(fp.grid((5,)), [0, 4])[1].route(2)
    array([2, 3, 4])
    """

    world: World
    goals: NDArray[np.int64]
    method: str = "custom"
    record: dict[str, Any] = field(default_factory=dict)
    initiation: NDArray[np.int64] | None = None
    climbs: NDArray[np.float64] | None = None
    regions: NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.world, World):
            object.__setattr__(self, "world", as_world(self.world))
        if not isinstance(self.method, str):
            raise InvalidInput(f"method must be a name; got {type(self.method).__name__}.")
        if not isinstance(self.record, dict):
            raise InvalidInput(f"record must be a dict; got {self.record!r}.")
        object.__setattr__(self, "goals", self._read_only_states("goals", self.goals))
        if self.initiation is not None:
            object.__setattr__(self, "initiation", self._read_only_states("initiation", self.initiation))
        if self.climbs is not None:
            climbs = read_only(real_numbers("climbs", self.climbs))
            if not np.isfinite(climbs).all():
                raise InvalidInput(f"climbs must be finite; got {(~np.isfinite(climbs)).sum()} entries that are not.")
            if climbs.shape != (len(self), self.world.n_states):
                raise InvalidInput(f"climbs must be of shape {(len(self), self.world.n_states)}; got {climbs.shape}.")
            object.__setattr__(self, "climbs", climbs)
        if self.regions is not None:
            if not isinstance(self.regions, np.ndarray) or self.regions.dtype != bool or self.regions.ndim != 2:
                raise InvalidInput(f"regions must be an array of True and False; got {self.regions!r}.")
            if self.regions.shape != (len(self), self.world.n_states):
                raise InvalidInput(
                    f"regions must be of shape {(len(self), self.world.n_states)}; got {self.regions.shape}."
                )
            object.__setattr__(self, "regions", read_only(owned(self.regions)))

    @cached_property
    def _potentials(self) -> Potentials:
        return Potentials(self.world)

    @cached_property
    def table(self) -> OptionTable:
        """All options as the flat arrays that compiled simulations read: one bit per option and choice."""
        world, n_bytes = self.world, (self.world.n_choices + 7) // 8
        if len(self) * n_bytes > _MOST_BYTES:
            raise InvalidInput(
                f"options × choices must fit in {_MOST_BYTES >> 30} GiB of bits to be simulated; got {len(self)} × "
                f"{world.n_choices}. Ask for fewer options."
            )
        best = np.empty((len(self), n_bytes), dtype=np.uint8)
        # States in which the same options can start are one group; each option in turn splits the groups so far.
        group = np.zeros(world.n_states, dtype=np.int32)
        members: list[list[int]] = [[]]
        for k, option in enumerate(self):
            best[k] = np.packbits(option.choice_probabilities() > 0, bitorder="little")
            kept, numbers = np.unique(2 * group + option.initiation, return_inverse=True)
            group = numbers.astype(np.int32)
            members = [members[number // 2] + [k] * int(number % 2) for number in kept]
        return OptionTable(
            # A copy: compiled functions take arrays that can be written as another type.
            np.array(self.goals),
            group,
            np.cumsum([0, *map(len, members)]),
            np.array([k for group_members in members for k in group_members], dtype=np.int64),
            best,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return OptionSet, tuple(getattr(self, item.name) for item in fields(self))

    def _read_only_states(self, what: str, states: Any) -> NDArray[np.int64]:
        checked = self.world.check_states(what, states)
        if what != "goals" and checked.size != len(self):
            raise InvalidInput(f"{what} must have one state per option ({len(self)}); got {checked.size}.")
        return read_only(checked)

    def __len__(self) -> int:
        return int(np.size(self.goals))

    def option(self, number: int) -> Option:
        """Return one option."""
        number = self.check_number(number)
        only_in = None if self.regions is None else self.regions[number]
        if self.climbs is not None:
            return Option(self.world, -self.climbs[number], only_in=only_in)
        goal = int(self.goals[number])
        only_from = None if self.initiation is None else int(self.initiation[number])
        return Option(self.world, self._potentials.of(goal), goal, only_from, only_in)

    def subset(self, numbers: range) -> OptionSet:
        """Return some of the options."""
        chosen = self.check_numbers(numbers)
        record = {
            name: _of_some(value, chosen, len(self))
            for name, value in self.record.items()
            # The best probability of all of them is not that of some.
            if name != "option_probability" or chosen.size == len(self)
        }
        initiation = None if self.initiation is None else self.initiation[chosen]
        climbs = None if self.climbs is None else self.climbs[chosen]
        regions = None if self.regions is None else self.regions[chosen]
        return OptionSet(self.world, self.goals[chosen], self.method, record, initiation, climbs, regions)

    @cached_property
    def option_probability(self) -> float:
        """How often a random decision should be one of these options: the less, the more there is around their goals.

        1 / (1 + 2 d²), with d² the mean squared number of moves from a state to the nearest goal, at most the paper's
        ½; in a world with episodes of at most T steps at least 2 / T. `best_option_probability` finds the best one. Of
        ``"farpoint"`` options, the one that they were chosen with.

        Examples
        --------
        >>> import farpoint as fp
        >>> world = fp.maze()
        >>> [round(fp.discover(world, n_options=n).option_probability, 3) for n in (2, 6, 16)]
        [0.002, 0.01, 0.069]
        """
        given = self.record.get("option_probability")
        if given is not None:
            return check_fraction("option_probability of the record", given)
        return usual_option_probability(self.world, self.goals)

    def observe(self, env: Any, observation: Any) -> Hashable:
        """Return what identifies the state that an environment is in, as the labels of the world do.

        The key of the observation or, in worlds whose labels were read from the simulator (``world.keyed_by``), that of
        the simulator's state; where observations are continuous, the label of the nearest state.
        """
        if self.world.observations is not None:
            state = self.world.find_state(observation)
            return state if state is None or self.world.labels is None else self.world.labels[state]
        return state_key(observation) if self.world.keyed_by == "observation" else simulator_state(env, observation)

    def _choices(self, state: int) -> NDArray[np.int64]:
        return np.arange(self.world.choice_ptr[state], self.world.choice_ptr[state + 1], dtype=np.int64)

    def _goes_on(self, state: int) -> NDArray[np.bool_]:
        """Return which options take some choice of a state; the others end there."""
        return np.asarray(self.table.taken(self._choices(state)).any(axis=1))

    def can_start(self, observation: Any) -> NDArray[np.bool_]:
        """Return which options can start here and do something; none in a state that the world does not have.

        Examples
        --------
        >>> import farpoint as fp
        >>> fp.discover(fp.open_room(3, 4)).can_start(0)
        array([False,  True,  True,  True])
        """
        state = self.world.find_state(observation)
        if state is None:
            return np.zeros(len(self), dtype=bool)
        return self.table.initiation(state) & self._goes_on(state)

    def ended(self, observation: Any) -> NDArray[np.bool_]:
        """Return which options end here; all of them in a state that the world does not have."""
        state = self.world.find_state(observation)
        if state is None:
            return np.ones(len(self), dtype=bool)
        return ~self._goes_on(state)

    def act(self, number: int, observation: Any, rng: np.random.Generator | None = None) -> int | None:
        """Return the environment's action that an option takes here, or None where it ends; see `Option.act`."""
        check_generator(rng)
        state = self.world.find_state(observation)
        if state is None:
            return None
        choices = self._choices(state)
        best = choices[(self.table.best[self.check_number(number), choices >> 3] >> (choices & 7)) & 1 > 0]
        if best.size == 0:
            return None
        assert self.world.actions is not None
        return int(self.world.actions[best[0] if rng is None or best.size == 1 else best[rng.integers(best.size)]])

    def reached(self, number: int, observation: Any) -> bool:
        """Return whether an option has reached its goal here, or the top of what it climbs."""
        number, state = self.check_number(number), self.world.find_state(observation)
        if state is None:
            return False
        if self.climbs is not None:
            return not self._goes_on(state)[number]
        return state == int(self.goals[number])

    def takes(self, observation: Any, action: int) -> NDArray[np.bool_]:
        """Return which options could take this action of the environment here."""
        action = check_integer("action", action)
        state = self.world.find_state(observation)
        if state is None:
            return np.zeros(len(self), dtype=bool)
        assert self.world.actions is not None
        choices = self._choices(state)
        return np.asarray(self.table.taken(choices[self.world.actions[choices] == action]).any(axis=1))

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

    def columns(self) -> dict[str, Any]:
        """Return one row per option: its number, its goal and where that is, and what the record says of each."""
        where = state_columns(self.world, self.goals)
        maxima = self.record.get("maxima")
        each = {} if maxima is None else {name: getattr(maxima, name) for name in _OF_MAXIMA}
        each |= {name: value for name, value in self.record.items() if np.shape(value) == (len(self),)}
        return {"option": np.arange(len(self)), "goal": where.pop("state"), **where, **each}

    def save(self, path: str | PathLike[str]) -> None:
        """Write the options to one ``.npz`` file, without pickle; read it with `OptionSet.load`.

        A name without an ending has ``.npz`` added, here and in `load`.

        Examples
        --------
        >>> import tempfile, os, farpoint as fp
        >>> world = fp.ring()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "ring.npz")
        ...     fp.discover(world).save(path)
        ...     fp.OptionSet.load(path, world)
        OptionSet(32 diffusion options on ring, t=4)
        """
        arrays: dict[str, Any] = {"goals": self.goals}
        arrays |= {name: value for name in _OPTIONAL if (value := getattr(self, name)) is not None}
        arrays |= {f"record.{name}": value for name, value in self.record.items() if isinstance(value, np.ndarray)}
        if isinstance(maxima := self.record.get("maxima"), Goals):
            arrays |= {f"maxima.{name}": getattr(maxima, name) for name in _OF_MAXIMA}
        facts = {
            "method": self.method,
            "world": self.world.name,
            "n_states": self.world.n_states,
            "fingerprint": self.world.fingerprint,
            "record": {
                name: value for name, value in self.record.items() if not isinstance(value, (np.ndarray, Goals))
            },
        }
        write_arrays(path, _KIND, facts, arrays)

    @classmethod
    def load(cls, path: str | PathLike[str], world: WorldLike) -> OptionSet:
        """Return the options that `save` wrote, on the same world.

        Raises
        ------
        InvalidFile
            If the file is missing, damaged, not a file of options, of another version, or of another world.

        Examples
        --------
        >>> import tempfile, os, farpoint as fp
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "rooms.npz")
        ...     fp.discover(fp.four_rooms(), n_options=5).save(path)
        ...     fp.OptionSet.load(path, fp.maze())
        Traceback (most recent call last):
        farpoint.errors.InvalidFile: ... must hold options of this world (maze, 148 states); got options of four_...
        """
        world = as_world(world)
        facts, arrays = read_arrays(path, _KIND)
        if facts.get("fingerprint") != world.fingerprint:
            raise InvalidFile(
                f"{path} must hold options of this world ({world.name}, {world.n_states} states); got options of "
                f"{facts.get('world')} ({facts.get('n_states')} states). Load them with the world they were found in."
            )
        try:
            record = dict(facts["record"])
            record |= {
                name.removeprefix("record."): array for name, array in arrays.items() if name.startswith("record.")
            }
            if "maxima.heights" in arrays:
                heights, prominences = (arrays[f"maxima.{name}"] for name in _OF_MAXIMA)
                record["maxima"] = Goals(arrays["goals"], heights, prominences, world)
            return cls(world, arrays["goals"], str(facts["method"]), record, *map(arrays.get, _OPTIONAL))
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidFile(f"{path} must hold the options whole; it is damaged ({error}).") from error

    def __repr__(self) -> str:
        time = f", t={self.record['t']:g}" if "t" in self.record else ""
        options = "option" if len(self) == 1 else "options"
        return f"OptionSet({len(self)} {self.method} {options} on {self.world.name}{time})"


def option_table(world: World, options: OptionSet | None) -> OptionTable:
    """Return the options of a world as flat arrays; None is an empty set."""
    return (OptionSet(world, np.empty(0, dtype=np.int64)) if options is None else options).table
