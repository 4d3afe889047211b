"""
The far points of a network
===========================

Zachary's karate club: members whose random walks take longest to forget where they began.
"""

import matplotlib.pyplot as plt
import networkx as nx

import farpoint as fp

club = nx.karate_club_graph()
world = fp.World.from_graph(club)
scores = fp.score(world, t=4)
figure, axes = plt.subplots(figsize=(7, 5), layout="constrained")
fp.report.draw_score(world, scores, fp.find_goals(world, scores), pos=nx.spring_layout(club, seed=3), ax=axes, title="")
plt.show()
