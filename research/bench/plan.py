"""Which programs are measured, on which worlds and at which times."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from farpoint.paper.framework import Part
from farpoint.paper.framework import Results as AnyResults
from research.bench.cells import Cell, Measured

# The t at which programs are compared over sizes.
T = 4


@dataclass(frozen=True)
class Plan:
    """How much is measured.

    Attributes
    ----------
    sizes, peers : tuple
        Sides of mazes, and the programs that are measured on them at t = 4.
    times, times_side, time_peers : tuple, int, tuple
        Diffusion times, the side of the maze, and the programs that are measured at them.
    goals_side : int
        Side of the maze of which score and goals are measured together.
    two_times_side : int, optional
        Side of a maze that is measured at t = 4 and t = 13.
    room_side : int, optional
        Side of the open room in which Farpoint is compared with simpleoptions.
    count_goals : bool
        Whether the goals of symmetric worlds are counted.
    growth_from : int
        The number of states from which on the growth of time is fitted.
    """

    sizes: tuple[int, ...]
    peers: tuple[str, ...]
    times: tuple[int, ...]
    times_side: int
    time_peers: tuple[str, ...]
    goals_side: int
    two_times_side: int | None = None
    room_side: int | None = None
    count_goals: bool = False
    growth_from: int = 0


FULL = Plan(
    sizes=(37, 68, 116, 366, 1158, 3661),
    peers=("farpoint", "powers", "eigh", "pygsp", "simpleoptions"),
    times=(1, 2, 4, 8, 13, 30, 60, 100),
    times_side=366,
    time_peers=("farpoint", "thousandth", "probes", "powers"),
    goals_side=3163,
    two_times_side=1000,
    room_side=45,
    count_goals=True,
    growth_from=50_000,
)
QUICK = Plan(
    sizes=(20, 37, 60),
    peers=("farpoint", "powers", "eigh"),
    times=(1, 4, 13),
    times_side=60,
    time_peers=("farpoint", "thousandth", "powers"),
    goals_side=116,
)

Results = AnyResults[Plan]


def series_part(peer: str, sides: Iterable[int], times: Iterable[int], **more: bool) -> Part:
    """Return the measurements of one program over growing worlds or times."""
    return Part.of("series", peer=peer, sides=tuple(sides), times=tuple(times), **more)


def size_parts(plan: Plan) -> list[Part]:
    """Return every program over sizes."""
    return [series_part(peer, plan.sizes, [T]) for peer in plan.peers]


def time_parts(plan: Plan) -> list[Part]:
    """Return every program over times."""
    return [series_part(peer, [plan.times_side], plan.times) for peer in plan.time_peers]


def agreement_part(plan: Plan) -> Part:
    """Return how many goals of a score to 0.1 % are those of the exact score."""
    return Part.of("agreement", side=plan.times_side, t=plan.times[-1])


COUNTS = Part.of("goal_counts")


def comparison_parts(plan: Plan) -> list[Part]:
    """Return what the comparisons need."""
    parts = [*size_parts(plan), *time_parts(plan), series_part("farpoint", [plan.goals_side], [T], goals=True)]
    if plan.two_times_side is not None:
        parts.append(series_part("farpoint", [plan.two_times_side], [4, 13]))
    if plan.room_side is not None:
        parts += [series_part(peer, [plan.room_side], [T], room=True) for peer in ("farpoint", "simpleoptions")]
    parts.append(agreement_part(plan))
    return [*parts, COUNTS] if plan.count_goals else parts


def measurements(results: Results, parts: Sequence[Part] | None = None) -> dict[Cell, Measured]:
    """Return what was measured, of some parts or of all; of a cell that was measured twice, the first measurement."""
    measured: dict[Cell, Measured] = {}
    for part in results.arrays if parts is None else parts:
        if part.kind != "series":
            continue
        params, arrays = dict(part.params), results[part]
        for number, (side, t) in enumerate(zip(arrays["sides"], arrays["times"], strict=True)):
            cell = Cell(params["peer"], int(side), int(t), params.get("room", False), goals=params.get("goals", False))
            one = Measured(
                cell,
                int(arrays["n_states"][number]),
                float(arrays["seconds"][number]),
                int(arrays["extra_bytes"][number]),
                int(arrays["peak_bytes"][number]),
            )
            measured.setdefault(cell, one)
    return measured
