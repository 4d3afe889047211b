"""Options: what they are, how they are found, how they reach their goals."""

from farpoint.options.discovery import METHODS, discover
from farpoint.options.option import Option
from farpoint.options.option_set import OptionSet
from farpoint.options.storage import load_options

__all__ = ["METHODS", "Option", "OptionSet", "discover", "load_options"]
