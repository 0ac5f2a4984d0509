"""Pages of the corpus's documents as pictures, with a stretch of their text shown where it stands on them."""
