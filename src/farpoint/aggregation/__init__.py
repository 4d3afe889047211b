"""State aggregation: fewer states that move alike, and what is computed on them carried back."""

from farpoint.aggregation.aggregating import aggregate
from farpoint.aggregation.quotient import Aggregation, Bounds

__all__ = ["Aggregation", "Bounds", "aggregate"]
