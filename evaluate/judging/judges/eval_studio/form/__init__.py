"""Evaluators of the form of an answer: what it matches, parses as, repeats."""
