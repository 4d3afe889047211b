"""From a world to its far points: walk, spectrum, score, goals, distance, extension."""

from farpoint.diffusion.extension.extended import EXTENSIONS, ExtendedScores, extend, extend_to
from farpoint.diffusion.extension.landmarks import LANDMARKS, landmarks
from farpoint.diffusion.geometry import difficulty, diffusion_distance, diffusion_map, score_bound
from farpoint.diffusion.goals.maxima import Goals, find_goals
from farpoint.diffusion.goals.refine import refine_goals
from farpoint.diffusion.partitions.edges import write_partitions
from farpoint.diffusion.partitions.scores import goals_of_partitions, read_scores, score_partitions
from farpoint.diffusion.scores.choose import FORMS, SOLVERS
from farpoint.diffusion.scores.result import Scores
from farpoint.diffusion.scores.solve import score
from farpoint.diffusion.spectra.decomposition import Spectrum, spectrum
from farpoint.diffusion.spectra.similarity import cosine_similarities
from farpoint.diffusion.walk import lazy_walk, normalized_laplacian, stationary

__all__ = [
    "EXTENSIONS",
    "FORMS",
    "LANDMARKS",
    "SOLVERS",
    "ExtendedScores",
    "Goals",
    "Scores",
    "Spectrum",
    "cosine_similarities",
    "difficulty",
    "diffusion_distance",
    "diffusion_map",
    "extend",
    "extend_to",
    "find_goals",
    "goals_of_partitions",
    "landmarks",
    "lazy_walk",
    "normalized_laplacian",
    "read_scores",
    "refine_goals",
    "score",
    "score_bound",
    "score_partitions",
    "spectrum",
    "stationary",
    "write_partitions",
]
