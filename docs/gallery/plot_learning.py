"""
Learning with options
=====================

Steps per episode of Q-learning in 4Rooms by the paper's protocol, with diffusion options and without: mean of 30 runs.
"""

import matplotlib.pyplot as plt

import farpoint as fp

world = fp.four_rooms()
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for name, options in (("diffusion options", fp.discover(world, t=4)), ("primitive actions", None)):
    learned = fp.learn(world, options, n_runs=30, n_episodes=300, seed=0)
    axes.plot(learned.curve, label=name, linewidth=1.5)
axes.set(yscale="log", xlabel="episode", ylabel="steps")
axes.legend(frameon=False)
axes.spines[["top", "right"]].set_visible(False)
