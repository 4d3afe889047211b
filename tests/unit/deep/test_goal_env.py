"""The environment in which goals are learned."""

from __future__ import annotations

import numpy as np

import farpoint as fp
from farpoint.deep.goal_env import GoalEnv


def test_trials_continue_from_a_success_and_begin_again_after_a_failure() -> None:
    env = GoalEnv(
        fp.ContinuousMaze("S....", noise=0.0, step=0.5),
        np.array([[2.5, 0.5], [0.5, 0.5]], dtype=np.float32),
        radius=0.2,
        max_steps=4,
        wander=0,
        goal_of=None,
    )
    seen, _ = env.reset(seed=0)
    # The other goal is already reached at the start.
    assert seen["desired_goal"].tolist() == [2.5, 0.5]
    steps = [env.step(0)[1:4] for _ in range(4)]
    assert steps == [(-1.0, False, False)] * 3 + [(0.0, True, False)]
    seen, _ = env.reset()
    assert (seen["observation"].tolist(), seen["desired_goal"].tolist()) == ([2.5, 0.5], [0.5, 0.5])
    steps = [env.step(0)[1:4] for _ in range(4)]
    assert steps == [(-1.0, False, False)] * 3 + [(-1.0, False, True)]
    seen, _ = env.reset()
    assert seen["observation"].tolist() == [0.5, 0.5]
