"""What the paper claims, each with a verdict that is computed from the results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from farpoint.experiments.paper import (
    DUMBBELL,
    EIGEN_NUMBERS,
    GRID_SIDE,
    GRID_TIMES,
    METHODS,
    PRINTED_DIFFICULTY,
    PRINTED_OPTIONS,
    STEP_METHODS,
    TIMES,
    TITLES,
    WIND,
    WORLDS,
    components_part,
    corner_part,
    counts_part,
    difficulty_part,
    grid_part,
    learn_part,
    propositions_part,
    score_part,
    windy_part,
)
from farpoint.experiments.parts import Part
from farpoint.experiments.runner import Results
from farpoint.experiments.tables import final_means, run_means, typical
from farpoint.measures.statistics import interquartile_mean, mean_of_runs
from farpoint.options.routes import steps_to
from farpoint.worlds import named_world as make_world

HOLDS, IN_PART, FAILS = "holds", "holds in part", "does not hold"


@dataclass(frozen=True)
class Verdict:
    """A claim, where it stands, whether it holds here, and what that rests on."""

    claim: str
    place: str
    verdict: str
    evidence: str


@dataclass(frozen=True)
class Claim:
    """A claim and how it is checked; it needs the results of one experiment."""

    experiment: str
    place: str
    text: str
    check: Callable[[Results], tuple[str, str]]


def judge(results: Results, experiments: set[str]) -> list[Verdict]:
    """Return a verdict on every claim whose experiments were run."""
    return [
        Verdict(claim.text, claim.place, *claim.check(results))
        for claim in CLAIMS
        if set(claim.experiment.split()) <= experiments
    ]


def _graded(outcomes: list[bool]) -> str:
    if all(outcomes):
        return HOLDS
    return IN_PART if any(outcomes) else FAILS


def _option_counts(results: Results) -> tuple[str, str]:
    ours = {key: int(results[score_part(*key)]["goals"].size) for key in PRINTED_OPTIONS}
    outcomes = [ours[key] == printed for key, printed in PRINTED_OPTIONS.items()]
    return _graded(outcomes), f"{sum(outcomes)} of {len(outcomes)} counts are equal"


def _corridor_ends(results: Results) -> tuple[str, str]:
    """Of the Maze at t = 13: the share of goals that are corner cells; its corridors are two cells wide."""
    domain = make_world("maze")
    goals = results[score_part("maze", 13)]["goals"]
    few_ways = np.diff(domain.choice_ptr)[goals] <= 2
    verdict = HOLDS if few_ways.all() else IN_PART if few_ways.mean() > 0.5 else FAILS
    return verdict, f"{int(few_ways.sum())} of {goals.size} goals of f₁₃ are corner cells, with two ways out at most"


def _minima_of_pi(results: Results) -> tuple[str, str]:
    pi = results[Part.of("stationary", world="four_rooms")]["pi"]
    goals = results[score_part("four_rooms", 4)]["goals"]
    low = np.flatnonzero(np.isclose(pi, pi.min()))
    shared = np.intersect1d(low, goals).size
    verdict = HOLDS if shared == low.size else IN_PART if shared else FAILS
    return verdict, f"{shared} of the {low.size} states of least π₀ in 4Rooms are goals of f₄"


def _learning_order(t: int) -> Callable[[Results], tuple[str, str]]:
    def check(results: Results) -> tuple[str, str]:
        outcomes, told = [], []
        for world in WORLDS:
            parts = [learn_part(world, method, results.scale, t=t) for method in METHODS]
            means = [mean_of_runs(run_means(results, part)) for part in parts]
            outcomes += [means[0].clearly_below(means[1]), means[1].clearly_below(means[2])]
            told.append(f"{TITLES[world]} " + ", ".join(f"{mean.value:.1f}" for mean in means))
        return _graded(outcomes), (
            f"mean steps, diffusion, eigen, primitive: {'; '.join(told)}; {sum(outcomes)} of {len(outcomes)} "
            "differences are clear (intervals apart, half a step at least)"
        )

    return check


def _best_of_all(results: Results) -> tuple[str, str]:
    outcomes, told = [], []
    for world in WORLDS:
        parts = {method: learn_part(world, method, results.scale) for method in STEP_METHODS}
        means = {method: mean_of_runs(run_means(results, part)) for method, part in parts.items()}
        outcomes += [means["diffusion"].clearly_below(means[method]) for method in ("cover", "random")]
        told.append(f"{TITLES[world]} " + ", ".join(f"{means[m].value:.1f}" for m in ("diffusion", "cover", "random")))
    return _graded(outcomes), "mean steps, diffusion, cover, random: " + "; ".join(told)


def _shorter_paths(results: Results) -> tuple[str, str]:
    outcomes, told = [], []
    for world in WORLDS:
        ours, theirs = (
            mean_of_runs(final_means(results, learn_part(world, method, results.scale)))
            for method in ("diffusion", "eigen")
        )
        outcomes.append(ours.clearly_below(theirs))
        told.append(f"{TITLES[world]} {ours} against {theirs}")
    return _graded(outcomes), "steps over the last 50 episodes: " + "; ".join(told)


def _stays_near_start(results: Results) -> tuple[str, str]:
    """The share of visits within ten steps of the start."""
    outcomes, told = [], []
    for world in WORLDS:
        domain = make_world(world)
        assert domain.start is not None
        near = steps_to(domain, domain.start) <= 10
        shares = []
        for method in METHODS:
            visits = results[learn_part(world, method, results.scale)]["visits"]
            shares.append(float(visits[near].sum() / visits.sum()))
        outcomes.append(shares[2] > max(shares[:2]))
        told.append(f"{TITLES[world]} {100 * shares[2]:.0f} % (diffusion {100 * shares[0]:.0f} %)")
    return _graded(outcomes), "visits of primitive actions within ten steps of the start: " + "; ".join(told)


def _fewest_steps(name: str) -> Callable[[Results], tuple[str, str]]:
    def check(results: Results) -> tuple[str, str]:
        outcomes, lower = [], []
        for world in WORLDS:
            for t in TIMES:
                ours = typical(results, world, t, "diffusion", name)
                rivals = [typical(results, world, t, method, name) for method in ("eigen", "cover", "none")]
                outcomes.append(ours < min(rivals))
                if typical(results, world, t, "random", name) < ours:
                    lower.append(f"{TITLES[world]} t = {t}")
        aside = f"; random goals, not in the paper's table, are lower in {', '.join(lower)}" if lower else ""
        return _graded(outcomes), f"{name}: least of the four in {sum(outcomes)} of {len(outcomes)} rows{aside}"

    return check


def _random_goals(results: Results) -> tuple[str, str]:
    """Not in the paper's table: medians of random goals are alike, means explode."""
    close, worse = [], []
    for world in WORLDS:
        ours, theirs = (typical(results, world, 4, method, "median") for method in ("diffusion", "random"))
        close.append(abs(theirs / ours - 1) < 0.25)
        means = [typical(results, world, 4, method, "mean") for method in ("diffusion", "random")]
        worse.append(means[1] > 1.5 * means[0])
    told = "; ".join(
        f"{TITLES[world]} mean {typical(results, world, 4, 'random', 'mean'):,.0f} against "
        f"{typical(results, world, 4, 'diffusion', 'mean'):,.0f}"
        for world in WORLDS
    )
    return _graded([*close, *worse]), f"medians within 25 % in {sum(close)} of 3 worlds; {told}"


