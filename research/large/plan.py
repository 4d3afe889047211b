"""Which accuracies and which coverages are measured, and how much work that is."""

from __future__ import annotations

from dataclasses import dataclass

from farpoint.options.probability import DEFAULT_OPTION_PROBABILITY
from farpoint.paper.framework import Part
from farpoint.paper.framework import Results as AnyResults
from farpoint.report.names import WORLD_TITLES as CATALOGUE_TITLES
from research.large.coverage import METHODS, SETTINGS

LARGE_MAZE = "large_maze"
WORLD_TITLES = {**CATALOGUE_TITLES, LARGE_MAZE: "maze of 10 000"}
SHARES = (0.05, 0.1, 0.25, 0.5)
TIMES = (4, 13)
EXTENSIONS = ("nystrom", "harmonics")
NEURAL_SHARES = (0.1, 0.5)
OBJECTIVES = ("allo", "ggdo")
POLICIES = {"lookup": "looked up in the log", "learned": "learned from the log"}


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
        Logs, each with a training of its own, and their random steps.
    n_updates, n_trials : int
        Updates of the learned controller, and rehearsals of every option.
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
    n_updates: int
    n_trials: int
    option_probability: float = DEFAULT_OPTION_PROBABILITY
    worlds: tuple[str, ...] = ("four_rooms", "ring", "maze")
    large_worlds: tuple[str, ...] = (LARGE_MAZE,)
    cosine_worlds: tuple[str, ...] = ("four_rooms", "ring", "maze", "open_room")


FULL = Scale(
    n_draws=10, n_neural_steps=4_000, n_cosine_steps=10_000, n_coverage_steps=6_000, n_agents=8,
    n_logs=4, n_log_steps=300_000, n_updates=10_000, n_trials=10,
)  # fmt: skip
QUICK = Scale(
    n_draws=2, n_neural_steps=60, n_cosine_steps=60, n_coverage_steps=400, n_agents=2,
    n_logs=2, n_log_steps=10_000, n_updates=100, n_trials=2,
)  # fmt: skip

Results = AnyResults[Scale]


def extension_part(world: str, t: int, share: float, method: str, scale: Scale) -> Part:
    """Return the accuracy of one extension."""
    n_draws = 1 if world in scale.large_worlds else scale.n_draws
    return Part.of("extension", world_name=world, t=t, share=share, method=method, n_draws=n_draws)


def neural_part(world: str, share: float, scale: Scale) -> Part:
    """Return the accuracy of scores from eigenfunctions that were learned from some of the states."""
    return Part.of("neural", world_name=world, share=share, times=TIMES, n_steps=scale.n_neural_steps, seed=0)


def extension_parts(scale: Scale) -> list[Part]:
    """Return the accuracy of every extension, and of the learned eigenfunctions in the small worlds."""
    extensions = [
        extension_part(world, t, share, method, scale)
        for world in (*scale.worlds, *scale.large_worlds)
        for t in TIMES
        for share in SHARES
        for method in EXTENSIONS
    ]
    return extensions + [neural_part(world, share, scale) for world in scale.worlds for share in NEURAL_SHARES]


def cosine_part(world: str, objective: str, scale: Scale) -> Part:
    """Return how close learned eigenfunctions come to the true ones."""
    return Part.of("cosines", world_name=world, objective=objective, n_steps=scale.n_cosine_steps, seed=0)


def coverage_part(method: str, policy: str, scale: Scale, env: str) -> Part:
    """Return how much of a continuous maze agents visit with the options of a method."""
    # PointMaze is small, and its ball moves farther in a step.
    n_steps = scale.n_coverage_steps if env == "maze" else scale.n_coverage_steps // 6
    return Part.of(
        "coverage",
        env=env,
        method=method,
        policy=policy,
        n_steps=n_steps,
        n_agents=scale.n_agents,
        n_logs=scale.n_logs,
        n_log_steps=round(SETTINGS[env].log_share * scale.n_log_steps),
        n_updates=scale.n_updates if policy == "learned" else 0,
        n_trials=scale.n_trials,
        option_probability=scale.option_probability,
    )


def coverage_pairs(env: str) -> list[tuple[str, str]]:
    """Return the pairs of method and policy; primitive actions need no policy, and in PointMaze none is learned."""
    policies = list(POLICIES) if env == "maze" else ["lookup"]
    return [(method, policy) for policy in policies for method in METHODS if method != "none"] + [("none", "lookup")]


def coverage_parts(scale: Scale, *, env: str) -> list[Part]:
    """Return the coverage of a maze with every method and policy."""
    return [coverage_part(method, policy, scale, env) for method, policy in coverage_pairs(env)]
