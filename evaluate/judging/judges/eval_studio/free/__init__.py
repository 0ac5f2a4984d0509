"""Evaluators of the user's own yes or no, and a check of facts by a model with tools."""
