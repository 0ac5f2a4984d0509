"""Documents that are no PDFs: what they are converted to, in the process that reads PDFs."""
