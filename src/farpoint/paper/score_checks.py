"""Checks of the paper's claims on scores, goals and distances: each returns a verdict and the evidence."""

from __future__ import annotations

import numpy as np

from farpoint.paper.framework.claims import graded
from farpoint.paper.plan import (
    DUMBBELL,
    GRID_SIDE,
    GRID_TIMES,
    PRINTED_DIFFICULTY,
    PRINTED_OPTIONS,
    TIMES,
    WIND,
    WORLDS,
    Results,
    components_part,
    counts_part,
    difficulty_part,
    grid_part,
    propositions_part,
    score_part,
    stationary_part,
)
from farpoint.report.names import WORLD_TITLES
from farpoint.report.page import FAILS, HOLDS, IN_PART
from farpoint.worlds import named_world

Outcome = tuple[str, str]


def option_counts(results: Results) -> Outcome:
    """Check the number of options of every world and t against the printed one."""
    ours = {key: int(results[score_part(*key)]["goals"].size) for key in PRINTED_OPTIONS}
    outcomes = [ours[key] == printed for key, printed in PRINTED_OPTIONS.items()]
    return graded(outcomes), f"{sum(outcomes)} of {len(outcomes)} counts are equal"


def corridor_ends(results: Results) -> Outcome:
    """Check that the goals of the Maze at t = 13 are corner cells; its corridors are two cells wide."""
    world = named_world("maze")
    goals = results[score_part("maze", 13)]["goals"]
    few_ways = np.diff(world.choice_ptr)[goals] <= 2
    verdict = HOLDS if few_ways.all() else IN_PART if few_ways.mean() > 0.5 else FAILS
    return verdict, f"{int(few_ways.sum())} of {goals.size} goals of f₁₃ are corner cells, with two ways out at most"


def minima_of_pi(results: Results) -> Outcome:
    """Check that the states of least stationary probability in 4Rooms are goals."""
    pi = results[stationary_part("four_rooms")]["pi"]
    goals = results[score_part("four_rooms", 4)]["goals"]
    low = np.flatnonzero(np.isclose(pi, pi.min()))
    shared = np.intersect1d(low, goals).size
    verdict = HOLDS if shared == low.size else IN_PART if shared else FAILS
    return verdict, f"{shared} of the {low.size} states of least π₀ in 4Rooms are goals of f₄"


def few_eigenvectors(results: Results) -> Outcome:
    """Check that 10 to 20 eigenvectors give the same local maxima as all of them."""
    outcomes, evidence = [], []
    for world in WORLDS:
        for t in TIMES:
            arrays = results[components_part(world, t)]
            numbers = arrays["numbers"]
            right = (arrays["counts"] == arrays["whole"]) & (arrays["shared"] == arrays["whole"])
            # The number from which on every larger one gives all the same maxima.
            last_wrong = np.flatnonzero(~right).max(initial=-1)
            enough = numbers[last_wrong + 1] if last_wrong + 1 < right.size else "more than 100"
            outcomes.append(bool(right[(numbers >= 10) & (numbers <= 20)].all()))
            evidence.append(f"{WORLD_TITLES[world]} t = {t}: {enough}")
    return graded(outcomes), "eigenvectors from which on all the same maxima come out: " + "; ".join(evidence)


def proposition_1(results: Results) -> Outcome:
    """Check that the score is the mean squared diffusion distance plus a constant, with the printed average."""
    varies = max(float(results[propositions_part(world)]["printed"]) for world in WORLDS)
    weighted = max(float(results[propositions_part(world)]["weighted"]) for world in WORLDS)
    return HOLDS if varies < 1e-9 else FAILS, (
        f"the constant varies by up to {100 * varies:.0f} % of the score's range; with the average weighted by π₀ "
        f"it is constant to {weighted:.0e}"
    )


def proposition_2(results: Results) -> Outcome:
    """Check that the score is the squared distance to the stationary distribution, and its bound."""
    off = max(float(results[propositions_part(world)]["second"]) for world in WORLDS)
    share = max(float(results[propositions_part(world)]["bound"]) for world in WORLDS)
    verdict = HOLDS if off < 1e-12 and share <= 1 else FAILS
    return verdict, f"equal to {off:.0e}; the score is at most {100 * share:.2g} % of its bound"


def wind_raises_the_score(results: Results) -> Outcome:
    """Check that wind makes the score high in the upper rows of the rooms."""
    rows = np.asarray(named_world("four_rooms").positions)[:, 0]
    top_rows, bottom_rows = np.isin(rows, (1, 7)), np.isin(rows, (5, 11))
    scores = [results[score_part("four_rooms", 4, wind)]["scores"] for wind in (0.0, WIND)]
    before, ratio = (values[top_rows].mean() / values[bottom_rows].mean() for values in scores)
    return HOLDS if ratio > 1.5 > before else FAILS, (
        f"score in the top rows of the rooms against the bottom rows: {ratio:.1f} × (no wind: {before:.1f} ×)"
    )


def difficulty_order(results: Results) -> Outcome:
    """Check the printed difficulties and their order."""
    ours = {world: float(results[difficulty_part(world)]["difficulty"]) for world in WORLDS}
    ordered = ours["maze"] > ours["ring"] > ours["four_rooms"]
    equal = all(abs(ours[world] / PRINTED_DIFFICULTY[world] - 1) < 0.02 for world in WORLDS)
    numbers = [f"{WORLD_TITLES[world]} {ours[world]:.1f} (printed {PRINTED_DIFFICULTY[world]})" for world in WORLDS]
    verdict = HOLDS if ordered and equal else IN_PART if ordered else FAILS
    return verdict, f"the order {'holds' if ordered else 'does not hold'}; {', '.join(numbers)}"


def dumbbell_halves(results: Results) -> Outcome:
    """Check that the two halves explain more of the variance of diffusion distance than of Euclidean distance."""
    arrays = results[DUMBBELL]
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


def fewer_with_t(results: Results) -> Outcome:
    """Check that the number of options falls with t and never rises."""
    outcomes, evidence = [], []
    for world in WORLDS:
        counts = results[counts_part(world)]["counts"].astype(int)
        rises = int((np.diff(counts) > 0).sum())
        outcomes += [bool(counts[-1] < counts[0]), rises == 0]
        evidence.append(f"{WORLD_TITLES[world]} {counts[0]} → {counts[-1]}, rising {rises} times on the way")
    return graded(outcomes), "; ".join(evidence)


def steady_for_large_t(results: Results) -> Outcome:
    """Check that the number of options no longer changes from t = 60 on."""
    outcomes, evidence = [], []
    for world in WORLDS:
        arrays = results[counts_part(world)]
        late = arrays["counts"][arrays["times"] >= 60].astype(int)
        outcomes.append(bool(np.ptp(late) == 0))
        evidence.append(f"{WORLD_TITLES[world]} {late.min()}–{late.max()} for t = 60 … 100")
    return graded(outcomes), "; ".join(evidence)


def grid_corners(results: Results) -> Outcome:
    """Check that the goals of an open grid are its four corners at every t."""
    last = GRID_SIDE - 1
    corners = {0, last, GRID_SIDE * last, GRID_SIDE * GRID_SIDE - 1}
    outcomes = [set(results[grid_part(t)]["goals"].tolist()) == corners for t in GRID_TIMES]
    return graded(outcomes), f"the four corners and nothing else at {sum(outcomes)} of {len(GRID_TIMES)} times"
