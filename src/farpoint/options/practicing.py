"""Trying the options of a sampled graph: how often each arrives, and which edges its controller fails on.

Options are tried in the environment itself or, where there is none, in a rehearsal from the log: there a step leads
where one of the logged steps nearest to here, with the same action, led.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from farpoint.errors import InvalidInput
from farpoint.options.nearest import LocalSteps
from farpoint.options.option_set import OptionSet
from farpoint.worlds import World
from farpoint.worlds.sample_log import SampleLog

if TYPE_CHECKING:
    from farpoint.options.graph_options import GraphOptions

# An agent that is still near the same state after so many steps has failed to follow the edge.
_PATIENCE = 20
# An edge that was tried so often and never followed is cut.
_ENOUGH = 10
# Of the nearest logged steps one is drawn.
_REHEARSED = 3


class Place(Protocol):
    """Where options are tried."""

    def begin(self, rng: np.random.Generator) -> NDArray[Any]:
        """Return the first observation of a trial."""

    def step(self, action: Any, rng: np.random.Generator) -> tuple[NDArray[Any], bool]:
        """Return the next observation, and whether the trial is over."""


class Rehearsal:
    """The log as a place to try options in."""

    def __init__(self, log: SampleLog) -> None:
        self._log = log
        self._here = log.observations[0]
        self._steps: dict[int, LocalSteps] = {}
        if log.discrete:
            for action in np.unique(log.actions).tolist():
                taken = log.actions == action
                self._steps[action] = LocalSteps(log.observations[taken], log.next_observations[taken], _REHEARSED)
        else:
            # Nearest in place and action together, each in units of its own spread.
            self._spreads = [np.maximum(part.std(axis=0).max(), 1e-12) for part in (log.observations, log.actions)]
            both = np.concatenate([log.observations / self._spreads[0], log.actions / self._spreads[1]], axis=1)
            self._steps[0] = LocalSteps(both, log.next_observations, _REHEARSED)

    def begin(self, rng: np.random.Generator) -> NDArray[Any]:
        """Begin a trial at a place of the log."""
        self._here = self._log.observations[rng.integers(len(self._log.observations))]
        return np.asarray(self._here)

    def step(self, action: Any, rng: np.random.Generator) -> tuple[NDArray[Any], bool]:
        """Go where one of the nearest logged steps led."""
        if self._log.discrete:
            ends = self._steps[int(action)].near(self._here)
        else:
            parts = [self._here / self._spreads[0], np.asarray(action) / self._spreads[1]]
            ends = self._steps[0].near(np.concatenate(parts))
        self._here = ends[rng.integers(len(ends))]
        return self._here, False


class Trials:
    """An environment as a place to try options in; a trial begins after up to ``wander`` actions of the log."""

    def __init__(self, env: Any, log: SampleLog, wander: int, features: Callable[[Any], Any] | None = None) -> None:
        if not all(callable(getattr(env, name, None)) for name in ("reset", "step")):
            raise InvalidInput(f"env must be a Gymnasium environment or None; got {env!r}.")
        self._env, self._wander, self._features = env, wander, features
        self._actions = log.actions.tolist() if log.discrete else log.actions

    def begin(self, rng: np.random.Generator) -> NDArray[Any]:
        """Reset the environment and take a few of the logged actions."""
        observation, _ = self._env.reset(seed=int(rng.integers(2**31)))
        for _ in range(int(rng.integers(self._wander + 1))):
            observation, _, terminated, truncated, _ = self._env.step(self._actions[rng.integers(len(self._actions))])
            if terminated or truncated:
                observation, _ = self._env.reset()
        return self._place(observation)

    def step(self, action: Any, rng: np.random.Generator) -> tuple[NDArray[Any], bool]:
        """Step the environment."""
        observation, _, terminated, truncated, _ = self._env.step(action)
        return self._place(observation), bool(terminated or truncated)

    def _place(self, observation: Any) -> NDArray[np.float64]:
        values = observation if self._features is None else self._features(observation)
        return np.asarray(values, dtype=np.float64).ravel()


@dataclass(frozen=True, eq=False)
class Practice:
    """What trials showed: the success of each option; how often each choice of the world was tried and followed."""

    success: NDArray[np.float64]
    tried: NDArray[np.int64]
    followed: NDArray[np.int64]


def practice(options: GraphOptions, place: Place, n_trials: int, max_steps: int, seed: int) -> Practice:
    """Try every option ``n_trials`` times; a trial that begins at the goal does not count."""
    n_choices = options.options.world.n_choices
    result = Practice(np.full(len(options), np.nan), np.zeros(n_choices, np.int64), np.zeros(n_choices, np.int64))
    for number in range(len(options)):
        # The same starts for every option, whatever their number.
        trials = [np.random.default_rng([seed, trial]) for trial in range(n_trials)]
        arrived = [_try_once(options, number, place, max_steps, rng, result) for rng in trials]
        counted = [one for one in arrived if one is not None]
        if counted:
            result.success[number] = np.mean(counted)
    return result


def _try_once(
    options: GraphOptions, number: int, place: Place, max_steps: int, rng: np.random.Generator, result: Practice
) -> bool | None:
    """Return whether one trial arrives (None: it began at the goal), and count the edges it tried."""
    from farpoint.options.graph_options import choice_at, is_at_goal, steered_action

    potential = options.options[number].potential
    here = place.begin(rng)
    if is_at_goal(options, number, here):
        return None
    edge, begun_at, since = -1, -1, 0
    for _ in range(max_steps):
        state, choice = choice_at(options, number, here)
        if state < 0:
            return False
        if state != begun_at:
            if edge >= 0:
                result.followed[edge] += potential[state] < potential[begun_at]
            edge, begun_at, since = choice, state, 0
            result.tried[edge] += edge >= 0
        elif since >= _PATIENCE:
            result.tried[edge] += edge >= 0
            since = 0
        since += 1
        here, over = place.step(steered_action(options, here, state, choice), rng)
        if is_at_goal(options, number, here):
            result.followed[edge] += edge >= 0
            return True
        if over:
            return False
    return False


def reroute(options: OptionSet, tried: NDArray[np.int64], followed: NDArray[np.int64]) -> OptionSet:
    """Return the options on a world whose failing edges are longer or cut.

    The length of a choice grows by how often it must be tried until it is followed. One that was never followed is
    cut, unless some goal could then no longer be reached from everywhere it could.
    """
    world = options.world
    lengths = np.ones(world.n_choices) if world.lengths is None else world.lengths
    longer = replace(world, lengths=lengths * (tried + 1.0) / (followed + 1.0))
    kept = ~((tried >= _ENOUGH) & (followed == 0))
    rerouted = OptionSet(longer, options.goals, options.method, options.record)
    if kept.all():
        return rerouted
    cut = OptionSet(_with_choices(longer, kept), options.goals, options.method, options.record)
    same = all((one.initiation == other.initiation).all() for one, other in zip(cut, options, strict=True))
    return cut if same else rerouted


def _with_choices(world: World, kept: NDArray[np.bool_]) -> World:
    assert world.lengths is not None
    assert world.actions is not None
    counts = np.bincount(world.choice_states[kept], minlength=world.n_states)
    return replace(
        world,
        transitions=csr_array(world.transitions[np.flatnonzero(kept)]),
        choice_ptr=np.concatenate([[0], np.cumsum(counts)]),
        actions=world.actions[kept],
        weights=None if world.weights is None else world.weights[kept],
        lengths=world.lengths[kept],
    )
