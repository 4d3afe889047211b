"""Exploring from scratch: how many steps until a world has been seen, with every step counted."""

from research.exploration.suite import SUITE

__all__ = ["SUITE"]
