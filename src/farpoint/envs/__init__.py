"""Gymnasium: options as actions, recording, and environments of our own."""

from farpoint.envs.continuous_maze import ContinuousMaze
from farpoint.envs.pictures import (
    PictureLog,
    PictureMetric,
    PictureObservation,
    image_observations,
    learn_metric,
    record_pictures,
)
from farpoint.envs.transitions import Transition, episodes, option_success, record_log, record_samples
from farpoint.envs.vector import OptionsVectorEnv
from farpoint.envs.world_env import WorldEnv
from farpoint.envs.wrapper import OptionsWrapper
from farpoint.worlds.environments import simulator_state

__all__ = [
    "ContinuousMaze",
    "OptionsVectorEnv",
    "OptionsWrapper",
    "PictureLog",
    "PictureMetric",
    "PictureObservation",
    "Transition",
    "WorldEnv",
    "episodes",
    "image_observations",
    "learn_metric",
    "option_success",
    "record_log",
    "record_pictures",
    "record_samples",
    "simulator_state",
]
