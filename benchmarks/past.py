"""The cost of a read as of a past time: the first one, and each one after it, compared with the same current read.

    .venv/bin/python benchmarks/past.py [--datasets 10000] [--homes FOLDER] [--events 8000] [--stream 20000]
        [--started-anew]

First over a graph of many datasets (see reads.py, which fills the home), with the reads that have a required speed
there. Then over a service that received events of about 10 kB from the load generator of the shared folder
($HEADWATER_SHARED, or ../shared beside the checkout), with small reads too. Each first read is of another time in the
last tenth of the log; later reads are `asOf` the time just before the last event, so the answers have equal size. At
last over a stream, one run of many events, each with another version of the table that it writes: after a start, the
very first read of a time within it reads all of its events.
"""

import argparse
import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import quote, urlencode
from uuid import uuid4

import httpx
from reads import filled_home, parts
from support.served import Served, generated, latency, served

READS: Final = (
    "lineage?{node}&depth=20",
    "column-lineage?{node}",
    "impact?{node}",
    "root-cause?{node}",
    "identity?{node}",
    "search?q=tbl_0001&limit=25",
    "{dataset}",
    "{job}",
    "jobs?limit=25",
    "namespaces",
    "summary",
)
READS_OF_PARTS: Final[Mapping[str, Sequence[str]]] = {
    "narrow": (
        "lineage?{node}&depth=20",
        "column-lineage?{node}&depth=20&withDownstream=true",
        "impact?{column}&change=drop",
        "root-cause?{node}",
        "{dataset}",
        "{job}",
        "jobs?limit=25",
    ),
    "wide": ("lineage?{node}&depth=20",),
    "hub": ("lineage?{source}&depth=2",),
}
"""By part of the large graph."""
READS_OF_STREAM: Final = ("lineage?{node}&depth=20", "root-cause?{node}", "{dataset}", "{job}", "summary")
TIMES_EACH: Final = 60
SETTLED_S: Final = 60.0
_AT_ONCE: Final = 500
_PRODUCER: Final = "https://example.org/stream"
_STREAM_BEGAN: Final = datetime(2026, 11, 20, tzinfo=UTC)


class Subject(NamedTuple):
    """The subject of the reads: names of a job present at each past time, and the log's event times, sorted."""

    names: Mapping[str, str]
    times: Sequence[str]


class Compared(NamedTuple):
    """Response times of one read in milliseconds: of now, of times for the first time, and of one time repeatedly."""

    what: str
    now: float
    first: float
    first_max: float
    again: float

    def line(self) -> str:
        """The row that is printed."""
        firsts = f"{self.first:11.1f}{self.first / self.now:7.1f}{self.first_max:9.1f}"
        return f"{self.what:60}{self.now:9.1f}{firsts}{self.again:11.1f}{self.again / self.now:7.1f}"


