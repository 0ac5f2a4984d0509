"""Evaluators of how likely a language model finds an answer."""
