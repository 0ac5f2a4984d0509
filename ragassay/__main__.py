"""`python -m ragassay` is `ragassay`."""

from ragassay.cli import console

if __name__ == "__main__":  # processes that are spawned import this module again
    console()
