"""The benchmark: time and memory of the score against other programs, as ratios within one run."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence

from farpoint.paper.framework import Experiment, Suite, Summary
from farpoint.report.tables import table_markdown
from research.bench.figures import draw_bench
from research.bench.measuring import KINDS
from research.bench.plan import FULL, QUICK, Plan, Results, comparison_parts, size_parts, time_parts
from research.bench.rows import comparison_rows, measurement_rows, sentences, size_rows, time_rows

_CAPTION = "Time and memory over the number of states, and time over t, all on logarithmic scales."
_PACKAGE = "farpoint[bench]"


def summarize(results: Results, experiments: Sequence[Experiment[Plan]]) -> Summary:
    """Return one figure, the tables as Markdown, and every measurement."""
    names = {experiment.name for experiment in experiments}
    blocks = [
        f"One run on {os.cpu_count()} cores ({platform.machine()}, Python {platform.python_version()}). Times depend "
        "on the machine; compare the ratios. A dash: too large or too long for that program."
    ]
    if "sizes" in names:
        blocks.append(table_markdown(size_rows(results)))
    if "times" in names:
        blocks.append(table_markdown(time_rows(results)))
    if "comparisons" in names:
        blocks.append("\n".join(f"- {sentence}" for sentence in sentences(results)))
    drawn = names & {"sizes", "times"}
    return Summary(
        figure=(_CAPTION, draw_bench(results, drawn)) if drawn else None,
        rows=measurement_rows(results),
        markdown="\n\n".join(blocks) + "\n",
        note=blocks[0],
    )


SUITE = Suite(
    name="bench",
    title="Time and memory of the score",
    lead="The exact score of all states against other ways to compute it and other people's programs.",
    experiments=[
        Experiment("sizes", "Time and memory over the number of states", "random mazes", size_parts, size_rows),
        Experiment("times", "Time over t", "one random maze", time_parts, time_rows),
        Experiment("comparisons", "What the numbers say", "ratios within this run", comparison_parts, comparison_rows),
    ],
    kinds=KINDS,
    full=FULL,
    quick=QUICK,
    needs=dict.fromkeys(("pygsp", "simpleoptions", "psutil", "tqdm", "networkx"), _PACKAGE),
    timed=True,
    summary=summarize,
)
