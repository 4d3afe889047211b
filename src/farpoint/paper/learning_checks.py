"""Checks of the paper's claims on learning and steps between states: each returns a verdict and the evidence."""

from __future__ import annotations

from farpoint.measures.statistics import estimate
from farpoint.options.routes import steps_to
from farpoint.paper.framework.claims import graded
from farpoint.paper.numbers import final_means, mean_steps, run_means, typical_steps
from farpoint.paper.plan import (
    CORNER_METHODS,
    EIGEN_NUMBERS,
    METHODS,
    STEP_METHODS,
    TIMES,
    WORLDS,
    Results,
    corner_part,
    learn_part,
    windy_part,
)
from farpoint.report.names import WORLD_TITLES
from farpoint.worlds import named_world

Outcome = tuple[str, str]


def learning_order(results: Results, *, t: int) -> Outcome:
    """Check that diffusion options learn faster than eigenoptions, and those faster than primitive actions."""
    outcomes, evidence = [], []
    for world in WORLDS:
        means = [mean_steps(results, learn_part(world, method, results.scale, t=t)) for method in METHODS]
        outcomes += [means[0].clearly_below(means[1]), means[1].clearly_below(means[2])]
        evidence.append(f"{WORLD_TITLES[world]} " + ", ".join(f"{mean.value:.1f}" for mean in means))
    return graded(outcomes), (
        f"mean steps, diffusion, eigen, primitive: {'; '.join(evidence)}; {sum(outcomes)} of {len(outcomes)} "
        "differences are clear (intervals apart, half a step at least)"
    )


def best_of_all(results: Results) -> Outcome:
    """Check that diffusion options learn faster than cover options and random options."""
    outcomes, evidence = [], []
    for world in WORLDS:
        means = {method: mean_steps(results, learn_part(world, method, results.scale)) for method in STEP_METHODS}
        outcomes += [means["diffusion"].clearly_below(means[method]) for method in ("cover", "random")]
        values = ", ".join(f"{means[method].value:.1f}" for method in ("diffusion", "cover", "random"))
        evidence.append(f"{WORLD_TITLES[world]} {values}")
    return graded(outcomes), "mean steps, diffusion, cover, random: " + "; ".join(evidence)


def shorter_paths(results: Results) -> Outcome:
    """Check that learning with diffusion options ends with shorter paths than learning with eigenoptions."""
    outcomes, evidence = [], []
    for world in WORLDS:
        ours, theirs = (
            estimate(final_means(results, learn_part(world, method, results.scale)), "mean")
            for method in ("diffusion", "eigen")
        )
        outcomes.append(ours.clearly_below(theirs))
        evidence.append(f"{WORLD_TITLES[world]} {ours} against {theirs}")
    return graded(outcomes), "steps over the last 50 episodes: " + "; ".join(evidence)


def stays_near_start(results: Results) -> Outcome:
    """Check that without options a larger share of the visits is within ten steps of the start."""
    outcomes, evidence = [], []
    for name in WORLDS:
        world = named_world(name)
        assert world.start is not None
        near = steps_to(world, world.start) <= 10
        shares = []
        for method in METHODS:
            visits = results[learn_part(name, method, results.scale)]["visits"]
            shares.append(float(visits[near].sum() / visits.sum()))
        outcomes.append(shares[2] > max(shares[:2]))
        evidence.append(f"{WORLD_TITLES[name]} {100 * shares[2]:.0f} % (diffusion {100 * shares[0]:.0f} %)")
    return graded(outcomes), "visits of primitive actions within ten steps of the start: " + "; ".join(evidence)


def fewest_steps(results: Results, *, name: str) -> Outcome:
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


def eigen_tuned(results: Results) -> Outcome:
    """Check that diffusion options learn faster than the best number of eigenoptions."""
    outcomes, evidence = [], []
    for world in WORLDS:
        ours = mean_steps(results, learn_part(world, "diffusion", results.scale))
        rivals = [
            mean_steps(results, learn_part(world, "eigen", results.scale, n_options=number)) for number in EIGEN_NUMBERS
        ]
        best = min(rivals, key=lambda rival: rival.value)
        outcomes.append(ours.clearly_below(best))
        evidence.append(f"{WORLD_TITLES[world]} {ours} against {best}")
    return graded(outcomes), "mean steps against the best number of eigenoptions: " + "; ".join(evidence)


def windy_order(results: Results) -> Outcome:
    """Check that diffusion options learn fastest with wind."""
    means = [mean_steps(results, windy_part(method, results.scale)) for method in METHODS]
    outcomes = [means[0].clearly_below(means[1]), means[0].clearly_below(means[2])]
    return graded(outcomes), "mean steps, diffusion, eigen, primitive: " + ", ".join(str(mean) for mean in means)


def random_worse(results: Results, *, wind: float) -> Outcome:
    """Check that random options learn more slowly than diffusion options, and with a larger spread over runs."""
    means = {method: run_means(results, corner_part(method, results.scale, wind)) for method in CORNER_METHODS}
    middle = {method: estimate(values) for method, values in means.items()}
    spread = {method: float(values.std(ddof=1)) for method, values in means.items()}
    outcomes = [middle["diffusion"].clearly_below(middle["random"]), spread["diffusion"] < spread["random"]]
    evidence = "; ".join(f"{method} {middle[method]}, spread {spread[method]:.1f}" for method in means)
    return graded(outcomes), f"interquartile means over runs: {evidence}"