def _eigen_tuned(results: Results) -> tuple[str, str]:
    outcomes, told = [], []
    for world in WORLDS:
        ours = mean_of_runs(run_means(results, learn_part(world, "diffusion", results.scale)))
        rivals = [
            mean_of_runs(run_means(results, learn_part(world, "eigen", results.scale, n_options=n)))
            for n in EIGEN_NUMBERS
        ]
        best = min(rivals, key=lambda rival: rival.value)
        outcomes.append(ours.clearly_below(best))
        told.append(f"{TITLES[world]} {ours} against {best}")
    return _graded(outcomes), "mean steps against the best number of eigenoptions: " + "; ".join(told)


def _fewer_with_t(results: Results) -> tuple[str, str]:
    outcomes, told = [], []
    for world in WORLDS:
        counts = results[counts_part(world)]["counts"].astype(int)
        rises = int((np.diff(counts) > 0).sum())
        outcomes += [counts[-1] < counts[0], rises == 0]
        told.append(f"{TITLES[world]} {counts[0]} → {counts[-1]}, rising {rises} times on the way")
    return _graded(outcomes), "; ".join(told)


def _steady(results: Results) -> tuple[str, str]:
    outcomes, told = [], []
    for world in WORLDS:
        arrays = results[counts_part(world)]
        late = arrays["counts"][arrays["times"] >= 60].astype(int)
        outcomes.append(bool(np.ptp(late) == 0))
        told.append(f"{TITLES[world]} {late.min()}–{late.max()} for t = 60 … 100")
    return _graded(outcomes), "; ".join(told)


