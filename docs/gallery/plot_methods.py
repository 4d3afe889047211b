"""
How hard is each state to reach?
================================

Mean steps of the paper's random agent, which takes an option in half of its decisions, to each state of the Maze,
exactly, with the options of four methods and with none. What
matters is not the median but that no state becomes nearly unreachable.
"""

import matplotlib.pyplot as plt
import numpy as np

import farpoint as fp

world = fp.maze()
methods = ("diffusion", "eigen", "cover", "random", "none")
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for method in methods:
    options = fp.discover(world, method, n_options=None if method in ("diffusion", "none") else 19)
    # One value per target: the mean over all states from which the agent may come.
    steps = np.sort(fp.steps_between_states(world, options, option_probability=0.5).per_target)
    axes.plot(np.linspace(0, 100, steps.size), steps, label=method, linewidth=2)
axes.set(yscale="log", xlabel="targets, the easiest first (%)", ylabel="mean steps to the target")
axes.legend(frameon=False)
axes.spines[["top", "right"]].set_visible(False)
