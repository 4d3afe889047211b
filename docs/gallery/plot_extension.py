"""
A score from a tenth of the states
==================================

Walks that begin in 10 % of the states of a maze, extended to all of them, beside the exact score.
"""

import matplotlib.pyplot as plt
import numpy as np

import farpoint as fp

world = fp.maze()
sample = fp.diffusion.choose_landmarks(world, world.n_states // 10, seed=0)
exact = fp.score(world, t=13)
extended = fp.extend(world, sample, t=13)

figure, axes = plt.subplots(figsize=(4.5, 4.5), layout="constrained")
axes.plot(exact, extended, "o", alpha=0.6)
axes.axline((0, 0), slope=1, color="0.6", linewidth=1)
correlation = np.corrcoef(exact, extended)[0, 1]
axes.set(xlabel="exact score", ylabel="extended score", title=f"correlation {correlation:.3f}")
axes.spines[["top", "right"]].set_visible(False)
