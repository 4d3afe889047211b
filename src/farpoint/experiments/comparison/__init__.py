"""All methods on many worlds: which needs the fewest steps, covers, learns and is found soonest."""

from farpoint.experiments.comparison.suite import SUITE

__all__ = ["SUITE"]
