"""One option: where it may start, what it does, where it ends.

Every option here goes down a *potential*, one number a state: it takes, uniformly among those that are equally good,
the choices whose next state has the least expected potential, and it ends where no choice leads lower. For an option
that leads to a goal the potential is the expected number of steps to that goal.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.errors import InvalidInput, check_integer
from farpoint.options.routes import least_over_choices, steps_near_routes
from farpoint.worlds import World


class Option:
    """An option in the sense of Sutton, Precup and Singh: initiation set, policy, termination.

    Get one from an `OptionSet`: ``options[0]``.

    Attributes
    ----------
    world : World
    potential : array of float, shape (n_states,)
        What the policy goes down; inf where the option cannot start. Computed when first asked for.
    goal : int or None
        The state that it leads to, if it leads to one.
    initiation : array of bool, shape (n_states,)
        Where it may start.

    Examples
    --------
    >>> import farpoint as fp
    >>> option = fp.discover(fp.open_room(3, 4))[0]
    >>> option
    Option(to state 0, starts in 12 states)
    >>> option.route(11, seed=1)
    array([11, 10,  9,  5,  4,  0])
    >>> option.terminates(0), option.terminates(5)
    (True, False)
    """

    def __init__(
        self,
        world: World,
        potential: NDArray[np.float64] | Callable[[], NDArray[np.float64]],
        goal: int | None = None,
        only_from: int | None = None,
        tolerance: float = 1e-9,
    ) -> None:
        self.world = world
        self.goal = goal
        self.tolerance = tolerance
        self._only_from = only_from
        self._make_potential = potential if callable(potential) else lambda: potential

    def __reduce__(self) -> tuple[Any, ...]:
        return Option, (self.world, self.potential, self.goal, self._only_from, self.tolerance)

    @cached_property
    def potential(self) -> NDArray[np.float64]:
        """What the policy goes down: for an option to a goal, the expected number of steps to it."""
        return self._make_potential()

    @cached_property
    def initiation(self) -> NDArray[np.bool_]:
        """Where the option may start."""
        if self._only_from is not None:
            return np.asarray(np.arange(self.world.n_states) == self._only_from)
        return np.asarray(np.isfinite(self.potential))

    @property
    def expected_steps(self) -> NDArray[np.float64]:
        """Expected number of steps to the goal from every state, inf where it cannot be reached for sure."""
        if self.goal is None:
            raise InvalidInput("option must lead to one goal to have expected steps; this one climbs a function.")
        return self.potential

    def policy(self, state: int) -> NDArray[np.float64]:
        """Return the probabilities with which the option takes each choice of ``state``; all 0 where it ends.

        Examples
        --------
        >>> import farpoint as fp
        >>> option = fp.discover(fp.open_room(3, 4))[0]
        >>> option.policy(5)       # up, left, right, down: two ways are equally short
        array([0.5, 0.5, 0. , 0. ])
        """
        state = check_integer("state", state, 0, self.world.n_states - 1)
        values = self._after_choices(state)
        if values.size == 0 or not self._improves(values.min(), self.potential[state]):
            return np.zeros(values.size)
        best = values <= values.min() + self.tolerance
        return np.asarray(best / best.sum())

    def terminates(self, state: int) -> bool:
        """Return whether the option ends in ``state``.

        Examples
        --------
        >>> import farpoint as fp
        >>> fp.discover(fp.open_room(3, 4))[0].terminates(0)
        True
        """
        return not self.policy(state).any()

    def choice_probabilities(self) -> NDArray[np.float64]:
        """Return the probability of every choice of the world under the option's policy, in its own state.

        Examples
        --------
        >>> import farpoint as fp
        >>> option = fp.discover(fp.grid((3,)))[0]
        >>> option.choice_probabilities()        # 0→1, 1→0, 1→2, 2→1
        array([0., 1., 0., 1.])
        """
        values = np.asarray(self.world.transitions @ self.potential)
        least = least_over_choices(self.world, values)
        owners = self.world.choice_states
        moves = self._improves(least, self.potential)
        best = (values <= least[owners] + self.tolerance) & moves[owners]
        n_best = np.bincount(owners[best], minlength=self.world.n_states)
        return np.asarray(best / np.maximum(n_best, 1)[owners])

    def route(self, from_state: int, *, seed: int = 0, max_steps: int = 1_000_000) -> NDArray[np.int64]:
        """Return the states visited when the option is followed from ``from_state``, the first and the last included.

        Ties between equally good choices, and the world's own chances, are drawn with ``seed``.

        Raises
        ------
        InvalidInput
            If the option cannot start in ``from_state``, or has not ended after ``max_steps``.

        Examples
        --------
        >>> import farpoint as fp
        >>> fp.discover(fp.grid((5,)))[0].route(3)
        array([3, 2, 1, 0])
        """
        state = check_integer("from_state", from_state, 0, self.world.n_states - 1)
        rng = np.random.default_rng(check_integer("seed", seed, 0))
        guide = self
        if self.goal is not None and self.world.deterministic and "potential" not in self.__dict__:
            # One route needs no potential of the whole world: the part of it around the route, searched from both
            # ends, gives the same choices.
            guide = Option(self.world, steps_near_routes(self.world, state, self.goal), self.goal)
        if not np.isfinite(guide.potential[state]) or self._only_from not in (None, state):
            raise InvalidInput(
                f"from_state must be in the option's initiation set; got {state}. See option.initiation."
            )
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

    def _entries(self, choice: int) -> slice:
        indptr = self.world.transitions.indptr
        return slice(indptr[choice], indptr[choice + 1])

    def _follow(self, choice: int, rng: np.random.Generator) -> int:
        entries = self._entries(choice)
        targets = self.world.transitions.indices[entries]
        return int(targets[0] if targets.size == 1 else rng.choice(targets, p=self.world.transitions.data[entries]))

    def _after_choices(self, state: int) -> NDArray[np.float64]:
        """Return the expected potential after each choice of ``state``."""
        matrix = self.world.transitions
        expected = []
        for choice in self.world.choices(state):
            entries = self._entries(choice)
            expected.append(matrix.data[entries] @ self.potential[matrix.indices[entries]])
        return np.array(expected)

    def _improves(self, best: Any, here: Any) -> Any:
        return best < here - self.tolerance

    def __repr__(self) -> str:
        what = "climbs" if self.goal is None else f"to state {self.goal}"
        return f"Option({what}, starts in {int(self.initiation.sum())} states)"
