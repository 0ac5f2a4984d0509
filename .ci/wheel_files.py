"""Says what is wrong with a wheel: it holds the tracked files of the package, its links resolved, and nothing else."""

import subprocess
import sys
import zipfile

FOLDERS = ("synth", "retrieval", "evaluate", "workbench", "cli", "functions", "corpora/avr-libc")
listed = subprocess.run(["git", "ls-files", "ragassay", *FOLDERS], check=True, capture_output=True, text=True)
tracked = {line if line.startswith("ragassay/") else f"ragassay/{line}" for line in listed.stdout.splitlines()}
wanted = tracked - {f"ragassay/{folder}" for folder in FOLDERS}
held = {name for name in zipfile.ZipFile(sys.argv[1]).namelist() if ".dist-info/" not in name}
if held != wanted:
    sys.exit(f"{sys.argv[1]} lacks {sorted(wanted - held)}, and has besides {sorted(held - wanted)}")
