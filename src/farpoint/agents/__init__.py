"""Agents that learn with options."""

from farpoint.agents.learning import ALGORITHMS, COUNTINGS, LearningResult, learn

__all__ = ["ALGORITHMS", "COUNTINGS", "LearningResult", "learn"]
