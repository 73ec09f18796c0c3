"""The client: hands runs to threads here or to a Dask cluster, a few at a time, and receives rows.

Threads of this process do the runs of this machine (`gadgetopt.runs.engine.here`); a cluster is
used through the same calls, and only for it is Dask imported. Solver processes keep the runs apart.
"""

from __future__ import annotations

import contextlib
import importlib.util
import logging
import queue
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from gadgetopt.errors import InputError, NotLoaded, OtherCode, SchedulerLost
from gadgetopt.runs.engine.elsewhere import Heard, topic
from gadgetopt.runs.engine.here import Arrived, Threads
from gadgetopt.runs.engine.interrupts import polite_interrupt
from gadgetopt.runs.engine.machine import machine_cores
from gadgetopt.runs.engine.quiet import quiet_dask
from gadgetopt.runs.engine.supervisor import (
    FAREWELL_S,
    WrongVersions,
    interrupt,
    supervise_all,
    versions,
)
from gadgetopt.runs.engine.work import VERSIONS, Failure, Work
from gadgetopt.runs.rows import Row
from gadgetopt.system.files import Document, document_text

if TYPE_CHECKING:
    from distributed import Client

    from gadgetopt.system.plugins import Shipment

T = TypeVar("T")

logger: logging.Logger = logging.getLogger(__name__)

#: Submitted runs per thread of the cluster, and in total at least. Tuned: `benchmarks/engine.py`.
WINDOW_PER_THREAD, LEAST_WINDOW = 4, 8

#: Seconds that the runs of a bundle should take together, and the most runs in a bundle. Short runs
#: travel in bundles because Dask needs some milliseconds per task. Tuned: `benchmarks/engine.py`.
BUNDLE_S, BUNDLE_MOST = 0.2, 32

#: Seconds of a bundle for each thread of a cluster: a client and a scheduler need some milliseconds
#: for every task, and many threads must not ask for more than they can give. It holds as long as
#: each thread is left so many bundles, so that all of them end alike.
#: Tuned: `benchmarks/campaign.py`.
THREAD_BUNDLE_S, BUNDLES_LEFT = 0.005, 8

#: Times the seconds of a bundle after which its worker starts no further run of it.
#: Tuned: `benchmarks/campaign.py`.
PATIENCE = 5.0

#: Seconds between two checks of the cluster while nothing arrives.
TICK_S = 0.25

#: Seconds between two counts of the cluster's threads.
COUNT_S = 5.0

#: Seconds to wait for a scheduler's first answer.
CONNECT_S = 10

Job = tuple[Work, Document]


