"""Options: what they are, how they are found, how they reach their goals."""

from farpoint.options.centrality import Betweenness, betweenness
from farpoint.options.discovery import discover
from farpoint.options.graph_options import GraphOptions, direction_controller
from farpoint.options.learned_actor import LearnedActor
from farpoint.options.learned_controller import LearnedController
from farpoint.options.learned_options import LearnedOption, LearnedOptions
from farpoint.options.methods import METHODS
from farpoint.options.nearest import nearest_controller
from farpoint.options.option import Option
from farpoint.options.option_set import OptionSet
from farpoint.options.protocol import OptionLike, OptionList, Options

__all__ = [
    "METHODS",
    "Betweenness",
    "GraphOptions",
    "LearnedActor",
    "LearnedController",
    "LearnedOption",
    "LearnedOptions",
    "Option",
    "OptionLike",
    "OptionList",
    "OptionSet",
    "Options",
    "betweenness",
    "direction_controller",
    "discover",
    "nearest_controller",
]
