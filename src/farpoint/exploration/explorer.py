"""Explorer: rows of transitions go in, options come out. It has no environment inside."""

from __future__ import annotations

import hashlib
import inspect
import json
import warnings
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
from numpy.typing import ArrayLike, NDArray

from farpoint.compiling import compiled
from farpoint.errors import InvalidFile, InvalidInput, check_integer, check_word
from farpoint.exploration.goals import GOALS, OF_THE_GRAPH, FarPoints, GraphSnapshot, KeptGoals
from farpoint.exploration.memory import (
    BARRED,
    NONE,
    OUTCOMES,
    RESET,
    STATES,
    SURPRISES,
    TAKEN,
    Memory,
    add_state,
    decide,
    join,
    memory_from,
    memory_state,
    neighbor_graph,
    new_memory,
    random_action,
    remember,
    routes_by_steps,
    routes_by_tries,
    routes_to,
    with_room,
)
from farpoint.exploration.scale import ScaleMeasure
from farpoint.exploration.slots import Numbering, SlotOptions, SlotVersion
from farpoint.exploration.stickiness import Stickiness, StickyWay
from farpoint.files import read_arrays, write_arrays
from farpoint.options.probability import EXPLORING_OPTION_PROBABILITY, exploring_option_probability
from farpoint.simulation.tables import ACTIONS, streams
from farpoint.worlds.environments import count_actions, size_of_actions
from farpoint.worlds.saving import encode_labels
from farpoint.worlds.state_index import StateIndex, each_observation

# Options are rebuilt after this many steps per state, or every `remake_every` steps if that is more: the time that a
# rebuild takes grows with the number of states, so its share of every step stays the same.
_STEPS_PER_STATE = 0.5
# Routes by expected steps end beyond this length; at most this many sweeps find them.
_LONGEST = 1000.0
_SWEEPS = 200
_MOST_ACTIONS = 32_767
_KIND = "farpoint-explorer"
# What a saved explorer holds besides its memory, index, and what it measures: plain values, arrays, lists of numbers.
_FACTS = (
    *("n_actions", "seed", "keyed_by", "generation", "first_key", "given_scale", "is_sticky"),
    *("remake_at", "_n_copies"),
)
_ARRAYS, _LISTS = ("goals", "routes", "stream"), ("_passed", "_ends", "places")


@dataclass(frozen=True)
class ExploreSettings:
    """How an explorer acts; see `Explorer`."""

    method: str = "diffusion"
    n_options: int = 5
    option_probability: float = EXPLORING_OPTION_PROBABILITY
    t: int = 4
    remake_every: int = 100
    actions: str = "least tried"

    def __post_init__(self) -> None:
        check_word("method", self.method, GOALS)
        check_integer("n_options", self.n_options, 1)
        exploring_option_probability(self.option_probability)
        check_integer("t", self.t, 1, 1000)
        check_integer("remake_every", self.remake_every, 1)
        check_word("actions", self.actions, ACTIONS)

    @property
    def least_tried(self) -> bool:
        """Whether a primitive action is one of those tried least often in its state."""
        return self.actions == "least tried"


class Delta(NamedTuple):
    """What an explorer has seen since the last `Explorer.delta`: counts by label, which add in any order.

    ``labels`` are keys or points; ``begins`` is how many episodes began in each. Row i of the other arrays:
    ``counts[i]`` steps led from label ``before[i]`` by ``action[i]`` to label ``after[i]``, and ended the episode there
    if ``ended[i]``.
    """

    labels: list[Any]
    begins: NDArray[np.int64]
    before: NDArray[np.int64]
    action: NDArray[np.int64]
    after: NDArray[np.int64]
    ended: NDArray[np.bool_]
    counts: NDArray[np.int64]


