"""What the paper claims, and two claims of ours: each above its check, which returns a verdict and the evidence."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from farpoint.measures import estimate
from farpoint.options.routes import steps_to
from farpoint.paper.computation import (
    SAME,
    Results,
    bottleneck_facts,
    corner_learning,
    dumbbell_distances,
    field,
    final_means,
    grid_score,
    learning,
    least_steps,
    mean_steps,
    option_counts,
    proposition_errors,
    run_means,
    score_and_goals,
    stationary_distribution,
    truncated_scores,
    typical_steps,
    windy_learning,
    world_difficulty,
)
from farpoint.paper.page import FAILS, HOLDS, IN_PART, Claim, Outcome, graded
from farpoint.paper.plan import (
    CORNER_METHODS,
    EIGEN_NUMBERS,
    GRID_SIDE,
    GRID_TIMES,
    METHODS,
    NEAR,
    PRINTED_DIFFICULTY,
    PRINTED_OPTIONS,
    STEP_METHODS,
    TIMES,
    WIND,
    WORLDS,
)
from farpoint.report.figures import METHOD_TITLES, WORLD_TITLES
from farpoint.worlds import named_world

# A method fails where it gains less than this over primitive actions.
_GAIN = 0.05
Check = TypeVar("Check", bound=Callable[..., Outcome])
# In the order in which the page lists them.
CLAIMS: list[Claim] = []


def claim(section: str, place: str, text: str) -> Callable[[Check], Check]:
    """Return a decorator that adds a claim, made at ``place`` and checked on the results of a section, to `CLAIMS`."""

    def add(check: Check) -> Check:
        CLAIMS.append(Claim(section, place, text, check))
        return check

    return add


@claim("rivals", "ours", "Diffusion options learn faster than cover and random options too.")
def best_of_all(results: Results) -> Outcome:
    """Check that diffusion options learn faster than cover options and random options."""
    outcomes, evidence = [], []
    for world in WORLDS:
        means = {method: mean_steps(learning(results, world, method)) for method in STEP_METHODS}
        outcomes += [means["diffusion"].clearly_below(means[method]) for method in ("cover", "random")]
        values = ", ".join(f"{means[method].value:.1f}" for method in ("diffusion", "cover", "random"))
        evidence.append(f"{WORLD_TITLES[world]} {values}")
    return graded(outcomes), "mean steps, diffusion, cover, random: " + "; ".join(evidence)


@claim("fig1", "Table 1", "At t = 4 and 13 there are 32, 28 (Ring), 19, 14 (Maze), 20, 15 (4Rooms) options.")
def printed_counts(results: Results) -> Outcome:
    """Check the number of options of every world and t against the printed one."""
    ours = {key: int(results.get(score_and_goals, world=key[0], t=key[1])["goals"].size) for key in PRINTED_OPTIONS}
    outcomes = [ours[key] == printed for key, printed in PRINTED_OPTIONS.items()]
    return graded(outcomes), f"{sum(outcomes)} of {len(outcomes)} counts are equal"


@claim("fig1", "4.1", "Minima of the stationary distribution coincide with local maxima of f_t in some cases (4Rooms).")
def minima_of_pi(results: Results) -> Outcome:
    """Check that the states of least stationary probability in 4Rooms are goals."""
    pi = results.get(stationary_distribution, world="four_rooms")["pi"]
    goals = results.get(score_and_goals, world="four_rooms", t=4)["goals"]
    low = np.flatnonzero(np.isclose(pi, pi.min()))
    shared = np.intersect1d(low, goals).size
    verdict = HOLDS if shared == low.size else IN_PART if shared else FAILS
    return verdict, f"{shared} of the {low.size} states of least π₀ in 4Rooms are goals of f₄"


@claim("fig1", "4.1", "In the Maze f₁₃ captures corners of the corridors only (the paper: their ends).")
def corridor_ends(results: Results) -> Outcome:
    """Check that the goals of the Maze at t = 13 are corner cells; its corridors are two cells wide."""
    world = named_world("maze")
    goals = results.get(score_and_goals, world="maze", t=13)["goals"]
    few_ways = np.diff(world.choice_ptr)[goals] <= 2
    verdict = HOLDS if few_ways.all() else IN_PART if few_ways.mean() > 0.5 else FAILS
    return verdict, f"{int(few_ways.sum())} of {goals.size} goals of f₁₃ are corner cells, with two ways out at most"


@claim("components", "4.1", "10 to 20 eigenvectors give an f_t with the same local maxima.")
def few_eigenvectors(results: Results) -> Outcome:
    """Check that 10 to 20 eigenvectors give the same local maxima as all of them."""
    outcomes, evidence = [], []
    for world in WORLDS:
        for t in TIMES:
            arrays = results.get(truncated_scores, world=world, t=t)
            numbers = arrays["numbers"]
            right = (arrays["counts"] == arrays["whole"]) & (arrays["shared"] == arrays["whole"])
            # The number from which on every larger one gives all the same maxima.
            last_wrong = np.flatnonzero(~right).max(initial=-1)
            enough = numbers[last_wrong + 1] if last_wrong + 1 < right.size else "more than 100"
            outcomes.append(bool(right[(numbers >= 10) & (numbers <= 20)].all()))
            evidence.append(f"{WORLD_TITLES[world]} t = {t}: {enough}")
    return graded(outcomes), "eigenvectors from which on all the same maxima come out: " + "; ".join(evidence)


@claim("propositions", "Prop. 1", "f_t(s) is the mean squared diffusion distance to all states plus a constant.")
def proposition_1(results: Results) -> Outcome:
    """Check that the score is the mean squared diffusion distance plus a constant, with the printed average."""
    varies = max(float(results.get(proposition_errors, world=world)["printed"]) for world in WORLDS)
    weighted = max(float(results.get(proposition_errors, world=world)["weighted"]) for world in WORLDS)
    return HOLDS if varies < 1e-9 else FAILS, (
        f"the constant varies by up to {100 * varies:.0f} % of the score's range; with the average weighted by π₀ "
        f"it is constant to {weighted:.0e}"
    )


@claim("propositions", "Prop. 2", "f_t(s) = ‖p_t − π₀‖² and f_t(s) ≤ ω₂^2t (1/π₀(s) − 1).")
def proposition_2(results: Results) -> Outcome:
    """Check that the score is the squared distance to the stationary distribution, and its bound."""
    off = max(float(results.get(proposition_errors, world=world)["second"]) for world in WORLDS)
    share = max(float(results.get(proposition_errors, world=world)["bound"]) for world in WORLDS)
    verdict = HOLDS if off < 1e-12 and share <= 1 else FAILS
    return verdict, f"equal to {off:.0e}; the score is at most {100 * share:.2g} % of its bound"


@claim("fig2", "Figure 2", "Diffusion options learn fastest, then eigenoptions, then primitive actions.")
def learning_order(results: Results, t: int = 4) -> Outcome:
    """Check that diffusion options learn faster than eigenoptions, and those faster than primitive actions."""
    outcomes, evidence = [], []
    for world in WORLDS:
        means = [mean_steps(learning(results, world, method, t)) for method in METHODS]
        outcomes += [means[0].clearly_below(means[1]), means[1].clearly_below(means[2])]
        evidence.append(f"{WORLD_TITLES[world]} " + ", ".join(f"{mean.value:.1f}" for mean in means))
    return graded(outcomes), (
        f"mean steps, diffusion, eigen, primitive: {'; '.join(evidence)}; {sum(outcomes)} of {len(outcomes)} "
        "differences are clear (intervals apart, half a step at least)"
    )


@claim("fig2", "4.2", "Diffusion options converge to shorter paths than eigenoptions.")
def shorter_paths(results: Results) -> Outcome:
    """Check that learning with diffusion options ends with shorter paths than learning with eigenoptions."""
    outcomes, evidence = [], []
    for world in WORLDS:
        ours, theirs = (
            estimate(final_means(learning(results, world, method)), "mean") for method in ("diffusion", "eigen")
        )
        outcomes.append(ours.clearly_below(theirs))
        evidence.append(f"{WORLD_TITLES[world]} {ours} against {theirs}")
    return graded(outcomes), "steps over the last 50 episodes: " + "; ".join(evidence)


@claim("fig2", "4.2", "The random walk concentrates near the start.")
def stays_near_start(results: Results) -> Outcome:
    """Check that without options a larger share of the visits is within ten steps of the start."""
    outcomes, evidence = [], []
    for name in WORLDS:
        world = named_world(name)
        assert world.start is not None
        near = steps_to(world, world.start) <= 10
        shares = []
        for method in METHODS:
            visits = learning(results, name, method)["visits"]
            shares.append(float(visits[near].sum() / visits.sum()))
        outcomes.append(shares[2] > max(shares[:2]))
        evidence.append(f"{WORLD_TITLES[name]} {100 * shares[2]:.0f} % (diffusion {100 * shares[0]:.0f} %)")
    return graded(outcomes), "visits of primitive actions within ten steps of the start: " + "; ".join(evidence)


@claim(
    "table1",
    "Table 1",
    "Of diffusion, eigen and cover options and the random walk, diffusion needs the fewest steps (median).",
)
def fewest_steps(results: Results, name: str = "median") -> Outcome:
    """Check that diffusion options need the fewest steps between states of the methods in the paper's table."""
    outcomes, lower = [], []
    for world in WORLDS:
        for t in TIMES:
            ours = typical_steps(results, world, t, "diffusion", name)
            rivals = [typical_steps(results, world, t, method, name) for method in ("eigen", "cover", "none")]
            outcomes.append(ours < min(rivals))
            if typical_steps(results, world, t, "random", name) < ours:
                lower.append(f"{WORLD_TITLES[world]} t = {t}")
    aside = f"; random goals, not in the paper's table, are lower in {', '.join(lower)}" if lower else ""
    return graded(outcomes), f"{name}: least of the four in {sum(outcomes)} of {len(outcomes)} rows{aside}"