def _wind_lifts_the_score(results: Results) -> tuple[str, str]:
    domain = make_world("four_rooms")
    rows = np.asarray(domain.positions)[:, 0]
    still, windy = (results[score_part("four_rooms", 4, wind)]["scores"] for wind in (0.0, WIND))
    top_rows, bottom_rows = np.isin(rows, (1, 7)), np.isin(rows, (5, 11))
    ratio = windy[top_rows].mean() / windy[bottom_rows].mean()
    before = still[top_rows].mean() / still[bottom_rows].mean()
    verdict = HOLDS if ratio > 1.5 > before else FAILS
    return (
        verdict,
        f"score in the top rows of the rooms against the bottom rows: {ratio:.1f} × (no wind: {before:.1f} ×)",
    )


def _windy_order(results: Results) -> tuple[str, str]:
    means = [mean_of_runs(run_means(results, windy_part(method, results.scale))) for method in METHODS]
    outcomes = [means[0].clearly_below(means[1]), means[0].clearly_below(means[2])]
    return _graded(outcomes), "mean steps, diffusion, eigen, primitive: " + ", ".join(str(mean) for mean in means)


def _difficulty_order(results: Results) -> tuple[str, str]:
    ours = {world: float(results[difficulty_part(world)]["difficulty"]) for world in WORLDS}
    ordered = ours["maze"] > ours["ring"] > ours["four_rooms"]
    equal = all(abs(ours[world] / PRINTED_DIFFICULTY[world] - 1) < 0.02 for world in WORLDS)
    told = ", ".join(f"{TITLES[world]} {ours[world]:.1f} (printed {PRINTED_DIFFICULTY[world]})" for world in WORLDS)
    verdict = HOLDS if ordered and equal else IN_PART if ordered else FAILS
    return verdict, f"the order {'holds' if ordered else 'does not hold'}; {told}"


def _random_worse(wind: float) -> Callable[[Results], tuple[str, str]]:
    def check(results: Results) -> tuple[str, str]:
        means = {m: run_means(results, corner_part(m, results.scale, wind)) for m in ("diffusion", "eigen", "random")}
        middle = {method: interquartile_mean(values) for method, values in means.items()}
        spread = {method: float(values.std(ddof=1)) for method, values in means.items()}
        outcomes = [middle["diffusion"].clearly_below(middle["random"]), spread["diffusion"] < spread["random"]]
        told = "; ".join(f"{method} {middle[method]}, spread {spread[method]:.1f}" for method in means)
        return _graded(outcomes), f"interquartile means over runs: {told}"

    return check


def _corners(results: Results) -> tuple[str, str]:
    last = GRID_SIDE - 1
    corners = {0, last, GRID_SIDE * last, GRID_SIDE * GRID_SIDE - 1}
    outcomes = [set(results[grid_part(t)]["goals"].tolist()) == corners for t in GRID_TIMES]
    return _graded(outcomes), f"the four corners and nothing else at {sum(outcomes)} of {len(GRID_TIMES)} times"


def _few_eigenvectors(results: Results) -> tuple[str, str]:
    outcomes, told = [], []
    for world in WORLDS:
        for t in TIMES:
            arrays = results[components_part(world, t)]
            whole = int(arrays["whole"])
            same = [
                int(count) == int(shared) == whole
                for number, count, shared in zip(arrays["numbers"], arrays["counts"], arrays["shared"], strict=True)
                if 10 <= number <= 20
            ]
            right = (arrays["counts"] == whole) & (arrays["shared"] == whole)
            # The number from which on every larger one gives all the same maxima.
            last_wrong = np.flatnonzero(~right).max(initial=-1)
            enough = arrays["numbers"][last_wrong + 1] if last_wrong + 1 < right.size else None
            outcomes.append(all(same))
            told.append(f"{TITLES[world]} t = {t}: {enough if enough is not None else 'more than 100'}")
    return _graded(outcomes), "eigenvectors from which on all the same maxima come out: " + "; ".join(told)


def _proposition_1(results: Results) -> tuple[str, str]:
    off = [float(results[propositions_part(world)]["printed"]) for world in WORLDS]
    weighted = max(float(results[propositions_part(world)]["weighted"]) for world in WORLDS)
    verdict = HOLDS if max(off) < 1e-9 else FAILS
    return verdict, (
        f"the constant varies by up to {100 * max(off):.0f} % of the score's range; with the average weighted by π₀ "
        f"it is constant to {weighted:.0e}"
    )


def _proposition_2(results: Results) -> tuple[str, str]:
    off = max(float(results[propositions_part(world)]["second"]) for world in WORLDS)
    share = max(float(results[propositions_part(world)]["bound"]) for world in WORLDS)
    verdict = HOLDS if off < 1e-12 and share <= 1 else FAILS
    return verdict, f"equal to {off:.0e}; the score is at most {100 * share:.2g} % of its bound"


