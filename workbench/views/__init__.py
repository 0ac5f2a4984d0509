"""The pages, one module each: what it reads, its routes, and the context of its template."""
