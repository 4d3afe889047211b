"""Gymnasium: options as actions, recording, and environments of our own."""

from farpoint.envs.continuous_maze import ContinuousMaze
from farpoint.envs.minigrid_images import image_observations
from farpoint.envs.picture_metric import PictureMetric, learn_metric
from farpoint.envs.pictures import PictureLog, PictureObservation, record_pictures
from farpoint.envs.recording import record_log, record_observations, record_samples
from farpoint.envs.success import option_success
from farpoint.envs.world_env import WorldEnv
from farpoint.envs.wrapper import OptionsWrapper, Transition

__all__ = [
    "ContinuousMaze",
    "OptionsWrapper",
    "PictureLog",
    "PictureMetric",
    "PictureObservation",
    "Transition",
    "WorldEnv",
    "image_observations",
    "learn_metric",
    "option_success",
    "record_log",
    "record_observations",
    "record_pictures",
    "record_samples",
]
