"""The suite of the paper: one entry per table or figure, in the paper's order."""

from __future__ import annotations

from functools import partial

from farpoint.paper import field, learning_figures, plan, rows, score_figures
from farpoint.paper.claims import CLAIMS
from farpoint.paper.computation import KINDS
from farpoint.paper.framework import Experiment, Part, Suite
from farpoint.paper.plan import METHODS, STEP_METHODS, TIMES, WIND, WORLDS, Scale


def _steps(scale: Scale) -> list[Part]:
    return [plan.steps_part(world, t, method, scale) for world in WORLDS for t in TIMES for method in STEP_METHODS]


def _learning(scale: Scale, *, t: int = 4, methods: tuple[str, ...] = METHODS) -> list[Part]:
    return [plan.learn_part(world, method, scale, t=t) for world in WORLDS for method in methods]


def _corner(scale: Scale, *, wind: float) -> list[Part]:
    return [plan.corner_part(method, scale, wind) for method in plan.CORNER_METHODS]


EXPERIMENTS: tuple[Experiment[Scale], ...] = (
    Experiment(
        "fig1",
        "The score and the stationary distribution",
        "Figure 1",
        parts=lambda scale: [
            *(plan.stationary_part(world) for world in WORLDS),
            *(plan.score_part(world, t) for world in WORLDS for t in TIMES),
        ],
        rows=rows.score_rows,
        figures=score_figures.draw_scores,
        note=(
            "Local maxima are taken on the graph, a plateau of equal score counted once (its first state in row-major "
            "order)."
        ),
    ),
    Experiment(
        "fig2",
        "Visitation and learning, t = 4",
        "Figure 2",
        parts=_learning,
        rows=rows.learning_rows,
        figures=partial(learning_figures.draw_learning, t=4),
        note=(
            "Q-learning as in section 4: α = 0.1, γ = 0.9, 100 steps per episode. Where the text is silent the "
            "published program is followed: only a random primitive move into the goal ends an episode, and beginning "
            "an option costs one step, ending short of its goal another. The last section counts moves only, as the "
            "text says."
        ),
    ),
    Experiment(
        "table1",
        "Steps between states: median and IQR",
        "Table 1",
        parts=_steps,
        rows=partial(rows.steps_rows, center="median", spread="IQR", printed=plan.PRINTED_MEDIAN),
        figures=partial(learning_figures.draw_steps, name="median", printed=plan.PRINTED_MEDIAN),
        note=(
            "Exact, by linear algebra, where the paper averages simulated walks; quantiles by Hazen’s rule. "
            "Eigenoptions depend on how ties and signs are resolved, and on the Ring, like cover options, on the basis "
            "that is chosen inside repeated eigenvalues (here one that does not depend on the machine). Random options "
            "(not in the paper’s table) are the median over draws."
        ),
    ),
    Experiment(
        "fig3",
        "4Rooms with wind",
        "Figure 3 and the supplement's stochastic 4Rooms",
        parts=lambda scale: [
            plan.score_part("four_rooms", 4),
            plan.score_part("four_rooms", 4, WIND),
            plan.score_part("four_rooms", 4, WIND, "walk"),
            *(plan.windy_part(method, scale) for method in METHODS),
        ],
        rows=rows.windy_rows,
        figures=learning_figures.draw_wind,
        note=(
            "Here a gust moves the agent and the option continues. In the published program a gust that lowers the "
            "option's value ends the option without moving the agent, and its weights have indexing errors (16 goals "
            "instead of 14), so the curves differ."
        ),
    ),
    Experiment(
        "difficulty",
        "Difficulty of the worlds",
        "Section 4.4",
        parts=lambda scale: [
            *(plan.difficulty_part(world) for world in WORLDS),
            *_learning(scale, methods=("none",)),
            *(plan.steps_part(world, 4, "none", scale) for world in WORLDS),
        ],
        rows=rows.difficulty_rows,
        figures=learning_figures.draw_difficulty,
        note=(
            "n × mean pairwise diffusion distance, averaged over 100 values of t from 1 to 1000. The printed numbers "
            "cannot be recovered from the text; the order can."
        ),
    ),
    Experiment(
        "propositions",
        "The two propositions",
        "Section 3.3",
        parts=lambda scale: [plan.propositions_part(world) for world in WORLDS],
        rows=rows.propositions_rows,
        note=(
            "Proposition 1 is printed with a uniform average over states. On graphs with unequal degrees that is not "
            "exact; with the average weighted by π₀ it is, because the proof's lemma sums the other eigenvectors."
        ),
    ),
    Experiment(
        "dumbbell",
        "Euclidean and diffusion distance",
        "Supplement A",
        parts=lambda scale: [plan.DUMBBELL],
        figures=score_figures.draw_dumbbell,
    ),
    Experiment(
        "eigen_number",
        "Eigenoptions, 10 to 50 of them",
        "Supplement D.1, figure",
        parts=lambda scale: [
            *_learning(scale, methods=("diffusion",)),
            *(plan.learn_part(world, "eigen", scale, n_options=n) for world in WORLDS for n in plan.EIGEN_NUMBERS),
        ],
        rows=rows.eigen_number_rows,
        figures=learning_figures.draw_eigen_number,
        note="The eigenoptions are ∓ψ₁, ∓ψ₂, …, ψ₁ included, as the authors have them.",
    ),
    Experiment(
        "table2",
        "Steps between states: mean and standard deviation",
        "Table 2",
        parts=_steps,
        rows=partial(rows.steps_rows, center="mean", spread="std", printed=plan.PRINTED_MEAN),
        figures=partial(learning_figures.draw_steps, name="mean", printed=plan.PRINTED_MEAN),
        note=(
            "The paper's Maze random-walk mean, 1323, is not the expectation, which is 1382. The Maze mean for "
            "diffusion options at t = 4 depends strongly on which cell of a plateau is taken; we take the first in "
            "row-major order."
        ),
    ),
    Experiment(
        "counts",
        "Number of options over t",
        "Supplement D.2",
        parts=lambda scale: [plan.counts_part(world) for world in WORLDS],
        rows=rows.counts_rows,
        figures=score_figures.draw_counts,
    ),
    Experiment(
        "fig2_t13",
        "Visitation and learning, t = 13",
        "Supplement D.2",
        parts=partial(_learning, t=13),
        rows=partial(rows.learning_rows, t=13),
        figures=partial(learning_figures.draw_learning, t=13),
    ),
    Experiment(
        "random",
        "Random options in 4Rooms",
        "Supplement D.3",
        parts=partial(_corner, wind=0.0),
        rows=partial(rows.corner_rows, wind=0.0),
        figures=partial(learning_figures.draw_corner, wind=0.0),
        note="Each run of the random options draws goals of its own, as many as there are diffusion options.",
    ),
    Experiment(
        "random_wind",
        "Random options in 4Rooms with wind",
        "Supplement D.4",
        parts=partial(_corner, wind=WIND),
        rows=partial(rows.corner_rows, wind=WIND),
        figures=partial(learning_figures.draw_corner, wind=WIND),
    ),
    Experiment(
        "grid",
        "The score of an open grid",
        "Supplement F",
        parts=lambda scale: [plan.grid_part(t) for t in plan.GRID_TIMES],
        rows=rows.grid_rows,
        figures=score_figures.draw_grid,
    ),
    Experiment(
        "components",
        "How many eigenvectors are enough",
        "Section 4.1, a remark",
        parts=lambda scale: [plan.components_part(world, t) for world in WORLDS for t in TIMES],
        rows=rows.components_rows,
        figures=score_figures.draw_components,
        note="In brackets: how many of the maxima found are true goals.",
    ),
    Experiment(
        "rivals",
        "Beyond the paper: learning with every method",
        "ours",
        parts=partial(_learning, methods=STEP_METHODS),
        rows=partial(rows.learning_rows, methods=STEP_METHODS),
        figures=learning_figures.draw_rivals,
        note=(
            "The paper compares learning with eigenoptions only (and random options in one task). All methods have the "
            "same number of options; each run draws random goals of its own. A cover option starts in one state only."
        ),
    ),
    Experiment(
        "field",
        "Beyond the paper: the methods of section 5",
        "Section 5, which compares in words",
        parts=field.field_parts,
        rows=field.field_rows,
        note=(
            "As many options of each method as there are diffusion options at t = 4; exact mean steps between states, "
            "at the paper's option probability and at the best of ½, 0.2, 0.1, 0.05 and 0.02 (of farpoint options also "
            "their own). Cover options, bottleneck options, Louvain skills and often visited states start in some "
            "states only. Eigenoptions and Louvain skills end in several states, of which one is counted as the goal."
        ),
        needs={"sknetwork": "farpoint[graphs]"},
        optional=True,
    ),
    Experiment(
        "algorithms",
        "Beyond the paper: SMDP and intra-option learning",
        "ours",
        parts=lambda scale: [
            *(
                plan.algorithm_part(world, "diffusion", algorithm, scale)
                for world in WORLDS
                for algorithm in ("paper", "smdp", "intra-option")
            ),
            *(plan.moves_part(world, method, scale) for world in WORLDS for method in METHODS),
            *_learning(scale),
        ],
        rows=rows.algorithms_rows,
        figures=learning_figures.draw_algorithms,
        note=(
            "The paper learns values of primitive choices only and uses options to explore; its greedy policy takes "
            "primitive choices. SMDP Q-learning gives options values of their own; in intra-option learning each "
            "transition updates every option whose policy could have chosen that action. Their greedy policies may use "
            "options, so their curves begin lower."
        ),
    ),
)

SUITE = Suite(
    name="paper",
    title="The paper, reproduced",
    lead=(
        "Every table and figure of “Option Discovery in the Absence of Rewards with Manifold Analysis” (Bar, Talmon "
        "and Meir, ICML 2020) and its supplement, computed with Farpoint."
    ),
    experiments=EXPERIMENTS,
    kinds={**KINDS, **field.FIELD_KINDS},
    full=plan.FULL,
    quick=plan.QUICK,
    claims=CLAIMS,
)
