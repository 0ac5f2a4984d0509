"""ragassay: make a test set from PDFs, run retrieval-augmented pipelines on it, and say which answers best."""

__version__ = "0.1.0"