@claim("table2", "Table 2", "Of the same four, diffusion needs the fewest steps (mean).")
def fewest_steps_mean(results: Results) -> Outcome:
    """Check the same with means."""
    return fewest_steps(results, "mean")


@claim("table1", "ours", "Random goals have nearly the same median; their mean is far worse.")
def random_goals(results: Results) -> Outcome:
    """Check that random goals have about the same median steps, and far larger means."""
    close, worse, evidence = [], [], []
    for world in WORLDS:
        medians, means = (
            [typical_steps(results, world, 4, method, name) for method in ("diffusion", "random")]
            for name in ("median", "mean")
        )
        close.append(abs(medians[1] / medians[0] - 1) < 0.25)
        worse.append(means[1] > 1.5 * means[0])
        evidence.append(f"{WORLD_TITLES[world]} mean {means[1]:,.0f} against {means[0]:,.0f}")
    return graded([*close, *worse]), f"medians within 25 % in {sum(close)} of 3 worlds; {'; '.join(evidence)}"


@claim("fig3", "Figure 3", "With wind, f₄ is high in the upper parts of the rooms.")
def wind_raises_the_score(results: Results) -> Outcome:
    """Check that wind makes the score high in the upper rows of the rooms."""
    rows = np.asarray(named_world("four_rooms").positions)[:, 0]
    top_rows, bottom_rows = np.isin(rows, (1, 7)), np.isin(rows, (5, 11))
    scores = [results.get(score_and_goals, world="four_rooms", t=4, wind=wind)["scores"] for wind in (0.0, WIND)]
    before, ratio = (values[top_rows].mean() / values[bottom_rows].mean() for values in scores)
    return HOLDS if ratio > 1.5 > before else FAILS, (
        f"score in the top rows of the rooms against the bottom rows: {ratio:.1f} × (no wind: {before:.1f} ×)"
    )


