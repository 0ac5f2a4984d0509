"""Queries, passages, labels, rankings, answers and games that another tool wrote, or that it is to read."""
