"""Tabular Q-learning with options in Gymnasium environments, step by step in Python."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
from numpy.typing import ArrayLike, NDArray

from farpoint.agents.learning_kernels import td
from farpoint.display import Tabular, progress_bar
from farpoint.envs.transitions import Transition
from farpoint.envs.wrapper import OptionsWrapper
from farpoint.errors import InvalidInput, check_fraction, check_function, check_integer, check_word
from farpoint.options.probability import probability_text, resolve_option_probability
from farpoint.options.running import allowed_actions
from farpoint.simulation.tables import ACTIONS
from farpoint.worlds.arrays import real_numbers
from farpoint.worlds.environments import StateKey, check_env
from farpoint.worlds.state_index import StateIndex

TABULAR_ALGORITHMS = ("smdp", "intra-option")
_FIRST_ROOM = 64
# For a handful of numbers at a time, interpreted.
_td = td.version("interpreted")  # type: ignore[attr-defined]
_NOBODY = np.empty(0, dtype=np.int64)


@dataclass(eq=False, repr=False)
class TabularAgent(Tabular):
    """Values of every action, options among them, in every state that was met.

    Attributes
    ----------
    env : OptionsWrapper or None
        Where it learned; None in an agent that was pickled.
    index : StateIndex
        The number of each state that was met, by what the options read there (without options, the observation).
    n_actions : int
        Primitive actions; the columns of ``values`` after these are options.
    values : array, shape (n_states, n_actions + n_options)
        In the order of ``index.labels``.
    episode_rewards : list of float
    n_steps : int
        Primitive steps, those inside options included.
    option_probability : float
        Probability that a random decision was an option; 0 without options.

    Examples
    --------
    >>> import gymnasium as gym, farpoint as fp
    >>> env = gym.make("FrozenLake-v1", is_slippery=False)
    >>> env = fp.OptionsWrapper(env, fp.discover(fp.World.from_env(env), n_options=2))
    >>> agent = fp.train_tabular(env, 3000, seed=0)
    >>> agent.n_steps >= 3000, agent.values.shape                                        # 4 actions and 2 options
    (True, (16, 6))
    >>> agent.act(0, [True] * 6)                                                        # in state 0
    1
    """

    env: OptionsWrapper | None
    index: StateIndex
    episode_rewards: list[float] = field(default_factory=list)
    n_steps: int = 0
    option_probability: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.env, OptionsWrapper):
            raise InvalidInput(f"env must be an OptionsWrapper; got {type(self.env).__name__}.")
        if not isinstance(self.index, StateIndex):
            raise InvalidInput(f"index must be a StateIndex; got {type(self.index).__name__}.")
        self.n_actions = self.env.n_actions
        room = max(_FIRST_ROOM, len(self.index))
        self._values = np.zeros((room, self.n_actions + len(self.env.options)))

    def __getstate__(self) -> dict[str, Any]:
        # Many environments cannot be pickled.
        return {**self.__dict__, "env": None}

    @property
    def values(self) -> NDArray[np.float64]:
        """Value of each action in each state."""
        return self._values[: len(self.index)]

    def values_of(self, state: int) -> NDArray[np.float64]:
        """Return the value of each action in a state, by its number; a view."""
        row: NDArray[np.float64] = self._values[state]
        return row

    def act(self, observation: Any, mask: ArrayLike | None = None) -> int:
        """Return the best action, of those that can be taken, the first of equals.

        ``observation`` is what the options read.
        """
        state = self.index.find(observation)
        values = self._values[state] if state >= 0 else np.zeros(self._values.shape[1])
        if mask is not None:
            allowed = real_numbers("mask", mask) != 0
            if allowed.shape != values.shape:
                raise InvalidInput(f"mask must have one entry per action ({values.size}); got shape {allowed.shape}.")
            values = np.where(allowed, values, -np.inf)
        return int(values.argmax())

    def columns(self) -> dict[str, Any]:
        """Return one row per episode: its number and the sum of its rewards."""
        return {"episode": np.arange(1, len(self.episode_rewards) + 1), "reward": np.array(self.episode_rewards)}

    def state_of(self, observation: Any) -> int:
        """Return the number of a state; a new one has the value 0 everywhere."""
        state = self.index.add(observation)
        if state == len(self._values):
            self._values = np.concatenate([self._values, np.zeros_like(self._values)])
        return state

    def __repr__(self) -> str:
        used = probability_text(self.option_probability)
        n_episodes = len(self.episode_rewards)
        return f"TabularAgent({len(self.index)} states, {self.n_steps} steps, {n_episodes} episodes{used})"


def train_tabular(
    env: gym.Env[Any, Any],
    n_steps: int,
    *,
    algorithm: str | None = None,
    state: StateKey | None = None,
    alpha: float = 0.2,
    epsilon: float = 0.1,
    option_probability: float | None = None,
    actions: str = "least tried",
    replay: int = 1,
    exploring_episodes: float = 0.0,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
    callback: Callable[[TabularAgent], bool | None] | None = None,
) -> TabularAgent:
    """Return an agent that has learned in an environment, by its own rewards, with options if it has any.

    Parameters
    ----------
    env : gymnasium.Env
        An `OptionsWrapper` or `DiscoveringWrapper`; or an environment without options, to compare with. A state is
        whatever the options read: mostly the observation.
    n_steps : int
        Primitive steps, those inside options included.
    algorithm : {"intra-option", "smdp"}, optional
        ``"smdp"``: Q(s, o) ← Q + α (r + γᵏ max Q(s′, ·) − Q), r the discounted reward of the option's k steps.
        ``"intra-option"``: each primitive step, also inside options, updates the value of its action and of every
        option whose policy could have taken that action, as in `learn`. Default: ``"intra-option"``, which learns more
        from the same steps; ``"smdp"`` where actions are not discrete, so that none has a value of its own.
    state : function of (env, observation), optional
        What identifies a state of an environment without options; default: the observation. An `OptionsWrapper` has
        its own.
    alpha, epsilon : float
        Step size; share of the decisions that are random.
    option_probability : float, optional
        Probability that a random decision, or one between equal values, is an option; default: that of the
        wrapper. See `OptionsWrapper.sample_action`.
    actions : {"least tried", "uniform"}
        Which primitive action is taken where the decision is random or between equal values: one of those tried
        least often in this state, or any.
    replay : int
        How many of the last episodes are learned from once more, backwards, whenever an episode ends; 0: none.
    exploring_episodes : float
        Share of the episodes in which every decision is random, so that the agent does not keep to the first way that
        it found.
    seed : int
        The same seed gives the same agent.
    progress : function of (int, int), optional
    callback : function of TabularAgent, optional
        Called after every decision; training stops where it returns False.

    Examples
    --------
    >>> import gymnasium as gym, farpoint as fp
    >>> env = gym.make("CliffWalking-v1")
    >>> wrapped = fp.OptionsWrapper(env, fp.discover(fp.World.from_env(env)))
    >>> fp.train_tabular(wrapped, 2000)
    TabularAgent(... states, ... steps, ... episodes, option_probability=...)
    >>> alone = fp.train_tabular(env, 2000)                                             # without options
    >>> alone.values.shape[1]
    4
    """
    env = _with_options(env, state)
    discrete = isinstance(env.env.action_space, gym.spaces.Discrete)
    if algorithm is None:
        algorithm = "intra-option" if discrete else "smdp"
    elif check_word("algorithm", algorithm, TABULAR_ALGORITHMS) == "intra-option" and not discrete:
        raise InvalidInput(
            f"algorithm must be smdp where actions are not discrete; got intra-option and {env.env.action_space}."
        )
    n_steps = check_integer("n_steps", n_steps, 1)
    alpha, epsilon = check_fraction("alpha", alpha), check_fraction("epsilon", epsilon)
    chance = resolve_option_probability(
        option_probability, env.options, default=env.option_probability, may_be_one=True
    )
    check_function("progress", progress)
    check_function("callback", callback)
    check_word("actions", actions, ACTIONS)
    replay = check_integer("replay", replay, 0, 10**6)
    exploring_episodes = check_fraction("exploring_episodes", exploring_episodes)
    rng = np.random.default_rng(check_integer("seed", seed, 0))
    _, info = env.reset(seed=seed)
    agent = TabularAgent(env, _empty_index(env), option_probability=chance)
    intra, least_tried = algorithm == "intra-option", actions == "least tried"
    learner = _Learner(agent, env, intra=intra, alpha=alpha, least_tried=least_tried, replay=replay)
    with progress_bar("learning", n_steps, progress) as tell, _calling(env, learner.step):
        rewards, exploring = 0.0, rng.random() < exploring_episodes
        while agent.n_steps < n_steps:
            random_share = 1.0 if exploring else epsilon
            action = learner.choose(info["action_mask"].astype(bool), random_share, option_probability, rng)
            _, reward, terminated, truncated, info = env.step(action)
            learner.decided(action, reward, info["discount"], terminated, info["action_mask"])
            learner.forget(info.get("changed_options", ()))
            agent.n_steps += info["duration"]
            rewards += info["reward_sum"]
            if terminated or truncated:
                agent.episode_rewards.append(rewards)
                rewards, exploring = 0.0, rng.random() < exploring_episodes
                learner.end_episode()
                _, info = env.reset()
            tell(agent.n_steps)
            if callback is not None and callback(agent) is False:
                break
    return agent


def _with_options(env: Any, state: StateKey | None) -> OptionsWrapper:
    """Return the environment if it has options, else with none."""
    check_env(env)
    if isinstance(env, OptionsWrapper):
        if state is not None:
            raise InvalidInput(f"state must be left out where env has options; got {state!r}. Pass it to the wrapper.")
        return env
    layer = env
    while isinstance(layer, gym.Wrapper):
        layer = layer.env
        if isinstance(layer, OptionsWrapper):
            raise InvalidInput(
                f"env must have its options outermost; got {type(env).__name__} around {type(layer).__name__}. Wrap "
                "the environment first, then add the options."
            )
    return OptionsWrapper(env, [], state=state)


def _empty_index(env: OptionsWrapper) -> StateIndex:
    """Return an index of the states that the options read."""
    # Whole numbers identify a state, whatever their type; fractions do not, unless somebody made them a state.
    here = env.current_key
    observed = env.state is None and isinstance(here, np.ndarray) and here.dtype.kind == "f"
    return StateIndex.exact(fractions=not observed)


@contextmanager
def _calling(env: OptionsWrapper, function: Callable[..., None]) -> Iterator[None]:
    """Have the wrapper call a function after every step of the environment."""
    env.on_step = function
    try:
        yield
    finally:
        env.on_step = None


class _Experience(NamedTuple):
    """A primitive step, or a decision and what came of it until the next one.

    ``here`` and ``after`` are what the options read; ``action`` is a column of the agent's values; ``allowed`` says
    which primitive actions the environment allows in the next state, None where it does not say.
    """

    state: int
    here: Any
    action: int
    reward: float
    discount: float
    next_state: int
    after: Any
    terminated: bool
    allowed: NDArray[np.bool_] | None


class _Learner:
    """An agent while it learns: from every primitive step (intra-option) or from every decision (SMDP).

    It learns from everything at once, and from the last episodes once more, backwards, whenever an episode ends:
    backwards a reward reaches the whole way to it, forwards only the step before it.
    """

    def __init__(
        self, agent: TabularAgent, env: OptionsWrapper, *, intra: bool, alpha: float, least_tried: bool, replay: int
    ) -> None:
        self._agent, self._env, self._alpha, self._intra = agent, env, alpha, intra
        self._n_actions = env.n_actions
        self._least_tried = least_tried
        self._tried = np.zeros((_FIRST_ROOM, env.n_actions), dtype=np.int64)
        self._episodes: deque[list[_Experience]] = deque(maxlen=replay)
        self._episode: list[_Experience] = []
        self._rewarded = False
        # Where the last decision was made and what the options read there; and where the last primitive step led.
        self._began, self._seen, self._state = 0, None, 0

    def choose(
        self, mask: NDArray[np.bool_], epsilon: float, option_probability: float | None, rng: np.random.Generator
    ) -> int:
        """Return the next action, ε-greedy; among equals a primitive one is one of those tried least often here."""
        self._seen = self._env.current_key
        state = self._began = self._state = self._agent.state_of(self._seen)
        among = mask
        if rng.random() >= epsilon:
            values = np.where(mask, self._agent.values_of(state), -np.inf)
            among = values == values.max()
        action = self._env.sample_action(option_probability, among=among, rng=rng)
        if not self._least_tried or action >= self._n_actions:
            return action
        tried = np.where(among[: self._n_actions], self._times_tried(state), np.iinfo(np.int64).max)
        fewest = np.flatnonzero(tried == tried.min())
        return int(fewest[rng.integers(fewest.size)])

    def _times_tried(self, state: int) -> NDArray[np.int64]:
        while state >= len(self._tried):
            self._tried = np.concatenate([self._tried, np.zeros_like(self._tried)])
        row: NDArray[np.int64] = self._tried[state]
        return row

    def step(self, step: Transition) -> None:
        """Count a primitive step, also one inside an option, and learn from it."""
        if not math.isfinite(step.reward):
            raise InvalidInput(f"reward must be finite to be learned from; got {step.reward!r} from {self._env}.")
        # With continuous actions there is one primitive action, a random one, and only decisions are learned from.
        if not self._intra and self._n_actions == 1:
            return
        here, after, gamma = self._state, self._agent.state_of(step.next_observation), self._env.gamma
        self._times_tried(here)[step.action] += 1
        if self._intra:
            seen, then, over = step.observation, step.next_observation, step.terminated
            own = step.info.get("action_mask")
            allowed = None if own is None else allowed_actions(own, self._n_actions)
            self._add(_Experience(here, seen, step.action, step.reward, gamma, after, then, over, allowed))
        self._state = after

    def decided(self, action: int, reward: float, discount: float, terminated: bool, mask: NDArray[np.int8]) -> None:
        """Learn from a decision; ``mask`` says what can be decided next."""
        if not self._intra:
            then, n_actions = self._env.current_key, self._n_actions
            after, allowed = self._agent.state_of(then), allowed_actions(mask[:n_actions], n_actions)
            experience = _Experience(
                self._began, self._seen, action, reward, discount, after, then, terminated, allowed
            )
            self._add(experience)

    def _add(self, experience: _Experience) -> None:
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

    def forget(self, options: Sequence[int]) -> None:
        """Forget the values of options that lead elsewhere now, and the decisions for them."""
        if not options:
            return
        changed = [self._n_actions + option for option in options]
        values = self._agent.values
        # No better than any action, whatever the sign of rewards: what they are worth is learned again.
        values[:, changed] = values[:, : self._n_actions].min(axis=1, keepdims=True)
        # A primitive step can be learned from whatever the options are.
        for episode in (*self._episodes, self._episode):
            episode[:] = [experience for experience in episode if experience.action not in changed]

    def _learn(self, one: _Experience) -> None:
        """Update the value of the action; from a primitive step also that of every option that could have taken it."""
        values, options, n_actions = self._agent.values_of(one.state), self._env.options, self._n_actions
        # In the next state the best decision follows; an option may go on instead, with its own value there.
        best, there, stopped = 0.0, values, None
        if not one.terminated:
            there = self._agent.values_of(one.next_state)
            primitive, can_start = there[:n_actions], options.can_start(one.after)
            if one.allowed is not None:
                # What the environment forbids is never tried, so its value says nothing.
                primitive, stopped = primitive[one.allowed], ~self._takes_one_of(one.after, one.allowed)
                can_start = can_start & ~stopped
            of_options = there[n_actions:][can_start]
            best = float(primitive.max())
            if of_options.size:
                best = max(best, float(of_options.max()))
        values[one.action] += self._alpha * _td(values[one.action], one.reward, one.discount, best)
        takers = options.takes(one.here, one.action).nonzero()[0] if self._intra else _NOBODY
        if takers.size:
            after = np.full(takers.size, best)
            if not one.terminated:
                ended = options.ended(one.after)
                going = ~(ended if stopped is None else ended | stopped)[takers]
                after[going] = there[n_actions + takers[going]]
            updated = n_actions + takers
            values[updated] += self._alpha * _td(values[updated], one.reward, one.discount, after)

    def _takes_one_of(self, seen: Any, allowed: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which options could take one of the allowed actions."""
        options = self._env.options
        takes = [options.takes(seen, action) for action in allowed.nonzero()[0].tolist()]
        return np.any(takes, axis=0)  # type: ignore[no-any-return]
