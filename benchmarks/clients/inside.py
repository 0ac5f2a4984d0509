"""A function of a tool's file, run by that tool's Python, which has nothing of ours: `inside.py FILE FUNCTION FOLDER`.

What it is given besides the folder comes as a JSON list from standard input; what it returns goes out as JSON. What the
tool prints goes to standard error.
"""

import json
import os
import runpy
import sys
from pathlib import Path

if __name__ == "__main__":
    _, file, function, folder = sys.argv
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    found = runpy.run_path(file)[function](Path(folder), *json.load(sys.stdin))
    json.dump(found, out)
    out.flush()
    os._exit(0)  # some tools leave threads behind that would wait for a network
