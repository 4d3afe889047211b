"""One measurement: what is to be measured, and what was measured."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Cell:
    """One measurement to make: a program on a random maze of ``side`` × ``side`` cells (or an open room) at t."""

    peer: str
    side: int
    t: int
    room: bool = False
    goals: bool = False


@dataclass(frozen=True)
class Measured:
    """What was measured.

    Attributes
    ----------
    cell : Cell
    n_states : int
    seconds : float
        The best of several runs.
    extra_bytes, peak_bytes : int
        The most memory of the process: above what it held with the world made, and in all.
    """

    cell: Cell
    n_states: int
    seconds: float
    extra_bytes: int
    peak_bytes: int