@claim("fig3", "Figure 3", "With wind, diffusion options learn fastest.")
def windy_order(results: Results) -> Outcome:
    """Check that diffusion options learn fastest with wind."""
    means = [mean_steps(windy_learning(results, method)) for method in METHODS]
    outcomes = [means[0].clearly_below(means[1]), means[0].clearly_below(means[2])]
    return graded(outcomes), "mean steps, diffusion, eigen, primitive: " + ", ".join(str(mean) for mean in means)


@claim("difficulty", "4.4", "Difficulty is 13.6, 20.5 and 8.6: Maze > Ring > 4Rooms.")
def difficulty_order(results: Results) -> Outcome:
    """Check the printed difficulties and their order."""
    ours = {world: float(results.get(world_difficulty, world=world)["difficulty"]) for world in WORLDS}
    ordered = ours["maze"] > ours["ring"] > ours["four_rooms"]
    equal = all(abs(ours[world] / PRINTED_DIFFICULTY[world] - 1) < 0.02 for world in WORLDS)
    numbers = [f"{WORLD_TITLES[world]} {ours[world]:.1f} (printed {PRINTED_DIFFICULTY[world]})" for world in WORLDS]
    verdict = HOLDS if ordered and equal else IN_PART if ordered else FAILS
    return verdict, f"the order {'holds' if ordered else 'does not hold'}; {', '.join(numbers)}"


