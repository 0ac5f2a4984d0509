"""Where CPU-bound work runs: on this machine's cores, or on a cluster that is there already (`[run] backend`).

joblib does it, but for what stays in this process. A piece of work is a function at the top of a module and one
argument that can be pickled; its result is the same wherever it ran, and callers put results in the order of what they
asked for.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from itertools import chain, islice
from threading import Lock, Thread, current_thread, main_thread
from types import FrameType
from typing import Any, Literal, ParamSpec, TypeVar

from ragassay import __version__

from .errors import InputError, needing
from .text import plain


def import_environment() -> dict[str, str]:
    """This process's environment, with which a Python process finds every module that this one finds."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}


def serve(answer: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Answer one JSON request a line with one JSON line, until standard input ends.

    Whatever a library prints goes to standard error.
    """
    answers = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)
    for line in sys.stdin:
        answers.write(json.dumps(answer(json.loads(line))) + "\n")
        answers.flush()


def why_ended(status: int) -> str:
    """What a process's exit status says; a negative one is that of a signal."""
    return f"the process was ended by signal {-status}" if status < 0 else f"the process ended with status {status}"


@contextmanager
def memory_limited(most: int) -> Iterator[None]:
    """So that one hostile document cannot take a machine's memory, a limit to what this process may take inside.

    Beyond `most` bytes of data Python raises MemoryError, and a C++ library ends the process by SIGABRT.

    What is read from files as they stand on the disk does not count. The limit is taken back at the end.
    """
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    with suppress(OSError, ValueError):  # a system that knows no such limit
        resource.setrlimit(resource.RLIMIT_DATA, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
    try:
        yield
    finally:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def too_much(most: int) -> str:
    """What is said of a document for which that is not enough."""
    return f"takes more than {most / 1e9:g} GB of memory; divide it"


T = TypeVar("T")
R = TypeVar("R")
P = ParamSpec("P")

Here = Literal["processes", "threads", "one"]
"""How work runs with backend "loky": in loky's processes; in threads, where it waits for processes that it starts
itself; or one piece after the other, where a library spreads each over all cores."""

_SECONDS_TO_CONNECT = 10
_ROUNDS_OF_RAY = 8  # pieces of work for each core of a Ray cluster between two looks at what is done


@dataclass(frozen=True)
class Cores:
    """`backend` and `scheduler` of `[run]`: loky is this machine, dask and ray are a cluster at the address."""

    backend: Literal["loky", "dask", "ray"] = "loky"
    scheduler: str | None = None

    @property
    def elsewhere(self) -> bool:
        """Whether work goes to a cluster."""
        return self.backend != "loky"

    def each(
        self, function: Callable[[T], R], items: Iterable[T], here: Here = "processes", n_jobs: int | None = None
    ) -> Iterator[tuple[int, R]]:
        """(position in `items`, function(item)) as they get done, in any order; an exception of `function` is raised.

        `items` are taken as they are needed, for threads all at once. `n_jobs` (default: the cores that this process
        may use) counts on this machine alone. A worker that Dask loses costs nothing but time: what it was at is done
        again by another.
        Raises InputError where the cluster cannot be reached, has no workers, or has another ragassay than this one;
        MissingExtra.
        """
        waiting = iter(items)
        first = list(islice(waiting, 1))
        if not first:
            return
        work = enumerate(chain(first, waiting))
        if not self.elsewhere and here != "processes":
            threads = 1 if here == "one" else n_jobs or usable_cores()
            yield from _in_threads(function, work, threads) if threads > 1 else ((n, function(one)) for n, one in work)
            return
        import joblib

        numbered = joblib.delayed(_numbered)
        told = _told_of_lost_workers(self.scheduler) if self.scheduler else nullcontext()
        there = {"dask": _dask, "ray": _ray}.get(self.backend)
        set_up = there(self.scheduler or "auto") if there else _local(n_jobs or usable_cores())
        with set_up as jobs, told:
            pieces = (numbered(function, number, item) for number, item in work)
            if self.backend == "ray":  # its joblib backend gives results only when all are there
                while batch := list(islice(pieces, _ROUNDS_OF_RAY * jobs)):
                    yield from joblib.Parallel(n_jobs=jobs, batch_size=1)(batch)
            else:
                yield from joblib.Parallel(n_jobs=jobs, batch_size=1, return_as="generator_unordered")(pieces)


def beside(work: Callable[[], R]) -> Callable[[], R]:
    """Start `work` in a thread; what is returned waits for its result, and raises what it raised.

    For work that waits for other processes. The program's end does not wait for it.
    """
    promised: Future[R] = Future()

    def run() -> None:
        try:
            promised.set_result(work())
        except BaseException as error:  # noqa: BLE001  (raised where the result is asked for)
            promised.set_exception(error)

    Thread(target=run, daemon=True).start()
    return promised.result


class Helpers:
    """Other processes of this machine, as many as it has cores, for work that this one need not wait for.

    They start with the first piece of work, and end when the context is left. `wanted` False: there are none, and every
    piece is done where it is asked for, so that small work is not held up by starting them. Their linear algebra has
    one thread each. An interrupt reaches this process alone, which ends them; while they start it is held back.
    """

    def __init__(self, wanted: bool) -> None:
        self.wanted = wanted
        self._pool: Any = None

    def __enter__(self) -> Helpers:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, kill_workers=kind is not None)

    def start(self, function: Callable[P, R], *given: P.args, **named: P.kwargs) -> Callable[[], R]:
        """Begin `function(...)`; what is returned waits for its result, and raises what it raised.

        The function stands at the top of a module; it, what it is given and its result can be pickled.
        """
        if self.wanted:
            with _interrupts_held_back():
                promised: Future[R] = self._processes().submit(function, *given, **named)
            return promised.result
        found = function(*given, **named)
        return lambda: found

    def each(self, function: Callable[[T], R], items: Iterable[T]) -> list[R]:
        """function(item) of each, in order. Items are taken as they are needed, a few more than there are processes."""
        found: list[Callable[[], R]] = []
        most = 2 * usable_cores()
        for item in items:
            if len(found) >= most:
                found[-most]()
            found.append(self.start(function, item))
        return [wait() for wait in found]

    def beside(self, work: Callable[[], R]) -> Callable[[], R]:
        """Start `work`, which hands its own work to these processes, in a thread; else as `start`."""
        return beside(work) if self.wanted else self.start(work)

    def _processes(self) -> Any:
        with _STARTING:
            if self._pool is None:
                from joblib.externals.loky import ProcessPoolExecutor

                self._pool = ProcessPoolExecutor(
                    usable_cores(), timeout=_SECONDS_IDLE, initializer=_ignore_interrupts, env=_ONE_THREAD
                )
            return self._pool


_STARTING = Lock()
_SECONDS_IDLE = 60  # after which a process ends, also one whose parent was killed
_ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "BLIS_NUM_THREADS"), "1")


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """What comes while helpers start is answered when they have: of those that it half started loky knows nothing, and
    the program's end would wait until they are idle for long enough."""
    answer = signal.getsignal(signal.SIGINT)
    if not callable(answer) or current_thread() is not main_thread():  # another thread is not interrupted
        with _blocked_for_new_processes():
            yield
        return
    came: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda *given: came.append(given))
    try:
        with _blocked_for_new_processes():
            yield
    finally:
        signal.signal(signal.SIGINT, answer)
        if came:
            answer(*came[0])


