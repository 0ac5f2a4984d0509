"""The process that runs a GGUF model: llama.cpp's own HTTP server, through xllamacpp, on 127.0.0.1.

Run as a script by `ragassay.models.local.model`. One line of JSON comes in on stdin (see `serve`), one line
`{"address": "http://127.0.0.1:PORT"}` goes out on stdout; llama.cpp's own words go to stderr. The process ends when
its stdin ends or its parent is gone, so that no kill of the parent leaves it running.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from typing import Any

_PARENT_CHECK_S = 0.5


def serve(settings: dict[str, Any]) -> Any:
    """Load the model and start to listen on a free port of 127.0.0.1; returns xllamacpp's Server.

    `settings`: model (path), alias, context_tokens, threads, cache_ram_mib, max_tokens, seed. There is one slot, so
    that a reply does not depend on what else is asked at the same time, and the prefix cache is one.
    """
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = settings["model"]
    params.model_alias = {settings["alias"]}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_parallel = 1
    params.n_ctx = settings["context_tokens"]
    params.n_predict = settings["max_tokens"]
    params.cache_ram_mib = settings["cache_ram_mib"]
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = settings["threads"]
    params.sampling.seed = settings["seed"]
    params.enable_reasoning = 0  # a grammar starts with the reply, so there is no room for thinking
    params.fit_params = False  # the context asked for, or an error
    params.ui = params.endpoint_slots = False
    params.cors_origins = params.cors_methods = params.cors_headers = ""
    params.cors_credentials = False
    params.verbosity = 1
    return xllamacpp.Server(params)


def _end_with_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_PARENT_CHECK_S)
    os._exit(0)


def main() -> None:
    """Serve until stdin ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    settings = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with_parent, args=(settings["parent"],), daemon=True).start()
    server = serve(settings)
    answers.write(json.dumps({"address": server.listening_address}) + "\n")
    answers.flush()
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    main()
