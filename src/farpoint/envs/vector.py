"""Options as actions in many environments at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from farpoint.envs.copies import Copies, CopiesCall
from farpoint.envs.transitions import uniform_sampler
from farpoint.envs.wrapper import OptionActions, check_fits, warn_if_unknown
from farpoint.errors import InvalidInput, check_fraction, check_function, check_integer, check_word
from farpoint.options import OptionLike, OptionList, Options, OptionSet
from farpoint.options.running import MaskRows, OptionRun, Sampler
from farpoint.worlds.arrays import whole_numbers
from farpoint.worlds.environments import StateKey, size_of_actions
from farpoint.worlds.state_index import state_key


class OptionsVectorEnv(gym.vector.VectorWrapper):
    """A vector environment with more actions: n … n + K − 1 are the options.

    A vector environment steps all copies at every call and none can wait, so a call is one primitive step of each. A
    copy ignores its action where ``infos["deciding"]`` was False: in the middle of an option, whose mask has a single 1
    for it, and after the end of an episode where the next call only resets it (NEXT_STEP). In the middle of an option
    the reward is 0; in the call in which the option ends it is the discounted sum of the rewards on the way.

    ``infos`` holds, as Gymnasium batches them, also after `reset`: ``deciding``, ``action_mask``, ``duration``
    (primitive steps since the decision; 0 in the middle of an option and where an episode begins), ``discount`` (γ to
    the power of the duration), ``reward_sum``, ``option`` (its number, or -1), ``episode_steps`` and
    ``option_probability``. Under SAME_STEP those of a step that ended an episode are in ``infos["final_info"]``. The
    mask of a step that ended an episode is that of its last state, for targets after a time limit.

    Where all copies are in this process, ``SyncVectorEnv`` of `OptionsWrapper` needs no waiting: a row is a whole
    decision. The same seed gives the same decisions, copy by copy, in both.

    Parameters
    ----------
    envs : gymnasium.vector.VectorEnv
        Of any kind, with autoreset NEXT_STEP or SAME_STEP.
    options : OptionSet, GoalOptions, or a sequence of options, optional
        As in `OptionsWrapper`.
    gamma, max_steps, unavailable, sample
        As in `OptionsWrapper`.
    state : function of (env, observation), optional
        What the options read; default: what the labels of their world were made from. ``env`` is None unless the copies
        are in this process and reset at the next step (``SyncVectorEnv``).

    Examples
    --------
    >>> import gymnasium as gym, farpoint as fp
    >>> world = fp.World.from_env(gym.make("FrozenLake-v1", is_slippery=False))
    >>> envs = fp.OptionsVectorEnv(gym.make_vec("FrozenLake-v1", num_envs=2, is_slippery=False), fp.discover(world))
    >>> observations, infos = envs.reset(seed=0)
    >>> observations, rewards, terminated, truncated, infos = envs.step([4, 2])      # an option, and a step
    >>> infos["deciding"], infos["duration"]
    (array([False,  True]), array([0, 1]))
    """

    def __init__(
        self,
        envs: gym.vector.VectorEnv[Any, Any, Any],
        options: Options[Any] | Sequence[OptionLike] | None = None,
        gamma: float = 0.99,
        *,
        max_steps: int = 1000,
        unavailable: str = "random",
        state: StateKey | None = None,
        sample: Sampler | None = None,
    ) -> None:
        self._copies = Copies(envs)
        super().__init__(envs)
        single = envs.single_action_space
        check_function("sample", sample)
        if sample is not None and isinstance(single, gym.spaces.Discrete):
            raise InvalidInput(f"sample must be left out where actions are discrete; got {sample!r}.")
        if sample is None and not isinstance(single, gym.spaces.Discrete):
            sample = uniform_sampler(single)
        self.n_actions = size_of_actions(single) if sample is None else 1
        given = () if options is None else options
        self.options: Options[Any] = given if isinstance(given, Options) else OptionList(given)
        check_function("state", state)
        if isinstance(options, OptionSet):
            # Not n_actions: where actions are continuous, this says what to wrap the environments in.
            check_fits(options, size_of_actions(single), custom_state=state is not None)
            if state is None:
                _check_readable(self._copies, options)
        self.gamma = check_fraction("gamma", gamma)
        self.max_steps = check_integer("max_steps", max_steps, 1)
        self.unavailable = check_word("unavailable", unavailable, ["random", "refuse"])
        self.state, self.sample = state, sample
        space = OptionActions(self.n_actions, len(self.options), self.options.option_probability)
        self.single_action_space = space
        self.action_space = batch_space(space, self.num_envs)
        # Some natively batched environments give the space of one copy.
        self.observation_space = batch_space(envs.single_observation_space, self.num_envs)
        # What can start in a state does not change in an OptionSet: rows of the mask are kept.
        rows: MaskRows | None = {} if isinstance(self.options, OptionSet) else None
        self._runs = [
            OptionRun(self.options, self.n_actions, self.gamma, self.max_steps, self.unavailable, sample, rows)
            for _ in range(self.num_envs)
        ]
        self._begun = False
        self._deciding = np.ones(self.num_envs, dtype=bool)
        # The last decision and the next primitive action of every copy.
        self._decided = [0] * self.num_envs
        self._next: list[Any] = [None] * self.num_envs

    @property
    def option_probability(self) -> float:
        """How often a random decision is an option: that of an `OptionSet`, or 0.05."""
        return self.single_action_space.option_probability  # type: ignore[attr-defined, no-any-return]

    @option_probability.setter
    def option_probability(self, chance: float) -> None:
        chance = check_fraction("option_probability", chance)
        self.single_action_space.option_probability = chance  # type: ignore[attr-defined]
        self.action_space.option_probability = chance  # type: ignore[attr-defined]

    @property
    def total_steps(self) -> int:
        """Primitive steps of all copies."""
        return sum(run.total_steps for run in self._runs)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode in every copy; the seed also decides how ties inside options are broken."""
        call = self._copies.reset(seed, options)
        for run, own_seed in zip(self._runs, self._seeds(seed), strict=True):
            if own_seed is not None:
                run.seed(own_seed)
        self._remember(call, self._next)
        if not self._begun:
            warn_if_unknown(self.options, self._read(call.observations[0]))
        for copy in call.begun:
            self._begin(copy, call)
        self._begun = True
        return call.batched, {**call.infos, **self._told()}

    def _seeds(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        """Return the seed of each copy, as Gymnasium gives them."""
        if seed is None or isinstance(seed, (int, np.integer)):
            return [None if seed is None else int(seed) + copy for copy in range(self.num_envs)]
        return list(seed)

    def step(
        self, actions: ArrayLike
    ) -> tuple[Any, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Take one primitive step in every copy."""
        if not self._begun:
            raise gym.error.ResetNeeded("environments must be reset before their first step; call reset().")
        chosen = whole_numbers("actions", actions, np.int64)
        if chosen.shape != (self.num_envs,):
            raise InvalidInput(f"actions must have one entry per copy ({self.num_envs}); got shape {chosen.shape}.")
        decisions, taken = chosen.tolist(), self._next.copy()
        for copy in np.flatnonzero(self._deciding).tolist():
            taken[copy] = self._runs[copy].decide(decisions[copy])
            self._decided[copy] = int(decisions[copy])
        call = self._copies.step(taken)
        self._next = taken.copy()
        self._remember(call, taken)
        rewards = np.zeros(self.num_envs)
        ended = call.terminated | call.truncated
        final: dict[int, dict[str, Any]] = {}
        for copy in call.moved:
            run, over = self._runs[copy], bool(ended[copy])
            seen = self._read(call.arrivals[copy], copy)
            following = run.arrive(seen, float(call.rewards[copy]), over, call.arrival_masks[copy])
            self._deciding[copy] = following is None and not over
            if following is None:
                rewards[copy] = run.reward
                self._offer(copy, call)
                if over and self._copies.same_step:
                    final[copy] = self._told_at_end(run)
            else:
                self._next[copy] = following
        for copy in call.begun:
            self._begin(copy, call)
        infos = {**call.infos, **self._told(ended & ~self._deciding)}
        if final:
            infos["final_info"] = self._final(infos.get("final_info", {}), final)
            infos.setdefault("_final_info", ended.copy())
        return call.batched, rewards, call.terminated, call.truncated, infos

    def _remember(self, call: CopiesCall, taken: list[Any]) -> None:
        """Look at what a call did, before anything else does."""

    def _offer(self, copy: int, call: CopiesCall) -> None:
        """Prepare the next decision of a copy whose last decision is over."""

    def _begin(self, copy: int, call: CopiesCall) -> None:
        self._runs[copy].begin(self._read(call.observations[copy], copy), call.masks[copy])
        self._deciding[copy] = True

    def _read(self, observation: Any, copy: int = 0) -> Any:
        """Return what the options of a copy read."""
        env, options = self._copies.envs[copy], self._runs[copy].options
        if self.state is not None:
            return self.state(env, observation)
        if env is None and isinstance(options, OptionSet) and options.world.keyed_by == "table":
            # The observation is the number that the simulator keeps.
            return state_key(observation)
        return options.observe(env, observation)

    # --- Infos --------------------------------------------------------------------------------------------------------

    def _told(self, over: NDArray[np.bool_] | None = None) -> dict[str, Any]:
        """Return the entries of ``infos`` about the call and the next decisions, one per copy."""
        n, masks = self.num_envs, np.zeros((self.num_envs, int(self.single_action_space.n)), dtype=np.int8)  # type: ignore[attr-defined]
        told = []
        for copy, run in enumerate(self._runs):
            said = run.told({})
            if self._deciding[copy] or (over is not None and over[copy]):
                masks[copy] = run.mask()
            else:
                # In the middle of an option nothing is to be learned yet.
                masks[copy, self._decided[copy]] = 1
                said |= {"duration": 0, "reward_sum": 0.0, "discount": 1.0}
            told.append(said)
        columns = {name: np.array([said[name] for said in told]) for name in told[0]}
        columns |= {
            "option_probability": np.full(n, self.option_probability),
            "action_mask": masks,
            "deciding": self._deciding.copy(),
        }
        return columns | {f"_{name}": np.ones(n, dtype=bool) for name in columns}

    def _told_at_end(self, run: OptionRun) -> dict[str, Any]:
        """Return the entries of ``final_info`` for a step that ended an episode."""
        return {**run.told({}), "option_probability": self.option_probability, "action_mask": run.mask()}

    def _final(self, infos: dict[str, Any], final: dict[int, dict[str, Any]]) -> dict[str, Any]:
        """Return ``final_info`` with our entries for the copies whose episode ended."""
        # The environment's own masks are part of ours, and shorter.
        infos = {name: value for name, value in infos.items() if name not in ("action_mask", "_action_mask")}
        for copy, said in final.items():
            infos = self._add_info(infos, said, copy)
        return infos


def _check_readable(copies: Copies, options: OptionSet) -> None:
    """Fail where the options read simulators that cannot be read here."""
    world = options.world
    numbered = world.keyed_by == "table" and isinstance(copies.env.single_observation_space, gym.spaces.Discrete)
    if world.keyed_by != "observation" and copies.envs[0] is None and not numbered:
        raise InvalidInput(
            f"options must be of a world whose states are observations; got states of the simulator "
            f"({world.keyed_by}), which cannot be read here. Wrap each copy in OptionsWrapper, or make the world "
            "from observations: World.from_env(env, state=lambda env, observation: observation)."
        )
