"""The paper: every table and figure, and a verdict on every claim."""

from farpoint.experiments.paper.suite import SUITE

__all__ = ["SUITE"]
