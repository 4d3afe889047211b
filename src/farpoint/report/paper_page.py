"""The report on the paper: its sections with what must be said about each, and the files beside the page."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path

from farpoint.errors import OutputError
from farpoint.experiments.claims import Verdict, judge
from farpoint.experiments.paper import FULL, Experiment
from farpoint.experiments.runner import Results
from farpoint.experiments.tables import TABLES, Row
from farpoint.report.page import Page, Section
from farpoint.report.paper_figures import FIGURES

_NOTES = {
    "fig1": (
        "Local maxima are taken on the graph, a plateau of equal score counted once (its first state in "
        "row-major order)."
    ),
    "fig2": (
        "Q-learning as in section 4: α = 0.1, γ = 0.9, 100 steps an episode. Where the text is silent the "
        "published program is followed: only a random primitive move into the goal ends an episode, and "
        "beginning an option costs one step, ending short of its goal another. The last section counts moves "
        "only, as the text says."
    ),
    "table1": (
        "Exact, by linear algebra, where the paper averages simulated walks; quantiles by Hazen’s rule. "
        "Eigenoptions depend on how ties and signs are settled, and on the Ring, like cover options, on the "
        "basis that a solver picks inside repeated eigenvalues. Random options (not in the paper’s table) are "
        "the median over draws."
    ),
    "fig3": (
        "Here a gust moves the agent and the option goes on. In the published program a gust that lowers the "
        "option's value ends the option without moving the agent, and its weights have indexing slips (16 "
        "goals instead of 14), so the curves differ."
    ),
    "difficulty": (
        "n × mean pairwise diffusion distance, averaged over 100 values of t from 1 to 1000. The printed "
        "numbers cannot be recovered from the text; the order can."
    ),
    "propositions": (
        "Proposition 1 is printed with a uniform average over states. On graphs with unequal degrees that is "
        "not exact; with the average weighted by π₀ it is, because the proof's lemma sums the other "
        "eigenvectors."
    ),
    "eigen_number": ("The eigenoptions are ∓ψ₁, ∓ψ₂, …, ψ₁ included, as the authors have them."),
    "table2": (
        "The paper's Maze random-walk mean, 1323, is not the expectation, which is 1382. The Maze mean for "
        "diffusion options at t = 4 depends strongly on which cell of a plateau is taken; we take the first "
        "in row-major order."
    ),
    "random": ("Each run of the random options draws goals anew, as many as there are diffusion options."),
    "components": ("In brackets: how many of the maxima found are true goals."),
    "rivals": (
        "The paper compares learning with eigenoptions only (and random options in one task). As many options "
        "of each method; random goals are drawn anew for each run. A cover option starts in one state only."
    ),
    "algorithms": (
        "The paper learns values of primitive choices only and uses options to explore; its greedy policy "
        "takes primitive choices. SMDP Q-learning gives options values of their own; in intra-option learning "
        "every step teaches every option that might have taken it. Their greedy policies may use options, so "
        "their curves begin lower."
    ),
}


def paper_page(
    results: Results, experiments: Sequence[Experiment], progress: Callable[[str], None]
) -> tuple[Page, list[Verdict]]:
    """Return the page of these experiments and the verdicts on the paper's claims."""
    verdicts = judge(results, {experiment.name for experiment in experiments})
    sections = []
    for experiment in experiments:
        progress(experiment.name)
        sections.append(
            Section(
                experiment.name,
                experiment.title,
                experiment.place,
                _NOTES.get(experiment.name, ""),
                FIGURES[experiment.name](results) if experiment.name in FIGURES else (),
                TABLES[experiment.name](results) if experiment.name in TABLES else (),
                results.time_of(experiment),
            )
        )
    holding = sum(verdict.verdict == "holds" for verdict in verdicts)
    quick = "" if results.scale == FULL else " <strong>A quick look: far fewer runs than the paper's.</strong>"
    checked = (
        f" Of {len(verdicts)} claims checked, {holding} hold here; each verdict is computed from results on this page."
        if verdicts
        else ""
    )
    lead = (
        "Every table and figure of “Option Discovery in the Absence of Rewards with Manifold Analysis” (Bar, Talmon "
        f"and Meir, ICML 2020) and its supplement, computed anew with Farpoint.{quick}{checked}"
    )
    return Page("The paper, reproduced", lead, sections, verdicts), verdicts


def write_tables(
    results: Results, experiments: Sequence[Experiment], verdicts: Sequence[Verdict], folder: Path, stem: str
) -> None:
    """Write the numbers of each section, and the verdicts, as CSV."""
    for experiment in experiments:
        if experiment.name in TABLES:
            _write_csv(folder / f"{experiment.name}.csv", TABLES[experiment.name](results))
    rows: list[Row] = [
        {"claim": v.claim, "where": v.place, "verdict": v.verdict, "evidence": v.evidence} for v in verdicts
    ]
    if rows:
        _write_csv(folder / f"{stem}-claims.csv", rows)


def _write_csv(path: Path, rows: Sequence[Row]) -> None:
    try:
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, fieldnames=list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    except OSError as error:
        raise OutputError(f"{path} must be a file that can be written; got {error.strerror}.") from error