@claim(
    "dumbbell",
    "Supp. A",
    "Diffusion distance shows the two halves of a dumbbell more sharply than Euclidean distance.",
)
def dumbbell_halves(results: Results) -> Outcome:
    """Check that the two halves explain more of the variance of diffusion distance than of Euclidean distance."""
    arrays = results.get(dumbbell_distances)
    half = arrays["points"][:, 0] > 0
    shares = {}
    for name in ("euclidean", "diffusion"):
        distance = arrays[name]
        between = sum((half == side).mean() * (distance[half == side].mean() - distance.mean()) ** 2 for side in (0, 1))
        shares[name] = float(between / distance.var())
    return HOLDS if shares["diffusion"] > max(0.95, shares["euclidean"]) else FAILS, (
        "variance of the distances that the two halves explain: "
        f"diffusion {100 * shares['diffusion']:.0f} %, Euclidean {100 * shares['euclidean']:.0f} %"
    )


@claim("eigen_number", "Supp. D.1", "Diffusion options win even against the best number of eigenoptions.")
def eigen_tuned(results: Results) -> Outcome:
    """Check that diffusion options learn faster than the best number of eigenoptions."""
    outcomes, evidence = [], []
    for world in WORLDS:
        ours = mean_steps(learning(results, world, "diffusion"))
        rivals = [mean_steps(learning(results, world, "eigen", n_options=number)) for number in EIGEN_NUMBERS]
        best = min(rivals, key=lambda rival: rival.value)
        outcomes.append(ours.clearly_below(best))
        evidence.append(f"{WORLD_TITLES[world]} {ours} against {best}")
    return graded(outcomes), "mean steps against the best number of eigenoptions: " + "; ".join(evidence)


@claim("counts", "Supp. D.2", "The number of options falls with t.")
def fewer_with_t(results: Results) -> Outcome:
    """Check that the number of options falls with t and never rises."""
    outcomes, evidence = [], []
    for world in WORLDS:
        counts = results.get(option_counts, world=world)["counts"].astype(int)
        rises = int((np.diff(counts) > 0).sum())
        outcomes += [bool(counts[-1] < counts[0]), rises == 0]
        evidence.append(f"{WORLD_TITLES[world]} {counts[0]} → {counts[-1]}, rising {rises} times on the way")
    return graded(outcomes), "; ".join(evidence)


@claim("counts", "Supp. D.2", "Above some t the number of options is steady.")
def steady_for_large_t(results: Results) -> Outcome:
    """Check that the number of options no longer changes from t = 60 on."""
    outcomes, evidence = [], []
    for world in WORLDS:
        arrays = results.get(option_counts, world=world)
        late = arrays["counts"][arrays["times"] >= 60].astype(int)
        outcomes.append(bool(np.ptp(late) == 0))
        evidence.append(f"{WORLD_TITLES[world]} {late.min()}–{late.max()} for t = 60 … 100")
    return graded(outcomes), "; ".join(evidence)


@claim("fig2_t13", "Supp. D.2", "At t = 13 the order of learning is the same.")
def learning_order_at_13(results: Results) -> Outcome:
    """Check the same order at t = 13."""
    return learning_order(results, 13)


@claim("random", "Supp. D.3", "Random options learn more slowly and with more variance than diffusion options.")
def random_worse(results: Results, wind: float = 0.0) -> Outcome:
    """Check that random options learn more slowly than diffusion options, and with a larger spread over runs."""
    means = {method: run_means(corner_learning(results, method, wind)) for method in CORNER_METHODS}
    middle = {method: estimate(values) for method, values in means.items()}
    spread = {method: float(values.std(ddof=1)) for method, values in means.items()}
    outcomes = [middle["diffusion"].clearly_below(middle["random"]), spread["diffusion"] < spread["random"]]
    evidence = "; ".join(f"{method} {middle[method]}, spread {spread[method]:.1f}" for method in means)
    return graded(outcomes), f"interquartile means over runs: {evidence}"


@claim("random_wind", "Supp. D.4", "The same with wind.")
def random_worse_with_wind(results: Results) -> Outcome:
    """Check the same with wind."""
    return random_worse(results, WIND)


