"""`python -m ragassay` is `ragassay`."""

import sys

from ragassay.cli import main

sys.exit(main())
