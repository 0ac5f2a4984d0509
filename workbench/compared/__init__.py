"""Two results folders held against each other: settings, figures, queries, and what was handed over."""
