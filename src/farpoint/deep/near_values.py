"""Training of a controller for near goals that chooses among some actions: double DQN with hindsight."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from farpoint.deep.near_training import Explorer, NearNetwork, NearSettings, NearTraining, Stretches, follow, input_for
from farpoint.options.learned_controller import LearnedController

# Share of random actions while trying.
_RANDOM = 0.1


class ValueTraining(NearTraining):
    """One network gives the value of each of ``actions``, whose numbers the steps of the log hold."""

    def __init__(self, log: Stretches, actions: NDArray[Any], settings: NearSettings) -> None:
        super().__init__(log, settings)
        self.actions = actions
        self.network = NearNetwork(*input_for(log, settings), [*settings.hidden, len(actions)], settings.seed)
        self.target = copy.deepcopy(self.network)
        self.modules = {"network": self.network, "target": self.target}
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=settings.learning_rate)

    def controller(self, record: Mapping[str, Any]) -> LearnedController:
        """Return what was learned so far."""
        return LearnedController(self.network.plain(), self.actions, record)

    def explorer(self) -> Explorer:
        """Return what takes the best action, or now and then a random one."""
        control = self.controller({})

        def explore(here: NDArray[Any], goal: NDArray[Any], rng: np.random.Generator) -> tuple[int, Any]:
            choice = int(rng.integers(len(self.actions)))
            if rng.random() >= _RANDOM:
                choice = control.choice(here, goal)
            return choice, control.action(choice)

        return explore

    def update(self) -> None:
        """Take one gradient step."""
        before, numbers, after, goals = (torch.from_numpy(part) for part in self.batch())
        arrived = ((after[:, : goals.shape[1]] - goals) ** 2).sum(dim=1) <= self.settings.reach**2
        with torch.no_grad():
            best = self.network(after, goals).argmax(dim=1, keepdim=True)
            following = self.target(after, goals).gather(1, best)[:, 0]
            # y = 0 where the goal is reached, else −1 + γ Q(s′, argmax Q)
            wanted = torch.where(arrived, 0.0, -1.0 + self.settings.gamma * following.clamp(max=0.0))
        values = self.network(before, goals).gather(1, numbers[:, None])[:, 0]
        loss = nn.functional.smooth_l1_loss(values, wanted)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        follow(self.target, self.network)
