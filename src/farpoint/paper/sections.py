"""The sections of the page: one per table or figure, in the paper's order."""

from __future__ import annotations

from functools import partial

from farpoint.paper import figures, tables
from farpoint.paper.claims import CLAIMS
from farpoint.paper.page import Section, Study
from farpoint.paper.plan import FULL, PRINTED_MEAN, PRINTED_MEDIAN, QUICK, STEP_METHODS, WIND

SECTIONS: tuple[Section, ...] = (
    Section(
        "fig1",
        "The score and the stationary distribution",
        "Figure 1",
        rows=tables.score_rows,
        figures=figures.draw_scores,
        note=(
            "Local maxima are taken on the graph, a plateau of equal score counted once (its first state in row-major "
            "order)."
        ),
    ),
    Section(
        "fig2",
        "Visitation and learning, t = 4",
        "Figure 2",
        rows=tables.learning_rows,
        figures=partial(figures.draw_learning, t=4),
        note=(
            "Q-learning as in section 4: α = 0.1, γ = 0.9, 100 steps per episode. Where the text is silent the "
            "published program is followed: only a random primitive move into the goal ends an episode, and beginning "
            "an option costs one step, ending short of its goal another. The last section counts moves only, as the "
            "text says."
        ),
    ),
    Section(
        "table1",
        "Steps between states: median and IQR",
        "Table 1",
        rows=partial(tables.steps_rows, center="median", spread="IQR", printed=PRINTED_MEDIAN),
        figures=partial(figures.draw_steps, name="median", printed=PRINTED_MEDIAN),
        note=(
            "Exact, by linear algebra, where the paper averages simulated walks; quantiles by Hazen’s rule. "
            "Eigenoptions depend on how ties and signs are resolved, and on the Ring, like cover options, on the basis "
            "that is chosen inside repeated eigenvalues (here one that does not depend on the machine). Random options "
            "(not in the paper’s table) are the median over draws."
        ),
    ),
    Section(
        "fig3",
        "4Rooms with wind",
        "Figure 3 and the supplement's stochastic 4Rooms",
        rows=tables.windy_rows,
        figures=figures.draw_wind,
        note=(
            "Here a gust moves the agent and the option continues. In the published program a gust that lowers the "
            "option's value ends the option without moving the agent, and its weights have indexing errors (16 goals "
            "instead of 14), so the curves differ."
        ),
    ),
    Section(
        "difficulty",
        "Difficulty of the worlds",
        "Section 4.4",
        rows=tables.difficulty_rows,
        figures=figures.draw_difficulty,
        note=(
            "n × mean pairwise diffusion distance, averaged over 100 values of t from 1 to 1000. The printed numbers "
            "cannot be recovered from the text; the order can."
        ),
    ),
    Section(
        "propositions",
        "The two propositions",
        "Section 3.3",
        rows=tables.propositions_rows,
        note=(
            "Proposition 1 is printed with a uniform average over states. On graphs with unequal degrees that is not "
            "exact; with the average weighted by π₀ it is, because the proof's lemma sums the other eigenvectors."
        ),
    ),
    Section(
        "dumbbell",
        "Euclidean and diffusion distance",
        "Supplement A",
        figures=figures.draw_dumbbell,
    ),
    Section(
        "eigen_number",
        "Eigenoptions, 10 to 50 of them",
        "Supplement D.1, figure",
        rows=tables.eigen_number_rows,
        figures=figures.draw_eigen_number,
        note="The eigenoptions are ∓ψ₁, ∓ψ₂, …, ψ₁ included, as the authors have them.",
    ),
    Section(
        "table2",
        "Steps between states: mean and standard deviation",
        "Table 2",
        rows=partial(tables.steps_rows, center="mean", spread="std", printed=PRINTED_MEAN),
        figures=partial(figures.draw_steps, name="mean", printed=PRINTED_MEAN),
        note=(
            "The paper's Maze random-walk mean, 1323, is not the expectation, which is 1382. The Maze mean for "
            "diffusion options at t = 4 depends strongly on which cell of a plateau is taken; we take the first in "
            "row-major order."
        ),
    ),
    Section(
        "counts",
        "Number of options over t",
        "Supplement D.2",
        rows=tables.counts_rows,
        figures=figures.draw_counts,
    ),
    Section(
        "fig2_t13",
        "Visitation and learning, t = 13",
        "Supplement D.2",
        rows=partial(tables.learning_rows, t=13),
        figures=partial(figures.draw_learning, t=13),
    ),
    Section(
        "random",
        "Random options in 4Rooms",
        "Supplement D.3",
        rows=partial(tables.corner_rows, wind=0.0),
        figures=partial(figures.draw_corner, wind=0.0),
        note="Each run of the random options draws goals of its own, as many as there are diffusion options.",
    ),
    Section(
        "random_wind",
        "Random options in 4Rooms with wind",
        "Supplement D.4",
        rows=partial(tables.corner_rows, wind=WIND),
        figures=partial(figures.draw_corner, wind=WIND),
    ),
    Section(
        "grid",
        "The score of an open grid",
        "Supplement F",
        rows=tables.grid_rows,
        figures=figures.draw_grid,
    ),
    Section(
        "components",
        "How many eigenvectors are enough",
        "Section 4.1, a remark",
        rows=tables.components_rows,
        figures=figures.draw_components,
        note="In brackets: how many of the maxima found are true goals.",
    ),
    Section(
        "rivals",
        "Beyond the paper: learning with every method",
        "ours",
        rows=partial(tables.learning_rows, methods=STEP_METHODS),
        figures=figures.draw_rivals,
        note=(
            "The paper compares learning with eigenoptions only (and random options in one task). All methods have the "
            "same number of options; each run draws random goals of its own. A cover option starts in one state only."
        ),
    ),
    Section(
        "field",
        "Beyond the paper: the methods of section 5",
        "Section 5, which compares in words",
        rows=tables.field_rows,
        note=(
            "As many options of each method as there are diffusion options at t = 4; exact mean steps between states, "
            "at the paper's option probability and at the best of ½, 0.2, 0.1, 0.05 and 0.02 (of farpoint options also "
            "their own). Cover options, bottleneck options, Louvain skills and often visited states start in some "
            "states only. Eigenoptions and Louvain skills end in several states, of which one is counted as the goal."
        ),
        needs={"sknetwork": "farpoint[graphs]"},
        optional=True,
    ),
    Section(
        "algorithms",
        "Beyond the paper: SMDP and intra-option learning",
        "ours",
        rows=tables.algorithms_rows,
        figures=figures.draw_algorithms,
        note=(
            "The paper learns values of primitive choices only and uses options to explore; its greedy policy takes "
            "primitive choices. SMDP Q-learning gives options values of their own; in intra-option learning each "
            "transition updates every option whose policy could have chosen that action. Their greedy policies may use "
            "options, so their curves begin lower."
        ),
    ),
)

PAPER = Study(
    name="paper",
    title="The paper, reproduced",
    lead=(
        "Every table and figure of “Option Discovery in the Absence of Rewards with Manifold Analysis” (Bar, Talmon "
        "and Meir, ICML 2020) and its supplement, computed with Farpoint."
    ),
    sections=SECTIONS,
    claims=CLAIMS,
    full=FULL,
    quick=QUICK,
)
