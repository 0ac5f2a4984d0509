"""A look at the agents: one measure, on all queries or a slice of them, by the functions that `compare` uses."""
