"""A Gymnasium wrapper in which options are actions."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from farpoint.envs.transitions import Transition, uniform_sampler
from farpoint.errors import InvalidInput, check_fraction, check_function, check_generator, check_integer, check_word
from farpoint.options import OptionLike, OptionList, Options, OptionSet
from farpoint.options.running import MaskRows, OptionRun, Sampler
from farpoint.worlds.arrays import real_numbers
from farpoint.worlds.environments import StateKey, check_action, check_env, count_actions, has_table
from farpoint.worlds.state_index import is_end


class OptionActions(gym.spaces.Discrete):
    """Actions 0 … n − 1 are primitive, n … n + K − 1 are options; ``sample()`` takes options at their own rate.

    Agents that explore by ``action_space.sample()`` then take an option with ``option_probability``, and with
    ``sample(info["action_mask"])`` one that can start. In everything else it is the `gymnasium.spaces.Discrete` of as
    many actions.

    Parameters
    ----------
    n_actions, n_options : int
    option_probability : float

    Examples
    --------
    >>> space = OptionActions(4, 16, 0.05)
    >>> space, space == gym.spaces.Discrete(20)
    (Discrete(20), True)
    >>> space.seed(0)
    0
    >>> 20 < sum(bool(space.sample() >= 4) for _ in range(1000)) < 80            # 50 expected
    True
    """

    def __init__(self, n_actions: int, n_options: int, option_probability: float) -> None:
        super().__init__(n_actions + n_options)
        self.n_actions, self.option_probability = n_actions, option_probability

    def sample(self, mask: Any = None, probability: Any = None) -> np.int64:
        """Return a random action of those that ``mask`` allows: an option with ``option_probability``.

        Where only options or only primitive actions are allowed, it is one of them.
        """
        if probability is not None:
            return np.int64(super().sample(mask, probability))
        allowed = np.ones(int(self.n), dtype=np.int8) if mask is None else np.array(mask)
        primitive, options = allowed[: self.n_actions], allowed[self.n_actions :]
        if primitive.any() and options.any():
            others = primitive if self.np_random.random() < self.option_probability else options
            others[:] = 0
        return np.int64(super().sample(allowed))

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, gym.spaces.Discrete)
        return same and bool(self.n == other.n and self.start == other.start)  # type: ignore[attr-defined]

    __hash__ = None  # type: ignore[assignment]


class BatchedOptionActions(gym.spaces.MultiDiscrete):
    """The actions of several copies; ``sample()`` takes options at their own rate in each.

    Gymnasium makes it of `OptionActions` in every vector environment.

    Examples
    --------
    >>> space = gym.vector.utils.batch_space(OptionActions(4, 16, 0.05), 1000)
    >>> space.seed(0)
    0
    >>> 20 < (space.sample() >= 4).sum() < 80                                    # 50 expected
    np.True_
    """

    def __init__(self, single: OptionActions, count: int) -> None:
        super().__init__(np.full(count, single.n), seed=copy.deepcopy(single.np_random))
        self.n_actions, self.option_probability = single.n_actions, single.option_probability

    def sample(self, mask: Any = None, probability: Any = None) -> NDArray[np.int64]:
        """Return a random action of each copy, of those that its row of ``mask`` allows."""
        if probability is not None:
            return np.asarray(super().sample(mask, probability), dtype=np.int64)
        shape = (self.nvec.size, int(self.nvec[0]))
        allowed = np.ones(shape, dtype=bool) if mask is None else np.array(mask) != 0
        if allowed.shape != shape:
            raise InvalidInput(f"mask must have {shape[1]} entries for each of {shape[0]} copies; got {allowed.shape}.")
        primitive, options = allowed[:, : self.n_actions], allowed[:, self.n_actions :]
        either = primitive.any(axis=1) & options.any(axis=1)
        takes = self.np_random.random(shape[0]) < self.option_probability
        primitive[either & takes], options[either & ~takes] = False, False
        # Where nothing is allowed it is the first action, as in other spaces.
        allowed[~allowed.any(axis=1), 0] = True
        # The k-th of the allowed ones, with k uniform.
        k = (self.np_random.random(shape[0]) * allowed.sum(axis=1)).astype(np.int64)
        drawn: NDArray[np.int64] = np.argmax(np.cumsum(allowed, axis=1) > k[:, None], axis=1)
        return drawn


@gym.vector.utils.batch_space.register(OptionActions)
def _batch_option_actions(space: OptionActions, n: int = 1) -> BatchedOptionActions:
    return BatchedOptionActions(space, n)


class OptionsWrapper(gym.Wrapper[Any, int, Any, int], gym.utils.RecordConstructorArgs):
    """An environment with the same observations and more actions: n … n + K − 1 are the options.

    A step with an option follows it to its end: the reward is the discounted sum of the rewards on the way, r₁ + γ r₂
    + γ² r₃ + …, and ``info`` says how long it took. An option stops when it ends, when the episode does, after
    ``max_steps`` steps, in a state that its world does not have, and before an action that the environment forbids.

    In ``info``, also that of a reset: ``duration`` (primitive steps inside this step), ``reward_sum`` (their rewards,
    not discounted), ``discount`` (γ to the power of the duration, for the target of an agent that uses it),
    ``episode_steps`` (primitive steps of this episode so far; ``env.total_steps`` counts all), ``option`` (its number,
    or -1), ``option_probability``, and ``action_mask`` (which actions can be taken now: 1 or 0; an ``action_mask`` of
    the environment's own is respected). Everything else in it is what the environment said in the last primitive step.

    Parameters
    ----------
    env : gymnasium.Env
        Any stack of wrappers. Where its actions are not discrete, action 0 is one primitive action drawn by
        ``sample``, and 1 … K are the options.
    options : OptionSet, GoalOptions, or a sequence of options, optional
        An option is any object with ``can_start``, ``act`` and ``ended`` of an observation. Default: none, as a
        baseline.
    gamma : float
    max_steps : int
        The longest that one option may last.
    unavailable : {"random", "refuse"}
        What happens when an option is chosen where it cannot start, or an action that the environment forbids: one
        random primitive action that can be taken, or an error.
    state : function of (env, observation), optional
        What the options read; default: what ``options.observe`` gives. That of an `OptionSet` reads what the labels of
        its world were made from: the observation, or the simulator where `World.from_env` read it
        (``world.keyed_by``).
    sample : function of a numpy Generator, optional
        For an environment whose actions are not discrete: draws a primitive action. Default: uniform in a Box.
    record : bool
        Whether ``info["steps"]`` lists every primitive step since the last decision with its observations and info,
        also those inside options.

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
        options: Options[Any] | Sequence[OptionLike] | None = None,
        gamma: float = 0.99,
        *,
        max_steps: int = 1000,
        unavailable: str = "random",
        state: StateKey | None = None,
        sample: Sampler | None = None,
        record: bool = False,
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
            sample=sample,
            record=record,
        )
        gym.Wrapper.__init__(self, env)
        check_function("sample", sample)
        self._sample: Sampler | None = None
        if sample is not None and isinstance(env.action_space, gym.spaces.Discrete):
            raise InvalidInput(f"sample must be left out where actions are discrete; got {sample!r}.")
        if sample is not None or isinstance(env.action_space, gym.spaces.Box):
            self._sample = sample or uniform_sampler(env.action_space)
        self.n_actions = count_actions(env) if self._sample is None else 1
        given = () if options is None else options
        self.options: Options[Any] = given if isinstance(given, Options) else OptionList(given)
        if isinstance(options, OptionSet):
            # Not n_actions: where actions are continuous, this says what to wrap the environment in.
            check_fits(options, count_actions(env), custom_state=state is not None)
            if state is None:
                _check_states(env, options)
        check_function("state", state)
        self.gamma = check_fraction("gamma", gamma)
        self.max_steps = check_integer("max_steps", max_steps, 1)
        self.unavailable = check_word("unavailable", unavailable, ["random", "refuse"])
        chance = self.options.option_probability
        self._actions = OptionActions(self.n_actions, len(self.options), chance)
        self.action_space = self._actions  # type: ignore[assignment]
        # Called after every primitive step, also inside options: for agents that learn from each of them.
        self.on_step: Callable[[Transition], None] | None = None
        # As given, so that another environment can be wrapped in the same way.
        self.state, self.sample = state, sample
        self._read = state or self.options.observe
        # What can start in a state does not change in an OptionSet: rows of the mask are kept.
        rows: MaskRows | None = {} if isinstance(self.options, OptionSet) else None
        self._run = OptionRun(
            self.options, self.n_actions, self.gamma, self.max_steps, self.unavailable, self._sample, rows
        )
        self._begun = self._over = False
        self._resets_itself = resets_itself(env)
        self._recorded: list[Transition] | None = [] if record else None
        self._observation: Any = None

    @property
    def option_probability(self) -> float:
        """How often a random decision is an option: that of an `OptionSet`, or 0.05."""
        return self._actions.option_probability

    @option_probability.setter
    def option_probability(self, chance: float) -> None:
        self._actions.option_probability = check_fraction("option_probability", chance)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode; the seed also decides how ties inside options are broken."""
        seed = None if seed is None else check_integer("seed", seed, 0)
        observation, info = self.env.reset(seed=seed, options=options)
        if seed is not None:
            self._run.seed(seed)
        return observation, self._begin(observation, info)

    def _begin(self, observation: Any, info: dict[str, Any]) -> dict[str, Any]:
        """Begin an episode where the environment was reset, by whoever; return what ``info`` says."""
        first = self._read(self.env, observation)
        if not self._begun:
            warn_if_unknown(self.options, first)
        self._observation = observation
        if self._recorded is not None:
            self._recorded = []
        self._run.begin(first, info.get("action_mask"))
        self._begun, self._over = True, False
        return self._told(info)

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take a primitive action, or follow an option to its end."""
        run = self._run
        if not self._begun:
            raise gym.error.ResetNeeded("environment must be reset before its first step; call reset().")
        if self._over:
            check_action(action, self.n_actions + len(self.options))
            return self._step_after_the_end()
        primitive = run.decide(action)
        if self._recorded is not None:
            self._recorded = []
        while primitive is not None:
            observation, reward, terminated, truncated, info = self.env.step(primitive)
            reward, terminated, truncated = float(reward), bool(terminated), bool(truncated)
            seen = self._read(self.env, observation)
            if self.on_step is not None:
                self.on_step(Transition(run.seen, primitive, reward, seen, terminated, truncated, info))
            if self._recorded is not None:
                step = Transition(self._observation, primitive, reward, observation, terminated, truncated, info)
                self._recorded.append(step)
                self._observation = observation
            primitive = run.arrive(seen, reward, terminated or truncated, info.get("action_mask"))
        self._over = terminated or truncated
        return observation, run.reward, terminated, truncated, self._told(info)

    def _step_after_the_end(self) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if not self._resets_itself:
            raise gym.error.ResetNeeded("the episode is over; call reset() before the next step().")
        # An environment that resets itself does so in this call: no action is taken.
        observation, reward, terminated, truncated, info = self.env.step(self.env.action_space.sample())
        return observation, float(reward), bool(terminated), bool(truncated), self._begin(observation, info)

    def _told(self, info: dict[str, Any]) -> dict[str, Any]:
        """Return what ``info`` says of a step."""
        told = self._run.told(info)
        told["option_probability"] = self._actions.option_probability
        self._offer(told)
        if self._recorded is not None:
            told["steps"] = self._recorded
        return told

    def _offer(self, told: dict[str, Any]) -> None:
        """Add to ``info`` what it says of the next decision."""
        told["action_mask"] = self._run.mask()

    @property
    def episode_steps(self) -> int:
        """Primitive steps of this episode so far."""
        return self._run.episode_steps

    @property
    def total_steps(self) -> int:
        """Primitive steps of all episodes."""
        return self._run.total_steps

    @property
    def current_key(self) -> Any:
        """What the options read of the environment as it is now."""
        return self._run.seen

    def read(self, observation: Any) -> Any:
        """Return what the options read where the environment, as it is now, gives this observation."""
        return self._read(self.env, observation)

    def mask_at(self, seen: Any) -> NDArray[np.bool_]:
        """Return which actions can be taken where the options read ``seen``, as far as the options say."""
        return self._run.mask_at(seen)

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which actions can be taken now: those that the environment allows, and options that begin with one."""
        return self._run.mask().astype(bool)

    def sample_action(
        self,
        option_probability: float | None = None,
        *,
        among: NDArray[Any] | None = None,
        rng: np.random.Generator | None = None,
    ) -> int:
        """Return a random decision: an option with this probability, otherwise a primitive action.

        If every action and option were taken equally often, an agent with many options would hardly move by itself.
        This is ``action_space.sample(info["action_mask"])`` with a probability and a generator of your choice.

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
        if option_probability is None:
            chance = self.option_probability
        else:
            chance = check_fraction("option_probability", option_probability)
        check_generator(rng)
        rng = self._run.rng if rng is None else rng
        if among is None:
            mask = self.action_masks()
        elif isinstance(among, np.ndarray) and among.dtype == bool:
            # At every decision of an agent: the general check, of memory too, would take most of its time.
            mask = among
        else:
            mask = real_numbers("among", among) != 0.0
        if mask.shape != (self._actions.n,) or not mask.any():
            raise InvalidInput(
                f"among must say of each action whether it can be taken, at least one; got {among!r:.80}."
            )
        possible = np.flatnonzero(mask)
        n_primitive = int(np.searchsorted(possible, self.n_actions))
        is_option = n_primitive == 0 or (n_primitive < possible.size and rng.random() < chance)
        kind = possible[n_primitive:] if is_option else possible[:n_primitive]
        return int(kind[rng.integers(kind.size)])


