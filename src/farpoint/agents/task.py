"""What every trial of one learning experiment has in common."""

from __future__ import annotations

from typing import NamedTuple


class Task(NamedTuple):
    """Where a trial starts, how long it lasts, how it learns, and how often a random decision is an option."""

    start: int
    n_episodes: int
    max_steps: int
    alpha: float
    gamma: float
    option_probability: float
