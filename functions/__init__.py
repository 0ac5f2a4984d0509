"""From Python and from pytest: judges as functions, a whole run, its figures, and assertions about both."""
