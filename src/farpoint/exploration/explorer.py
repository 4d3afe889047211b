"""The explorer: what it has seen, where its options lead now, and what it does next."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from farpoint.errors import check_integer, check_word
from farpoint.exploration.goals import GOALS, OF_THE_GRAPH, FarPoints, KeptGoals, Seen
from farpoint.exploration.memory import NONE, STATES, SURPRISES, TAKEN, Memory, new_memory, with_room
from farpoint.exploration.values import NO_LEARNING, Rates, Values
from farpoint.simulation.tables import ACTIONS, check_option_probability, streams

# Options are made anew after so many steps, or after half as many as there are states if those are more: then the cost
# of making them, which grows with the number of states, is the same small share of every step.
_STATES_PER_STEP = 0.5
# Routes by expected steps: beyond so many there is none; so many sweeps at most find them.
_LONGEST = 1000.0
_SWEEPS = 200


@dataclass(frozen=True)
class ExploreSettings:
    """How an explorer acts; see `explore` for the meaning of each."""

    method: str = "diffusion"
    n_options: int = 5
    option_probability: float = 0.05
    t: int = 4
    remake_every: int = 100
    actions: str = "least tried"

    def __post_init__(self) -> None:
        check_word("method", self.method, GOALS)
        check_integer("n_options", self.n_options, 1)
        check_option_probability(self.option_probability)
        check_integer("t", self.t, 1, 1000)
        check_integer("remake_every", self.remake_every, 1)
        check_word("actions", self.actions, ACTIONS)


class Explorer:
    """Remembers every step, makes options of what it remembers, and chooses actions.

    Its states are numbered in the order in which they were first seen. The same seed, and the same answers of the
    environment, give the same actions.

    Examples
    --------
    >>> explorer = Explorer(ExploreSettings(), most_actions=2, seed=0)
    >>> here = explorer.new_state(0)
    >>> explorer.visit(here)
    >>> action, option = explorer.decide(here, -1)
    >>> option
    -1
    """

    def __init__(
        self,
        settings: ExploreSettings,
        most_actions: int,
        seed: int,
        rates: Rates = NO_LEARNING,
        *,
        expected: bool = False,
    ) -> None:
        self.settings, self.rates = settings, rates
        self.memory: Memory = new_memory(most_actions)
        # Whether routes are those of fewest expected steps, not of fewest expected tries of each move in turn.
        self.expected = expected
        self.values = Values.none(most_actions, settings.n_options)
        self.stream: NDArray[np.uint64] = streams(seed, 1)
        self.goals = np.full(settings.n_options, NONE)
        self.routes = np.empty((settings.n_options, 0), dtype=np.int16)
        self._far = FarPoints(settings.t)
        self._kept = KeptGoals()
        self._most_actions = most_actions
        self._seed = seed
        self.make_room()

    @property
    def n_states(self) -> int:
        """Number of states seen."""
        return int(self.memory.sizes[STATES])

    @property
    def n_steps(self) -> int:
        """Number of steps taken."""
        return int(self.memory.sizes[TAKEN])

    @property
    def interval(self) -> int:
        """How many steps the options that are made now are kept."""
        return max(self.settings.remake_every, int(_STATES_PER_STEP * self.n_states))

    def new_state(self, step: int, n_actions: int | None = None) -> int:
        """Return the number of a state that is seen for the first time, after so many steps."""
        from farpoint.exploration.memory_kernels import add_state

        self.make_room()
        return int(add_state(self.memory, self._most_actions if n_actions is None else n_actions, step))

    def make_room(self) -> None:
        """Make room for one more step."""
        self.memory = with_room(self.memory)
        if self.rates.alpha > 0:
            self.values = self.values.with_room(self.memory)

    def forget(self) -> None:
        """Forget all states and steps, their values, and where options lead; what was drawn at random stays drawn."""
        self.memory = new_memory(self._most_actions)
        self.values = Values.none(self._most_actions, self.settings.n_options)
        self.goals[:] = NONE
        self.routes = np.empty((self.settings.n_options, 0), dtype=np.int16)
        self._far = FarPoints(self.settings.t)
        self.make_room()

    def visit(self, state: int, *, terminal: bool = False) -> None:
        """Count a visit."""
        self.memory.visits[state] += 1
        self.memory.terminal[state] |= terminal

    def begin(self, state: int) -> None:
        """Begin an episode: a reset leads from one start to another, so that what was seen is always connected."""
        from farpoint.exploration.memory_kernels import join

        self.make_room()
        join(self.memory, state, 0)

    def explores(self) -> bool:
        """Return whether the agent only explores in the episode that begins now."""
        from farpoint.exploration.value_kernels import explores

        return bool(explores(self.rates, self.stream))

    def decide(self, state: int, option: int, *, exploring: bool = True) -> tuple[int, int]:
        """Return the next action, and the option it belongs to (-1: none), of an agent that follows ``option``."""
        from farpoint.exploration.value_kernels import next_action

        action, now = next_action(
            self.memory, self.routes, self.values, self.rates, state, option, exploring,
            self.settings.option_probability, self.uniform_actions, self.stream,
        )  # fmt: skip
        return int(action), int(now)

    def untried_action(self, state: int) -> int:
        """Return the first action that was never tried in a state, -1 if all were."""
        untried = self.memory.tried[state, : self.memory.n_actions[state]] == 0
        return int(untried.argmax()) if untried.any() else NONE

    @property
    def uniform_actions(self) -> bool:
        """Whether primitive actions are drawn uniformly."""
        return self.settings.actions == "uniform"

    def remember(self, before: int, action: int, after: int, reward: float = 0.0, *, terminated: bool = False) -> None:
        """Count one step, and learn from it."""
        from farpoint.exploration.memory_kernels import remember
        from farpoint.exploration.value_kernels import learn_step

        self.make_room()
        remember(self.memory, before, action, after)
        if self.rates.alpha > 0:
            learn_step(self.memory, self.routes, self.values, self.rates, before, action, reward, after, terminated)

    def replay(self) -> None:
        """Learn once more from everything that is remembered."""
        from farpoint.exploration.value_kernels import replay

        # Before the first reward there is nothing to be learned.
        if self.rates.alpha > 0 and self.values.rewards.any():
            replay(self.memory, self.values, self.rates)

    def remake(self) -> list[int]:
        """Make the options anew of what was seen so far; return the slots whose goal changed.

        A slot keeps its goal while that is still wanted; what is wanted besides goes into the other slots, the most
        wanted first. So values that were learned for a slot stay useful for as long as they can.
        """
        from farpoint.exploration.memory_kernels import neighbor_graph

        if self.settings.method == "none" or self.n_states < 2:
            return []
        indptr, indices = neighbor_graph(self.memory)
        # Not one generator for all: then an explorer that goes on from a checkpoint would need its state.
        rng = np.random.default_rng([self._seed, self.n_steps])
        seen = Seen(self.memory, indptr, indices, rng, self._far)
        method, count = self.settings.method, self.settings.n_options
        wanted = self._kept.of(seen, method, count) if method in OF_THE_GRAPH else GOALS[method](seen, count)
        changed = _refill(self.goals, wanted)
        self.values.forget(changed)
        self.routes = np.full((self.goals.size, self.n_states), NONE, dtype=np.int16)
        for slot in np.flatnonzero(self.goals != NONE):
            self.routes[slot] = self.route_to(int(self.goals[slot]))
        return changed

    def route_to(self, goal: int) -> NDArray[np.int16]:
        """Return the action of every state on the way to a goal, -1 where there is no way and at the goal."""
        from farpoint.exploration.expected_kernels import routes_by_steps
        from farpoint.exploration.memory_kernels import routes_by_chance, routes_to

        route = np.full(self.n_states, NONE, dtype=np.int16)
        if self.expected:
            values = np.full(self.n_states, _LONGEST)
            routes_by_steps(self.memory, goal, _LONGEST, _SWEEPS, values, route)
        elif self.memory.sizes[SURPRISES] > 0:
            routes_by_chance(self.memory, goal, route)
        else:
            routes_to(self.memory, goal, route)
        return route


def _refill(goals: NDArray[np.int64], wanted: NDArray[np.int64]) -> list[int]:
    """Put the wanted goals that are in no slot yet into slots; return which slots changed.

    >>> goals = np.array([7, 3, -1])
    >>> _refill(goals, np.array([5, 3, 8])), goals
    ([0, 2], array([8, 3, 5]))
    """
    new = [goal for goal in wanted.tolist() if goal not in goals]
    free = np.flatnonzero(~np.isin(goals, wanted))
    # Empty slots first: a goal that is no longer among the best is better than none.
    free = free[np.argsort(goals[free] != NONE, kind="stable")][: len(new)]
    goals[free] = new[: free.size]
    return sorted(free.tolist())
