"""
Exploring a maze of which nothing is known
==========================================

States seen over steps, with options to far points that are made of what was seen, and with primitive actions alone.
Every step counts, those of discovery too.
"""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np

import farpoint as fp

world = replace(fp.random_maze(30, 30, seed=1), start=0)
steps = np.arange(0, 20_001, 200)
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for method in ("diffusion", "novelty", "random", "none"):
    runs = [fp.explore(world, 20_000, method, max_episode_steps=300, seed=seed) for seed in range(5)]
    # ``coverage`` has, for each state, the step in which it was first seen.
    seen = [np.searchsorted(np.sort(run.coverage), steps, side="right") / world.n_states for run in runs]
    axes.plot(steps, 100 * np.mean(seen, axis=0), label=method, linewidth=2)
axes.set(xlabel="environment steps", ylabel="states seen (%)", ylim=(0, 102))
axes.legend(frameon=False)
axes.spines[["top", "right"]].set_visible(False)
