"""Response times for jobs with tens of thousands of runs, compared with jobs with a thousand runs.

    .venv/bin/python benchmarks/many_runs.py [--runs 30000]

Three chained jobs run once a minute: in three weeks, each has 30,000 runs. A fourth reports its input at its start
(except in one run) and thirty outputs at its end; its first few runs used another column than the later ones. Each
read is of the current state, of a past time shortly before the end for the first time, and of that time again. Prints
the median of each in milliseconds with 1,000 runs per job and with `--runs`, and their ratio.
"""

import argparse
import tempfile
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple
from uuid import NAMESPACE_URL, uuid5

import httpx
from support.served import latency, served

FEW: Final = 1_000
READS: Final = (
    "lineage?nodeId=dataset:lake:b&depth=20",
    "impact?nodeId=dataset:lake:a",
    "impact?nodeId=dataset:lake:wide&change=drop",
    "impact?nodeId=dataset:lake:wide&change=drop&column=id",
    "impact?nodeId=dataset:lake:wide&change=drop&column=price",
    "root-cause?nodeId=dataset:lake:d",
    "namespaces/etl/jobs/second",
    "namespaces/etl/jobs/second/runs?limit=25",
    "namespaces/etl/jobs/second/versions",
    "namespaces/lake/datasets/c",
    "namespaces/lake/datasets/c/versions",
    "identity?nodeId=dataset:lake:c",
    "drift?nodeId=dataset:lake:c",
    "quality?nodeId=dataset:lake:c",
    "runlineage/upstream?runId={run}",
    "coverage",
)
"""`run` is one of the last runs."""
_JOBS: Final = (("first", "a", "b"), ("second", "b", "c"), ("third", "c", "d"))
_OUTPUTS: Final = 30
"""Outputs of the fourth job."""
_EARLY: Final = 11
"""The number of its first runs, which used another column."""
_START: Final = datetime(2026, 1, 1, tzinfo=UTC)
_PRODUCER: Final = "https://example.org/producer"
_PER_BATCH: Final = 64
_SETTLED_S: Final = 60.0
_TIMES_EACH: Final = 20


class Times(NamedTuple):
    """Median response times of one read, in milliseconds."""

    now: float
    first: float
    again: float


def main() -> None:
    """Run the reads with few and many runs, and print their figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=30_000, help="of each job (default 30000)")
    runs = parser.parse_args().runs
    print(f"{'ms, of 1,000 and of all runs':44}" + "".join(f"{each:>24}" for each in ("now", "asOf, first", "again")))
    for read, few, many in zip(READS, _times_of(FEW), _times_of(runs), strict=True):
        print(f"{read[:43]:44}" + "".join(f"{a:9.1f}{b:8.1f}{b / a:6.1f}x" for a, b in zip(few, many, strict=True)))


def _times_of(runs: int) -> Iterator[Times]:
    """The response times of each read, with this many runs per job."""
    with (
        tempfile.TemporaryDirectory() as folder,
        served(Path(folder)) as service,
        httpx.Client(base_url=f"{service.url}/api/v1/", timeout=600) as client,
    ):
        _fill(client, runs)
        service.settle(_SETTLED_S)
        for read in READS:
            yield _times(client, read.format(run=_run_id("third", runs - 2 * _TIMES_EACH)), runs)


def _fill(client: httpx.Client, runs: int) -> None:
    events = chain.from_iterable(map(_events, range(runs)))
    while some := [each for _, each in zip(range(_PER_BATCH), events, strict=False)]:
        client.post("lineage/batch", json=some).raise_for_status()


def _times(client: httpx.Client, read: str, runs: int) -> Times:
    at = "&" if "?" in read else "?"
    times = [_START + timedelta(minutes=runs - 1 - each) for each in range(_TIMES_EACH)]
    then = [f"{read}{at}asOf={time.isoformat().replace('+00:00', 'Z')}" for time in times]
    urls = [read] * (_TIMES_EACH + 1), then, then[-1:] * _TIMES_EACH
    return Times(*(latency(client, each)["p50_ms"] for each in urls))


def _events(minute: int) -> Iterator[Mapping[str, Any]]:
    for job, read, written in _JOBS:
        yield _event(job, minute, [_dataset(read)], [_dataset(written)])
    read_now = [_dataset("wide")] if minute != _EARLY // 2 else []
    column = "price" if minute < _EARLY else "id"
    yield _event("fourth", minute, read_now, [], "START")
    yield _event("fourth", minute, [], [_derived(f"of wide {each}", column) for each in range(_OUTPUTS)])


def _event(
    job: str, minute: int, inputs: list[Mapping[str, Any]], outputs: list[Mapping[str, Any]], kind: str = "COMPLETE"
) -> Mapping[str, Any]:
    second = 0 if kind == "START" else 20
    return {
        "eventType": kind,
        "eventTime": (_START + timedelta(minutes=minute, seconds=second)).isoformat(),
        "producer": _PRODUCER,
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": _run_id(job, minute)},
        "job": {"namespace": "etl", "name": job},
        "inputs": inputs,
        "outputs": outputs,
    }


def _run_id(job: str, minute: int) -> str:
    return str(uuid5(NAMESPACE_URL, f"{job}/{minute}"))


def _dataset(name: str) -> Mapping[str, Any]:
    fields = [{"name": "id", "type": "int"}, {"name": "price", "type": "decimal(10,2)"}]
    schema = {"_producer": _PRODUCER, "_schemaURL": f"{_PRODUCER}/schema.json", "fields": fields}
    return {"namespace": "lake", "name": name, "facets": {"schema": schema}}


def _derived(name: str, column: str) -> Mapping[str, Any]:
    """A dataset with one column, derived from this column."""
    used = [{"namespace": "lake", "name": "wide", "field": column}]
    facet = {"_producer": _PRODUCER, "_schemaURL": f"{_PRODUCER}/columns.json"}
    return {
        "namespace": "lake",
        "name": name,
        "facets": {"columnLineage": {**facet, "fields": {"id": {"inputFields": used}}}},
    }


if __name__ == "__main__":
    main()
