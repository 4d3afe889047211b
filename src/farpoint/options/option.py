"""One option on the states of a world: where it can start, what it does, where it ends.

Every option here goes down a *potential*, one number per state: it takes, uniformly among those that are equally good,
the choices with the least expected potential, and it ends where no choice leads lower. For an option that leads to a
goal the potential is the expected length of the route to that goal.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.errors import InvalidInput, check_generator, check_integer
from farpoint.options.map_routes import map_route
from farpoint.options.routes import choice_costs, least_over_choices, moves_up_to
from farpoint.worlds import WorldLike, as_world
from farpoint.worlds.arrays import real_numbers
from farpoint.worlds.world import numbered_name

# Differences smaller than this share of the largest potential are rounding: of the linear solver for expected lengths,
# of the eigensolver for what is climbed. A corridor of 10⁵ states has eigenvectors whose last steps are 10⁻⁹ of the
# largest entry.
_LENGTH_TOLERANCE = 1e-11
_CLIMB_TOLERANCE = 1e-12


def check_mask(what: str, mask: Any, n_states: int) -> NDArray[np.bool_]:
    """Return a mask over states if it is one True or False per state.

    >>> check_mask("only_in", np.array([True, False]), 2)
    array([ True, False])
    """
    array = np.asarray(mask) if isinstance(mask, (np.ndarray, list, tuple)) else None
    if array is None or array.dtype != bool or array.shape != (n_states,):
        raise InvalidInput(f"{what} must be one True or False per state ({n_states}); got {mask!r}.")
    return array


class Option:
    """An option in the sense of Sutton, Precup and Singh: initiation set, policy, termination.

    Get one from an `OptionSet`: ``options[0]``. ``can_start``, ``act`` and ``ended`` take an observation, which is the
    label of a state (its number in worlds without labels); the other methods take the number of a state.

    Attributes
    ----------
    world : World
    potential : array of float, shape (n_states,)
        What the policy goes down; inf where the option cannot start. Computed when first asked for.
    goal : int or None
        The state that it leads to, if it leads to one.
    initiation : array of bool, shape (n_states,)
        Where it can start.
    ends : array of bool, shape (n_states,)
        Where it ends.

    Examples
    --------
    >>> import farpoint as fp
    >>> option = fp.discover(fp.open_room(3, 4))[0]
    >>> option
    Option(to state 0, starts in 12 states)
    >>> option.route(11, seed=1)
    array([11, 10,  9,  5,  4,  0])
    >>> option.ended(0), option.ended(5)
    (True, False)
    """

    def __init__(
        self,
        world: WorldLike,
        potential: NDArray[np.float64] | Callable[[], NDArray[np.float64]],
        goal: int | None = None,
        only_from: int | None = None,
        only_in: NDArray[np.bool_] | None = None,
    ) -> None:
        self.world = as_world(world)
        last = self.world.n_states - 1
        self.goal = None if goal is None else check_integer("goal", goal, 0, last)
        self._only_from = None if only_from is None else check_integer("only_from", only_from, 0, last)
        self._only_in = None if only_in is None else check_mask("only_in", only_in, last + 1)
        if not callable(potential):
            potential = real_numbers("potential", potential)
            if potential.shape != (last + 1,) or np.isnan(potential).any():
                raise InvalidInput(
                    f"potential must be one number per state ({last + 1}); got shape {potential.shape}, or NaN."
                )
        self._make_potential = potential if callable(potential) else lambda: potential
        # Whether the potential of the whole world is to be had without a search.
        self._known = not callable(potential)

    def __reduce__(self) -> tuple[Any, ...]:
        return Option, (self.world, self.potential, self.goal, self._only_from, self._only_in)

    @cached_property
    def potential(self) -> NDArray[np.float64]:
        """What the policy goes down: for an option to a goal, the expected length of the route."""
        self._known = True
        return self._make_potential()

    @cached_property
    def initiation(self) -> NDArray[np.bool_]:
        """Where the option can start; it ends at once where it also ends."""
        if self._only_from is not None:
            return np.asarray(np.arange(self.world.n_states) == self._only_from)
        within = np.isfinite(self.potential)
        return np.asarray(within if self._only_in is None else within & self._only_in)

    @cached_property
    def ends(self) -> NDArray[np.bool_]:
        """Where the option ends."""
        taken = self.world.choice_states[self.choice_probabilities() > 0]
        return np.asarray(np.bincount(taken, minlength=self.world.n_states) == 0)

    @cached_property
    def _tolerance(self) -> float:
        finite = self.potential[np.isfinite(self.potential)]
        share = _CLIMB_TOLERANCE if self.goal is None else _LENGTH_TOLERANCE
        return share * float(np.abs(finite).max(initial=0.0))

    @property
    def expected_steps(self) -> NDArray[np.float64]:
        """Expected number of steps (length) to the goal from every state, inf where it is not reached for certain."""
        if self.goal is None:
            raise InvalidInput("option must lead to one goal to have expected steps; this one climbs a function.")
        return self.potential

    def can_start(self, observation: Hashable) -> bool:
        """Return whether the option can start here; not where it would end at once, nor in an unknown state.

        Examples
        --------
        >>> import farpoint as fp
        >>> fp.discover(fp.open_room(3, 4))[0].can_start(5)
        True
        """
        state = self.world.find_state(observation)
        return state is not None and bool(self.initiation[state]) and self.policy(state).any().item()

    def act(self, observation: Hashable, rng: np.random.Generator | None = None) -> int | None:
        """Return the environment's action that the option takes here, or None where it ends.

        Parameters
        ----------
        observation : hashable
            The label of a state: a discrete observation, or what ``state=`` of `World.from_env` gives.
        rng : Generator, optional
            Draws among equally good actions; without it the first of them is taken.

        Examples
        --------
        >>> import gymnasium as gym, farpoint as fp
        >>> world = fp.World.from_env(gym.make("FrozenLake-v1", is_slippery=False))
        >>> option = fp.discover(world, n_options=1)[0]
        >>> [option.act(observation) for observation in range(4)]
        [2, 2, 2, None]
        """
        check_generator(rng)
        state = self.world.find_state(observation)
        if state is None:
            return None
        best = self.world.choice_ptr[state] + np.flatnonzero(self.policy(state))
        if best.size == 0:
            return None
        assert self.world.actions is not None
        return int(self.world.actions[best[0] if rng is None or best.size == 1 else best[rng.integers(best.size)]])

    def ended(self, observation: Hashable) -> bool:
        """Return whether the option ends here; in a state that the world does not have it does.

        Examples
        --------
        >>> import farpoint as fp
        >>> fp.discover(fp.open_room(3, 4))[0].ended(0)
        True
        """
        state = self.world.find_state(observation)
        return state is None or not self.policy(state).any()

    def policy(self, state: int) -> NDArray[np.float64]:
        """Return the probabilities with which the option takes each choice of ``state``; all 0 where it ends.

        Examples
        --------
        >>> import farpoint as fp
        >>> option = fp.discover(fp.open_room(3, 4))[0]
        >>> option.policy(5)       # up, left, right, down: two ways are equally short
        array([0.5, 0.5, 0. , 0. ])
        """
        choices = self.world.choices(state)
        matrix, after = self.world.transitions, np.empty(len(choices))
        for place, choice in enumerate(choices):
            entries = slice(matrix.indptr[choice], matrix.indptr[choice + 1])
            after[place] = matrix.data[entries] @ self.potential[matrix.indices[entries]]
        costs = 0.0 if self.goal is None else choice_costs(self.world, choices)
        values = after + costs
        best = values <= values.min(initial=np.inf) + self._tolerance
        if not (after[best] < self.potential[state] - self._tolerance).any():
            return np.zeros(len(choices))
        return np.asarray(best / best.sum())

    def choice_probabilities(self) -> NDArray[np.float64]:
        """Return the probability of every choice of the world under the option's policy, in its own state.

        Examples
        --------
        >>> import farpoint as fp
        >>> option = fp.discover(fp.grid((3,)))[0]
        >>> option.choice_probabilities()        # 0→1, 1→0, 1→2, 2→1
        array([0., 1., 0., 1.])
        """
        world = self.world
        after = np.asarray(world.transitions @ self.potential)
        values = after if self.goal is None else after + choice_costs(world)
        owners = world.choice_states
        best = values <= (least_over_choices(world, values) + self._tolerance)[owners]
        improves = best & (after < (self.potential - self._tolerance)[owners])
        moves = np.bincount(owners[improves], minlength=world.n_states) > 0
        best &= moves[owners]
        n_best = np.bincount(owners[best], minlength=world.n_states)
        return np.asarray(best / np.maximum(n_best, 1)[owners])

    def route(self, state: int, *, seed: int = 0, max_steps: int = 1_000_000) -> NDArray[np.int64]:
        """Return the states visited when the option is followed from ``state``, the first and the last included.

        Ties between equally good choices, and the world's own chances, are drawn with ``seed``.

        Raises
        ------
        InvalidInput
            If the option cannot start in ``state``, or has not ended after ``max_steps``.

        Examples
        --------
        >>> import farpoint as fp
        >>> fp.discover(fp.grid((5,)))[0].route(3)
        array([3, 2, 1, 0])
        """
        state = check_integer("state", state, 0, self.world.n_states - 1)
        max_steps = check_integer("max_steps", max_steps, 1)
        rng = np.random.default_rng(check_integer("seed", seed, 0))
        guide = self
        plain = self.world.deterministic and self.world.lengths is None
        outside = self._only_in is not None and not self._only_in[state]
        if outside or self._only_from not in (None, state):
            raise _not_startable(state)
        if self.goal is not None and plain and self.world.floor is not None and not self._known:
            return map_route(self.world.floor, state, self.goal, rng, max_steps)
        if self.goal is not None and plain and not self._known:
            # One route needs no potential of the whole world: what is nearer to the goal gives the same choices.
            guide = Option(self.world, moves_up_to(self.world, state, self.goal), self.goal)
        if not np.isfinite(guide.potential[state]):
            raise _not_startable(state)
        visited = [state]
        while True:
            chances = guide.policy(state)
            if not chances.any():
                break
            if len(visited) > max_steps:
                raise InvalidInput(f"max_steps must be enough for the option to end; got {max_steps}.")
            choice = self.world.choice_ptr[state] + rng.choice(chances.size, p=chances)
            state = self._follow(int(choice), rng)
            visited.append(state)
        return np.array(visited, dtype=np.int64)

    def _follow(self, choice: int, rng: np.random.Generator) -> int:
        matrix = self.world.transitions
        entries = slice(matrix.indptr[choice], matrix.indptr[choice + 1])
        after = matrix.indices[entries]
        return int(after[0] if after.size == 1 else rng.choice(after, p=matrix.data[entries]))

    def __repr__(self) -> str:
        what = "climbs" if self.goal is None else f"to state {numbered_name(self.world, self.goal)}"
        return f"Option({what}, starts in {int(self.initiation.sum())} states)"


def _not_startable(state: int) -> InvalidInput:
    return InvalidInput(f"state must be in the option's initiation set; got {state}. See option.initiation.")
