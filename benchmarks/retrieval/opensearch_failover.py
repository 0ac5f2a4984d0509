"""Three nodes, a replica, and kill -9 of the node that holds the primary shard while passages are being indexed.

    python -m benchmarks.retrieval.opensearch_failover NODE SCIFACT [ROUNDS]

NODE starts and stops one node as `.ci/opensearch` has it (`NODE start DIR --port P --name N --managers … --seeds …`).
Vectors are drawn at random. Exit status 1 where a passage is missing or there twice. ROUNDS: default 3.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from pathlib import Path

from benchmarks.retrieval.opensearch_million import RandomVectors
from ragassay.experiment.settings import OpenSearchSettings
from ragassay.files import read_records
from ragassay.records import Passage
from ragassay.retrieval.opensearch.client import Server, connect
from ragassay.retrieval.opensearch.engine import Engine, open_rankers
from ragassay.retrieval.opensearch.index import kept_indexes
from ragassay.retrieval.rankers.embedding import Embedder
from ragassay.retrieval.rankers.embedding_cache import EmbeddingCache

PORTS = (9440, 9441, 9442)
SETTINGS = OpenSearchSettings(replicas=1)


class Cluster:
    """Three nodes under `folder`; a dead one can be brought back."""

    def __init__(self, node: Path, folder: Path) -> None:
        self._node, self._folder = node, folder
        self.url = ",".join(f"http://127.0.0.1:{port}" for port in PORTS)

    def start(self) -> None:
        """Start every node that is not up, side by side."""
        names = ",".join(f"n{port}" for port in PORTS)
        seeds = ",".join(f"127.0.0.1:{port + 100}" for port in PORTS)
        started = []
        for port in PORTS:
            if not _alive(self._pid(port)):
                self._pid(port).unlink(missing_ok=True)
                where = ["start", str(self._folder / str(port)), "--port", str(port), "--name", f"n{port}"]
                command = [str(self._node), *where, "--managers", names, "--seeds", seeds]
                started.append(subprocess.Popen(command, stdout=subprocess.DEVNULL))
        if any(process.wait() for process in started):
            raise SystemExit("a node did not start")

    def kill(self, name: str) -> None:
        """Kill -9 the node of that name."""
        os.kill(int(self._pid(int(name[1:])).read_text()), signal.SIGKILL)

    def stop(self) -> None:
        """Stop every node."""
        for port in PORTS:
            subprocess.run([str(self._node), "stop", str(self._folder / str(port))], stdout=subprocess.DEVNULL)

    def _pid(self, port: int) -> Path:
        return self._folder / str(port) / "pid"


def _alive(pid: Path) -> bool:
    try:
        os.kill(int(pid.read_text()), 0)
    except (FileNotFoundError, ProcessLookupError):
        return False
    return True


def one_round(cluster: Cluster, passages: list[Passage], delay_s: float) -> bool:
    """Index under a new name, kill a node `delay_s` after the first passages are in, and count what is there."""
    name, server, begun = f"failover-{uuid.uuid4().hex[:8]}", connect(cluster.url, SETTINGS), threading.Event()
    marked = [passage.model_copy(update={"metadata": {"run": name}}) for passage in passages]
    done = 0

    def progress(n_done: int, _: int) -> None:
        nonlocal done
        done = n_done
        begun.set()

    def kill() -> None:
        begun.wait()
        time.sleep(delay_s)
        cluster.kill(_primary(connect(cluster.url, SETTINGS), name))

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    embedder = Embedder("random", EmbeddingCache(name, None), load=lambda _: RandomVectors())
    engine, start = (
        Engine(cluster.url, SETTINGS, name, Path(tempfile.gettempdir()) / f"{name}.rejected.jsonl"),
        time.perf_counter(),
    )
    open_rankers(["bm25", "knn"], marked, embedder, engine, language="en", rrf_k=60, progress=progress)
    seconds = time.perf_counter() - start
    killer.join()
    found = _ids(server, name)
    missing, twice = len({p.id for p in passages} - set(found)), len(found) - len(set(found))
    print(f"| {delay_s:.2f} | {seconds:.1f} | {len(found):,} | {missing} | {twice} |", flush=True)
    return missing == twice == 0


def _primary(server: Server, name: str) -> str:
    """The node that holds the primary shard of the index that is being made, which has no alias yet."""
    (index,) = [entry.index for entry in kept_indexes(server) if entry.about and name in entry.about.alias]
    rows = server.call(lambda client: client.cat.shards(index=index, format="json"))
    return str(next(row["node"] for row in rows if row["prirep"] == "p"))


def _ids(server: Server, name: str) -> list[str]:
    """The id of every passage in the index, by pages."""
    (index,) = [entry.index for entry in kept_indexes(server) if entry.about and name in entry.about.alias]
    ids = list[str]()
    while True:
        after = {"search_after": [ids[-1]]} if ids else {}
        body = {"size": 2000, "_source": False, "query": {"exists": {"field": "id"}}, "sort": ["id"], **after}
        hits = server.call(lambda client, body=body: client.search(index=index, body=body))["hits"]["hits"]
        if not hits:
            return ids
        ids += [hit["_id"] for hit in hits]


def main(node: Path, scifact: Path, rounds: int) -> int:
    """Print a row a round."""
    passages, draw, good = read_records(scifact / "corpus.jsonl", Passage), random.Random(7), True
    print("| node killed, s after the first passages | seconds in all | passages there | missing | twice |")
    print("|--:|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o711)  # a node that root starts runs as nobody
        cluster = Cluster(node, Path(folder))
        try:
            for _ in range(rounds):
                cluster.start()
                good = one_round(cluster, passages, draw.uniform(0.1, 1.5)) and good
        finally:
            cluster.stop()
    return 0 if good else 1


if __name__ == "__main__":
    if len(sys.argv) not in {3, 4}:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) == 4 else 3))