@contextmanager
def _blocked_for_new_processes() -> Iterator[None]:
    """What starts here cannot be interrupted before it ignores that. Windows has no signals of a process group."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # which, if it started later, would unblock
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def usable_cores() -> int:
    """The cores that this process may use, at least 1."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _numbered(function: Callable[[T], R], number: int, item: T) -> tuple[int, R]:
    return number, function(item)


def _in_threads(function: Callable[[T], R], work: Iterable[tuple[int, T]], n_threads: int) -> Iterator[tuple[int, R]]:
    """As they get done. Left early, nothing more is begun, and what is being done is not waited for."""
    pool = ThreadPoolExecutor(n_threads)
    try:
        for done in as_completed([pool.submit(_numbered, function, number, item) for number, item in work]):
            yield done.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def _local(n_jobs: int) -> Iterator[int]:
    import joblib

    with joblib.parallel_config(backend="loky"):
        yield n_jobs


@contextmanager
def _dask(address: str) -> Iterator[int]:
    import joblib

    with needing('run.backend = "dask"', "dask"):
        from distributed import Client
        from distributed.comm.addressing import resolve_address
    try:
        resolve_address(address)  # of a Client that fails here, closing takes 20 s
        client: Any = Client(address, timeout=_SECONDS_TO_CONNECT, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise _unusable("dask", address, f"cannot be reached ({str(error).splitlines()[0]})") from None
    with client:
        _check_workers(client, address)
        with joblib.parallel_config(backend=_dask_backend(client)):
            yield sum(client.ncores().values())


@dataclass(frozen=True)
class _Lost:
    """What Dask itself says of a piece of work that it gave up."""

    error: BaseException


def _dask_backend(client: Any) -> Any:
    """joblib's backend for Dask, which would wait forever for a piece of work that Dask gave up."""
    from joblib._dask import DaskDistributedBackend

    class Backend(DaskDistributedBackend):  # type: ignore[misc]
        def submit(self, func: Any, callback: Any = None) -> Any:
            def tell(done: Any) -> None:
                if (error := done.exception()) is not None:
                    callback(_Lost(error))

            future = super().submit(func, callback)
            future.add_done_callback(tell)
            return future

        def retrieve_result_callback(self, out: Any) -> Any:
            if isinstance(out, _Lost):
                raise out.error
            return super().retrieve_result_callback(out)

    return Backend(client=client)


def _check_workers(client: Any, address: str) -> None:
    """Raises InputError unless there are workers and each has this ragassay."""
    try:
        versions = client.run(_version)
    except ImportError as error:
        raise _unusable("dask", address, f"has a worker without ragassay ({error})") from None
    if not versions:
        raise _unusable("dask", address, "has no workers")
    if other := sorted((where, version) for where, version in versions.items() if version != __version__):
        where, version = other[0]
        raise _unusable("dask", address, f"has a worker ({where}) with ragassay {version}, and this is {__version__}")


def _version() -> str:
    return __version__


@contextmanager
def _ray(address: str) -> Iterator[int]:
    import joblib

    with needing('run.backend = "ray"', "ray"):
        import ray
        from ray.util.joblib import register_ray
    try:
        if not ray.is_initialized():
            ray.init(address=address, log_to_driver=False, logging_level=logging.WARNING)
    except (ConnectionError, ValueError) as error:
        raise _unusable("ray", address, f"cannot be reached ({str(error).splitlines()[0]})") from None
    register_ray()
    with joblib.parallel_config(backend="ray"):
        yield max(1, int(ray.cluster_resources().get("CPU", 1)))


def _unusable(backend: str, address: str, problem: str) -> InputError:
    remedy = 'mend run.scheduler in experiment.toml, or set backend = "loky" to work on this machine'
    return InputError(plain(f"the {backend} cluster at '{address}' {problem}"), remedy=remedy)


@contextmanager
def _told_of_lost_workers(address: str) -> Iterator[None]:
    """One sentence where a piece of work brought down one worker of the cluster after the other."""
    try:
        yield
    except Exception as error:
        if type(error).__name__ != "KilledWorker":  # distributed may not be installed
            raise
        problem = f"the cluster at '{address}' lost every worker that was given one piece of the work"
        raise InputError(plain(problem), remedy="give its workers more memory, and run again") from error