def local_workers(threads: int) -> int:
    """Return how many solves this machine's cores allow at a time."""
    return max(1, machine_cores() // threads)


@dataclass
class _Held:
    """An instance, or what stands for it on the cluster, and the runs that need it."""

    there: Any
    runs: int = 0


class Engine:
    """Threads, here or of a cluster, that are given jobs as fast as they do them.

    Parameters
    ----------
    session : str
        Identifies this comparison among those that share the cluster.
    scheduler : str or None
        Address of a Dask scheduler; None starts `workers` threads in this process.
    plugins : tuple
        The plug-ins that the runs need.

    Attributes
    ----------
    dashboard : str or None
        Address of Dask's dashboard.
    """

    def __init__(self, session: str, scheduler: str | None, workers: int, plugins: Shipment = ()):
        self.session = session
        self.plugins = plugins
        self.shipped: Any = None  # the plug-ins on the cluster
        self.scheduler = scheduler
        self.workers = workers
        self.dashboard: str | None = None
        self.threads: int = 0
        self.given: int = 0  # tasks
        self.left: int = 0  # runs that are not given yet
        self.flying: dict[Any, list[Job]] = {}
        self.back: deque[Job] = deque()  # taken from the grid but not yet submitted
        self.expected_s: dict[tuple[str, str], float] = {}
        self.held: dict[str, _Held] = {}
        self._counted = -COUNT_S
        self.heard: Heard = Heard(session)
        self._without = 0  # consecutive counts that found no threads
        self._closing = contextlib.ExitStack()

    # -- the cluster -------------------------------------------------------------------------------

    def __enter__(self) -> Engine:
        try:
            if self.scheduler is None:
                self.arrived: Any = Arrived()
                self.client: Client | Threads = Threads(self.workers, self.arrived)
                self._closing.callback(self.client.close)
            else:
                self._open_cluster()
            self._closing.callback(self._cancel)
        except BaseException:
            self._closing.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.close()

    def _open_cluster(self) -> None:
        try:
            from distributed import as_completed
        except ModuleNotFoundError:
            self._refuse("needs Dask: pip install 'gadgetopt[cluster]'")
        self._closing.enter_context(quiet_dask())
        self.client = client = self._connected()
        self.arrived = as_completed(loop=client.loop, with_results=True, raise_errors=False)
        self._check_versions(client)

    def _connected(self) -> Client:
        from distributed import Client

        try:
            client = Client(self.scheduler, timeout=CONNECT_S, set_as_default=False)
        except (OSError, ValueError, TypeError, ImportError) as error:
            reason = " ".join(str(error).split())
            raise InputError(
                f"--scheduler: {self.scheduler}: cannot be reached: {reason}"
            ) from None
        self._closing.callback(_close, client)
        client.subscribe_topic(topic(self.session), self.heard)
        with contextlib.suppress(Exception):  # merely a convenience
            if _draws() and "dashboard" in client.scheduler_info()["services"]:
                self.dashboard = client.dashboard_link
        return client

    def _check_versions(self, client: Client) -> None:
        for found in client.run(versions, on_error="return").values():
            if isinstance(found, BaseException):
                self._refuse(f"its workers cannot run gadgetopt: {found}")
            if found != VERSIONS:
                self._refuse(str(WrongVersions(VERSIONS, found)))

    def _refuse(self, reason: str) -> NoReturn:
        raise InputError(f"--scheduler: {self.scheduler}: {' '.join(reason.split())}")

    def _refuse_code(self, error: OtherCode) -> NoReturn:
        if self.scheduler is not None:
            self._refuse(f"its workers run other code: {error.here}, expected {error.wanted}")
        raise error

    def _cancel(self) -> None:
        with contextlib.suppress(Exception):  # the cluster may be gone
            if self.flying and self.client.status == "running":
                self.client.cancel(list(self.flying))
        self.flying.clear()
        self.held.clear()
        self.shipped = None

    # -- the runs ----------------------------------------------------------------------------------

    def results(
        self, jobs: Iterator[Job | None], tick: Callable[[], None], runs: int = 0
    ) -> Iterator[tuple[Work, Document, Row | Failure]]:
        """Yield the outcomes of jobs, in the order in which they end.

        Parameters
        ----------
        jobs : iterator
            Asked for the next job when the cluster has room for it; None means that there is none
            yet.
        tick : callable
            Called several times a second.
        runs : int
            How many jobs there will be, about; 0 if that is unknown.

        Raises
        ------
        SchedulerLost
            If the scheduler goes away.
        InputError
            If the workers cannot do this client's runs.
        """
        more, self.left = True, runs
        with polite_interrupt() as asked:
            while not asked.is_set():
                if more or self.back:
                    more = self._fill(jobs) and more
                if not more and not self.flying and not self.back:
                    return
                yield from self._landed(TICK_S)
                tick()
        yield from self._farewell()

    @property
    def running(self) -> int:
        """Estimated number of runs being solved."""
        return min(self.threads, len(self.flying))

    def _fill(self, jobs: Iterator[Job | None]) -> bool:
        """Submit as many runs as the cluster should hold; return True if there are more."""
        if time.monotonic() > self._counted + COUNT_S:
            self._counted = time.monotonic()
            self._count_threads()
        room = max(LEAST_WINDOW, WINDOW_PER_THREAD * self.threads) - len(self.flying)
        for _ in range(room):
            bundle, more = self._bundle(jobs)
            if bundle:
                self._submit(bundle)
            if not more:
                return False
            if not bundle:
                return True
        return True

    def _bundle(self, jobs: Iterator[Job | None]) -> tuple[list[Job], bool]:
        """Return the next runs that should travel together, and True if there may be more."""
        bundle: list[Job] = []
        expected_s = 0.0
        long_s, most, share = self._largest_bundle()
        while len(bundle) < most:
            try:
                job = self.back.popleft() if self.back else next(jobs)
            except StopIteration:
                return bundle, False
            if job is None:
                break
            work, _ = job
            # A method of unknown duration may take long: it travels alone.
            expected_s += self.expected_s.get((work.problem, work.spec), BUNDLE_S)
            same = not bundle or work.fingerprint == bundle[0][0].fingerprint
            most_s = long_s if len(bundle) < share else BUNDLE_S
            if bundle and (not same or expected_s > most_s):
                self.back.appendleft(job)
                break
            bundle.append(job)
        return bundle, True

    def _largest_bundle(self) -> tuple[float, int, int]:
        """Return the most seconds and runs of a bundle, and up to how many runs it may be long."""
        long_s = max(BUNDLE_S, THREAD_BUNDLE_S * self.threads)
        share = self.left // max(1, BUNDLES_LEFT * self.threads)
        return long_s, max(BUNDLE_MOST, min(share, self.threads)), share

    def _count_threads(self) -> None:
        with self._still_there():
            self.threads = sum(self.client.nthreads().values())
        self._without = self._without + 1 if self.threads == 0 and self.flying else 0
        if self._without == 2:  # warned once: a queue may take a night to start workers
            logger.warning("the scheduler at %s has no workers; waiting", self.scheduler)

    def _submit(self, bundle: list[Job]) -> None:
        work, document = bundle[0]
        self.given += 1
        self.left -= len(bundle)
        first_come = -self.given  # keeps Dask from reordering the runs
        with self._still_there():
            held = self.held.get(work.fingerprint)
            if held is None:
                key = f"instance-{work.fingerprint}-{uuid.uuid4().hex[:8]}"
                there = self._put_there(document_text(document), key, priority=first_come)
                self._release_instances()
                held = self.held[work.fingerprint] = _Held(there)
            held.runs += 1
            key = f"run-{work.key}-{uuid.uuid4().hex[:8]}"
            works = [each for each, _ in bundle]
            patience_s = PATIENCE * self._largest_bundle()[0]
            future = self.client.submit(
                supervise_all,
                works,
                held.there,
                self._plugins(),
                patience_s,
                key=key,
                priority=first_come,
            )
            self.flying[future] = bundle
            self.arrived.add(future)

    def _plugins(self) -> Any:
        """Return the plug-ins on the cluster, which they reach once."""
        if self.plugins and self.shipped is None:
            key = f"plugins-{uuid.uuid4().hex[:8]}"
            self.shipped = self._put_there(self.plugins, key)
        return self.shipped or ()

    def _put_there(self, what: Any, key: str, **how: Any) -> Any:
        """Return what stands for an instance or plug-ins on a cluster; here it is the thing."""
        if self.scheduler is None:
            return what
        return self.client.submit(_hold, what, key=key, **how)

    def _release_instances(self) -> None:
        for fingerprint in [f for f, held in self.held.items() if held.runs == 0]:
            del self.held[fingerprint]

    def _landed(self, patience_s: float) -> Iterator[tuple[Work, Document, Row | Failure]]:
        """Yield the runs that have ended; wait a little for the first of them."""
        with contextlib.suppress(queue.Empty):
            while True:
                future, result = self.arrived.queue.get(timeout=patience_s)
                patience_s = 0.0
                bundle = self.flying.pop(future)
                self.held[bundle[0][0].fingerprint].runs -= 1
                outcomes = self._outcomes(future, result, bundle)
                self.back.extend(bundle[len(outcomes) :])
                for work, _ in bundle:
                    self.heard.over(work.key)
                for (work, document), outcome in zip(bundle, outcomes, strict=False):
                    self._learn(work, outcome)
                    yield work, document, outcome
        if self.client.status != "running":
            raise SchedulerLost(f"the scheduler at {self.scheduler} was lost")

    def _learn(self, work: Work, outcome: Row | Failure) -> None:
        """Remember how long a method took; a failed run counts as long."""
        taken_s = BUNDLE_S
        if not isinstance(outcome, Failure) and outcome["status"] != "error":
            taken_s = 0.001 + outcome["time_s"]
        before = self.expected_s.setdefault((work.problem, work.spec), taken_s)
        self.expected_s[work.problem, work.spec] = max(taken_s, 0.8 * before + 0.2 * taken_s)

    def _outcomes(self, future: Any, result: Any, bundle: list[Job]) -> list[Row | Failure]:
        """Return the outcomes of the first runs of a bundle, at least one."""
        if isinstance(result, list):  # the result is here, though its worker may be gone
            rows: list[Row | Failure] = result
            return rows
        if future.status != "error":
            raise SchedulerLost(f"the scheduler at {self.scheduler} was lost")
        error = result[1] if isinstance(result, tuple) else result
        for work, _ in bundle:  # any of them may have been the cause: try them one by one
            self.expected_s[work.problem, work.spec] = BUNDLE_S
        if self.scheduler is not None and _is_death_of_workers(error):
            return (
                []
                if len(bundle) > 1
                else [Failure(f"its workers died: {' '.join(str(error).split())}")]
            )
        if isinstance(error, OtherCode):
            self._refuse_code(error)
        if isinstance(error, NotLoaded):
            if self.scheduler is None:
                raise error
            self._refuse(f"its workers cannot load a plug-in: {error}")
        if isinstance(error, WrongVersions | ImportError):
            self._refuse(f"its workers cannot run gadgetopt: {error}")
        reason = f"the worker failed: {type(error).__name__}: {error}".replace("\n", " ")
        return [] if len(bundle) > 1 else [Failure(reason)]

    def _farewell(self) -> Iterator[tuple[Work, Document, Row | Failure]]:
        """Interrupt the current runs, and yield the results they return."""
        with self._still_there():
            self.client.run(interrupt, self.session, on_error="ignore")
        until = time.monotonic() + 2 * FAREWELL_S
        with contextlib.suppress(KeyboardInterrupt):  # a second Ctrl-C: do not wait any longer
            while self.flying and time.monotonic() < until:
                yield from self._landed(TICK_S)

    @contextlib.contextmanager
    def _still_there(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            if self.client.status == "running" and not isinstance(error, OSError):
                raise
            raise SchedulerLost(f"the scheduler at {self.scheduler} was lost") from None


def _draws() -> bool:
    """Return True if the packages that Dask's dashboard needs are installed."""
    return importlib.util.find_spec("bokeh") is not None


def _is_death_of_workers(error: Any) -> bool:
    """Return True if a cluster's workers died of a bundle, several of them one after another."""
    from distributed import KilledWorker

    return isinstance(error, KilledWorker)


def _hold(what: T) -> T:
    """Keep an instance or plug-ins on the cluster, to travel to each worker at most once."""
    return what


def _close(client: Any) -> None:
    with contextlib.suppress(Exception):  # the scheduler may be gone
        client.close(timeout=2)
