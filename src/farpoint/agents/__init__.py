"""Agents that learn with options."""

from farpoint.agents.episodic import EpisodicResult, learn_episodes
from farpoint.agents.learning import ALGORITHMS, COUNTINGS, LearningResult, learn
from farpoint.agents.tabular import TABULAR_ALGORITHMS, TabularAgent, train_tabular

__all__ = [
    "ALGORITHMS",
    "COUNTINGS",
    "TABULAR_ALGORITHMS",
    "EpisodicResult",
    "LearningResult",
    "TabularAgent",
    "learn",
    "learn_episodes",
    "train_tabular",
]
