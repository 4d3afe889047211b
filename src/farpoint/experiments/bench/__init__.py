"""Time and memory of the score against other programs."""

from farpoint.experiments.bench.suite import SUITE

__all__ = ["SUITE"]
