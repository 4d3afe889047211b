"""From a world to its far points: walk, spectrum, score, goals, distances, extension, partitions."""

from farpoint.diffusion.extension.extended import EXTENSIONS, ExtendedScores, extend, extend_to
from farpoint.diffusion.extension.landmarks import LANDMARKS, choose_landmarks
from farpoint.diffusion.geometry import difficulty, diffusion_distance, diffusion_map, distributions, score_bound
from farpoint.diffusion.goals.maxima import Goals, find_goals
from farpoint.diffusion.goals.refine import refine_goals
from farpoint.diffusion.matrices import lazy_walk, normalized_laplacian, stationary
from farpoint.diffusion.partitions.edges import PartitionedWorld, open_partitions, write_partitions
from farpoint.diffusion.partitions.maps import PartitionedMap
from farpoint.diffusion.partitions.scores import goals_of_partitions, read_scores, score_partitions
from farpoint.diffusion.scores.request import FORMS, SOLVERS, ScoreRequest
from farpoint.diffusion.scores.result import Scores
from farpoint.diffusion.scores.solve import score
from farpoint.diffusion.spectra.decomposition import Spectrum, spectrum
from farpoint.diffusion.spectra.similarity import cosine_similarities
from farpoint.diffusion.walk import Walk

__all__ = [
    "EXTENSIONS",
    "FORMS",
    "LANDMARKS",
    "SOLVERS",
    "ExtendedScores",
    "Goals",
    "PartitionedMap",
    "PartitionedWorld",
    "ScoreRequest",
    "Scores",
    "Spectrum",
    "Walk",
    "choose_landmarks",
    "cosine_similarities",
    "difficulty",
    "diffusion_distance",
    "diffusion_map",
    "distributions",
    "extend",
    "extend_to",
    "find_goals",
    "goals_of_partitions",
    "lazy_walk",
    "normalized_laplacian",
    "open_partitions",
    "read_scores",
    "refine_goals",
    "score",
    "score_bound",
    "score_partitions",
    "spectrum",
    "stationary",
    "write_partitions",
]
