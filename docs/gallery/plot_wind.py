"""
Wind
====

In a world where a gust may blow the agent down, the score by the polar decomposition of Algorithm 2, and by the walk
itself. Both are highest at the top of the rooms, where an agent seldom comes.
"""

import matplotlib.pyplot as plt

import farpoint as fp

world = fp.four_rooms(wind=1 / 3)
figure, panels = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for axes, form in zip(panels, ("polar", "walk"), strict=True):
    scores = fp.score(world, t=4, form=form)
    fp.report.draw_score(world, scores, fp.find_goals(world, scores), ax=axes, title=f'form="{form}"')
plt.show()
