"""Evaluators of what was retrieved, and scores made of others."""
