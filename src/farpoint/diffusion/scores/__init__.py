"""The score f_t of every state, by several solvers."""
