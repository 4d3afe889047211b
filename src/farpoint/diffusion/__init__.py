"""From a world to its far points: walk, spectrum, score, goals, distance, extension."""

from farpoint.diffusion.choose import FORMS, SOLVERS
from farpoint.diffusion.distance import difficulty, diffusion_distance, diffusion_map, score_bound
from farpoint.diffusion.extension import EXTENSIONS, ExtendedScores, extend, extend_to
from farpoint.diffusion.goals import Goals, find_goals
from farpoint.diffusion.landmarks import LANDMARKS, landmarks
from farpoint.diffusion.partition_scores import goals_of_partitions, read_scores, score_partitions
from farpoint.diffusion.partitions import write_partitions
from farpoint.diffusion.refine import refine_goals
from farpoint.diffusion.score import score
from farpoint.diffusion.scores import Scores
from farpoint.diffusion.spectrum import Spectrum, spectrum
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
