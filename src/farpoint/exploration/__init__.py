"""Exploring an environment that can only be stepped, with options that are made of what was seen so far."""

from farpoint.exploration.explorer import Explorer, ExploreSettings
from farpoint.exploration.exploring import Exploration, explore

__all__ = ["Exploration", "ExploreSettings", "Explorer", "explore"]
