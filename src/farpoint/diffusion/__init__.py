"""From a world to its far points: walk, spectrum, score, goals, distance."""

from farpoint.diffusion.distance import difficulty, diffusion_distance, diffusion_map, score_bound
from farpoint.diffusion.goals import Goals, find_goals
from farpoint.diffusion.choose import FORMS, SOLVERS
from farpoint.diffusion.refine import refine_goals
from farpoint.diffusion.score import score
from farpoint.diffusion.scores import Scores
from farpoint.diffusion.spectrum import Spectrum, spectrum
from farpoint.diffusion.walk import lazy_walk, normalized_laplacian, stationary

__all__ = [
    "FORMS",
    "SOLVERS",
    "Goals",
    "Scores",
    "Spectrum",
    "difficulty",
    "diffusion_distance",
    "diffusion_map",
    "find_goals",
    "lazy_walk",
    "normalized_laplacian",
    "refine_goals",
    "score",
    "score_bound",
    "spectrum",
    "stationary",
]
