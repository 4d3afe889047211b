"""What all suites of experiments share: parts, suites, claims, the runner, the store and the report."""

from farpoint.paper.framework.claims import Claim, judge
from farpoint.paper.framework.part import Arrays, Part
from farpoint.paper.framework.results import Results
from farpoint.paper.framework.runner import run
from farpoint.paper.framework.store import Store, code_version
from farpoint.paper.framework.suite import Captioned, Experiment, Suite, Summary

__all__ = [
    "Arrays",
    "Captioned",
    "Claim",
    "Experiment",
    "Part",
    "Results",
    "Store",
    "Suite",
    "Summary",
    "code_version",
    "judge",
    "run",
]
