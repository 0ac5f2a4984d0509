"""Evaluators that may look things up: a check of facts by a model with a search."""