class Explorer:
    """Remembers transitions, makes options of what it remembers, and chooses actions that explore.

    An explorer never touches an environment. It is told where episodes begin (`begin`) and what steps led to (`add`),
    in rows, one per copy of the environment; now and then (`due`) it rebuilds its options (`remake`), which lead to far
    and little known states along moves that were seen. `act` chooses actions: an option with ``option_probability``,
    otherwise the action that was tried least often.

    `explore`, `DiscoveringWrapper` and `learn_from_scratch` are loops around one explorer. A training environment and
    one for evaluation can share one, so slot k means the same option in both.

    States are numbers, in the order in which they were first seen. An arrival that ends the episode has a number of its
    own. The same seed and the same transitions give the same choices.

    Parameters
    ----------
    index : StateIndex
        Which state an observation is: empty, for example ``StateIndex.for_space(env.observation_space)``. An index by
        nearest points whose scale is infinite gets a measured one: twice the root mean square change per step. It is
        measured each time the number of steps has doubled, until 2¹⁴ steps; then it stays. When it changes, the steps
        so far, which are kept until then, are numbered again.
    n_actions : int
    n_options : int
        Number of slots. An option ends at its goal. Letting it try one more untried action there was measured too: an
        agent with uniformly random decisions has then seen 90 % of the Maze after 2,037 steps instead of 2,603, of
        random_maze(40, 40, seed=1) after 18,600 instead of 18,679; `train_tabular` after 1,766 instead of 1,758.
    method : {"diffusion", "novelty", "eigen", "cover", "neo", "betweenness", "random", "none"}
        Where options lead; see `explore`.
    option_probability : float, optional
        Default: 0.05.
    t, remake_every, actions
        As in `explore`.
    seed : int

    Attributes
    ----------
    goals : array of int, shape (n_options,)
        The state that each slot leads to, -1 while it is empty.
    remake_at : int
        The number of steps at which the options are next rebuilt.
    keyed_by : {"observation", "simulator", "state"}
        What identifies a state: the observation, `farpoint.envs.simulator_state`, or another function ``state=``.

    Examples
    --------
    >>> import gymnasium as gym, farpoint as fp
    >>> env = gym.make("CliffWalking-v1")
    >>> explorer = fp.Explorer.for_env(env, n_options=4, seed=1)
    >>> observation, _ = env.reset(seed=1)
    >>> state, running = explorer.begin([observation]), None
    >>> for _ in range(1_000):
    ...     action, running = explorer.act(state, running)
    ...     observation, _, terminated, truncated, _ = env.step(action[0])
    ...     state = explorer.add(state, action, [observation], [terminated])
    ...     if terminated or truncated:
    ...         observation, _ = env.reset()
    ...         state, running = explorer.begin([observation]), None
    ...     if explorer.due:
    ...         changed = explorer.remake()
    >>> explorer
    Explorer(38 states, 1000 steps, 4 of 4 slots filled)
    """

    def __init__(
        self,
        index: StateIndex,
        n_actions: int,
        *,
        n_options: int = 5,
        method: str = "diffusion",
        option_probability: float | None = None,
        t: int = 4,
        remake_every: int = 100,
        actions: str = "least tried",
        seed: int = 0,
    ) -> None:
        if not isinstance(index, StateIndex) or len(index):
            raise InvalidInput(
                f"index must be an empty StateIndex; got {index!r:.60}. Make one with "
                "StateIndex.for_space(env.observation_space)."
            )
        chance = exploring_option_probability(option_probability)
        self.settings = ExploreSettings(method, n_options, chance, t, remake_every, actions)
        self.index = index
        if check_integer("n_actions", n_actions, 1) > _MOST_ACTIONS:
            raise InvalidInput(f"a state must have at most {_MOST_ACTIONS} actions to be explored; got {n_actions}.")
        self.n_actions = int(n_actions)
        self.seed = check_integer("seed", seed, 0)
        self.keyed_by = "observation"
        self.memory: Memory = new_memory(self.n_actions)
        self.stream: NDArray[np.uint64] = streams(self.seed, 1)
        self.goals = np.full(n_options, NONE)
        self.routes = np.empty((n_options, 0), dtype=np.int16)
        # The states of each place of the index: passed through, and ends of episodes; the place of each state.
        self._passed: list[int] = []
        self._ends: list[int] = []
        self.places: list[int] = [NONE]
        # How often the states were numbered again, and how many places there were before.
        self.generation = 0
        self.first_key = 0
        # The numbers before that: an option that is on its way reads them until it ends.
        self._former: Numbering | None = None
        self._version: SlotVersion | None = None
        # Which calls of wrappers that share the explorer belong together.
        self.rows = CallRows()
        self._n_copies = 0
        self.remake_at = self.settings.remake_every
        self._far = FarPoints(self.settings.t)
        self._kept = KeptGoals()
        self._idle = np.zeros(n_options, dtype=np.int64)
        self._measure = ScaleMeasure.for_index(index)
        scaled = index.scale is not None and self._measure is None
        # What a caller gave as the scale; None where it is measured or where states have none.
        self.given_scale = np.asarray(index.scale).tolist() if scaled else None
        # The new numbers of the states before and after every step, when they were last numbered again.
        self.renumbered: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None
        self._stickiness = Stickiness()
        # Whether observations were found to hide something that lasts for an episode.
        self.is_sticky = False
        # Where that is so, the option of each copy and its way.
        self._ways: dict[int, tuple[int, StickyWay]] = {}
        self._sent: tuple[NDArray[np.int64], NDArray[np.int32]] | None = None
        self.make_room()

    @classmethod
    def for_env(cls, env: Any, *, scale: ArrayLike | None = None, **settings: Any) -> Explorer:
        """Return an explorer for the observations and actions of an environment, or of each copy of a vector of them.

        Parameters
        ----------
        env : gymnasium.Env or gymnasium.vector.VectorEnv
        scale : float or array of float, optional
            How far a state reaches in each number of a continuous observation; default: measured.
        settings
            All others of `Explorer`.

        Examples
        --------
        >>> import gymnasium as gym, farpoint as fp
        >>> fp.Explorer.for_env(gym.make_vec("Taxi-v4", num_envs=2), n_options=3)
        Explorer(0 states, 0 steps, 0 of 3 slots filled)
        """
        names = [name for name in inspect.signature(cls).parameters if name not in ("index", "n_actions")]
        for name in settings:
            check_word("keyword", name, names)
        space, n_actions = spaces_of(env)
        index = StateIndex.for_space(space, scale=scale)
        if scale is not None and index.scale is None:
            raise InvalidInput(f"scale must go with continuous observations and without state; got {scale!r}.")
        return cls(index, n_actions, **settings)

    def new_copies(self, count: int) -> range:
        """Return numbers for copies of the environment that nobody else has; see ``copies`` of `begin`."""
        self._n_copies += count
        return range(self._n_copies - count, self._n_copies)

    # --- What was seen ------------------------------------------------------------------------------------------------

    @property
    def n_states(self) -> int:
        """Number of different states seen; a state that also ends episodes counts once."""
        return len(self.index)

    @property
    def n_steps(self) -> int:
        """Number of steps remembered."""
        return int(self.memory.sizes[TAKEN])

    def find(self, observations: Any) -> NDArray[np.int64]:
        """Return the state of each observation, -1 where it was never passed through."""
        places = self.index.find_all(observations)
        return np.array([self.state_at(place) for place in places.tolist()], dtype=np.int64)

    def state_at(self, place: int) -> int:
        """Return the state of a place of the index, -1 where it was never passed through."""
        return self._passed[place] if 0 <= place < len(self._passed) else NONE

    def begin(self, observations: Any, *, masks: Any = None, copies: Iterable[int] | None = None) -> NDArray[np.int64]:
        """Remember that episodes began, and return their states.

        Parameters
        ----------
        observations : list, array of rows, or dict or tuple of arrays
            The first observation of each episode.
        masks : array of int, shape (n_rows, n_actions), optional
            Which actions the environment allows there, 1 or 0 (its own ``info["action_mask"]``).
        copies : sequence of int, optional
            Which copy of the environment each row is of; default: 0, 1, 2, …
        """
        seen = _rows(observations)
        rows = zip(seen, _per_row(len(seen), masks, copies), strict=True)
        states = [self.begin_one(observation, mask, copy) for observation, (mask, copy) in rows]
        return np.array(states, dtype=np.int64)

    def add(
        self,
        states: ArrayLike,
        actions: ArrayLike,
        next_observations: Any,
        terminated: ArrayLike,
        *,
        masks: Any = None,
        copies: Iterable[int] | None = None,
    ) -> NDArray[np.int64]:
        """Remember one step per row, in order, and return the states that they led to.

        Parameters
        ----------
        states, actions : array of int, shape (n_rows,)
            ``states`` as returned by `begin` or the last `add`.
        next_observations : list, array of rows, or dict or tuple of arrays
        terminated : array of bool, shape (n_rows,)
            Whether the episode ended there by itself. After a step that a time limit cut, call `begin`.
        masks, copies
            As in `begin`.
        """
        seen = _rows(next_observations)
        steps = _per_row(len(seen), masks, copies, states=states, actions=actions, terminated=terminated)
        next_states = [
            self.add_one(int(before), int(action), observation, bool(ended), mask, copy)
            for observation, (before, action, ended, mask, copy) in zip(seen, steps, strict=True)
        ]
        return np.array(next_states, dtype=np.int64)

    def begin_one(self, observation: Any, mask: Any = None, copy: int = 0) -> int:
        """Remember that an episode began; `begin` for a single row."""
        if self._measure is not None:
            self._measure.begin(observation, copy)
        self._stickiness.begin(copy)
        self._ways.pop(copy, None)
        state = self._state(observation, self.n_steps, end=False)
        self.memory.visits[state] += 1
        join(self.memory, state, RESET)
        if mask is not None:
            self._bar(state, mask)
        return state

    def add_one(
        self, before: int, action: int, observation: Any, terminated: bool, mask: Any = None, copy: int = 0
    ) -> int:
        """Remember one step; `add` for a single row."""
        if not 0 < before < self.memory.sizes[STATES] or not 0 <= action < self.memory.n_actions[before]:
            raise InvalidInput(
                f"states and actions must be states of this explorer and actions there; got {before} and {action}."
            )
        if self._measure is not None:
            self._measure.add(action, observation, terminated, copy)
        after = self._state(observation, self.n_steps + 1, end=terminated)
        self.memory.visits[after] += 1
        entry = remember(self.memory, before, action, after)
        if self.index.scale is None:
            self._stickiness.add(copy, before * self.n_actions + action, entry)
        if mask is not None:
            self._bar(after, mask)
        return after

    def _state(self, observation: Any, step: int, *, end: bool) -> int:
        """Return the state of an observation, a new one if it was not seen before."""
        self.make_room()
        place = self.index.add(observation)
        if place == len(self._passed):
            self._passed.append(NONE)
            self._ends.append(NONE)
        states = self._ends if end else self._passed
        if states[place] == NONE:
            states[place] = int(add_state(self.memory, 0 if end else self.n_actions, step))
            self.places.append(place)
        return states[place]

    def make_room(self) -> None:
        """Make room for one more step."""
        self.memory = with_room(self.memory)

    def _bar(self, state: int, mask: Any) -> None:
        """Note which actions the environment forbids; a mask that allows none says nothing."""
        allowed = np.asarray(mask) != 0
        if allowed.shape != (self.n_actions,):
            raise InvalidInput(f"masks must have {self.n_actions} entries per row; got shape {allowed.shape}.")
        if self.memory.n_actions[state] > 0:
            self.memory.barred[state] = ~allowed & allowed.any()
            self.memory.sizes[BARRED] |= self.memory.barred[state].any()

    # --- Choosing actions ---------------------------------------------------------------------------------------------

    def act(
        self,
        states: ArrayLike,
        running: ArrayLike | None = None,
        *,
        masks: Any = None,
        copies: Iterable[int] | None = None,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the next action of each row, and the option that each follows from now on, or -1.

        An action counts as tried as soon as it is chosen, and options that other rows follow come last: copies in the
        same state try different things. Where observations hide something, options take what was seen in this episode
        for certain.

        Parameters
        ----------
        states : array of int, shape (n_rows,)
        running : array of int, shape (n_rows,), optional
            The option that each row has followed so far, -1 for none; default: none.
        masks, copies
            As in `begin`.
        """
        here = np.ravel(states).astype(np.int64)
        now = np.full(here.size, NONE) if running is None else np.ravel(running).astype(np.int64)
        actions, then = np.empty(here.size, dtype=np.int64), np.empty(here.size, dtype=np.int64)
        rows = list(_per_row(here.size, masks, copies, states=here, running=now))
        for state, option, *_ in rows:
            if not 0 < state < self.memory.sizes[STATES] or self.memory.n_actions[state] == 0:
                raise InvalidInput(
                    f"states must be states of this explorer that were passed through; got {state}. Call begin where "
                    "an episode begins, and find where remake gave states other numbers."
                )
            if not NONE <= option < self.goals.size:
                raise InvalidInput(f"running must hold options from 0 to {self.goals.size - 1}, or -1; got {option}.")
        busy = np.bincount(now[now >= 0], minlength=self.goals.size)
        for row, (state, option, mask, copy) in enumerate(rows):
            if mask is not None:
                self._bar(state, mask)
            if option >= 0:
                busy[option] -= 1
            actions[row], then[row] = self.act_one(state, option, copy, busy)
            if then[row] >= 0:
                busy[then[row]] += 1
        return actions, then

    def act_one(
        self, state: int, option: int = NONE, copy: int = 0, busy: NDArray[np.int64] | None = None
    ) -> tuple[int, int]:
        """Return the next action in a state and the option that it belongs to, or -1; `act` for a single row.

        ``busy`` counts how many other copies follow each option.
        """
        settings = self.settings
        action, option = decide(
            self.memory, self.routes, self._idle if busy is None else busy, state, option, settings.option_probability,
            settings.least_tried, self.stream,
        )  # fmt: skip
        action, option = self.follow(copy, state, int(action), int(option))
        self.memory.tried[state, action] += 1
        self.memory.pending[state, action] += 1
        return action, option

    def follow(self, copy: int, state: int, action: int, option: int) -> tuple[int, int]:
        """Return a decision as it is or, where observations hide something, as this episode suggests."""
        if option < 0 or not self.is_sticky:
            self._ways.pop(copy, None)
            return action, option
        if copy not in self._ways or self._ways[copy][0] != option:
            self._ways[copy] = option, StickyWay(self, int(self.goals[option]), copy)
        action = self._ways[copy][1].action(state)
        if action >= 0:
            return action, option
        del self._ways[copy]
        return int(random_action(self.memory, state, self.settings.least_tried, self.stream)), NONE

    def episode_of(self, copy: int) -> dict[int, int]:
        """Return the last outcome of each state · ``n_actions`` + action in the present episode of a copy."""
        return self._stickiness.episode(copy)

    # --- Options ------------------------------------------------------------------------------------------------------

    @property
    def interval(self) -> int:
        """How many steps the present options are kept."""
        return max(self.settings.remake_every, int(_STEPS_PER_STATE * (self.memory.sizes[STATES] - 1)))

    @property
    def due(self) -> bool:
        """Whether it is time to rebuild the options."""
        return self.n_steps >= self.remake_at

    @property
    def options(self) -> SlotOptions:
        """The options of the slots, which change whenever they are rebuilt."""
        return SlotOptions(self)

    @property
    def version(self) -> SlotVersion:
        """The present routes and goals, which do not change when they are rebuilt."""
        if self._version is None or self._version.routes is not self.routes:
            self._version = SlotVersion(self.routes, self.goals.copy(), self.generation)
        return self._version

    def numbering(self, generation: int) -> Numbering | None:
        """Return the numbers of states in a generation: the present one or the one before it; None for older ones."""
        if generation == self.generation:
            return Numbering(self.index, self._passed, self.first_key, self.memory)
        return self._former if generation == self.generation - 1 else None

    def remake(self) -> list[int]:
        """Rebuild all options; return the slots whose goal changed.

        A slot keeps its goal while that is still wanted; other wanted goals go into the other slots, the most wanted
        first. So values that were learned for a slot stay useful as long as possible. Where a scale is measured, states
        may get other numbers here (``generation`` changes then): ask `find` for those of the present observations.
        """
        emptied = self._rescale()
        self.remake_at = self.n_steps + self.interval
        self._warn_if_sticky()
        self._ways.clear()
        if self.settings.method == "none" or self.memory.sizes[STATES] <= 2:
            return emptied
        indptr, indices = neighbor_graph(self.memory)
        # A generator for each rebuild: an explorer that goes on from a file then needs no state of one.
        rng = np.random.default_rng([self.seed, self.n_steps])
        graph = GraphSnapshot(self.memory, indptr, indices, rng, self._far)
        method, count = self.settings.method, self.settings.n_options
        wanted = self._kept.of(graph, method, count) if method in OF_THE_GRAPH else GOALS[method](graph, count)
        changed = _refill(self.goals, wanted)
        self.routes = np.full((self.goals.size, graph.n_states), NONE, dtype=np.int16)
        for slot in np.flatnonzero(self.goals != NONE):
            self.routes[slot] = self.route_to(int(self.goals[slot]))
        return sorted({*emptied, *changed})

    def route_to(self, goal: int) -> NDArray[np.int16]:
        """Return the action of every state on the way to a goal, -1 where no way is known and at the goal.

        By fewest expected steps where states are nearest points; by fewest expected tries where an action had several
        outcomes; by fewest moves elsewhere.
        """
        n_states = int(self.memory.sizes[STATES])
        route = np.full(n_states, NONE, dtype=np.int16)
        order, done = np.empty(n_states, dtype=np.int64), np.zeros(n_states, dtype=np.bool_)
        if self.index.scale is not None:
            lengths = np.full(n_states, _LONGEST)
            routes_by_steps(self.memory, goal, _LONGEST, _SWEEPS, order, done, lengths, route)
        elif self.memory.sizes[SURPRISES] > 0:
            nothing = np.empty((0, self.n_actions), dtype=np.int32)
            routes_by_tries(self.memory, goal, nothing, nothing, np.full(n_states, np.inf), route)
        else:
            routes_to(self.memory, goal, order, done, route)
        return route

    def _rescale(self) -> list[int]:
        """Measure the scale if it is time and, where it changed, number all steps again; return the emptied slots."""
        measure = self._measure
        if measure is None:
            return []
        scale = measure.changed(self.n_steps, self.index.scale)
        if scale is not None:
            emptied = np.flatnonzero(self.goals != NONE).tolist()
            self._renumber(scale)
        if measure.final:
            self._measure = None
        return [] if scale is None else emptied

    def _renumber(self, scale: NDArray[np.float64]) -> None:
        """Number all steps so far again, by points of another scale."""
        assert self._measure is not None
        self._former = self.numbering(self.generation)
        self.first_key += len(self.index)
        self.index = StateIndex.nearest(np.empty((0, scale.size)), scale=scale, within=1.0)
        self.memory = new_memory(self.n_actions)
        self.goals[:] = NONE
        self.routes = np.empty((self.goals.size, 0), dtype=np.int16)
        self._passed, self._ends, self.places = [], [], [NONE]
        self._far, self._kept, self._sent = FarPoints(self.settings.t), KeptGoals(), None
        self.generation += 1
        measure, self._measure = self._measure, None
        here: dict[int, int] = {}
        steps: list[tuple[int, int]] = []
        for copy, point, action, terminated in measure.events:
            if action == NONE:
                here[copy] = self.begin_one(point, copy=copy)
            else:
                after = self.add_one(here[copy], action, point, terminated, copy=copy)
                steps.append((here[copy], after))
                here[copy] = after
        before, after_all = np.array(steps, dtype=np.int64).reshape(-1, 2).T
        self.renumbered = before, after_all
        self._measure = measure

    @property
    def stickiness(self) -> float:
        """The share of repeats within an episode that gave again what they gave, where chance would give less; else 0.

        Above 0 observations hide something; see `docs/exploring.md`. The test is on counts, at p < 0.001.
        """
        return self._stickiness.share(self.memory) if self.index.scale is None else 0.0

    def _warn_if_sticky(self) -> None:
        if self.is_sticky or self.index.scale is not None or not self._stickiness.is_time():
            return
        share = self._stickiness.share(self.memory)
        if share > 0.0:
            self.is_sticky = True
            warnings.warn(
                f"observations must show all that decides what an action does; got {self._stickiness.n_compared:,} "
                f"actions repeated within an episode of which {share:.1%} led to the same place again, where chance "
                f"would give {self._stickiness.by_chance:.1%}. Options to such states often fail. Show everything "
                "(MiniGrid: minigrid.wrappers.FullyObsWrapper), add a history "
                "(gymnasium.wrappers.FrameStackObservation), or pass state=, a function of (env, observation).",
                stacklevel=3,
            )

    # --- Sharing and saving -------------------------------------------------------------------------------------------

    def transitions(self) -> tuple[NDArray[np.int64], ...]:
        """Return the state before, the action, the state after and the count of every outcome seen."""
        n_outcomes = int(self.memory.sizes[OUTCOMES])
        before, action = np.empty(n_outcomes, dtype=np.int64), np.empty(n_outcomes, dtype=np.int64)
        _fill_outcomes(self.memory, before, action)
        after = self.memory.outcome_state[:n_outcomes].astype(np.int64)
        return before, action, after, self.memory.outcome_count[:n_outcomes].astype(np.int64)

    def delta(self) -> Delta:
        """Return what was seen since the last call, for `merge` into another explorer.

        Not while the scale of states is measured: they may get other numbers.
        """
        if self._measure is not None:
            raise InvalidInput("scale must be given to share what was seen of continuous observations; got none.")
        before, action, after, counts = self.transitions()
        n_states = int(self.memory.sizes[STATES])
        begins = self.memory.visits[:n_states] - np.bincount(after, weights=counts, minlength=n_states).astype(np.int64)
        old_begins, old_counts = (np.zeros(0), np.zeros(0)) if self._sent is None else self._sent
        new, first = counts.copy(), begins.copy()
        new[: old_counts.size] -= old_counts.astype(np.int64)
        first[: old_begins.size] -= old_begins.astype(np.int64)
        self._sent = begins, counts.astype(np.int32)
        rows = np.flatnonzero(new)
        places = np.array(self.places)
        used, where = np.unique(
            np.concatenate([places[before[rows]], places[after[rows]], places[first > 0]]), return_inverse=True
        )
        here, there, started = np.split(where, [rows.size, 2 * rows.size])
        labels = self.index.labels
        return Delta(
            [labels[place] for place in used.tolist()],
            np.bincount(started, weights=first[first > 0], minlength=used.size).astype(np.int64),
            here, action[rows], there, self.memory.n_actions[after[rows]] == 0, new[rows],
        )  # fmt: skip

    def merge(self, delta: Delta) -> None:
        """Add what another explorer has seen; the order of merges changes the numbers of states, no count."""
        if self.index.scale is not None and not np.isfinite(self.index.scale).any():
            raise InvalidInput("scale must be given to merge explorers of continuous observations; got none.")
        self._measure = None
        for label, count in zip(delta.labels, delta.begins.tolist(), strict=True):
            if count:
                state = self._state(label, self.n_steps, end=False)
                self.memory.visits[state] += count
                join(self.memory, state, RESET)
        for row, count in enumerate(delta.counts.tolist()):
            before = self._state(delta.labels[delta.before[row]], self.n_steps, end=False)
            after = self._state(delta.labels[delta.after[row]], self.n_steps, end=bool(delta.ended[row]))
            self.make_room()
            entry = remember(self.memory, before, int(delta.action[row]), after)
            _repeat(self.memory, before, int(delta.action[row]), after, entry, count - 1)

    @property
    def digest(self) -> str:
        """A digest of what each slot means: a policy that was saved with another explorer has other options."""
        goals = [None if goal == NONE else self.label_of(int(goal)) for goal in self.goals.tolist()]
        content = encode_labels(goals).tobytes() + json.dumps([self.n_actions, asdict(self.settings)]).encode()
        return hashlib.blake2b(content, digest_size=8).hexdigest()

    def label_of(self, state: int) -> Hashable:
        """Return the key or the point of a state."""
        label = self.index.labels[self.places[state]]
        return tuple(label.tolist()) if isinstance(label, np.ndarray) else label

    def state(self) -> dict[str, NDArray[Any]]:
        """Return arrays that hold everything, for checkpoints; `from_state` makes the explorer again."""
        facts = {"settings": asdict(self.settings), **{name: getattr(self, name) for name in _FACTS}}
        parts = {
            "memory": memory_state(self.memory),
            "index": self.index.state(),
            "stickiness": self._stickiness.state(),
            "measure": {} if self._measure is None else self._measure.state(),
        }
        return {
            **{f"{part}.{name}": array for part, arrays in parts.items() for name, array in arrays.items()},
            **{name: np.array(getattr(self, name)) for name in (*_ARRAYS, *_LISTS)},
            "facts": np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8),
        }

    @classmethod
    def from_state(cls, arrays: Mapping[str, NDArray[Any]]) -> Explorer:
        """Return the explorer that `state` described."""
        if not isinstance(arrays, Mapping) or "facts" not in arrays:
            raise InvalidInput(f"arrays must be those of Explorer.state(); got {type(arrays).__name__}.")

        def part(name: str) -> dict[str, NDArray[Any]]:
            return {key.removeprefix(name): array for key, array in arrays.items() if key.startswith(name)}

        facts = json.loads(np.asarray(arrays["facts"]).tobytes())
        explorer = cls(StateIndex.exact(), facts["n_actions"], seed=facts["seed"], **facts["settings"])
        explorer.index = StateIndex.from_state(part("index."))
        explorer.memory = memory_from(part("memory."))
        # All scores are computed again.
        explorer.memory.changed[:] = True
        explorer._stickiness = Stickiness.from_state(part("stickiness."))
        measure = part("measure.")
        explorer._measure = ScaleMeasure.from_state(measure) if measure else None
        for name in _FACTS:
            setattr(explorer, name, facts[name])
        for name in _ARRAYS:
            setattr(explorer, name, arrays[name].copy())
        for name in _LISTS:
            setattr(explorer, name, arrays[name].tolist())
        return explorer

    def save(self, path: str | PathLike[str]) -> None:
        """Write the explorer to one ``.npz`` file, numbers and texts only.

        Save it beside the agent that was trained with its options (``model.save`` of Stable-Baselines3): without it
        nobody knows where slot k led.
        """
        write_arrays(path, _KIND, {"digest": self.digest}, self.state())

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Explorer:
        """Return the explorer that `save` wrote.

        Examples
        --------
        >>> import tempfile, gymnasium as gym, farpoint as fp
        >>> env = fp.DiscoveringWrapper(gym.make("CliffWalking-v1"), n_options=4, seed=1)
        >>> agent = fp.train_tabular(env, 1_000)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     env.explorer.save(f"{folder}/explorer")
        ...     again = fp.Explorer.load(f"{folder}/explorer")
        >>> again.digest == env.explorer.digest
        True
        >>> evaluation = fp.DiscoveringWrapper(gym.make("CliffWalking-v1"), explorer=again, learn=False)
        """
        _, arrays = read_arrays(path, _KIND)
        try:
            return cls.from_state(arrays)
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise InvalidFile(f"{path} must hold all parts of an explorer; it is damaged ({error}).") from error

    def __getstate__(self) -> dict[str, NDArray[Any]]:
        return self.state()

    def __setstate__(self, arrays: dict[str, NDArray[Any]]) -> None:
        vars(self).update(vars(Explorer.from_state(arrays)))

    def __repr__(self) -> str:
        of = {"observation": "", "simulator": " of the simulator", "state": " by state="}[self.keyed_by]
        filled = int(np.count_nonzero(self.goals != NONE))
        return f"Explorer({self.n_states} states{of}, {self.n_steps} steps, {filled} of {self.goals.size} slots filled)"


class CallRows:
    """Which calls belong to one step of all copies, where wrappers in one process share an explorer.

    A vector environment calls its copies one after another: each steps once or, where its episode had ended, is reset
    instead (NEXT_STEP) or as well (SAME_STEP, Stable-Baselines3). Options are rebuilt in the first call of such a row
    only, so that all copies offer the same ones. A copy begins a row where it had its call in the present one already.

    Examples
    --------
    >>> rows = CallRows()
    >>> [rows.begins_with(copy, is_reset=False) for copy in (0, 1, 2, 0, 1)]
    [True, False, False, True, False]
    >>> rows.begins_with(1, is_reset=True)                         # its own step was the last call: the same row
    False
    """

    def __init__(self) -> None:
        self._row = 0
        self._rows: dict[int, int] = {}
        self._last = NONE

    def begins_with(self, copy: int, *, is_reset: bool) -> bool:
        """Return whether this call of a copy begins a row."""
        again = is_reset and copy == self._last
        begins = not again and self._rows.get(copy, 0 if self._row == 0 else NONE) == self._row
        self._row += begins
        self._rows[copy], self._last = self._row, copy
        return begins


def spaces_of(env: Any) -> tuple[gym.Space[Any], int]:
    """Return the space of observations and the number of actions of an environment, or of each copy in a vector.

    >>> spaces_of(gym.make_vec("FrozenLake-v1", num_envs=2))
    (Discrete(16), 4)
    """
    if not isinstance(env, gym.vector.VectorEnv):
        return env.observation_space, count_actions(env)
    return env.single_observation_space, size_of_actions(env.single_action_space)


def own_masks(masks: Sequence[Any], n_actions: int) -> list[Any] | None:
    """Return the environment's own mask of each row, all 1 where it says nothing; None if it never does.

    >>> own_masks([None, [1, 0]], 2), own_masks([None, [1, 0, 1]], 2)
    ([array([1., 1.]), [1, 0]], None)
    """
    known = [mask is not None and np.shape(mask) == (n_actions,) for mask in masks]
    if not any(known):
        return None
    return [mask if said else np.ones(n_actions) for mask, said in zip(masks, known, strict=True)]


def own_mask(info: Mapping[str, Any], n_actions: int) -> Any:
    """Return the environment's own mask in its info, or None.

    >>> own_mask({"action_mask": [1, 0]}, 2), own_mask({"action_mask": [1, 0]}, 3), own_mask({}, 2)
    ([1, 0], None, None)
    """
    mask = info.get("action_mask")
    return mask if mask is not None and np.shape(mask) == (n_actions,) else None


def _rows(observations: Any) -> list[Any]:
    return observations if isinstance(observations, list) else list(each_observation(observations))


def _per_row(n_rows: int, masks: Any, copies: Iterable[int] | None, **columns: ArrayLike) -> Iterator[Any]:
    """Return what belongs to each row: its entry of every column, its mask or None, and its copy.

    >>> list(_per_row(2, None, None, states=np.array([5, 7])))
    [(5, None, 0), (7, None, 1)]
    """
    lists = {name: np.ravel(column).tolist() for name, column in columns.items()}
    lists["masks"] = [None] * n_rows if masks is None else list(masks)
    lists["copies"] = [*range(n_rows)] if copies is None else [int(copy) for copy in copies]
    for name, values in lists.items():
        if len(values) != n_rows:
            raise InvalidInput(f"{name} must have one entry per row ({n_rows}); got {len(values)}.")
    return zip(*lists.values(), strict=True)


def _refill(goals: NDArray[np.int64], wanted: NDArray[np.int64]) -> list[int]:
    """Put the wanted goals that no slot has into slots; return which slots changed.

    >>> goals = np.array([7, 3, -1])
    >>> _refill(goals, np.array([5, 3, 8])), goals
    ([0, 2], array([8, 3, 5]))
    """
    new = [goal for goal in wanted.tolist() if goal not in goals]
    free = np.flatnonzero(~np.isin(goals, wanted))
    # Empty slots first: a goal that is no longer among the best is better than an empty slot.
    free = free[np.argsort(goals[free] != NONE, kind="stable")][: len(new)]
    goals[free] = new[: free.size]
    return sorted(free.tolist())


@compiled(nogil=True)
def _fill_outcomes(memory: Memory, before: NDArray[np.int64], action: NDArray[np.int64]) -> None:
    """Fill the state and the action that each outcome belongs to."""
    for state in range(memory.sizes[STATES]):
        for number in range(memory.n_actions[state]):
            entry = memory.first_outcome[state, number]
            while entry != NONE:
                before[entry], action[entry] = state, number
                entry = memory.next_outcome[entry]


@compiled(nogil=True)
def _repeat(memory: Memory, before: int, action: int, after: int, entry: int, count: int) -> None:
    """Count a step that was just remembered ``count`` times more."""
    memory.tried[before, action] += count
    memory.outcome_count[entry] += count
    memory.visits[after] += count + 1
    memory.sizes[TAKEN] += count
    best = memory.likeliest[before, action]
    if memory.outcome_count[entry] > memory.outcome_count[best]:
        memory.likeliest[before, action] = entry
