"""Training of a controller for near goals with continuous actions: an actor and two critics with hindsight.

After TD3 (Fujimoto, van Hoof, Meger, ICML 2018): of two critics the lower value counts, the actor's next action is
blurred, the actor learns less often than the critics, and all of them have targets that follow slowly.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from farpoint.deep.near_training import (
    Explorer,
    NearNetwork,
    NearSettings,
    NearTraining,
    Stretches,
    follow,
    input_for,
)
from farpoint.options.learned_actor import LearnedActor
from farpoint.worlds.samples import NearestStates

# The actor learns once in so many updates of the critics.
_DELAY = 2
# Standard deviation and limit of what blurs the next action, in halves of the range of an action.
_BLUR, _BLUR_LIMIT = 0.2, 0.5
# Weight of x² of what the actor returns before tanh. Far out tanh is flat and hardly anything is learned any more:
# without it one of three short trainings reached hardly any goal; with it all three did.
_CENTERED = 1e-2
# Share of random actions while trying, and the standard deviation of what is added to the others.
_RANDOM, _NOISE = 0.1, 0.1
# Share of the log's goals that were observed nearby at another time, and how many such pairs are kept.
_ELSEWHERE, _N_PAIRS = 0.5, 20_000


def scaled_actions(actions: NDArray[Any], low: NDArray[Any], high: NDArray[Any]) -> NDArray[np.float32]:
    """Return actions in numbers from -1 to 1; 0 for a number that never changes.

    >>> scaled_actions(np.array([[2.0, 5.0], [4.0, 5.0]]), np.array([2.0, 5.0]), np.array([4.0, 5.0]))
    array([[-1.,  0.],
           [ 1.,  0.]], dtype=float32)
    """
    half = (high - low) / 2.0
    scaled: NDArray[np.float32] = ((actions - (low + half)) / np.where(half > 0, half, 1.0)).astype(np.float32)
    return scaled


class ActorTraining(NearTraining):
    """One network gives the action, two give values of an observation and an action; ``taken`` are scaled actions."""

    def __init__(self, log: Stretches, low: NDArray[Any], high: NDArray[Any], settings: NearSettings) -> None:
        super().__init__(log, settings)
        self.low, self.high = low, high
        center, scale, frequencies = input_for(log, settings)
        # Waves are for values, which jump at walls; an actor learned sooner without.
        self.actor = NearNetwork(center, scale, frequencies[:0], [*settings.hidden, len(low)], settings.seed)
        # Between observation and goal come actions, which are scaled already. With waves of them too
        # the actor learned later.
        between = np.full(len(low), log.before.shape[1])
        center, scale = np.insert(center, between, 0.0), np.insert(scale, between, 1.0)
        frequencies = np.insert(frequencies, between, 0.0, axis=1)
        self._pairs = _pairs_nearby(log, settings)
        seeds = np.random.default_rng([settings.seed, 4]).integers(2**62, size=2).tolist()
        self.critics = [NearNetwork(center, scale, frequencies, [*settings.hidden, 1], seed) for seed in seeds]
        self.target_actor, self.target_critics = copy.deepcopy(self.actor), copy.deepcopy(self.critics)
        self.modules = {
            "actor": self.actor,
            "target actor": self.target_actor,
            "critics": nn.ModuleList(self.critics),
            "target critics": nn.ModuleList(self.target_critics),
        }
        # One optimizer for all: it leaves alone what has no gradient.
        parameters = [*self.actor.parameters(), *self.modules["critics"].parameters()]
        self.optimizer = torch.optim.Adam(parameters, lr=settings.learning_rate)

    def sample(self, steps: Stretches, size: int) -> tuple[NDArray[Any], ...]:
        """Return some steps, each with a goal that was observed soon after it or, for half of the log, nearby.

        What comes soon after a step is seldom behind a wall, and an actor that knows no such goal pushes against it.
        """
        if steps is not self.log:
            return super().sample(steps, size)
        n_elsewhere = int(_ELSEWHERE * size)
        soon = super().sample(steps, size - n_elsewhere)
        drawn = self.rng.integers(_N_PAIRS, size=n_elsewhere)
        rows, goals = (part[drawn] for part in self._pairs)
        nearby = (steps.before[rows], steps.taken[rows], steps.after[rows], goals)
        return tuple(np.concatenate(parts) for parts in zip(soon, nearby, strict=True))

    def controller(self, record: Mapping[str, Any]) -> LearnedActor:
        """Return what was learned so far."""
        return LearnedActor(self.actor.plain(), self.low, self.high, record)

    def explorer(self) -> Explorer:
        """Return what takes an action near the actor's, or now and then a random one."""
        control = self.controller({})

        def explore(here: NDArray[Any], goal: NDArray[Any], rng: np.random.Generator) -> tuple[Any, Any]:
            if rng.random() < _RANDOM:
                scaled = rng.uniform(-1.0, 1.0, self.low.size)
            else:
                scaled = np.clip(control.scaled(here, goal) + rng.normal(0.0, _NOISE, self.low.size), -1.0, 1.0)
            return scaled, control.action(scaled)

        return explore

    def update(self) -> None:
        """Take one gradient step of the critics, and every second time one of the actor."""
        before, taken, after, goals = (torch.from_numpy(part) for part in self.batch())
        wanted = self._wanted(after, goals)
        losses = [nn.functional.smooth_l1_loss(_value(critic, before, taken, goals), wanted) for critic in self.critics]
        self.optimizer.zero_grad(set_to_none=True)
        (losses[0] + losses[1]).backward()
        self.optimizer.step()
        if self.done % _DELAY == 0:
            self._improve_actor(before, goals)
        for target, critic in zip(self.target_critics, self.critics, strict=True):
            follow(target, critic)
        follow(self.target_actor, self.actor)

    def _wanted(self, after: Tensor, goals: Tensor) -> Tensor:
        """Return what the critics should say of steps that ended here."""
        gamma = self.settings.gamma
        lowest = -1.0 / (1.0 - gamma) if gamma < 1.0 else -np.inf
        arrived = ((after[:, : goals.shape[1]] - goals) ** 2).sum(dim=1) <= self.settings.reach**2
        blur = self.rng.normal(0.0, _BLUR, (len(after), len(self.low))).clip(-_BLUR_LIMIT, _BLUR_LIMIT)
        with torch.no_grad():
            action = torch.tanh(self.target_actor(after, goals)) + torch.from_numpy(blur.astype(np.float32))
            values = [_value(critic, after, action.clamp(-1.0, 1.0), goals) for critic in self.target_critics]
            following = torch.minimum(*values).clamp(lowest, 0.0)
            # y = 0 where the goal is reached, else −1 + γ min(Q₁, Q₂)(s′, blurred action)
            return torch.where(arrived, 0.0, -1.0 + gamma * following)

    def _improve_actor(self, before: Tensor, goals: Tensor) -> None:
        # No pull towards the logged actions (TD3+BC): of two logs of nine rooms it made one worse, and the other no
        # clearly better.
        raw = self.actor(before, goals)
        loss = _CENTERED * (raw**2).mean() - _value(self.critics[0], before, torch.tanh(raw), goals).mean()
        parameters = [*self.actor.parameters()]
        self.optimizer.zero_grad(set_to_none=True)
        for parameter, gradient in zip(parameters, torch.autograd.grad(loss, parameters), strict=True):
            parameter.grad = gradient
        self.optimizer.step()


def _pairs_nearby(steps: Stretches, settings: NearSettings) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return numbers of steps, and for each a goal of the log about as far away as those that are seen soon after."""
    rng, width = np.random.default_rng([settings.seed, 5]), settings.goal_dimensions
    rows, others = rng.integers(len(steps.before), size=(2, _N_PAIRS))
    away = steps.goals(others, rng.integers(settings.horizon, size=_N_PAIRS), width) - steps.before[others, :width]
    places = (steps.before[rows, :width] + away).astype(np.float64)
    # Of the log, because a place inside a wall is no goal.
    seen = NearestStates(steps.after[:, :width].astype(np.float64)).states(places)
    return rows, steps.after[seen, :width]


def _value(critic: NearNetwork, observations: Tensor, actions: Tensor, goals: Tensor) -> Tensor:
    values: Tensor = critic(torch.cat([observations, actions], dim=1), goals)
    return values[:, 0]
