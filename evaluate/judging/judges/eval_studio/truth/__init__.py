"""Evaluators of answers held against an expected response."""
