"""Neural parts: eigenfunctions from samples, and learned option policies."""
