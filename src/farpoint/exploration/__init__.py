"""Exploring an environment by interaction only, with options that are built from what was seen so far."""

from farpoint.exploration.explorer import Delta, Explorer, ExploreSettings
from farpoint.exploration.exploring import Exploration, explore
from farpoint.exploration.scratch import ScratchLearning, learn_from_scratch
from farpoint.exploration.vector import DiscoveringVectorEnv
from farpoint.exploration.wrapper import DiscoveringWrapper

__all__ = [
    "Delta",
    "DiscoveringVectorEnv",
    "DiscoveringWrapper",
    "Exploration",
    "ExploreSettings",
    "Explorer",
    "ScratchLearning",
    "explore",
    "learn_from_scratch",
]