@claim("field", "5", "Clustering is not well defined in the Ring.")
def no_clusters_in_ring(results: Results) -> Outcome:
    """Check that the vector that cuts the Ring in two is one of many."""
    gaps = {}
    for world in WORLDS:
        nu = results.get(bottleneck_facts, world=world)["nu"]
        gaps[world] = abs(float((nu[2] - nu[1]) / nu[1]))
    said = ", ".join(f"{WORLD_TITLES[world]} {gap:.2g}" for world, gap in gaps.items())
    return graded([gaps["ring"] < SAME]), f"relative gap between ν₂ and ν₃ (0: any rotation cuts as well): {said}"


@claim("field", "5", "Methods that cut or cluster the graph fail in the Ring.")
def clusters_of_ring(results: Results) -> Outcome:
    """Check that the methods that cluster do not help in the Ring."""
    alone = least_steps(results, "ring", "none")
    means = {method: least_steps(results, "ring", method) for method in ("bottleneck", "louvain")}
    outcomes = [mean > (1.0 - _GAIN) * alone for mean in means.values()]
    said = ", ".join(f"{METHOD_TITLES[method]} {mean:,.0f}" for method, mean in means.items())
    ours = least_steps(results, "ring", "diffusion")
    return graded(outcomes), (
        f"mean steps in the Ring with the best of {results.scale.n_probabilities} probabilities: {said}; primitive "
        f"actions {alone:,.0f}, diffusion options {ours:,.0f}"
    )


@claim("field", "5", "Frequently visited states are redundant goals in a T-shaped world.")
def visits_of_t(results: Results) -> Outcome:
    """Check that often visited states are redundant goals in a T, and worse ones."""
    near = {method: field(results, "t_shape", method)["near"].mean() for method in ("visits", "diffusion")}
    steps = {method: least_steps(results, "t_shape", method) for method in ("visits", "diffusion", "none")}
    outcomes = [bool(near["visits"] > near["diffusion"]), steps["visits"] > steps["diffusion"]]
    return graded(outcomes), (
        f"goals with another within {NEAR} moves: often visited states {100 * near['visits']:.0f} %, diffusion "
        f"{100 * near['diffusion']:.0f} %; mean steps {steps['visits']:,.0f} against {steps['diffusion']:,.0f} "
        f"(primitive {steps['none']:,.0f})"
    )


@claim("field", "5", "The eigenoptions of ψ₂ lead away from bottlenecks.")
def away_from_bottlenecks(results: Results) -> Outcome:
    """Check that the eigenoptions of ψ₂ lead away from the door between two rooms."""
    arrays = results.get(bottleneck_facts, world="two_rooms")
    moves, mean = arrays["eigen_moves"], float(arrays["mean_moves"])
    return graded([bool(one > mean) for one in moves]), (
        f"±ψ₂ end {moves[0]:.0f} and {moves[1]:.0f} moves from the door of two rooms; the mean state is {mean:.1f} away"
    )


@claim("field", "5", "Bottlenecks often lie at minima of the stationary distribution.")
def at_minima(results: Results) -> Outcome:
    """Check that bottlenecks are local minima of the stationary distribution more often than other states are.

    Bottlenecks are the local maxima of betweenness, or the states at the narrowest cuts.
    """
    outcomes, said = [], []
    for world in WORLDS:
        arrays = results.get(bottleneck_facts, world=world)
        usual = float(arrays["anywhere"].mean())
        shares = [float(arrays[name].mean()) for name in ("central", "crossed")]
        outcomes += [share > max(usual, 0.5) for share in shares]
        said.append(f"{WORLD_TITLES[world]} {100 * shares[0]:.0f} % and {100 * shares[1]:.0f} % ({100 * usual:.0f} %)")
    return graded(outcomes), (
        "local minima of π₀ among local maxima of betweenness and among states at the four narrowest cuts (among all "
        f"states): {', '.join(said)}"
    )


@claim("grid", "Supp. F", "On a grid the corners remain the maxima for every t.")
def grid_corners(results: Results) -> Outcome:
    """Check that the goals of an open grid are its four corners at every t."""
    last = GRID_SIDE - 1
    corners = {0, last, GRID_SIDE * last, GRID_SIDE * GRID_SIDE - 1}
    outcomes = [set(results.get(grid_score, t=t)["goals"].tolist()) == corners for t in GRID_TIMES]
    return graded(outcomes), f"the four corners and nothing else at {sum(outcomes)} of {len(GRID_TIMES)} times"
