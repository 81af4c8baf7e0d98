"""`headwater demo`: the main features in one command."""

import signal
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue
from typing import Annotated

import typer

from headwater.cli.demo.data import lay_out
from headwater.cli.demo.learned import differences
from headwater.cli.demo.service import running_service
from headwater.cli.demo.words import origin, reach, tally, ways_on
from headwater.cli.exit_status import IS_BAD
from headwater.cli.lineage_walk import find, walk
from headwater.cli.printed import say
from headwater.cli.progress import shown_progress
from headwater.cli.run import executed, signals_request
from headwater.cli.service_client import ServiceClient, service_at
from headwater.emit.home import headwater_home
from headwater.pipeline.check import load_pipeline
from headwater.pipeline.java import require_java
from headwater.pipeline.stop import StopSignal

_MART = "lake.marts.carrier_delays:avg_arr_delay"
_RAW = "lake.raw.flights:arr_delay"


def demo(
    once: Annotated[
        bool, typer.Option("--once", help="Exit when done; exit status 0 only if the whole lineage was learned.")
    ] = False,
    port: Annotated[int, typer.Option(min=1, max=65_535, help="The service's port, or the first to try.")] = 5000,
) -> None:
    """Run three pipelines over real flights and show their lineage, from the CSV files to the last column.

    Example: headwater demo --once
    """
    home = headwater_home()
    folder = home / "demo"
    stop = StopSignal()
    with signals_request(stop), shown_progress("looking for Java") as progress:
        require_java()
        progress("writing the files with the flights of 2013")
        pipelines = lay_out(folder)
        progress("starting the lineage service")
        service = running_service(port, folder / "service.log")
        with service as url, service_at(url) as client:
            run_ids = {path.stem: _run(path, url, folder, stop, progress) for path in pipelines}
            progress("comparing the captured lineage with the pipelines")
            wrong = differences(client, run_ids)
            _print_result(client, [difference.what for difference in wrong], url, folder, is_served=not once)
            if once or wrong:
                raise typer.Exit(IS_BAD if wrong else 0)
            progress("the page is served; Ctrl-C ends the demo")
            _wait_for(stop)


def _run(path: Path, url: str, folder: Path, stop: StopSignal, progress: Callable[[str], None]) -> str:
    """Run one of the pipelines; returns the run's id.

    Raises:
        Exit: it did not complete.
    """
    overrides = {
        "lineage.transport": "both",
        "lineage.http.endpoint": f"{url}/api/v1/lineage",
        "lineage.file.path": str(folder / "events.jsonl"),
    }
    spec = load_pipeline(path, overrides)
    result = executed(spec, "local[*]", stop, lambda stage: progress(f"{spec.name}: {stage}"))
    if result.state == "ABORT":
        raise typer.Exit(128 + int(getattr(signal, result.stop_reason or "", signal.SIGTERM)))
    if result.state != "COMPLETE":
        log = folder.parent / "log"
        say(f"headwater: {spec.name} failed: {result.error}; Spark's output is in {log}", err=True)
        raise typer.Exit(IS_BAD)
    return result.run_id


def _print_result(client: ServiceClient, wrong: list[str], url: str, folder: Path, *, is_served: bool) -> None:
    say(tally(client.get("/summary")))
    for what in wrong:
        say(f"wrong lineage: {what}")
    if wrong:
        return
    mart = find(client, _MART)
    say(origin(walk(client, mart, "upstream")))
    say(reach(walk(client, find(client, _RAW), "downstream")))
    say("", *ways_on(url, folder, _MART, mart, is_served=is_served))


def _wait_for(stop: StopSignal) -> None:
    requests: SimpleQueue[None] = SimpleQueue()
    stop.listen(lambda: requests.put(None))
    requests.get()
