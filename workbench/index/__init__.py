"""Everything of a results folder by query, in one SQLite file that is made when a folder is first opened."""
