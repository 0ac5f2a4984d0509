"""Queries as the pages show them: which are listed, and what is put together of one."""
