"""Says which files of the packages named are not as they were installed, or that another package is in their place."""

import base64
import hashlib
import sys
from importlib.metadata import distribution
from importlib.util import find_spec
from pathlib import Path

for name in sys.argv[1:]:
    files = distribution(name).files or []
    origin = Path(str(find_spec(name).origin))
    if origin not in {Path(str(file.locate())) for file in files}:
        sys.exit(f"{name} is imported from {origin}")
    for file in files:
        if file.hash is not None:
            digest = hashlib.new(file.hash.mode, file.locate().read_bytes()).digest()
            if base64.urlsafe_b64encode(digest).rstrip(b"=").decode() != file.hash.value:
                sys.exit(f"{name}: {file} is not as it was installed")
