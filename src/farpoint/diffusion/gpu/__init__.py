"""Scores on a GPU (extra ``gpu``)."""

from farpoint.diffusion.gpu.device import has_gpu
from farpoint.diffusion.gpu.maps import goals_of_map, score_map

__all__ = ["goals_of_map", "has_gpu", "score_map"]
