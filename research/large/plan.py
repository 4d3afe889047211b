"""Which accuracies and which coverages are measured, and how much work that is."""

from __future__ import annotations

from dataclasses import dataclass

from farpoint.options.probability import EXPLORING_OPTION_PROBABILITY
from farpoint.paper.store import Results as AnyResults
from farpoint.report.figures import WORLD_TITLES as CATALOGUE_TITLES

LARGE_MAZE = "large_maze"
WORLD_TITLES = {**CATALOGUE_TITLES, LARGE_MAZE: "maze of 10 000"}
SHARES = (0.05, 0.1, 0.25, 0.5)
TIMES = (4, 13)
EXTENSIONS = ("nystrom", "harmonics")
NEURAL_SHARES = (0.1, 0.5)
OBJECTIVES = ("allo", "ggdo")


@dataclass(frozen=True)
class Scale:
    """How much work.

    Attributes
    ----------
    n_draws : int
        Random sets of states per extension.
    n_neural_steps, n_cosine_steps : int
        Training steps of the eigenfunctions that scores are computed from, and of those that are compared.
    n_coverage_steps, n_agents : int
        Environment steps per agent, and agents per method and log.
    n_logs, n_log_steps : int
        Logs and their random steps.
    n_trials : int
        Trials of every option in the maze, for its success.
    option_probability : float
        How often the agents that cover a maze take an option.
    worlds, large_worlds, cosine_worlds : tuple of str
        Worlds for the extensions, those too large for several draws and for networks, and those for eigenfunctions.
    """

    n_draws: int
    n_neural_steps: int
    n_cosine_steps: int
    n_coverage_steps: int
    n_agents: int
    n_logs: int
    n_log_steps: int
    n_trials: int
    option_probability: float = EXPLORING_OPTION_PROBABILITY
    worlds: tuple[str, ...] = ("four_rooms", "ring", "maze")
    large_worlds: tuple[str, ...] = (LARGE_MAZE,)
    cosine_worlds: tuple[str, ...] = ("four_rooms", "ring", "maze", "open_room")


FULL = Scale(
    n_draws=10, n_neural_steps=4_000, n_cosine_steps=10_000, n_coverage_steps=6_000, n_agents=8,
    n_logs=4, n_log_steps=300_000, n_trials=10,
)  # fmt: skip
QUICK = Scale(
    n_draws=2, n_neural_steps=60, n_cosine_steps=60, n_coverage_steps=400, n_agents=2,
    n_logs=2, n_log_steps=10_000, n_trials=2,
)  # fmt: skip

Results = AnyResults[Scale]
