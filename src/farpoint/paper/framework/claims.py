"""Claims, each with a verdict that is computed from the results."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Generic

from farpoint.paper.framework.results import Results, ScaleT
from farpoint.report.page import FAILS, HOLDS, IN_PART, Verdict


@dataclass(frozen=True)
class Claim(Generic[ScaleT]):
    """A claim, the experiment that it is checked on, and the check.

    ``check`` returns a verdict (`HOLDS`, `IN_PART` or `FAILS`) and the evidence in words.
    """

    experiment: str
    place: str
    text: str
    check: Callable[[Results[ScaleT]], tuple[str, str]]


def judge(
    claims: Sequence[Claim[ScaleT]], results: Results[ScaleT], experiments: Collection[str]
) -> tuple[Verdict, ...]:
    """Return a verdict on every claim whose experiment is among ``experiments``.

    >>> claim = Claim("sizes", "here", "Two is more than one.", lambda results: (graded([2 > 1]), "2 > 1"))
    >>> judge([claim], Results(None), ["sizes"])
    (Verdict(claim='Two is more than one.', place='here', verdict='holds', evidence='2 > 1'),)
    """
    return tuple(
        Verdict(claim.text, claim.place, *claim.check(results)) for claim in claims if claim.experiment in experiments
    )


def graded(outcomes: Sequence[bool]) -> str:
    """Return the verdict on a claim that was checked several times.

    >>> graded([True, True]), graded([True, False]), graded([False, False])
    ('holds', 'holds in part', 'does not hold')
    """
    if all(outcomes):
        return HOLDS
    return IN_PART if any(outcomes) else FAILS
