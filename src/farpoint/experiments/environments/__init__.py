"""Gymnasium environments: whether options help an agent to learn in them."""

from farpoint.experiments.environments.suite import SUITE

__all__ = ["SUITE"]