def _dumbbell(results: Results) -> tuple[str, str]:
    arrays = results[DUMBBELL]
    half = arrays["points"][:, 0] > 0
    shares = {}
    for name in ("euclidean", "diffusion"):
        distance = arrays[name]
        between = sum((half == side).mean() * (distance[half == side].mean() - distance.mean()) ** 2 for side in (0, 1))
        shares[name] = float(between / distance.var())
    verdict = HOLDS if shares["diffusion"] > max(0.95, shares["euclidean"]) else FAILS
    return verdict, (
        "variance of the distances that the two halves explain: "
        f"diffusion {100 * shares['diffusion']:.0f} %, Euclidean {100 * shares['euclidean']:.0f} %"
    )


CLAIMS = (
    Claim("rivals", "ours", "Diffusion options learn faster than cover and random options too.", _best_of_all),
    Claim(
        "fig1",
        "Table 1",
        "At t = 4 and 13 there are 32, 28 (Ring), 19, 14 (Maze), 20, 15 (4Rooms) options.",
        _option_counts,
    ),
    Claim(
        "fig1",
        "4.1",
        "Minima of the stationary distribution coincide with local maxima of f_t in some cases (4Rooms).",
        _minima_of_pi,
    ),
    Claim(
        "fig1",
        "4.1",
        "In the Maze f₁₃ captures corners of the corridors only (the paper: their ends).",
        _corridor_ends,
    ),
    Claim(
        "components",
        "4.1",
        "10 to 20 eigenvectors give an f_t with the same local maxima.",
        _few_eigenvectors,
    ),
    Claim(
        "propositions",
        "Prop. 1",
        "f_t(s) is the mean squared diffusion distance to all states plus a constant.",
        _proposition_1,
    ),
    Claim(
        "propositions",
        "Prop. 2",
        "f_t(s) = ‖p_t − π₀‖² and f_t(s) ≤ ω₂^2t (1/π₀(s) − 1).",
        _proposition_2,
    ),
    Claim(
        "fig2",
        "Figure 2",
        "Diffusion options learn fastest, then eigenoptions, then primitive actions.",
        _learning_order(4),
    ),
    Claim(
        "fig2",
        "4.2",
        "Diffusion options converge to shorter paths than eigenoptions.",
        _shorter_paths,
    ),
    Claim(
        "fig2",
        "4.2",
        "The random walk concentrates near the start.",
        _stays_near_start,
    ),
    Claim(
        "table1",
        "Table 1",
        "Of diffusion, eigen and cover options and the random walk, diffusion needs the fewest steps (median).",
        _fewest_steps("median"),
    ),
    Claim(
        "table2",
        "Table 2",
        "Of the same four, diffusion needs the fewest steps (mean).",
        _fewest_steps("mean"),
    ),
    Claim(
        "table1",
        "ours",
        "Random goals have nearly the same median; their mean is far worse.",
        _random_goals,
    ),
    Claim(
        "fig3",
        "Figure 3",
        "With wind, f₄ is high in the upper parts of the rooms.",
        _wind_lifts_the_score,
    ),
    Claim(
        "fig3",
        "Figure 3",
        "With wind, diffusion options learn fastest.",
        _windy_order,
    ),
    Claim(
        "difficulty",
        "4.4",
        "Difficulty is 13.6, 20.5 and 8.6: Maze > Ring > 4Rooms.",
        _difficulty_order,
    ),
    Claim(
        "dumbbell",
        "Supp. A",
        "Diffusion distance shows the two halves of a dumbbell more sharply than Euclidean distance.",
        _dumbbell,
    ),
    Claim(
        "eigen_number",
        "Supp. D.1",
        "Diffusion options win even against the best number of eigenoptions.",
        _eigen_tuned,
    ),
    Claim(
        "counts",
        "Supp. D.2",
        "The number of options falls with t.",
        _fewer_with_t,
    ),
    Claim(
        "counts",
        "Supp. D.2",
        "Above some t the number of options is steady.",
        _steady,
    ),
    Claim(
        "fig2_t13",
        "Supp. D.2",
        "At t = 13 the order of learning is the same.",
        _learning_order(13),
    ),
    Claim(
        "random",
        "Supp. D.3",
        "Random options learn more slowly and with more variance than diffusion options.",
        _random_worse(0.0),
    ),
    Claim(
        "random_wind",
        "Supp. D.4",
        "The same with wind.",
        _random_worse(WIND),
    ),
    Claim(
        "grid",
        "Supp. F",
        "On a grid the corners remain the maxima for every t.",
        _corners,
    ),
)
