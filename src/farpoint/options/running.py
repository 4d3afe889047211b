"""One agent's side of options in one environment: what it decided, and the option that is on its way."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farpoint.errors import InvalidInput
from farpoint.options.protocol import Options
from farpoint.worlds.environments import check_action

# Rows of the mask that are kept, one per state.
_KEPT_ROWS = 100_000

# Draws a primitive action.
Sampler = Callable[[np.random.Generator], Any]
MaskRows = dict[Hashable, NDArray[np.int8]]


class OptionRun:
    """Turns decisions into primitive actions, and adds up what happens until the next decision.

    Whoever steps the environment calls `begin` where an episode begins, `decide` for a decision, and `arrive` after
    every primitive step: `OptionsWrapper` for one environment, `OptionsVectorEnv` for each of its copies.

    Parameters
    ----------
    options : Options
    n_actions : int
    gamma : float
    max_steps : int
        The longest that one option may last.
    unavailable : {"random", "refuse"}
    sample : function of a numpy Generator, optional
        Draws a primitive action where actions are not discrete.
    rows : dict, optional
        Rows of the mask by what the options read, which several runs may share; for options that do not change.

    Attributes
    ----------
    seen : object
        What the options read where the agent is.
    option : int
        The option of the last decision, -1 for a primitive action.
    duration, reward, reward_sum : int, float, float
        Primitive steps since the last decision, and the sum of their rewards, discounted and not.
    episode_steps, total_steps : int
        Primitive steps of this episode, and of all.

    Examples
    --------
    >>> import farpoint as fp
    >>> run = OptionRun(fp.OptionSet(fp.grid((5,)), [4]), 2, 0.5, 1000, "random")
    >>> run.begin(0, None)
    >>> run.mask(), run.decide(2)                                  # action 1 is a move to the right
    (array([1, 1, 1], dtype=int8), 1)
    >>> [run.arrive(place, 1.0, False, None) for place in (1, 2, 3, 4)]
    [1, 1, 1, None]
    >>> run.duration, run.reward, run.reward_sum, run.discount
    (4, 1.875, 4.0, 0.0625)
    """

    def __init__(
        self,
        options: Options[Any],
        n_actions: int,
        gamma: float,
        max_steps: int,
        unavailable: str,
        sample: Sampler | None = None,
        rows: MaskRows | None = None,
    ) -> None:
        self.options, self.n_actions, self.gamma, self.max_steps = options, n_actions, gamma, max_steps
        self.unavailable = unavailable
        self._sample, self.rows = sample, rows
        self._n = n_actions + len(options)
        self._always = np.ones(n_actions, dtype=bool)
        self.rng = np.random.default_rng()
        self.seen: Any = None
        # The environment's own mask of its actions, where it has one.
        self._own: NDArray[np.bool_] | None = None
        self.option = -1
        # The copy that this is, to whoever remembers what happens in it; how the option goes, if it has a memory.
        self.copy = -1
        self._way: Callable[[Any], Any] | None = None
        self.duration, self.reward, self.reward_sum = 0, 0.0, 0.0
        self.episode_steps = self.total_steps = 0

    def seed(self, seed: int) -> None:
        """Begin the random numbers by which ties inside options are broken."""
        # A stream of its own: the environment draws from default_rng(seed).
        self.rng = np.random.default_rng(np.random.SeedSequence(seed).spawn(1)[0])

    def begin(self, seen: Any, own: Any) -> None:
        """Begin an episode; ``own`` is the environment's own mask of its actions, or None."""
        self.seen = seen
        self._keep(own)
        self.option = -1
        self.duration, self.reward, self.reward_sum = 0, 0.0, 0.0
        self.episode_steps = 0

    def decide(self, action: Any) -> Any:
        """Return the first primitive action of a decision."""
        if type(action) is not int or not 0 <= action < self._n:
            action = check_action(action, self._n)
        option = action - self.n_actions if action >= self.n_actions else -1
        primitive = self._first_action(option) if option >= 0 else self._allowed(action)
        if primitive is None:
            primitive, option = self._random_action(), -1
        self.option = option
        self.duration, self.reward, self.reward_sum = 0, 0.0, 0.0
        return primitive

    def arrive(self, seen: Any, reward: float, over: bool, own: Any) -> Any | None:
        """Count a primitive step; return the next action of the option on its way, None where that is over.

        An option is over where it ends, after ``max_steps`` steps, before an action that the environment forbids, and
        where the episode is ``over``.
        """
        # r₁ + γ r₂ + γ² r₃ + …
        self.reward += self.gamma**self.duration * reward
        self.reward_sum += reward
        self.duration += 1
        self.episode_steps += 1
        self.total_steps += 1
        self.seen = seen
        if own is not None or self._own is not None:
            self._keep(own)
        if self.option < 0 or over or self.duration >= self.max_steps:
            return None
        return self._next_action(self.option)

    @property
    def discount(self) -> float:
        """γ to the power of the duration."""
        return self.gamma if self.duration == 1 else self.gamma**self.duration

    def told(self, info: Mapping[str, Any]) -> dict[str, Any]:
        """Return ``info`` with what it says of the steps since the last decision."""
        return {
            **info,
            "duration": self.duration,
            "reward_sum": self.reward_sum,
            "discount": self.discount,
            "episode_steps": self.episode_steps,
            "option": self.option,
        }

    # --- What can be decided ------------------------------------------------------------------------------------------

    def mask(self) -> NDArray[np.int8]:
        """Return which actions can be taken now, 1 or 0: those that the environment allows, and options that can start.

        Where the environment forbids actions, an option can start if its first action is allowed.
        """
        if self._own is not None:
            mask = self.mask_at(self.seen)
            mask[: self.n_actions] = self._own
            for option in np.flatnonzero(mask[self.n_actions :]).tolist():
                mask[self.n_actions + option] = self.option_action(option, self.seen) is not None
            return mask.astype(np.int8)
        if self._n == self.n_actions:
            return np.ones(self._n, dtype=np.int8)
        if self.rows is None:
            return self.mask_at(self.seen).astype(np.int8)
        try:
            row = self.rows.get(self.seen)
        except TypeError:
            # What a function ``state=`` returns need not be hashable; its row is not kept then.
            return self.mask_at(self.seen).astype(np.int8)
        if row is None:
            row = self.mask_at(self.seen).astype(np.int8)
            if len(self.rows) < _KEPT_ROWS:
                self.rows[self.seen] = row
        return row.copy()

    def mask_at(self, seen: Any) -> NDArray[np.bool_]:
        """Return which actions can be taken where the options read ``seen``, as far as the options say."""
        return np.concatenate([self._always, self.options.can_start(seen)])

    def option_action(self, option: int, seen: Any, rng: np.random.Generator | None = None) -> Any | None:
        """Return the action of an option, of those that the environment allows; None where it ends."""
        action = self.options.act(option, seen, rng)
        if action is None or self._own is None or self._own[action]:
            return action
        # Of equally good actions another one may be allowed.
        for other in np.flatnonzero(self._own).tolist():
            if self.options.takes(seen, other)[option]:
                return other
        return None

    def _next_action(self, option: int) -> Any | None:
        """Return the action of an option on its way; None where it ends, and before an action that is forbidden."""
        if self._way is None:
            return self.option_action(option, self.seen, self.rng)
        action = self._way(self.seen)
        return action if action is None or self._own is None or self._own[action] else None

    def _keep(self, own: Any) -> None:
        """Keep which actions the environment allows now, where it says so."""
        self._own = allowed_actions(own, self.n_actions) if self._sample is None else None

    def _first_action(self, option: int) -> Any | None:
        """Return the first action of an option; None where it cannot start and that is not an error."""
        self._way, action = None, None
        if self.options.can_start(self.seen)[option]:
            self._way = self.options.way(option, self.copy)
            action = self._next_action(option)
        # An option with a memory of the episode may know that no way is left, which no mask says: that is no error.
        if action is None and self._way is None and self.unavailable == "refuse":
            raise InvalidInput(
                f"option {option} must be one that can start here; got {self.seen!r:.80}, where it cannot. See "
                "info['action_mask'], or pass unavailable='random'."
            )
        return action

    def _allowed(self, action: int) -> Any | None:
        """Return the environment's own action of a primitive one; None where it forbids that."""
        if self._sample is not None:
            return self._sample(self.rng)
        if self._own is None or self._own[action]:
            return action
        if self.unavailable == "refuse":
            raise InvalidInput(f"action {action} must be one that is allowed here; see info['action_mask'].")
        return None

    def _random_action(self) -> Any:
        """Return a random primitive action that can be taken."""
        if self._sample is not None:
            return self._sample(self.rng)
        allowed = np.flatnonzero(self._always if self._own is None else self._own)
        return int(allowed[self.rng.integers(allowed.size)])


def allowed_actions(own: Any, n_actions: int) -> NDArray[np.bool_] | None:
    """Return which actions an environment's own mask allows; None where it forbids none, or all of them.

    >>> allowed_actions([1, 0], 2), allowed_actions([1, 1], 2), allowed_actions([0, 0], 2), allowed_actions(None, 2)
    (array([ True, False]), None, None, None)
    """
    if own is None or np.shape(own) != (n_actions,):
        return None
    allowed: NDArray[np.bool_] = np.asarray(own) != 0
    return allowed if allowed.any() and not allowed.all() else None
