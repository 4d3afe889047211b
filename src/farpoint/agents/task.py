"""A task in a world: where its episodes begin and end, what is rewarded, the best there is, and how near one comes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from farpoint.errors import InvalidInput, check_fraction
from farpoint.options.routes import least_over_choices
from farpoint.simulation.tables import Episodes, WorldTable
from farpoint.worlds import World

# Moments at which a learning agent is evaluated, denser at the beginning, where the fast ones arrive.
_N_EVALUATIONS = 200


class Task(NamedTuple):
    """Where episodes begin and end, for learning, evaluation and the optimal value alike.

    An episode begins in one of ``starts``, drawn by ``start_cdf``. Arriving in state s gives ``reward[s]`` and ends the
    episode where ``ends[s]``; so do ``max_steps`` steps.
    """

    starts: NDArray[np.int64]
    start_cdf: NDArray[np.float64]
    reward: NDArray[np.float64]
    ends: NDArray[np.bool_]
    max_steps: int

    @classmethod
    def towards(cls, world: World | WorldTable, targets: ArrayLike, episodes: Episodes) -> Task:
        """Return the task in which reaching a target gives reward 1 and ends the episode.

        It also ends in a state without choices.
        """
        is_target = np.isin(np.arange(world.choice_ptr.size - 1), targets)
        ends = is_target | (np.diff(world.choice_ptr) == 0)
        return cls(episodes.starts, episodes.start_cdf, is_target.astype(np.float64), ends, episodes.max_steps)


class Rates(NamedTuple):
    """How an agent learns in a world: step size, discount, and how often decisions are random, and options."""

    alpha: float
    gamma: float
    epsilon: float
    option_probability: float


def targets_of(world: World, targets: ArrayLike | None) -> NDArray[np.int64]:
    """Return the targets of a task: as given, or the world's."""
    states = world.targets if targets is None else world.check_states("targets", targets)
    if states is None or states.size == 0:
        raise InvalidInput(f"targets must be given, for {world.name} has none of its own.")
    return states


def optimal_value(world: World, task: Task, gamma: float) -> float:
    """Return the best mean discounted reward of an episode, within its time limit, by value iteration.

    >>> import farpoint as fp
    >>> episodes = Episodes(np.array([0]), np.array([np.inf]), max_steps=100)
    >>> task = Task.towards(fp.grid((4,)), 3, episodes)
    >>> optimal_value(fp.grid((4,)), task, 0.5), optimal_value(fp.grid((4,)), task._replace(max_steps=2), 0.5)
    (0.25, 0.0)
    """
    value = np.zeros(world.n_states)
    # After k sweeps, what can be had in k steps.
    for _ in range(task.max_steps):
        # V(s) = max_c Σ p(s′ | c) (r(s′) + γ V(s′)), without V where the episode ends
        after = world.transitions @ (task.reward + gamma * np.where(task.ends, 0.0, value))
        new = -least_over_choices(world, -after)
        new[np.diff(world.choice_ptr) == 0] = 0.0
        if np.abs(new - value).max() < 1e-12:
            break
        value = new
    chances = np.diff(np.minimum(task.start_cdf, 1.0), prepend=0.0)
    return float(value[task.starts] @ chances)


class Evaluation:
    """When an agent's best decisions are evaluated, and since when they are near-optimal.

    The first of two moments in a row at which they are counts: the mean of a few episodes may be high by chance.

    Examples
    --------
    >>> evaluation = Evaluation(n_steps=1_000, first=100, near=0.9, best=1.0)
    >>> evaluation.next
    100
    >>> for value in (0.95, 0.5, 0.95, 0.92):
    ...     evaluation.judge(value)
    >>> evaluation.near_optimal
    102.0
    """

    def __init__(self, n_steps: int, first: int, near: float, best: float) -> None:
        if near == 0.0:
            raise InvalidInput("near must be above 0, for everything is near-optimal otherwise; got 0.")
        if best <= 0.0:
            raise InvalidInput("targets must be within reach of a start, and gamma above 0; got a task without reward.")
        self._moments = np.unique(np.geomspace(min(first, n_steps), n_steps, _N_EVALUATIONS).astype(np.int64)).tolist()
        self._good_enough = check_fraction("near", near) * best
        self._before = float("inf")
        self.near_optimal = float("inf")

    @property
    def next(self) -> float:
        """The step of the next moment; inf after the last, and where it is known when decisions were near-optimal."""
        return self._moments[0] if self._moments and self.near_optimal == np.inf else float("inf")

    def judge(self, value: float | None) -> None:
        """Take the mean discounted reward of best decisions at the next moment; None where none were tried."""
        moment = self._moments.pop(0)
        if value is None or value < self._good_enough:
            self._before = float("inf")
        elif self._before < moment:
            self.near_optimal = self._before
        else:
            self._before = float(moment)
