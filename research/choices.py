"""What `discover` and the agents choose by default, against the other choices: the tables of docs/choices.md.

``python -m research.choices worlds`` has exact mean steps between states and takes two minutes; ``python -m
research.choices environments`` simulates random agents in Gymnasium environments and takes a quarter of an hour, most
of it to enumerate the states of MiniGrid; ``python -m research.choices unseen`` checks the defaults on other layouts;
``python -m research.choices agents`` compares how `train_tabular` may act and learn, in ten minutes.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import gymnasium as gym
import minigrid  # noqa: F401
import numpy as np

import farpoint as fp
from farpoint.measures import estimate, first_visits
from farpoint.options.methods.diffusion import MOST_BY_DEFAULT
from farpoint.options.methods.spread import farthest_first
from research.exploration.places import make_place
from research.exploration.plan import WRAPPED_PLACES
from research.exploration.wrapped import learned_under_wrapper

PROBABILITIES = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002)
SHOWN = (0.5, 0.1, 0.05, 0.02)
NUMBERS = (6, 10, 16)
LARGEST_TIMES = (1000, 512, 256, 128, 64, 32, 16, 8, 4, 2, 1)
MOST_STEPS = 300_000
N_RUNS = 20
LAYOUTS = range(5)
# The rules were chosen while looking at the layouts above; these were looked at only afterwards.
UNSEEN_LAYOUTS = range(5, 10)
POLAR_STATES = 2_500
MINIGRID = ("MiniGrid-FourRooms-v0", "MiniGrid-DoorKey-8x8-v0", "MiniGrid-MultiRoom-N4-S5-v0")
# Worlds and environments of each kind: rooms, a maze, one-way moves, noise, several layouts.
AGENT_PLACES = ("4rooms", "maze", "ring", "rooms25", "ninerooms", "cliff", "multiroom2", "corridor")
AGENT_STEPS = 30_000
ONE_LAYOUT = ("MiniGrid-DoorKey-6x6-v0", "MiniGrid-KeyCorridorS3R1-v0", "MiniGrid-MultiRoom-N2-S4-v0")


def eight_rooms() -> fp.World:
    """A map of 25 × 40 cells: two rows of four rooms with a door each."""
    cells = np.full((27, 42), "#")
    cells[1:-1, 1:-1] = "."
    cells[13, :] = "#"
    cells[:, [10, 20, 30]] = "#"
    cells[6, [10, 20, 30]] = cells[19, [10, 20, 30]] = cells[13, [5, 25, 36]] = "."
    return fp.World.from_map("\n".join("".join(row) for row in cells))


WORLDS: dict[str, Callable[[], fp.World]] = {
    "4Rooms": fp.four_rooms,
    "Maze": fp.maze,
    "Ring": fp.ring,
    "4Rooms, wind 1/3": lambda: fp.four_rooms(wind=1 / 3),
    "eight rooms": eight_rooms,
    "random_maze(20, 20)": lambda: fp.random_maze(20, 20, seed=1),
    "random_maze(30, 30)": lambda: fp.random_maze(30, 30, wall=0.35, seed=7),
}


def mean_steps(world: fp.World, options: fp.OptionSet | None, chance: float) -> float:
    n_targets = None if world.n_states <= 200 else 30
    return fp.steps_between_states(
        world, options, option_probability=chance, n_targets=n_targets, seed=1, n_jobs=1
    ).mean  # fmt: skip


def print_row(*cells: object) -> None:
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def shown(number: float) -> str:
    return f"{number:,.0f}" if number < 1e6 else f"{number:.0e}"


def probabilities() -> None:
    """Mean steps by the usual probability and by constants, as multiples of those by the best one."""
    print_row("world, goals", "options", "usual p", "best p", "usual", *SHOWN)
    worst: dict[object, float] = dict.fromkeys(("usual", *SHOWN), 1.0)
    for name, make in WORLDS.items():
        world = make()
        everything = len(fp.discover(world, t=4))
        for number in (6, 10, everything):
            for method in ("diffusion", "random"):
                options = fp.discover(world, method, n_options=min(number, everything))
                usual = options.option_probability
                means = {chance: mean_steps(world, options, chance) for chance in (*PROBABILITIES, usual)}
                best = min(means, key=lambda chance: means[chance])
                ratios: dict[object, float] = {
                    "usual": means[usual] / means[best],
                    **{p: means[p] / means[best] for p in SHOWN},
                }
                worst = {key: max(worst[key], ratio) for key, ratio in ratios.items()}
                cells = (f"{ratio:.2f}" if ratio < 1e3 else shown(ratio) for ratio in ratios.values())
                print_row(f"{name}, {method}", len(options), f"{usual:.3f}", f"{best:.3g}", *cells)
    print_row("worst", "", "", "", *(f"{ratio:.2f}" if ratio < 1e3 else shown(ratio) for ratio in worst.values()))


def ways_to_choose(world: fp.World, number: int) -> Iterator[tuple[str, Any]]:
    """Yield the goals that ``number`` of local maxima could be."""
    at_4 = fp.find_goals(world, fp.score(world, 4))
    yield "t = 4, spread", farthest_first(world, at_4, number).states
    yield "t = 4, prominent", at_4.most_prominent(number).states
    yield "t = 4, highest", at_4.states[:number]
    form = "auto" if world.symmetric else "symmetrized"
    for t in LARGEST_TIMES:
        found = fp.find_goals(world, fp.score(world, t, form=form))
        if len(found) >= number:
            yield "largest t", found.most_prominent(number).states
            break
    yield "random", fp.discover(world, "random", n_options=number).goals


def goals() -> None:
    """Mean steps with the goals that each way chooses, each with its usual probability."""
    names = ("t = 4, spread", "t = 4, prominent", "t = 4, highest", "largest t", "random")
    print_row("world", "options", "none", *names)
    for name, make in WORLDS.items():
        world = make()
        alone = mean_steps(world, None, 0.0)
        for number in NUMBERS:
            if number > len(fp.discover(world, t=4)):
                continue
            means = []
            for _, states in ways_to_choose(world, number):
                options = fp.OptionSet(world, np.asarray(states), "chosen")
                means.append(mean_steps(world, options, options.option_probability))
            print_row(name, number, shown(alone), *map(shown, means))


def environments() -> Iterator[tuple[str, list[fp.World]]]:
    def world_of(name: str, layout: int, **settings: Any) -> fp.World:
        return fp.World.from_env(gym.make(name, **settings), seed=layout)

    yield "FrozenLake 8x8", [world_of("FrozenLake8x8-v1", 0, is_slippery=False)]
    yield "FrozenLake 8x8, slippery", [world_of("FrozenLake8x8-v1", 0, is_slippery=True)]
    yield "CliffWalking", [world_of("CliffWalking-v1", 0)]
    yield "Taxi", [world_of("Taxi-v4", 0)]
    for name in ONE_LAYOUT:
        yield name, [world_of(name, 3)]
    for name in MINIGRID:
        yield name, [world_of(name, layout) for layout in LAYOUTS]


def variants(world: fp.World) -> Iterator[tuple[str, fp.OptionSet | None, float | None]]:
    """Yield what could be chosen: a name, the options, and the probability (None: the usual one)."""
    everything = len(fp.discover(world, t=4))

    def found(number: int, **settings: Any) -> fp.OptionSet:
        return fp.discover(world, n_options=min(number, everything), **settings)

    ten = found(10)
    yield "none", None, None
    yield "default", ten, None
    for chance in SHOWN:
        yield f"p = {chance:g}", ten, chance
    for number in (5, MOST_BY_DEFAULT, 40):
        yield f"{number} options", found(number), None
    for form, solver in (("polar", "spectral"), ("walk", "local"), ("symmetrized", "auto")):
        if form == "polar" and world.n_states > POLAR_STATES:
            continue
        scores = fp.score(world, 4, form=form, solver=solver)
        every = fp.find_goals(world, scores)
        every = every.where(~world.terminal[every.states])
        chosen = every.most_prominent(min(10, len(every)))
        yield form, fp.OptionSet(world, chosen.states, form), None
        if form == ten.record["form"]:
            spread = farthest_first(world, every, min(10, len(every)))
            yield "spread", fp.OptionSet(world, spread.states, "spread"), None
    yield "random", fp.discover(world, "random", n_options=len(ten)), None


def steps_to_goal() -> None:
    """Steps of random agents until a target is first reached: interquartile means over layouts and runs."""
    for name, worlds in environments():
        pooled: dict[str, list[Any]] = {}
        facts = []
        for world in worlds:
            for variant, options, chance in variants(world):
                visits = first_visits(
                    world, options, option_probability=chance, n_steps=MOST_STEPS, n_runs=N_RUNS, n_jobs=1
                )
                steps = np.minimum(visits[:, world.targets].min(axis=1), MOST_STEPS)
                pooled.setdefault(variant, []).append(steps)
                if variant == "default" and options is not None:
                    facts.append(f"{world.n_states} states, {options.record['form']}, {options.option_probability:.3f}")
        iqm = {variant: estimate(np.concatenate(runs)).value for variant, runs in pooled.items()}
        print(f"\n{name} ({'; '.join(facts)})")
        for variant, value in iqm.items():
            print_row(variant, shown(value), f"{iqm['none'] / value:.1f} x")


def unseen_layouts() -> None:
    """The default against none on layouts that the rules were not chosen on: interquartile means, each and together."""
    print_row("environment", "layout", "none", "default", "ratio")
    for name in MINIGRID:
        pooled: dict[str, list[Any]] = {"none": [], "default": []}
        for layout in UNSEEN_LAYOUTS:
            world = fp.World.from_env(gym.make(name), seed=layout)
            for variant, options in (("none", None), ("default", fp.discover(world, n_options=10))):
                visits = first_visits(world, options, n_steps=MOST_STEPS, n_runs=N_RUNS, n_jobs=1)
                pooled[variant].append(np.minimum(visits[:, world.targets].min(axis=1), MOST_STEPS))
            none, default = (estimate(runs[-1]).value for runs in pooled.values())
            print_row(name, layout, shown(none), shown(default), f"{none / default:.1f} x")
        none, default = (estimate(np.concatenate(runs)).value for runs in pooled.values())
        print_row(name, "all", shown(none), shown(default), f"{none / default:.1f} x")


def ways_to_learn() -> None:
    """Steps until `train_tabular` is near-optimal under `DiscoveringWrapper`, by how it acts and learns."""
    ways = [
        {"actions": actions, "replay": replay, "exploring_episodes": exploring}
        for actions, replay, exploring in (
            ("uniform", 0, 0.0), ("uniform", 1, 0.0), ("least tried", 0, 0.0), ("least tried", 1, 0.0),
            ("least tried", 3, 0.0), ("least tried", 1, 0.2),
        )
    ]  # fmt: skip
    print_row("place", *(", ".join(str(value) for value in way.values()) for way in ways))
    places = {place.name: place for section in WRAPPED_PLACES.values() for place in section}
    for name in AGENT_PLACES:
        place = places[name]
        worlds = [make_place(place.world, layout) for layout in range(place.n_layouts)]
        cells = []
        for way in ways:
            steps = [
                learned_under_wrapper(
                    worlds[run % place.n_layouts], layout=0, method="diffusion", probability=0.05, n_options=5,
                    n_steps=AGENT_STEPS, episode=place.episode or 0, seed=run, **way,
                )["near_optimal"]
                for run in range(N_RUNS)
            ]  # fmt: skip
            found = estimate(np.minimum(steps, AGENT_STEPS))
            cells.append(f"{found.value:,.0f} [{found.low:,.0f}, {found.high:,.0f}]")
        print_row(place.title, *cells)


def main() -> None:
    sections = {
        "worlds": (probabilities, goals),
        "environments": (steps_to_goal,),
        "unseen": (unseen_layouts,),
        "agents": (ways_to_learn,),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for section in sys.argv[1:] or sections:
            for table in sections[section]:
                print(f"\n{table.__doc__}\n")
                table()


if __name__ == "__main__":
    main()
