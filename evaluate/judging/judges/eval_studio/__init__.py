"""The evaluators of H2O Eval Studio, by what they look at."""
