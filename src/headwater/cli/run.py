"""`headwater run`: execute a pipeline file on Spark."""

import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import orjson
import typer

from headwater.cli.events_to import closed_with_warning
from headwater.cli.exit_status import IS_BAD, NOT_DONE
from headwater.cli.printed import lines_of, say
from headwater.cli.progress import shown_progress
from headwater.cli.signals import stop_signals_call
from headwater.emission import emit_config, new_run_id
from headwater.emit.emitter import Emitter
from headwater.emit.home import headwater_home
from headwater.errors import InvalidPipelineError, SetupError
from headwater.model.words import so_many
from headwater.pipeline.check import load_pipeline
from headwater.pipeline.spec import LineageSpec, PipelineSpec
from headwater.pipeline.stop import StopSignal
from headwater.signing.keyfile import load_or_create

if TYPE_CHECKING:
    from headwater.pipeline.run import RunResult

_STATUS_OF_SIGNAL = 128
"""The exit status of a process ended by a signal is this plus the signal's number, as in shells."""


def run(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The pipeline file.", show_default=False)],
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="Replace a value of the file: output.iceberg.table=lake.test.orders."
        ),
    ] = None,
    master: Annotated[str, typer.Option(help="Where Spark runs.")] = "local[*]",
    json_output: Annotated[bool, typer.Option("--json", help="Print the outcome as one JSON object.")] = False,
) -> None:
    """Run a pipeline file on Spark, and report its lineage.

    Exit status: 0 complete, 1 failed, 2 the file is refused, 143, 130 or 129 stopped by SIGTERM, SIGINT or SIGHUP.

    Example: headwater run orders.yaml --set output.iceberg.table=lake.test.orders
    """
    try:
        spec = load_pipeline(file, overrides(settings or []))
    except InvalidPipelineError as refused:
        say(*lines_of([str(refused)]), err=True)
        raise typer.Exit(NOT_DONE) from None
    stop = StopSignal()
    with signals_request(stop), shown_progress("checking the file") as progress:
        result = executed(spec, master, stop, progress)
    if json_output:
        typer.echo(orjson.dumps(_as_json(result)))
    else:
        say(*lines_of([_in_words(spec, result)]), err=True)
    raise typer.Exit(_exit_status(result))


def executed(spec: PipelineSpec, master: str, stop: StopSignal, progress: Callable[[str], None]) -> "RunResult":
    """Run a pipeline and report it, with this machine's key and home; Spark is started once per process."""
    try:
        # Imported here: pyspark takes half a second, which every other command would wait for.
        from headwater.pipeline.run import RunContext, run_pipeline
        from headwater.pipeline.session import open_session
    except ModuleNotFoundError as missing:
        raise SetupError(f"{missing.name} is not installed: pip install 'headwater[spark]'") from missing
    home = headwater_home()
    with _emission(spec.lineage, home) as (node_id, put):
        around = RunContext(
            home=home,
            put=put,
            now=lambda: datetime.now(UTC),
            new_run_id=new_run_id,
            node_id=node_id,
            progress=progress,
        )
        name = f"headwater {spec.namespace}/{spec.name}"
        return run_pipeline(
            spec, lambda: open_session(home, master=master, name=name, options=spec.spark), around, stop
        )


@contextmanager
def _emission(lineage: LineageSpec, home: Path) -> Iterator[tuple[str, Callable[[bytes], None]]]:
    """The node's id, and the function that takes events; without lineage no key is read, no thread started."""
    if not lineage.enabled:
        yield "", lambda _: None
        return
    key = load_or_create(home)
    with closed_with_warning(Emitter.of_node(emit_config(lineage, home), key)) as emitter:
        yield key.node_id, emitter.put


def overrides(settings: list[str]) -> Mapping[str, str]:
    """The settings of `--set`: key path to YAML text."""
    pairs = [setting.partition("=") for setting in settings]
    if any(not equals or not key for key, equals, _ in pairs):
        raise typer.BadParameter("--set: expected KEY=VALUE, such as output.iceberg.table=lake.test.orders")
    return {key: value for key, _, value in pairs}


@contextmanager
def signals_request(stop: StopSignal) -> Iterator[None]:
    """In the block, SIGTERM, SIGINT and SIGHUP ask the run to stop."""

    def handler(number: int, _frame: FrameType | None) -> None:
        stop.request(signal.Signals(number).name)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    with stop_signals_call(handler):
        yield


def _as_json(result: "RunResult") -> dict[str, object]:
    counters = (
        {_camel_case(name): value for name, value in asdict(result.counters).items()} if result.counters else None
    )
    return {
        "runId": result.run_id,
        "state": result.state,
        "counters": counters,
        "error": result.error,
        "stopReason": result.stop_reason,
    }


def _camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def _in_words(spec: PipelineSpec, result: "RunResult") -> str:
    match result.state:
        case "COMPLETE":
            counted = result.counters
            moved = f", {_rows(counted.records_in)} in, {_rows(counted.records_out)} out" if counted else ""
            return f"{spec.name}: complete{moved} (run {result.run_id})"
        case "FAIL":
            return f"{spec.name}: failed: {result.error} (run {result.run_id})"
        case "ABORT":
            return f"{spec.name}: stopped by {result.stop_reason} (run {result.run_id})"


def _rows(count: int | None) -> str:
    return "unknown rows" if count is None else so_many(count, "row")


def _exit_status(result: "RunResult") -> int:
    match result.state:
        case "COMPLETE":
            return 0
        case "FAIL":
            return IS_BAD
        case "ABORT":
            stopped_by = getattr(signal, result.stop_reason or "", signal.SIGTERM)
            return _STATUS_OF_SIGNAL + int(stopped_by)