def main() -> None:
    """Run the reads and print their figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", type=int, default=10_000, help="of the large graph; 0: skip it (default 10000)")
    parser.add_argument("--homes", type=Path, help="a folder that keeps filled homes (default: not kept)")
    parser.add_argument("--events", type=int, default=8000, help="in the small log (default 8000)")
    parser.add_argument("--stream", type=int, default=20_000, help="events of the stream; 0: skip it (default 20000)")
    parser.add_argument("--started-anew", action="store_true", help="restart the service before reading the small log")
    options = parser.parse_args()
    print(f"{'ms':60}{'now p50':>9}{'first p50':>11}{'ratio':>7}{'max':>9}{'again p50':>11}{'ratio':>7}")
    with tempfile.TemporaryDirectory() as folder:
        for compared in of_large_graph(options.homes or Path(folder), options.datasets) if options.datasets else ():
            print(compared.line(), flush=True)
        _read_small(Path(folder) / "small", options.events, is_restarted=options.started_anew)
        if options.stream:
            _read_stream(Path(folder) / "stream", options.stream)


def of_large_graph(homes: Path, datasets: int) -> Iterator[Compared]:
    """The reads that have a required speed, over a graph of so many datasets."""
    with served(filled_home(homes, datasets)) as service:
        service.settle(SETTLED_S)
        with _client(service) as client:
            for load in parts(datasets):
                about = _subject(generated([*load.options(), "--events", str(load.events)]))
                yield from _compared(client, f"{load.name} ", READS_OF_PARTS[load.name], about)


def _read_small(home: Path, count: int, *, is_restarted: bool) -> None:
    """All kinds of reads over this many events; then a replay."""
    events = list(generated(["--events", str(count)]))
    with ExitStack() as serving:
        service = serving.enter_context(served(home))
        with _client(service) as client:
            for event in events:
                client.post("lineage", content=event).raise_for_status()
        if is_restarted:
            serving.close()
            service = serving.enter_context(served(home))
        service.settle(SETTLED_S)
        with _client(service) as client:
            for compared in _compared(client, "", READS, _subject(events)):
                print(compared.line(), flush=True)
            before_ms = latency(client, [f"summary?logSize={count - 1}"])["max_ms"]
            client.post("lineage", json=_as_another_run(events[0])).raise_for_status()
            after_ms = latency(client, [f"summary?logSize={count - 2}"])["max_ms"]
        print(f"by size of the log: {before_ms:.1f} ms, {after_ms:.0f} once an event of an earlier time came after")
        print(f"replay of {count} events: {1_000 * count / after_ms:.0f} events/s")


def _as_another_run(raw: bytes) -> dict[str, Any]:
    """The event, as another run would report it."""
    event: dict[str, Any] = json.loads(raw)
    event["run"]["runId"] = str(uuid4())
    return event


def _read_stream(home: Path, count: int) -> None:
    """Times within one run of this many events; the service is started anew before the first of them."""
    events = [_event_of_stream(number) for number in range(count)]
    with served(home) as service, _client(service) as client:
        for begin in range(0, count, _AT_ONCE):
            client.post("lineage/batch", json=events[begin : begin + _AT_ONCE]).raise_for_status()
    with served(home) as service:
        service.settle(SETTLED_S)
        subject = _subject(json.dumps(event).encode() for event in events)
        with _client(service) as client:
            url = client.base_url.join(READS_OF_STREAM[0].format_map(subject.names))
            took = latency(client, [url.copy_merge_params({"asOf": subject.times[count // 2]})])["max_ms"]
            print(f"very first read of a time within a stream of {count} events: {took:.0f} ms")
            for compared in _compared(client, "stream ", READS_OF_STREAM, subject):
                print(compared.line(), flush=True)


def _event_of_stream(number: int) -> dict[str, Any]:
    """START, then RUNNING each ten seconds: the same datasets, with another version and count of rows each time."""
    schema = _facet({"fields": [{"name": name, "type": "string"} for name in ("id", "region", "amount")]})
    version = _facet({"datasetVersion": str(number)})
    return {
        "eventType": "RUNNING" if number else "START",
        "eventTime": (_STREAM_BEGAN + timedelta(seconds=10 * number)).isoformat(),
        "producer": _PRODUCER,
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": "0198f7d0-1111-7222-8333-444455556666"},
        "job": {
            "namespace": "stream",
            "name": "orders",
            "facets": {"jobType": _facet({"processingType": "STREAMING", "integration": "FLINK"})},
        },
        "inputs": [{"namespace": "kafka://k:9092", "name": "orders", "facets": {"schema": schema}}],
        "outputs": [
            {
                "namespace": "lake",
                "name": "orders",
                "facets": {"schema": schema, "version": version},
                "outputFacets": {"outputStatistics": _facet({"rowCount": number})},
            }
        ],
    }


def _facet(members: Mapping[str, object]) -> dict[str, object]:
    return {"_producer": _PRODUCER, "_schemaURL": f"{_PRODUCER}/facet.json", **members}


def _client(service: Served) -> httpx.Client:
    return httpx.Client(base_url=f"{service.url}/api/v1/", timeout=600)


def _subject(raw_events: Iterable[bytes]) -> Subject:
    """The last job that wrote before the last tenth of the log, with its input and output."""
    parsed = ((each["eventTime"], each["job"], each["inputs"], each["outputs"]) for each in map(json.loads, raw_events))
    events = sorted(parsed, key=lambda each: each[0])
    _, job, inputs, outputs = next(each for each in events[-len(events) // 10 :: -1] if each[3])
    (source, *_), (output, *_) = inputs, outputs
    column = source["facets"]["schema"]["fields"][0]["name"]
    names = {
        "node": _node(output),
        "source": _node(source),
        "column": f"{_node(source)}&{urlencode({'column': column})}",
        "dataset": _path("datasets", output),
        "job": _path("jobs", job),
    }
    return Subject(names, sorted({time for time, *_ in events}))


def _node(dataset: Mapping[str, Any]) -> str:
    return urlencode({"nodeId": f"dataset:{dataset['namespace']}:{dataset['name']}"})


def _path(kind: str, name: Mapping[str, str]) -> str:
    return f"namespaces/{quote(name['namespace'], safe='')}/{kind}/{quote(name['name'], safe='')}"


def _compared(client: httpx.Client, of: str, reads: Sequence[str], subject: Subject) -> Iterator[Compared]:
    """The response times of each read."""
    for number, read in enumerate(reads):
        url, times = client.base_url.join(read.format_map(subject.names)), subject.times
        others = range(2 + number, len(times) // 10, 2 * len(reads))
        others = others[:: max(1, len(others) // TIMES_EACH)]
        now = latency(client, [url] * TIMES_EACH)["p50_ms"]
        first = latency(client, [url.copy_merge_params({"asOf": times[-each]}) for each in others])
        again = latency(client, [url.copy_merge_params({"asOf": times[-2]})] * TIMES_EACH)["p50_ms"]
        yield Compared(of + read, now, first["p50_ms"], first["max_ms"], again)


if __name__ == "__main__":
    main()
