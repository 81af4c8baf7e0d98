"""`headwater flink run`: submit a job to a Flink session cluster, and report its lineage."""

import os
import sys
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import orjson
import typer

from headwater.cli.events_to import OptionalEndpointOption, TokenEnvOption, closed_with_warning
from headwater.cli.printed import say
from headwater.cli.progress import shown_progress
from headwater.cli.web_address import web_address
from headwater.errors import InvalidInputError, SetupError
from headwater.model.words import so_many

if TYPE_CHECKING:
    from headwater.capture.flink.submit import SubmittedJob

flink = typer.Typer(name="flink", help="Jobs of Apache Flink, with their lineage.", no_args_is_help=True)

_PYTHON: Final = "HEADWATER_FLINK_PYTHON"


@flink.callback()
def _group() -> None:
    """Jobs of Apache Flink, with their lineage."""


@flink.command()
def run(
    file: Annotated[
        Path, typer.Argument(metavar="JOB", help="A PyFlink program (.py) or a file of SQL (.sql).", show_default=False)
    ],
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="-- ARGUMENT", help="For the program.", show_default=False)
    ] = None,
    url: Annotated[str, typer.Option(help="The REST API of the session cluster.")] = "http://localhost:8081",
    name: Annotated[str | None, typer.Option(help="The job's name; Flink's `pipeline.name`.")] = None,
    namespace: Annotated[
        str | None,
        typer.Option(help="The namespace of the jobs; else the cluster's openlineage.job.namespace, or flink-jobs."),
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A setting of Flink: parallelism.default=2.")
    ] = None,
    batch: Annotated[bool, typer.Option("--batch", help="Run SQL as a batch.")] = False,
    wait: Annotated[bool, typer.Option("--wait", help="Wait for the jobs to end.")] = False,
    endpoint: OptionalEndpointOption = None,
    token_env: TokenEnvOption = None,
    events: Annotated[Path | None, typer.Option("--file", help="Append events to this file.")] = None,
    python: Annotated[
        Path | None,
        typer.Option(help=f"A Python that has PyFlink 2.1; else {_PYTHON}, or the lab's.", show_default=False),
    ] = None,
    json_output: Annotated[bool, typer.Option("--json", help="Print the jobs as a JSON array.")] = False,
) -> None:
    """Submit a job, detached, and report what it reads and writes, column by column.

    `headwater watch flink` reports how it goes on and ends.

    Example: headwater flink run orders.sql --url http://127.0.0.1:8091
    """
    # Imported here: the official client takes half a second, which --help should not wait for.
    from headwater.capture.flink.rest import FlinkCluster
    from headwater.capture.flink.session import Session
    from headwater.capture.flink.submit import Submission, submit
    from headwater.emission import opened_emitter

    if not file.is_file():
        raise InvalidInputError(f"{file}: no such file")
    if file.suffix not in (".py", ".sql"):
        raise InvalidInputError(f"{file}: expected a file that ends in .py or .sql")
    interpreter, environment = _python(python)
    submission = Submission(
        file=file.absolute(),
        arguments=arguments or [],
        python=interpreter,
        environment=environment,
        settings=_settings(settings or [], name),
        batch=batch,
        wait=wait,
        namespace=namespace,
        prints_to=sys.stderr.fileno() if json_output else None,
    )
    jobs: list[SubmittedJob] = []
    with (
        closing(FlinkCluster([web_address("--url", url)])) as cluster,
        closed_with_warning(opened_emitter(endpoint, events, token_env)) as emitter,
    ):
        session = Session.at(url, cluster)
        with shown_progress(f"{file.name}: planning for Flink {session.about.version} at {cluster.url}") as progress:
            for job in submit(submission, session, emitter.put):
                jobs.append(job)
                progress(_job_text(job))
    _show(jobs, file, json_output=json_output)


def _python(chosen: Path | None) -> tuple[Path, dict[str, str]]:
    """A Python with PyFlink, and the environment variables for it; the lab's includes the lab's connectors."""
    named = chosen or (Path(os.environ[_PYTHON]) if os.environ.get(_PYTHON) else None)
    if named is not None:
        return named, {}
    from headwater.lab import environments, flink, jars
    from headwater.lab.kafka import ANY_CREDENTIALS
    from headwater.lab.part import SMALL_JVM

    try:
        is_available = environments.is_created(flink.FLINK) and jars.is_fetched(flink.FLINK)
    except SetupError:
        is_available = False
    if not is_available:
        raise SetupError(
            "no Python with PyFlink found: name one with --python,"
            " or create one with the lab's connectors: headwater lab fetch flink"
        )
    logs = flink.PYTHON.parents[1] / "log"
    logs.mkdir(exist_ok=True)
    return flink.PYTHON, {
        **{key: value for key, value in ANY_CREDENTIALS.items() if key not in os.environ},
        "HADOOP_CLASSPATH": f"{jars.folder_of(flink.FLINK)}/*",
        "FLINK_LOG_DIR": str(logs),
        "JVM_ARGS": " ".join(("-Xmx512m", *SMALL_JVM)),  # it only plans and submits
    }


def _settings(pairs: list[str], name: str | None) -> dict[str, str]:
    found = {} if name is None else {"pipeline.name": name}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise typer.BadParameter("--set: expected KEY=VALUE, such as parallelism.default=2")
        found[key] = value
    return found


def _job_text(job: "SubmittedJob") -> str:
    gaps = f", {so_many(len(job.gaps), 'gap')}: {'; '.join(job.gaps)}" if job.gaps else ""
    if not job.run_id:
        return f"submitted as {job.job_id}{gaps}"
    return (
        f"{job.name}: submitted as {job.job_id} (run {job.run_id}),"
        f" {so_many(job.inputs, 'input')}, {so_many(job.outputs, 'output')}, {so_many(job.columns, 'column')}{gaps}"
    )


def _show(jobs: "list[SubmittedJob]", file: Path, *, json_output: bool) -> None:
    if json_output:
        entries = [
            {
                "jobId": job.job_id,
                "name": job.name,
                "runId": job.run_id,
                **{key: value for key, value in asdict(job).items() if key not in ("job_id", "name", "run_id")},
            }
            for job in jobs
        ]
        typer.echo(orjson.dumps(entries))
    elif not jobs:
        say(f"{file}: no job was submitted", err=True)
    elif sys.stderr.isatty():
        for job in jobs:
            say(_job_text(job), err=True)
