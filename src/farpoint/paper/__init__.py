"""The paper: every table and figure, and a verdict on every claim."""

from farpoint.paper.sections import PAPER

__all__ = ["PAPER"]
