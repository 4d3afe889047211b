"""
Wind
====

In a world where a gust may blow the agent down, the score by the polar decomposition of Algorithm 2, and by the walk
itself. Both are highest at the top of the rooms, where an agent seldom comes.
"""

import matplotlib.pyplot as plt

import farpoint as fp

world = fp.four_rooms(wind=1 / 3)
for form in ("polar", "walk"):
    scores = fp.score(world, t=4, form=form)
    figure = fp.report.draw_score(world, scores, fp.find_goals(world, scores))
    plt.show()
