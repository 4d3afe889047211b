"""The paper: every table and figure, and a verdict on every claim."""

from farpoint.paper.suite import SUITE

__all__ = ["SUITE"]
