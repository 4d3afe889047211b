"""Options in continuous spaces without learning: routes on a sampled graph, followed by a local controller."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from farpoint.errors import InvalidInput, check_function, check_integer
from farpoint.options.option_set import OptionSet
from farpoint.options.protocol import NumberedOption, Options
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


class GraphOption(NumberedOption):
    """One option of `GraphOptions`: from wherever the agent is, along the graph to the goal.

    It has no memory: at each step it plans anew from the state nearest to the observation, so that an agent that left
    its route continues from where it is.
    """

    options: GraphOptions

    @property
    def goal(self) -> NDArray[np.float64]:
        """The observation of the goal."""
        return np.asarray(self.options.goals[self.number])

    def route(self, observation: ArrayLike) -> NDArray[np.int64]:
        """Return the states on the way from the state nearest to an observation to the goal."""
        options = self.options
        return options.options[self.number].route(options.state(observation))


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
    success : array of float, shape (n_options,), optional
        Share of trials in which each option reached its goal, where that was measured (`learn`).
    features : function of an observation, optional
        Returns the numbers by which observations are compared with states, and then more that only the controller
        looks at, if it wants any; such as a metric of pictures, `farpoint.envs.learn_metric`.

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
    success: NDArray[np.float64] | None = None
    features: Callable[[Any], ArrayLike] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.options, OptionSet) or self.options.world.observations is None:
            raise InvalidInput(
                f"options must be an OptionSet on a world with observations; got {self.options!r}. Discover them in "
                "World.from_samples."
            )
        limits = (self.options.climbs, self.options.initiation, self.options.regions)
        if any(limit is not None for limit in limits):
            raise InvalidInput(f"options must lead to goals from everywhere; got {self.options!r}.")
        check_function("controller", self.controller)
        check_function("features", self.features)
        if isinstance(self.radius, bool) or not isinstance(self.radius, Real) or not 0 <= self.radius < np.inf:
            raise InvalidInput(f"radius must be a finite number of at least 0; got {self.radius!r}.")
        if self.success is not None:
            object.__setattr__(self, "success", real_numbers("success", self.success))
            if self.success.shape != (len(self),):
                raise InvalidInput(f"success must be {len(self)} shares of trials; got shape {self.success.shape}.")

    @classmethod
    def learn(
        cls,
        log: Any,
        options: OptionSet,
        *,
        radius: float | None = None,
        env: Any = None,
        features: Callable[[Any], ArrayLike] | None = None,
        controller: Controller | None = None,
        n_neighbors: int = 5,
        n_trials: int = 20,
        max_steps: int = 300,
        wander: int = 0,
        n_rounds: int = 3,
        seed: int = 0,
    ) -> GraphOptions:
        r"""Return options whose controller comes from a log alone, with their measured success.

        The controller is `nearest_controller`, or the one given. The options are then tried ``n_rounds`` times; after
        each round, edges of the graph that the controller fails on are lengthened, or cut where it never succeeded, so
        that routes go around them. At the end the success of each option is measured by other trials.

        Parameters
        ----------
        log : SampleLog, or anything that has ``observations``, ``actions`` and ``next_observations``
            Or these three arrays; actions may be whole numbers or rows of floats.
        options : OptionSet
            On a world whose states have observations, as `World.from_samples` makes of the same log.
        radius : float, optional
            How near to the goal's observation an option ends. Default: the median length of the moves of the world.
        env : gymnasium.Env, optional
            Where to try the options: a trial begins with a reset. Default: trials are rehearsed in the log, begin at
            its observations, and go where one of the nearest logged steps led; success is then an estimate.
        features : function of an observation, optional
            What was made of the environment's observations to get those of the log, as in `GraphOptions`.
        controller : function of (observation, target observation), optional
            One that was learned, such as by `farpoint.deep.learn_controller`, or supplied.
        n_neighbors : int
            Logged steps that are averaged per action, by the controller that looks them up.
        n_trials, max_steps : int
            Trials per option and round, and steps per trial.
        wander : int
            Largest number of actions, drawn from the log, before a trial in ``env``.
        n_rounds : int
            0 leaves the graph as it is.
        seed : int

        Examples
        --------
        >>> import farpoint as fp
        >>> env = fp.ContinuousMaze("S....\n####.", max_steps=200)
        >>> log = fp.envs.record_samples(env, 5000, seed=0)
        >>> world = fp.World.from_samples(log, n_states=30, neighbors="temporal")
        >>> fp.GraphOptions.learn(log, fp.discover(world, n_options=2), radius=0.3)
        GraphOptions(2 goals, 30 states, radius=0.3, success ...)
        """
        from farpoint.options.nearest import nearest_controller
        from farpoint.options.practicing import Rehearsal, Trials, practice, reroute
        from farpoint.worlds.sample_log import read_sample_log

        steps = read_sample_log(log)
        n_trials, max_steps = check_integer("n_trials", n_trials, 1), check_integer("max_steps", max_steps, 1)
        wander, n_rounds = check_integer("wander", wander, 0), check_integer("n_rounds", n_rounds, 0)
        seed = check_integer("seed", seed, 0)
        control = nearest_controller(steps, n_neighbors=n_neighbors) if controller is None else controller
        within = _median_length(options) if radius is None else radius
        learned = cls(options, control, within, features=features)
        width, n_seen = learned.goals.shape[1], steps.observations.shape[1]
        if width != n_seen and (features is None or n_seen < width):
            raise InvalidInput(
                f"log must have observations of {width} numbers, as those of the options' world; got {n_seen}."
            )
        place = Rehearsal(steps) if env is None else Trials(env, steps, wander, features)
        # Every round has trials of its own, and so has the measurement.
        first = seed * (n_rounds + 1)
        for turn in range(n_rounds):
            found = practice(learned, place, n_trials, max_steps, seed=first + turn)
            if (found.tried == found.followed).all():
                break
            learned = replace(learned, options=reroute(learned.options, found.tried, found.followed))
        measured = practice(learned, place, n_trials, max_steps, seed=first + n_rounds)
        return replace(learned, success=measured.success)

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
        success = None if self.success is None else self.success[self.check_numbers(numbers)]
        return GraphOptions(self.options.subset(numbers), self.controller, self.radius, success, self.features)

    def _place(self, observation: ArrayLike) -> NDArray[np.float64]:
        here = real_numbers("observation", observation if self.features is None else self.features(observation)).ravel()
        width = self.goals.shape[1]
        if here.size != width and (self.features is None or here.size < width):
            raise InvalidInput(f"observation must have {width} numbers; got {here.size}.")
        return here

    def _at_goal(self, here: NDArray[np.float64]) -> NDArray[np.bool_]:
        return np.asarray(np.linalg.norm(self.goals - here[: self.goals.shape[1]], axis=1) <= self.radius)

    def can_start(self, observation: ArrayLike) -> NDArray[np.bool_]:
        """Return which options can start here: not at their goals, and where the graph leads there."""
        return ~self.ended(observation)

    def ended(self, observation: ArrayLike) -> NDArray[np.bool_]:
        """Return which options end here: at their goals, or where no route leads there."""
        here = self._place(observation)
        return self._at_goal(here) | ~self.options.table.initiation(self._nearest(here))

    def reached(self, number: int, observation: ArrayLike) -> bool:
        """Return whether the goal of an option is at most ``radius`` away."""
        return bool(self._at_goal(self._place(observation))[self.check_number(number)])

    def act(self, number: int, observation: ArrayLike, rng: np.random.Generator | None = None) -> Any | None:
        """Return the action to take, or None where the option ends."""
        here, number = self._place(observation), self.check_number(number)
        if is_at_goal(self, number, here):
            return None
        state, choice = choice_at(self, number, here)
        return None if state < 0 else steered_action(self, here, state, choice)

    def state(self, observation: ArrayLike) -> int:
        """Return the state nearest to an observation."""
        return self._nearest(self._place(observation))

    def _nearest(self, here: NDArray[np.float64]) -> int:
        # Asked at every step, so without the checks of `World.nearest_states`, which take most of its time.
        point = here[: self.goals.shape[1]]
        if not np.isfinite(point).all():
            raise InvalidInput(f"observation must be finite; got {point}.")
        return int(self.options.world._nearest.query(point[None, :])[1][0, 0])

    def next_choice(self, number: int, observation: ArrayLike) -> tuple[int, int]:
        """Return the state nearest to an observation, and the choice of its world that an option takes there.

        The choice is -1 in the state of the goal itself; both are -1 where no route leads to the goal.
        """
        return choice_at(self, self.check_number(number), self._place(observation))

    def _outcome(self, choice: int) -> int:
        """Return where a choice leads: going to the nearest state itself would be a way back as often as not."""
        matrix = self.options.world.transitions
        entries = slice(matrix.indptr[choice], matrix.indptr[choice + 1])
        return int(matrix.indices[entries][matrix.data[entries].argmax()])

    def __repr__(self) -> str:
        known = "" if self.success is None or not len(self) else f", success {_shares(self.success)}"
        return f"GraphOptions({len(self)} goals, {self.options.world.n_states} states, radius={self.radius:g}{known})"


def _shares(success: NDArray[np.float64]) -> str:
    shares = np.sort(success)
    return f"{shares[0]:.2f} … {shares[-1]:.2f}" if shares.size > 1 else f"{shares[0]:.2f}"


def _median_length(options: OptionSet) -> float:
    lengths = options.world.lengths if isinstance(options, OptionSet) else None
    if lengths is None or not lengths.size:
        raise InvalidInput("radius must be given for a world whose moves have no lengths; got None.")
    return float(np.median(lengths))


# What follows takes places: what the features make of observations.


def is_at_goal(options: GraphOptions, number: int, here: NDArray[np.float64]) -> bool:
    """Return whether the goal of an option is at most ``radius`` away from a place."""
    goal = options.goals[number]
    away = here[: goal.size] - goal
    return bool(away @ away <= options.radius**2)


def choice_at(options: GraphOptions, number: int, here: NDArray[np.float64]) -> tuple[int, int]:
    """Return the state of a place and the choice that an option takes there; see `GraphOptions.next_choice`."""
    state = options._nearest(here)
    if not options.options.table.initiation(state)[number]:
        return -1, -1
    choices = np.array(options.options.world.choices(state), dtype=np.int64)
    taken = options.options.table.taken(choices)[number]
    return state, int(choices[int(taken.argmax())]) if taken.any() else -1


def steered_action(options: GraphOptions, here: NDArray[np.float64], state: int, choice: int) -> Any:
    """Return the controller's action from a place in ``state`` to where a choice leads; -1: to the state itself."""
    world = options.options.world
    assert world.observations is not None
    return options.controller(here, world.observations[options._outcome(choice) if choice >= 0 else state])
