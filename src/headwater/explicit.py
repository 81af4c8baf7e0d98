"""A run that a Python program tells about itself, whatever it runs: START, RUNNING, then one end, whatever happens."""

import threading
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from openlineage.client.event_v2 import Job, RunState
from openlineage.client.facet_v2 import job_type_job

from headwater.emission import new_run_id, opened_emitter
from headwater.emit.emitter import Emitter
from headwater.errors import HeadwaterError
from headwater.model.build import HeadwaterRunFacet
from headwater.model.names import DatasetId, JobId
from headwater.model.naming import file_dataset, kafka_dataset
from headwater.observe.described import Described, source_facet
from headwater.observe.failure import Failure, is_exit, python_message, python_trace
from headwater.observe.run_facets import failure_facet
from headwater.observe.signals import Signals
from headwater.observe.told_run import Content, Outward, ToldRun

Dataset = str | tuple[str, str]
"""A path or URL, `kafka://host:port/topic`, or a namespace and a name."""


def run(
    job: str,
    *,
    namespace: str = "default",
    inputs: Iterable[Dataset] = (),
    outputs: Iterable[Dataset] = (),
    endpoint: str | None = None,
    file: str | Path | None = None,
    token_env: str | None = None,
    running_every_s: float = 60,
) -> "ExplicitRun":
    """A run of a job, for a `with` statement: START when the block begins, and its end as the block's.

    COMPLETE if the block ends, FAIL if it raises, ABORT on Ctrl-C, on SIGTERM (unless the program handles that itself)
    and where the block calls `abort`. Events are signed and spooled; none of them can hold the program up.

    Args:
        job: its name.
        namespace: of the job.
        inputs: what is read, as far as it is known before; more by `reads`.
        outputs: what is written; more by `writes`.
        endpoint: where events are posted; a service on this machine unless an endpoint or a file is named.
        file: a file to append events to.
        token_env: the environment variable that holds the endpoint's bearer token.
        running_every_s: seconds between two RUNNING events.

    Raises:
        InvalidNameError: a dataset's name cannot be read.
        InvalidInputError: the endpoint holds credentials.
        SetupError: this machine's key cannot be read or made.
    """
    told = ExplicitRun(JobId(namespace, job), lambda: opened_emitter(endpoint, file, token_env), running_every_s)
    told.reads(*inputs)
    told.writes(*outputs)
    return told


class ExplicitRun:
    """A run inside its `with` block.

    Attributes:
        run_id: to pass on to what the block starts, as its parent.
    """

    def __init__(self, job: JobId, opened: Callable[[], Emitter], running_every_s: float) -> None:
        """Nothing is told before the block begins."""
        self.run_id = new_run_id()
        self._job = job
        self._opened = opened
        self._running_every_s = running_every_s
        self._inputs: dict[DatasetId, Described] = {}
        self._outputs: dict[DatasetId, Described] = {}
        self._stop_reason: str | None = None
        self._over = threading.Event()

    def reads(self, *datasets: Dataset) -> None:
        """Add inputs; the next event names them."""
        self._inputs |= {one.id: one for one in map(_described, datasets)}

    def writes(self, *datasets: Dataset) -> None:
        """Add outputs; the next event names them."""
        self._outputs |= {one.id: one for one in map(_described, datasets)}

    def running(self) -> None:
        """RUNNING, now; it is also told by itself now and then."""
        self._told.tell(RunState.RUNNING, self._content(None))

    def abort(self, reason: str) -> None:
        """Have the run end as ABORT, unless the block raises."""
        self._stop_reason = reason

    def __enter__(self) -> Self:
        """START."""
        self._emitter = self._opened()
        self._started_at = datetime.now(UTC)
        kind = job_type_job.JobTypeJobFacet(processingType="BATCH", integration="HEADWATER", jobType="RUN")
        job = Job(namespace=self._job.namespace, name=self._job.name, facets={"jobType": kind})
        out = Outward(lambda: datetime.now(UTC), self._emitter.put)
        self._told = ToldRun(job, self.run_id, self._started_at, {}, out)
        self._told.tell(RunState.START, self._content(None))
        self._signals = Signals(self.abort, lambda _: self._end(None))
        threading.Thread(target=self._tell_running, name="headwater-run", daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """The one terminal event; what the block raised goes on its way."""
        self._signals.restore()
        if isinstance(error, KeyboardInterrupt):
            self.abort("SIGINT")
            error = None
        self._end(None if is_exit(error) else error)

    def _end(self, error: BaseException | None) -> None:
        self._over.set()
        failure = None if error is None or self._signals.reason else _failure(error)
        ended = RunState.COMPLETE if self._stop_reason is None else RunState.ABORT
        self._told.tell(RunState.FAIL if failure else ended, self._content(failure))
        self._emitter.close()

    def _tell_running(self) -> None:
        while not self._over.wait(self._running_every_s):
            self.running()

    def _content(self, failure: Failure | None) -> Content:
        facets = {} if failure is None else {"errorMessage": failure_facet(failure)}
        lasted = datetime.now(UTC) - self._started_at
        counters = HeadwaterRunFacet(
            recordsIn=None,
            recordsOut=None,
            bytesIn=None,
            bytesOut=None,
            errorCount=0 if failure is None else 1,
            durationMs=round(lasted.total_seconds() * 1000),
            stopReason=None if failure else self._stop_reason,
        )
        return Content({**facets, "headwater_run": counters}, self._inputs.values(), self._outputs.values())


def _failure(error: BaseException) -> Failure:
    """Only the class and place of an exception, since its message may hold anything; our own hold no values."""
    message = str(error) if isinstance(error, HeadwaterError) else python_message(error)
    return Failure(message, python_trace(error), "PYTHON")


def _described(dataset: Dataset) -> Described:
    name = DatasetId(*dataset) if isinstance(dataset, tuple) else _named(dataset)
    return Described(name, {"dataSource": source_facet(name)})


def _named(location: str) -> DatasetId:
    kind, _, rest = location.partition("://")
    if kind == "kafka":
        servers, _, topic = rest.partition("/")
        return kafka_dataset(servers, topic)
    return file_dataset(
        location if "://" in location or location.startswith("file:") else str(Path(location).absolute())
    )
