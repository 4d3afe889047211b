"""Options in continuous spaces without learning: routes on a sampled graph, followed by a local controller."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from farpoint.errors import InvalidInput, check_function
from farpoint.options.option_set import OptionSet
from farpoint.options.protocol import Options
from farpoint.worlds.arrays import real_numbers

# Of (observation, observation of the next state on the route): the action to take.
Controller = Callable[[NDArray[Any], NDArray[Any]], Any]


def direction_controller(displacements: ArrayLike) -> Controller:
    """Return a controller that takes the action whose displacement points best towards the target.

    Parameters
    ----------
    displacements : array, shape (n_actions, n_features)
        What each action adds to an observation where nothing is in the way.

    Examples
    --------
    >>> import numpy as np, farpoint as fp
    >>> control = fp.options.direction_controller([[1.0, 0.0], [0.0, 1.0]])
    >>> control(np.array([0.0, 0.0]), np.array([0.2, 3.0]))
    1
    """
    moves = real_numbers("displacements", displacements)
    if moves.ndim != 2 or not len(moves) or not np.isfinite(moves).all():
        raise InvalidInput(f"displacements must have one row per action; got shape {moves.shape}.")
    lengths = np.linalg.norm(moves, axis=1, keepdims=True)
    return _Directions(np.divide(moves, lengths, out=np.zeros_like(moves), where=lengths > 0))


class _Directions:
    """The controller: a class, so that options can be sent to other processes."""

    def __init__(self, units: NDArray[np.float64]) -> None:
        self._units = units

    def __call__(self, observation: NDArray[Any], target: NDArray[Any]) -> int:
        return int(np.argmax(self._units @ (np.asarray(target, dtype=np.float64) - observation)))


class GraphOption:
    """One option of `GraphOptions`: from wherever the agent is, along the graph to the goal.

    It has no memory: at each step it plans anew from the state nearest to the observation, so that an agent that left
    its route continues from where it is.
    """

    def __init__(self, options: GraphOptions, number: int) -> None:
        self._options = options
        self.number = number
        self.goal: NDArray[np.float64] = options.goals[number]

    def can_start(self, observation: ArrayLike) -> bool:
        """Return whether the option can start here: not at its goal, and where the graph leads there."""
        return bool(self._options.can_start(observation)[self.number])

    def act(self, observation: ArrayLike) -> Any | None:
        """Return the action to take, or None where the option ends."""
        return self._options.act(self.number, observation)

    def ended(self, observation: ArrayLike) -> bool:
        """Return whether the option ends here: at most ``radius`` from its goal, or where no route leads there."""
        return bool(self._options.ended(observation)[self.number])

    def route(self, observation: ArrayLike) -> NDArray[np.int64]:
        """Return the states on the way from the state nearest to an observation to the goal."""
        options = self._options.options
        return options[self.number].route(int(options.world.nearest_states(observation)[0]))


@dataclass(frozen=True, eq=False, repr=False)
class GraphOptions(Options[GraphOption]):
    """Options to the goals of an `OptionSet` on a sampled world, for an agent in the continuous space itself.

    The routes are those of the `OptionSet`; the controller brings the agent from one state of a route to the next.

    Parameters
    ----------
    options : OptionSet
        On a world whose states have observations, as `World.from_samples` makes them.
    controller : function of (observation, target observation)
        Gives the action that brings an agent from one to the other when they are near, such as
        `direction_controller`.
    radius : float
        How near to the goal's observation an option ends.

    Examples
    --------
    >>> import numpy as np, farpoint as fp
    >>> from dataclasses import replace
    >>> env = fp.ContinuousMaze("S....", noise=0.0)
    >>> corridor = fp.World.from_map(".....")
    >>> corridor = replace(corridor, observations=corridor.positions[:, ::-1] + 0.5)
    >>> control = fp.options.direction_controller(env.displacements)
    >>> options = fp.GraphOptions(fp.OptionSet(corridor, [4]), control, radius=0.3)
    >>> options[0].route([0.5, 0.5])
    array([0, 1, 2, 3, 4])
    >>> options[0].act([0.5, 0.5]), options[0].act([4.4, 0.5])
    (0, None)
    """

    options: OptionSet
    controller: Controller
    radius: float

    def __post_init__(self) -> None:
        if not isinstance(self.options, OptionSet) or self.options.world.observations is None:
            raise InvalidInput(
                f"options must be an OptionSet on a world with observations; got {self.options!r}. Discover them in "
                "World.from_samples."
            )
        if self.options.climbs is not None or self.options.initiation is not None:
            raise InvalidInput(f"options must lead to goals from everywhere; got {self.options!r}.")
        check_function("controller", self.controller)
        if isinstance(self.radius, bool) or not isinstance(self.radius, Real) or not 0 <= self.radius < np.inf:
            raise InvalidInput(f"radius must be a finite number of at least 0; got {self.radius!r}.")

    @cached_property
    def goals(self) -> NDArray[np.float64]:
        """The observation of each goal, one row per option."""
        assert self.options.world.observations is not None
        return np.asarray(self.options.world.observations[self.options.goals])

    def __len__(self) -> int:
        return len(self.options)

    def option(self, number: int) -> GraphOption:
        """Return one option."""
        return GraphOption(self, self.check_number(number))

    def subset(self, numbers: range) -> GraphOptions:
        """Return some of the options."""
        return GraphOptions(self.options.subset(numbers), self.controller, self.radius)

    def _place(self, observation: ArrayLike) -> NDArray[np.float64]:
        here = real_numbers("observation", observation).ravel()
        if here.size != self.goals.shape[1]:
            raise InvalidInput(f"observation must have {self.goals.shape[1]} numbers; got {here.size}.")
        return here

    def _at_goal(self, here: NDArray[np.float64]) -> NDArray[np.bool_]:
        return np.asarray(np.linalg.norm(self.goals - here, axis=1) <= self.radius)

    def can_start(self, observation: ArrayLike) -> NDArray[np.bool_]:
        """Return which options can start here: not at their goals, and where the graph leads there."""
        return ~self.ended(observation)

    def ended(self, observation: ArrayLike) -> NDArray[np.bool_]:
        """Return which options end here: at their goals, or where no route leads there."""
        here = self._place(observation)
        state = int(self.options.world.nearest_states(here)[0])
        return self._at_goal(here) | ~self.options.table.initiation(state)

    def reached(self, number: int, observation: ArrayLike) -> bool:
        """Return whether the goal of an option is at most ``radius`` away."""
        return bool(self._at_goal(self._place(observation))[self.check_number(number)])

    def act(self, number: int, observation: ArrayLike, rng: np.random.Generator | None = None) -> Any | None:
        """Return the action to take, or None where the option ends."""
        here, number = self._place(observation), self.check_number(number)
        away = here - self.goals[number]
        world = self.options.world
        state = int(world.nearest_states(here)[0])
        if away @ away <= self.radius**2 or not self.options.table.initiation(state)[number]:
            return None
        assert world.observations is not None
        return self.controller(here, world.observations[self._next_state(number, state)])

    def _next_state(self, number: int, state: int) -> int:
        """Return the next state of a route: going to the nearest one itself would be a way back as often as not."""
        choices = np.array(self.options.world.choices(state), dtype=np.int64)
        taken = self.options.table.taken(choices)[number]
        if not taken.any():
            return state
        matrix = self.options.world.transitions
        choice = choices[int(taken.argmax())]
        entries = slice(matrix.indptr[choice], matrix.indptr[choice + 1])
        return int(matrix.indices[entries][matrix.data[entries].argmax()])

    def __repr__(self) -> str:
        return f"GraphOptions({len(self)} goals, {self.options.world.n_states} states, radius={self.radius:g})"
