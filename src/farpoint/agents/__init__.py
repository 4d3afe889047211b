"""Agents that learn with options."""

from farpoint.agents.learning import ALGORITHMS, COUNTINGS, EpisodicResult, LearningResult, learn, learn_episodes
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
