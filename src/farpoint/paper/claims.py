"""What the paper claims, and two claims of ours, each with its check."""

from __future__ import annotations

from functools import partial

from farpoint.paper import field
from farpoint.paper import learning_checks as learning
from farpoint.paper import score_checks as scores
from farpoint.paper.framework import Claim
from farpoint.paper.plan import WIND, Scale

CLAIMS: tuple[Claim[Scale], ...] = (
    Claim("rivals", "ours", "Diffusion options learn faster than cover and random options too.", learning.best_of_all),
    Claim(
        "fig1",
        "Table 1",
        "At t = 4 and 13 there are 32, 28 (Ring), 19, 14 (Maze), 20, 15 (4Rooms) options.",
        scores.option_counts,
    ),
    Claim(
        "fig1",
        "4.1",
        "Minima of the stationary distribution coincide with local maxima of f_t in some cases (4Rooms).",
        scores.minima_of_pi,
    ),
    Claim(
        "fig1",
        "4.1",
        "In the Maze f₁₃ captures corners of the corridors only (the paper: their ends).",
        scores.corridor_ends,
    ),
    Claim(
        "components", "4.1", "10 to 20 eigenvectors give an f_t with the same local maxima.", scores.few_eigenvectors
    ),
    Claim(
        "propositions",
        "Prop. 1",
        "f_t(s) is the mean squared diffusion distance to all states plus a constant.",
        scores.proposition_1,
    ),
    Claim("propositions", "Prop. 2", "f_t(s) = ‖p_t − π₀‖² and f_t(s) ≤ ω₂^2t (1/π₀(s) − 1).", scores.proposition_2),
    Claim(
        "fig2",
        "Figure 2",
        "Diffusion options learn fastest, then eigenoptions, then primitive actions.",
        partial(learning.learning_order, t=4),
    ),
    Claim("fig2", "4.2", "Diffusion options converge to shorter paths than eigenoptions.", learning.shorter_paths),
    Claim("fig2", "4.2", "The random walk concentrates near the start.", learning.stays_near_start),
    Claim(
        "table1",
        "Table 1",
        "Of diffusion, eigen and cover options and the random walk, diffusion needs the fewest steps (median).",
        partial(learning.fewest_steps, name="median"),
    ),
    Claim(
        "table2",
        "Table 2",
        "Of the same four, diffusion needs the fewest steps (mean).",
        partial(learning.fewest_steps, name="mean"),
    ),
    Claim(
        "table1", "ours", "Random goals have nearly the same median; their mean is far worse.", learning.random_goals
    ),
    Claim("fig3", "Figure 3", "With wind, f₄ is high in the upper parts of the rooms.", scores.wind_raises_the_score),
    Claim("fig3", "Figure 3", "With wind, diffusion options learn fastest.", learning.windy_order),
    Claim("difficulty", "4.4", "Difficulty is 13.6, 20.5 and 8.6: Maze > Ring > 4Rooms.", scores.difficulty_order),
    Claim(
        "dumbbell",
        "Supp. A",
        "Diffusion distance shows the two halves of a dumbbell more sharply than Euclidean distance.",
        scores.dumbbell_halves,
    ),
    Claim(
        "eigen_number",
        "Supp. D.1",
        "Diffusion options win even against the best number of eigenoptions.",
        learning.eigen_tuned,
    ),
    Claim("counts", "Supp. D.2", "The number of options falls with t.", scores.fewer_with_t),
    Claim("counts", "Supp. D.2", "Above some t the number of options is steady.", scores.steady_for_large_t),
    Claim(
        "fig2_t13", "Supp. D.2", "At t = 13 the order of learning is the same.", partial(learning.learning_order, t=13)
    ),
    Claim(
        "random",
        "Supp. D.3",
        "Random options learn more slowly and with more variance than diffusion options.",
        partial(learning.random_worse, wind=0.0),
    ),
    Claim("random_wind", "Supp. D.4", "The same with wind.", partial(learning.random_worse, wind=WIND)),
    Claim("field", "5", "Clustering is not well defined in the Ring.", field.no_clusters_in_ring),
    Claim("field", "5", "Methods that cut or cluster the graph fail in the Ring.", field.clusters_of_ring),
    Claim(
        "field",
        "5",
        "Frequently visited states are redundant goals in a T-shaped world.",
        field.visits_of_t,
    ),
    Claim("field", "5", "The eigenoptions of ψ₂ lead away from bottlenecks.", field.away_from_bottlenecks),
    Claim("field", "5", "Bottlenecks often lie at minima of the stationary distribution.", field.at_minima),
    Claim("grid", "Supp. F", "On a grid the corners remain the maxima for every t.", scores.grid_corners),
)
