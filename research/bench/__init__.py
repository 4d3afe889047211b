"""Time and memory of the score against other programs."""

from research.bench.suite import SUITE

__all__ = ["SUITE"]
