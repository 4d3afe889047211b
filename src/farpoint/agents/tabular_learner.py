"""How a tabular agent decides, and what it learns from a step or a decision: at once, and again after the episode."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from farpoint.envs.wrapper import Transition

if TYPE_CHECKING:
    from farpoint.agents.tabular import TabularAgent


class Decision(NamedTuple):
    """One decision, a primitive action or an option: its discounted reward, and γ to the power of its length."""

    observation: Hashable
    action: int
    reward: float
    discount: float
    next_observation: Hashable
    terminated: bool


class Replay:
    """Learns from everything once, and backwards from the last episodes whenever one has ended.

    Backwards a reward reaches the whole way to it at once; forwards only the step before it.

    Examples
    --------
    >>> learned = []
    >>> replay = Replay(lambda step: learned.append(step.observation), n_episodes=1)
    >>> replay.add(Transition(0, 1, 0.0, 1, False))
    >>> replay.add(Transition(1, 1, 1.0, 2, True))
    >>> replay.end_episode()
    >>> learned
    [0, 1, 1, 0]
    """

    def __init__(self, learn: Callable[[Transition | Decision], None], n_episodes: int) -> None:
        self._learn = learn
        self._episodes: deque[list[Transition | Decision]] = deque(maxlen=n_episodes)
        self._episode: list[Transition | Decision] = []
        self._rewarded = False

    def add(self, experience: Transition | Decision) -> None:
        """Learn from what was just experienced."""
        self._learn(experience)
        self._rewarded |= experience.reward != 0.0
        if self._episodes.maxlen:
            self._episode.append(experience)

    def end_episode(self) -> None:
        """Learn from the last episodes once more."""
        self._episodes.append(self._episode)
        self._episode = []
        # Before the first reward all values are 0, and stay so.
        if self._rewarded:
            for episode in self._episodes:
                for experience in reversed(episode):
                    self._learn(experience)

    def drop(self, actions: list[int]) -> None:
        """Forget what was experienced with some actions."""
        for episode in (*self._episodes, self._episode):
            episode[:] = [experience for experience in episode if experience.action not in actions]


class Learner:
    """An agent while it learns: from every primitive step (intra-option) or from every decision (SMDP)."""

    def __init__(self, agent: TabularAgent, *, intra: bool, alpha: float, least_tried: bool, replay: int) -> None:
        self._agent, self._env, self._alpha = agent, agent.env, alpha
        self._intra, self._least_tried = intra, least_tried
        self._replay = Replay(self._learn, replay)
        n_actions = self._env.n_actions
        self._tried: dict[Hashable, NDArray[np.int64]] = defaultdict(lambda: np.zeros(n_actions, dtype=np.int64))

    def choose(
        self, mask: NDArray[np.bool_], epsilon: float, option_probability: float | None, rng: np.random.Generator
    ) -> int:
        """Return the next action, ε-greedy; among equals a primitive one is one of those tried least often here."""
        key = self._env.current_key
        among = mask if rng.random() < epsilon else self._best_actions(key, mask)
        action = self._env.sample_action(option_probability, among=among, rng=rng)
        if not self._least_tried or action >= self._env.n_actions:
            return action
        tried = np.where(among[: self._env.n_actions], self._tried[key], np.iinfo(np.int64).max)
        fewest = np.flatnonzero(tried == tried.min())
        return int(fewest[rng.integers(fewest.size)])

    def step(self, step: Transition) -> None:
        """Count a primitive step, also one inside an option, and learn from it."""
        # With continuous actions there is one primitive action, a random one.
        if self._env.n_actions > 1:
            self._tried[step.observation][step.action] += 1
        if self._intra:
            self._replay.add(step)

    def decided(self, decision: Decision) -> None:
        """Learn from a decision."""
        if not self._intra:
            self._replay.add(decision)

    def forget(self, options: Sequence[int]) -> None:
        """Forget the values of options that lead elsewhere now, and the decisions for them."""
        if options:
            self._agent.forget(options)
            # A primitive step can be learned from whatever the options are.
            self._replay.drop([self._env.n_actions + option for option in options])

    def end_episode(self) -> None:
        """Learn from the last episodes once more."""
        self._replay.end_episode()

    def _learn(self, experience: Transition | Decision) -> None:
        if isinstance(experience, Decision):
            self._learn_decision(experience)
        else:
            self._learn_step(experience)

    def _learn_decision(self, decision: Decision) -> None:
        # Q(s, o) ← Q + α (r + γᵏ max Q(s′, ·) − Q)
        here = self._agent.values[decision.observation]
        target = decision.reward + decision.discount * self._best_value_after(decision)
        here[decision.action] += self._alpha * (target - here[decision.action])

    def _learn_step(self, step: Transition) -> None:
        """Update the value of the action, and of every option whose policy could have taken it."""
        values, gamma, options = self._agent.values, self._env.gamma, self._env.options
        here, best = values[step.observation], self._best_value_after(step)
        here[step.action] += self._alpha * (step.reward + gamma * best - here[step.action])
        takes = options.takes(step.observation, step.action)
        if not takes.any():
            return
        takers = self._env.n_actions + takes.nonzero()[0]
        # In the next state an option continues, with its own value there, or it ends and the best decision follows.
        after = np.full(takers.size, best)
        if not step.terminated:
            going = ~options.ended(step.next_observation)[takers - self._env.n_actions]
            after[going] = values[step.next_observation][takers[going]]
        here[takers] += self._alpha * (step.reward + gamma * after - here[takers])

    def _best_value_after(self, experience: Transition | Decision) -> float:
        if experience.terminated:
            return 0.0
        there = experience.next_observation
        return float(self._agent.values[there][self._env.mask_at(there).astype(bool)].max())

    def _best_actions(self, key: Hashable, mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
        values = np.where(mask, self._agent.values[key], -np.inf)
        return np.asarray(values == values.max())
