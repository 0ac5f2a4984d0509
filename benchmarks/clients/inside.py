"""A function of a tool's file, run by that tool's Python, which has nothing of ours: `inside.py FILE FUNCTION FOLDER`.

What it is given besides the folder comes as a JSON list from standard input; what it returns goes out as JSON. What the
tool prints goes to standard error. FUNCTION `objects` is ours: the file's MODULE has objects of the tool, which answer
or rank as they come what ASKED says, by ragassay installed beside it; WANTED has what they should give.
"""

import json
import os
import runpy
import sys
from pathlib import Path
from typing import Any


def objects(tool: dict[str, Any], folder: Path) -> list[Any]:
    """What should be, and what is, by `NAME as KIND`."""
    from ragassay.retrieval.agents.worker import answer_of, load_system, ranking_of

    (folder / "objects_of_tool.py").write_text(tool["MODULE"])
    found = {}
    for told in tool["WANTED"]:
        name, kind = told.split(" as ")
        system, _ = load_system("mine", f"objects_of_tool:{name}", folder, kind)
        if kind == "agent":
            answer = answer_of(system, tool["ASKED"], "mine")
            found[told] = [answer["answer"] or answer["error"], list(answer["passages"])]
        else:
            ranked = ranking_of(system, tool["ASKED"], 5)
            found[told] = [list(pair) for pair in ranked.get("ranking", [[ranked.get("error")]])]
    return [tool["WANTED"], found]


if __name__ == "__main__":
    _, file, function, folder = sys.argv
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    tool, given = runpy.run_path(file), json.load(sys.stdin)
    found = objects(tool, Path(folder)) if function == "objects" else tool[function](Path(folder), *given)
    json.dump(found, out)
    out.flush()
    os._exit(0)  # some tools leave threads behind that would wait for a network
