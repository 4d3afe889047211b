"""From a world to its far points: walk, spectrum, score, goals, distances, extension."""

from farpoint.diffusion.geometry import difficulty, diffusion_distance, diffusion_map, score_bound
from farpoint.diffusion.goals import Goals, find_goals
from farpoint.diffusion.maps import block_halo, block_scores
from farpoint.diffusion.nystrom import choose_landmarks, extend, extend_to
from farpoint.diffusion.scores import Scores
from farpoint.diffusion.scoring import score
from farpoint.diffusion.spectral import Spectrum, spectrum
from farpoint.diffusion.walk import Walk, lazy_walk, normalized_laplacian, stationary

__all__ = [
    "Goals",
    "Scores",
    "Spectrum",
    "Walk",
    "block_halo",
    "block_scores",
    "choose_landmarks",
    "difficulty",
    "diffusion_distance",
    "diffusion_map",
    "extend",
    "extend_to",
    "find_goals",
    "lazy_walk",
    "normalized_laplacian",
    "score",
    "score_bound",
    "spectrum",
    "stationary",
]
