"""Exploring an environment that can only be stepped, with options that are made of what was seen so far."""

from farpoint.exploration.discovering import DiscoveringWrapper
from farpoint.exploration.explorer import Explorer, ExploreSettings
from farpoint.exploration.exploring import Exploration, explore
from farpoint.exploration.learning import ScratchLearning, learn_from_scratch
from farpoint.exploration.sampled_options import SampledOptions

__all__ = [
    "DiscoveringWrapper",
    "Exploration",
    "ExploreSettings",
    "Explorer",
    "SampledOptions",
    "ScratchLearning",
    "explore",
    "learn_from_scratch",
]
