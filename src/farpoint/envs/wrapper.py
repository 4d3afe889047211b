"""A Gymnasium wrapper in which options are actions."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from farpoint.envs.sampling import Sampler, uniform_sampler
from farpoint.errors import InvalidInput, check_fraction, check_function, check_generator, check_integer, check_word
from farpoint.options import OptionLike, OptionList, Options, OptionSet
from farpoint.options.probability import DEFAULT_OPTION_PROBABILITY
from farpoint.worlds.arrays import real_numbers
from farpoint.worlds.environments import check_action, check_env, count_actions, has_table
from farpoint.worlds.keys import StateKey


class Transition(NamedTuple):
    """One primitive step, in the terms that the options read; see `OptionsWrapper.on_step`.

    Examples
    --------
    >>> import gymnasium as gym, farpoint as fp
    >>> env = gym.make("FrozenLake-v1", is_slippery=False)
    >>> wrapped = fp.OptionsWrapper(env, fp.discover(fp.World.from_env(env), n_options=2))
    >>> wrapped.on_step = print
    >>> _ = wrapped.reset(seed=0), wrapped.step(2)
    Transition(observation=0, action=2, reward=0.0, next_observation=1, terminated=False)
    """

    observation: Any
    action: int
    reward: float
    next_observation: Any
    terminated: bool


class OptionsWrapper(gym.Wrapper[Any, int, Any, int], gym.utils.RecordConstructorArgs):
    """An environment with the same observations and more actions: n … n + K − 1 are the options.

    A step with an option follows it to its end: the reward is the discounted sum of the rewards on the way, r₁ + γ r₂
    + γ² r₃ + …, and ``info`` says how long it took. An option stops when it ends, when the episode does, after
    ``max_steps`` steps, or after a step that its world does not have (a log may lack transitions of a stochastic
    environment).

    In ``info``: ``duration`` (primitive steps inside this step), ``reward_sum`` (their rewards, not discounted),
    ``discount`` (γ to that power, for the target of an agent that uses it), ``episode_steps`` (primitive steps of this
    episode so far; ``env.total_steps`` counts all), ``option`` (its number, or -1), ``unexpected`` (primitive steps of
    this episode inside options that led where their world says they cannot lead) and ``action_mask`` (which actions
    can be taken now: 1 or 0).

    Parameters
    ----------
    env : gymnasium.Env
        Any stack of wrappers. Where its actions are not discrete, action 0 is one primitive action drawn by
        ``sample``, and 1 … K are the options.
    options : OptionSet, GraphOptions, LearnedOptions, or a sequence of options
        An option is any object with ``can_start``, ``act`` and ``ended`` of an observation.
    gamma : float
    max_steps : int
        The longest that one option may last.
    unavailable : {"refuse", "random"}
        What happens when an option is chosen where it cannot start: an error, or one random primitive action (for
        agents that do not use masks).
    state : function of (env, observation), optional
        What the options read; default: what ``options.observe`` gives, for an `OptionSet` the key of the state as in
        `World.from_env`, otherwise the observation.
    strict : bool
        Whether a step that the options' world does not have is an error.
    sample : function of a numpy Generator, optional
        For an environment whose actions are not discrete: draws a primitive action. Default: uniform in a Box.

    Examples
    --------
    >>> import gymnasium as gym, farpoint as fp
    >>> env = gym.make("FrozenLake-v1", is_slippery=False)
    >>> options = fp.discover(fp.World.from_env(env), n_options=2)
    >>> wrapped = fp.OptionsWrapper(env, options)
    >>> wrapped.action_space
    Discrete(6)
    >>> observation, info = wrapped.reset(seed=0)
    >>> observation, reward, terminated, truncated, info = wrapped.step(4)
    >>> observation == options.world.labels[options.goals[0]], info["duration"] > 1
    (True, True)
    """

    def __init__(
        self,
        env: gym.Env[Any, Any],
        options: Options[Any] | Sequence[OptionLike],
        gamma: float = 0.99,
        *,
        max_steps: int = 1000,
        unavailable: str = "refuse",
        state: StateKey | None = None,
        strict: bool = False,
        sample: Sampler | None = None,
    ) -> None:
        check_env(env)
        # The arguments are recorded, so that the whole stack can be made again from its spec.
        gym.utils.RecordConstructorArgs.__init__(
            self,
            _disable_deepcopy=True,
            options=options,
            gamma=gamma,
            max_steps=max_steps,
            unavailable=unavailable,
            state=state,
            strict=strict,
            sample=sample,
        )
        gym.Wrapper.__init__(self, env)
        check_function("sample", sample)
        self._sample: Sampler | None = None
        if sample is not None and isinstance(env.action_space, gym.spaces.Discrete):
            raise InvalidInput(f"sample must be left out where actions are discrete; got {sample!r}.")
        if sample is not None or isinstance(env.action_space, gym.spaces.Box):
            self._sample = sample or uniform_sampler(env.action_space)
        self.n_actions = count_actions(env) if self._sample is None else 1
        self._always = np.ones(self.n_actions, dtype=bool)
        self.options: Options[Any] = options if isinstance(options, Options) else OptionList(options)
        if isinstance(options, OptionSet):
            _check_world(env, options, self.n_actions, custom_state=state is not None)
        check_function("state", state)
        self.gamma = check_fraction("gamma", gamma)
        self.max_steps = check_integer("max_steps", max_steps, 1)
        self.unavailable = check_word("unavailable", unavailable, ["refuse", "random"])
        self.strict = bool(strict)
        self.action_space = gym.spaces.Discrete(self.n_actions + len(self.options))  # type: ignore[assignment]
        self.option_probability = DEFAULT_OPTION_PROBABILITY
        if isinstance(options, OptionSet):
            self.option_probability = options.option_probability
        self.total_steps = 0
        self.episode_steps = 0
        # Called after every primitive step, also inside options: for agents that learn from each of them.
        self.on_step: Callable[[Transition], None] | None = None
        # As given, so that another environment can be wrapped in the same way.
        self.state, self.sample = state, sample
        self._read = state or self.options.observe
        self._rng = np.random.default_rng()
        self._seen: Any = None
        self._begun = False
        self._unexpected = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode; the seed also decides how ties inside options are broken."""
        seed = None if seed is None else check_integer("seed", seed, 0)
        observation, info = self.env.reset(seed=seed, options=options)
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        first = self._read(self.env, observation)
        if not self._begun and isinstance(self.options, OptionSet) and self.options.world.find_state(first) is None:
            warnings.warn(
                f"The first state, {first!r:.80}, is none of the options' world, so no option can start. If it was "
                "made with state= or seed=, pass the same function to OptionsWrapper, the same seed to reset.",
                stacklevel=2,
            )
        self._begin_episode(first)
        return observation, {**info, **self._offer()}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take a primitive action, or follow an option to its end."""
        action = check_action(action, self.n_actions + len(self.options))
        if not self._begun:
            raise InvalidInput("environment must be reset before its first step.")
        option = max(action - self.n_actions, -1)
        primitive: Any = self._primitive(action) if option < 0 else self._first_action(option)
        if primitive is None:
            primitive, option = self._primitive(int(self._rng.integers(self.n_actions))), -1
        total, plain, duration = 0.0, 0.0, 0
        while True:
            observation, reward, terminated, truncated, info = self._primitive_step(primitive)
            total += self.gamma**duration * reward
            plain += reward
            duration += 1
            if option < 0 or terminated or truncated or duration >= self.max_steps:
                break
            primitive = self._next_action(option, primitive)
            if primitive is None:
                break
        self.total_steps += duration
        self.episode_steps += duration
        self._seen = self._now
        info = {
            **info,
            "duration": duration,
            "reward_sum": plain,
            "discount": self.gamma**duration,
            "episode_steps": self.episode_steps,
            "option": option,
            "unexpected": self._unexpected,
            **self._offer(),
        }
        return observation, total, terminated, truncated, info

    def _begin_episode(self, seen: Any) -> None:
        self._seen, self._begun = seen, True
        self.episode_steps = self._unexpected = 0

    def _offer(self) -> dict[str, Any]:
        """Return what ``info`` says of the next decision."""
        return {"action_mask": self.action_masks().astype(np.int8)}

    @property
    def current_key(self) -> Any:
        """What the options read of the environment as it is now."""
        return self._seen

    def read(self, observation: Any) -> Any:
        """Return what the options read where the environment, as it is now, gives this observation."""
        return self._read(self.env, observation)

    def mask_at(self, seen: Any) -> NDArray[np.bool_]:
        """Return which actions can be taken where the options read ``seen``."""
        return np.concatenate([self._always, self.options.can_start(seen)])

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which actions can be taken now."""
        return self.mask_at(self._seen)

    def sample_action(
        self,
        option_probability: float | None = None,
        *,
        among: NDArray[Any] | None = None,
        rng: np.random.Generator | None = None,
    ) -> int:
        """Return a random decision: an option with this probability, otherwise a primitive action.

        ``action_space.sample()`` takes every action and option equally often, so that with many options an agent
        hardly moves by itself.

        Parameters
        ----------
        option_probability : float, optional
            Default: the wrapper's attribute of that name, which is that of an `OptionSet` or 0.05. Where there is no
            option, or no primitive action, to choose from, the other kind is taken.
        among : array of bool, optional
            The actions to choose from; default: all that can be taken now (`action_masks`).
        rng : numpy Generator, optional
            Default: the one that ``reset(seed=…)`` began.

        Examples
        --------
        >>> import gymnasium as gym, farpoint as fp
        >>> env = gym.make("FrozenLake-v1", is_slippery=False)
        >>> env = fp.OptionsWrapper(env, fp.discover(fp.World.from_env(env), n_options=2))
        >>> _ = env.reset(seed=0)
        >>> env.sample_action(0.0) < env.n_actions, env.sample_action(1.0) < env.n_actions
        (True, False)
        """
        chance = self.option_probability if option_probability is None else option_probability
        chance = check_fraction("option_probability", chance)
        check_generator(rng)
        rng = self._rng if rng is None else rng
        mask = self.action_masks() if among is None else real_numbers("among", among) != 0.0
        if mask.shape != (self.n_actions + len(self.options),) or not mask.any():
            raise InvalidInput(
                f"among must say of each action whether it can be taken, at least one; got {among!r:.80}."
            )
        possible = np.flatnonzero(mask)
        n_primitive = int(np.searchsorted(possible, self.n_actions))
        is_option = n_primitive == 0 or (n_primitive < possible.size and rng.random() < chance)
        kind = possible[n_primitive:] if is_option else possible[:n_primitive]
        return int(kind[rng.integers(kind.size)])

    def _primitive(self, action: int) -> Any:
        """Return the environment's own action of a primitive one."""
        return action if self._sample is None else self._sample(self._rng)

    def _primitive_step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._now = self._read(self.env, observation)
        if self.on_step is not None:
            self.on_step(Transition(self._seen, action, float(reward), self._now, bool(terminated)))
        return observation, float(reward), bool(terminated), bool(truncated), info

    def _first_action(self, option: int) -> Any | None:
        """Return the first action of an option; None where it cannot start and that is not an error."""
        action = self.options.act(option, self._seen, self._rng) if self.options.can_start(self._seen)[option] else None
        if action is None and self.unavailable == "refuse":
            raise InvalidInput(
                f"option {option} must be one that can start here; got {self._seen!r:.80}, where it cannot. See "
                "info['action_mask'], or pass unavailable='random'."
            )
        return action

    def _next_action(self, option: int, action: Any) -> Any | None:
        """Return the next action of an option that took ``action``; None where it ends."""
        before, self._seen = self._seen, self._now
        if not self.options.expects(before, action, self._now):
            self._unexpected += 1
            if self.strict:
                raise InvalidInput(
                    f"options must be of this environment; got {self.options!r}, in whose world action {action} does "
                    "not lead here. Discover them in this environment, or pass strict=False."
                )
            return None
        return self.options.act(option, self._now, self._rng)


def _check_world(env: Any, options: OptionSet, n_actions: int, *, custom_state: bool) -> None:
    world = options.world
    assert world.actions is not None
    if (world.labels is None and not custom_state) or world.actions.max(initial=-1) >= n_actions:
        raise InvalidInput(
            f"options must be of a world made from this environment; got {options!r}. Make it with World.from_env."
        )
    if has_table(env) and not custom_state:
        # The end of an episode in a state that is also passed through has a key of its own.
        states = {label for label in world.labels or () if not (isinstance(label, tuple) and label[:1] == ("end",))}
        if not states <= set(range(len(env.unwrapped.P))):
            raise InvalidInput(
                f"options must be of a world made from this environment; got {options!r}, which has other states."
            )
