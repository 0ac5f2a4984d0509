"""Evaluators of answers held against the retrieved passages."""