def warn_if_unknown(options: Options[Any], first: Any) -> None:
    """Warn if the first state that was seen is none of the world of the options."""
    if isinstance(options, OptionSet) and options.world.find_state(first) is None:
        warnings.warn(
            f"The first state, {first!r:.80}, is none of the options' world, so no option can start. If it was "
            "made with state= or seed=, pass the same function to OptionsWrapper, the same seed to reset.",
            stacklevel=4,
        )


def resets_itself(env: Any) -> bool:
    """Return whether an environment begins the next episode in the step after an end, by itself.

    >>> resets_itself(gym.wrappers.Autoreset(gym.make("FrozenLake-v1")))
    True
    """
    while isinstance(env, gym.Wrapper):
        if isinstance(env, gym.wrappers.Autoreset):
            return True
        env = env.env
    return False


def check_fits(options: OptionSet, n_actions: int, *, custom_state: bool) -> None:
    """Fail unless the world of some options has states that can be observed, and actions of an environment."""
    world = options.world
    assert world.actions is not None
    if (world.labels is None and not custom_state) or world.actions.max(initial=-1) >= n_actions:
        advice = "Make it with World.from_env."
        if world.observations is not None:
            advice = "Follow goals in samples with farpoint.options.GoalOptions."
        raise InvalidInput(f"options must be of a world made from this environment; got {options!r}. {advice}")


def _check_states(env: Any, options: OptionSet) -> None:
    """Fail where the options know states that an environment with a table does not have."""
    states = {label for label in options.world.labels or () if not is_end(label)}
    if has_table(env) and not states <= set(range(len(env.unwrapped.P))):
        raise InvalidInput(
            f"options must be of a world made from this environment; got {options!r}, which has other states."
        )
