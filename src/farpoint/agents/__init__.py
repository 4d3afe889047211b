"""Agents that learn with options."""

from farpoint.agents.episodic import EpisodicResult, learn_episodes
from farpoint.agents.learning import ALGORITHMS, COUNTINGS, LearningResult, learn
from farpoint.agents.wrapper import OptionsWrapper

__all__ = ["ALGORITHMS", "COUNTINGS", "EpisodicResult", "LearningResult", "OptionsWrapper", "learn", "learn_episodes"]
