"""Evaluators of answers that sum up a text."""
