"""litellm: its proxy on loopback, in front of a server that answers as OpenAI's does, gives us what that one said."""

import hashlib
import json
import math
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen


def said(asked: dict[str, Any]) -> dict[str, Any]:
    """Another reply to each request: its digest."""
    told = [asked.get(name) for name in ("messages", "response_format", "temperature", "max_tokens", "top_logprobs")]
    digest = hashlib.sha256(json.dumps(told, sort_keys=True).encode()).digest()
    label = digest[0] % 4
    content = json.dumps({"reason": f"{digest.hex()}\n“{label}” | é", "label": label})
    shares = [(digest[n] + 1) / (sum(digest[:4]) + 4) for n in range(4)]
    top = [{"token": str(n), "logprob": math.log(share), "bytes": None} for n, share in enumerate(shares)]
    found = asked.get("logprobs") and {"content": [{**top[label], "top_logprobs": top}]}
    text = str(label) if found else content
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
    used = {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9}
    head = {"id": "1", "object": "chat.completion", "created": 1, "model": asked["model"], "usage": used}
    return {**head, "choices": [{**choice, "logprobs": found or None}]}


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        reply = json.dumps(said(asked)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)


@contextmanager
def served(folder: Path, key: str) -> Iterator[tuple[str, Callable[[dict[str, Any]], Any]]]:
    """The proxy's address, and what the server behind it says to whoever asks it."""
    behind = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=behind.serve_forever, daemon=True).start()
    told = {"model": "openai/theirs", "api_base": f"http://127.0.0.1:{behind.server_port}/v1", "api_key": "none"}
    config = folder / "config.yaml"
    config.write_text(json.dumps({"model_list": [{"model_name": "ours", "litellm_params": told}]}), encoding="utf-8")
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = str(one.getsockname()[1])
    command = [str(Path(sys.executable).with_name("litellm")), "--config", str(config), "--host", "127.0.0.1"]
    more = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_TELEMETRY": "False", "LITELLM_MASTER_KEY": key}
    proxy = subprocess.Popen([*command, "--port", port], env={**os.environ, **more}, stdout=subprocess.DEVNULL)
    try:
        for _ in range(600):
            try:
                urlopen(f"http://127.0.0.1:{port}/health/liveliness", timeout=5).close()
                break
            except (URLError, OSError):
                if proxy.poll() is not None:
                    raise
                time.sleep(0.5)
        yield f"http://127.0.0.1:{port}", said
    finally:
        proxy.kill()
        proxy.wait()


CHECKS = ("judged",)
