"""All methods on many worlds: which needs the fewest steps, covers, learns and is found soonest."""

from research.comparison.suite import SUITE

__all__ = ["SUITE"]
