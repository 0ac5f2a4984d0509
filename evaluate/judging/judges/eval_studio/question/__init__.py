"""Evaluators of answers held against the question."""
