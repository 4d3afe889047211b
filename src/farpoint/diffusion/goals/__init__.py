"""Goals: the local maxima of a score on the graph."""
