"""Submits a job: a process in Flink's own Python runs it and reports its lineage; this one emits the events."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from headwater.capture.flink.session import Session
from headwater.capture.flink.start_event import Flow, flow_of, start_event
from headwater.errors import InvalidInputError, SetupError, UnavailableError
from headwater.model.names import JobId
from headwater.observe.guard import Guard

_PROBE: Final = Path(__file__).with_name("inside")


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """A program or file of SQL to submit.

    Attributes:
        file: `.py` or `.sql`.
        arguments: the program's arguments.
        python: a Python interpreter with PyFlink.
        environment: environment variables for it, added to those of this process.
        settings: Flink settings, such as `parallelism.default`.
        batch: whether SQL is run as a batch.
        wait: whether to wait for the jobs' ends.
        namespace: the jobs' namespace; None for the one in the cluster's configuration.
        prints_to: the file descriptor of the program's output; None for this process's own.
    """

    file: Path
    arguments: Sequence[str]
    python: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    batch: bool
    wait: bool
    namespace: str | None
    prints_to: int | None = None


@dataclass(frozen=True, slots=True)
class SubmittedJob:
    """A submitted and reported job; name and run id are empty if the cluster does not report them."""

    job_id: str
    name: str
    run_id: str
    inputs: int
    outputs: int
    columns: int
    gaps: tuple[str, ...]


def submit(submission: Submission, session: Session, put: Callable[[bytes], None]) -> Iterator[SubmittedJob]:
    """Run the file; every job it submits is reported as soon as the cluster lists it.

    Lineage that cannot be determined is reported as a gap, and the program goes on.

    Raises:
        InvalidInputError: Flink refuses a statement (the message names its line), or the program failed.
        SetupError: the Python cannot be started, or the namespace of the cluster's jobs is unknown.
    """
    namespace = session.about.namespace(submission.namespace)
    read, write = os.pipe()
    refused: str | None = None
    with os.fdopen(read, encoding="utf-8") as lines:
        try:
            process = _started(submission, session, write)
        finally:
            os.close(write)
        try:
            for line in map(json.loads, lines):
                if line["event"] == "refused":
                    refused = line["message"]
                else:
                    yield _reported_job(line, namespace, session, put)
            status = process.wait()
        finally:
            _end(process)
    if refused is not None:
        raise InvalidInputError(refused)
    if status != 0:
        raise InvalidInputError(f"{submission.file} ended with status {status}; see its output above")


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Kill the process if it still runs: nothing reads its reports any more."""
    if process.poll() is None:
        process.terminate()
        process.wait()


def _started(submission: Submission, session: Session, descriptor: int) -> subprocess.Popen[bytes]:
    settings = {
        "host": session.host,
        "port": session.port,
        "settings": dict(submission.settings),
        "batch": submission.batch,
        "wait": submission.wait,
    }
    command = [str(submission.python), "-m", "headwater_probe", json.dumps(settings), str(descriptor)]
    environment = {**os.environ, **submission.environment, "PYTHONPATH": _path_of_python()}
    try:
        return subprocess.Popen(  # noqa: S603
            [*command, str(submission.file), *submission.arguments],
            env=environment,
            pass_fds=(descriptor,),
            stdout=submission.prints_to,
        )
    except OSError as fault:
        raise SetupError(
            f"{submission.python} cannot be started: {fault.strerror}; "
            "expected a Python with PyFlink in --python or HEADWATER_FLINK_PYTHON"
        ) from fault


def _path_of_python() -> str:
    """The `PYTHONPATH` with the probe's folder before the user's."""
    before = os.environ.get("PYTHONPATH")
    return f"{_PROBE}{os.pathsep}{before}" if before else str(_PROBE)


def _reported_job(
    line: Mapping[str, Any], namespace: str, session: Session, put: Callable[[bytes], None]
) -> SubmittedJob:
    try:
        about = session.submitted(line["id"])
    except UnavailableError as fault:
        return SubmittedJob(line["id"], "", "", 0, 0, 0, (f"its lineage is not reported: {fault}",))
    unseen = Flow(gaps=["the inputs and outputs of its statements are unknown"])
    flow = Guard().attempt("statements", lambda: flow_of(line["writes"], line["gaps"]), unseen)
    put(start_event(JobId(namespace, about.name), about, flow, line["sql"]))
    return SubmittedJob(
        job_id=about.job_id,
        name=about.name,
        run_id=about.run_id,
        inputs=len(flow.inputs),
        outputs=len(flow.outputs),
        columns=flow.columns,
        gaps=tuple(flow.gaps),
    )
