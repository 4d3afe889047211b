"""Which environments, which methods, how many runs."""

from __future__ import annotations

from dataclasses import dataclass

from farpoint.experiments.framework import Part
from farpoint.experiments.framework import Results as AnyResults

METHODS = ("diffusion", "eigen", "cover", "random", "none")
N_OPTIONS = 10
# The seed of MiniGrid's layouts.
LAYOUT = 3


@dataclass(frozen=True)
class Scale:
    """How much work: runs per method and the most environment steps per run; and how often agents take options.

    None leaves that to the options (`OptionSet.option_probability`).
    """

    n_runs: int
    n_steps: int
    option_probability: float | None = None


FULL = Scale(n_runs=20, n_steps=500_000)
QUICK = Scale(n_runs=3, n_steps=20_000)

Results = AnyResults[Scale]


@dataclass(frozen=True)
class Environment:
    """An environment and how it is made."""

    name: str
    title: str
    env: str
    slippery: bool | None = None

    def part(self, method: str, scale: Scale) -> Part:
        """Return learning in it with the options of a method."""
        return Part.of(
            "episodes",
            env=self.env,
            slippery=self.slippery,
            method=method,
            n_options=N_OPTIONS,
            n_runs=scale.n_runs,
            n_steps=scale.n_steps,
            option_probability=scale.option_probability,
            layout=LAYOUT,
        )

    def parts(self, scale: Scale) -> list[Part]:
        """Return learning in it with the options of every method."""
        return [self.part(method, scale) for method in METHODS]


ENVIRONMENTS = (
    Environment("fourrooms", "MiniGrid FourRooms", "MiniGrid-FourRooms-v0"),
    Environment("multiroom", "MiniGrid MultiRoom-N4-S5", "MiniGrid-MultiRoom-N4-S5-v0"),
    Environment("doorkey", "MiniGrid DoorKey-8x8", "MiniGrid-DoorKey-8x8-v0"),
    Environment("frozenlake", "FrozenLake 8x8", "FrozenLake8x8-v1", slippery=False),
    Environment("slipperylake", "FrozenLake 8x8, slippery", "FrozenLake8x8-v1", slippery=True),
    Environment("taxi", "Taxi", "Taxi-v4"),
    Environment("cliff", "CliffWalking", "CliffWalking-v1"),
)
