"""
How often to take an option
===========================

Mean steps between states over the probability that a random decision is an option. The best depends on how far the
goals are from each other; the default follows a rule.
"""

import matplotlib.pyplot as plt
import numpy as np

import farpoint as fp

world = fp.maze()
probabilities = np.geomspace(0.003, 0.8, 15)
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for n_options in (4, 10, 19):
    options = fp.discover(world, n_options=n_options)
    mean = [fp.steps_between_states(world, options, option_probability=p).mean for p in probabilities]
    (line,) = axes.plot(probabilities, mean, label=f"{n_options} options", linewidth=2)
    usual = options.option_probability
    at_usual = fp.steps_between_states(world, options, option_probability=usual).mean
    axes.plot(usual, at_usual, "o", color=line.get_color())
axes.axhline(fp.steps_between_states(world).mean, color="0.5", linestyle="--", label="no options")
axes.set(xscale="log", yscale="log", ylim=(100, 1e5))
axes.set(xlabel="option probability (dot: the default)", ylabel="mean steps")
axes.legend(frameon=False)
axes.spines[["top", "right"]].set_visible(False)
