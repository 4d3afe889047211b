"""Options: what they are, how they are found, how they reach their goals."""

from farpoint.options.centrality import betweenness
from farpoint.options.discovery import discover
from farpoint.options.goal_policy import GoalOptions, GoalPolicy
from farpoint.options.methods import METHODS
from farpoint.options.option import Option
from farpoint.options.option_set import OptionSet
from farpoint.options.protocol import OptionLike, OptionList, Options

__all__ = [
    "METHODS",
    "GoalOptions",
    "GoalPolicy",
    "Option",
    "OptionLike",
    "OptionList",
    "OptionSet",
    "Options",
    "betweenness",
    "discover",
]
