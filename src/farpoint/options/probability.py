"""How often a random decision should be an option, by how much there is to look at around the goals.

A random walk needs about d² steps to come as far as d. An agent that takes the next option sooner than that never sees
what lies d away from the goals, so the more spread the goals are, the more often it can afford an option. The rule and
its numbers are measured in docs/choices.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from farpoint.errors import InvalidInput, check_fraction
from farpoint.options.map_routes import LARGE_MAP, MapDistances
from farpoint.options.routes import moves_to_any
from farpoint.worlds import World

if TYPE_CHECKING:
    from farpoint.options.protocol import Options

# The paper's agent. No rule takes options more often.
PAPER_OPTION_PROBABILITY = 0.5
# Of an explorer, where it was measured, and of options between which no distances are known.
EXPLORING_OPTION_PROBABILITY = 0.05
# Random walks look around for this many times the mean of d² between two options …
_LOOKING_AROUND = 2.0
# … but in an episode there are this many options, if it is long enough.
_PER_EPISODE = 2.0


def resolve_option_probability(
    given: object, options: Options[Any] | None, *, default: float | None = None, may_be_one: bool = False
) -> float:
    """Return how often a random decision is an option: as given, else the default, else as often as the options say.

    0 without options.

    >>> import farpoint as fp
    >>> options = fp.OptionSet(fp.grid((7,)), [3])
    >>> [round(resolve_option_probability(given, options), 3) for given in (None, 0.2)]
    [0.111, 0.2]
    >>> resolve_option_probability(None, options, default=0.5), resolve_option_probability(0.2, None)
    (0.5, 0.0)
    """
    if given is not None:
        check = check_fraction if may_be_one else _check_below_one
        chance = check("option_probability", given)
    if options is None or len(options) == 0:
        return 0.0
    if given is None:
        chance = options.option_probability if default is None else default
    return chance


def exploring_option_probability(given: object) -> float:
    """Return how often an explorer takes an option where it can: as given, else 0.05.

    >>> exploring_option_probability(None), exploring_option_probability(0.2)
    (0.05, 0.2)
    """
    return EXPLORING_OPTION_PROBABILITY if given is None else _check_below_one("option_probability", given)


def probability_text(chance: float) -> str:
    """Return how the repr of a result says how often a decision was an option; nothing without options.

    >>> probability_text(0.1424), probability_text(0.0)
    (', option_probability=0.142', '')
    """
    return f", option_probability={chance:.3g}" if chance else ""


def _check_below_one(what: str, value: object) -> float:
    """Return a probability below 1: where every option that can start ends at once, only an action leads on."""
    chance = check_fraction(what, value)
    if chance == 1.0:
        raise InvalidInput(f"{what} must be below 1 for an agent to be simulated; got 1.")
    return chance


def usual_option_probability(world: World, goals: NDArray[np.int64]) -> float:
    """Return 1 / (1 + 2 d²), d² the mean squared number of moves from a state to the nearest goal; at most ½.

    In a world with episodes of at most T steps, at least 2 / T. 0 without goals.
    """
    if goals.size == 0:
        return 0.0
    moves = moves_to_nearest(world, goals)
    squared = float(np.square(moves[np.isfinite(moves)]).mean())
    chance = 1.0 / (1.0 + _LOOKING_AROUND * squared)
    # Where an episode is cut off after T steps, the rate is 1 / T.
    return min(max(chance, _PER_EPISODE * world.truncation_rate), PAPER_OPTION_PROBABILITY)


def moves_to_nearest(world: World, goals: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the number of moves, in either direction, between each state and the goal nearest to it."""
    if world.n_states > LARGE_MAP and world.floor is not None:
        distances = MapDistances(world.floor)
        distances.come_nearer(goals)
        return distances.of_all()
    return moves_to_any(world.neighbors, goals.tolist())
