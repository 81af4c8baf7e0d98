"""A small daily flow for root-cause tests: `load` writes raw, `clean` derives stage from it, `report` mart from that.

Each runs once a day for ten minutes: load at 1:00, clean at 2:00, report at 3:00. A test changes the events of one day.
"""

from typing import Any

from tests.support.app import dataset, event, facet

FLOW = {"load": ([], ["raw"]), "clean": (["raw"], ["stage"]), "report": (["stage"], ["mart"])}
HOURS = {"load": 1, "clean": 2, "report": 3}
COLUMNS = {"id": "int", "amount": "double"}
Events = list[dict[str, Any]]


def at(day: int, hour: int, minute: int = 0) -> str:
    return f"2026-05-{day:02d}T{hour:02d}:{minute:02d}:00Z"


def schema(columns: dict[str, str]) -> dict[str, Any]:
    return facet(fields=[{"name": name, "type": kind} for name, kind in columns.items()])


def read(name: str, rows: int | None = None, columns: dict[str, str] | None = None, **facets: object) -> dict[str, Any]:
    own = {} if rows is None else {"inputFacets": {"inputStatistics": facet(rowCount=rows)}}
    return {**dataset(name, schema=schema(COLUMNS if columns is None else columns), **facets), **own}


def written(
    name: str, rows: int | None = None, columns: dict[str, str] | None = None, **facets: object
) -> dict[str, Any]:
    own = {} if rows is None else {"outputFacets": {"outputStatistics": facet(rowCount=rows)}}
    return {**dataset(name, schema=schema(COLUMNS if columns is None else columns), **facets), **own}


def run(
    job: str,
    day: int,
    *,
    state: str = "COMPLETE",
    hour: int | None = None,
    inputs: Events | None = None,
    outputs: Events | None = None,
    run_facets: dict[str, Any] | None = None,
    job_facets: dict[str, Any] | None = None,
) -> Events:
    """START and the end of one run, with id `job-day`; a state of None omits the end."""
    begin = HOURS.get(job, 4) if hour is None else hour
    reads, writes = FLOW.get(job, ([], []))
    about = {
        "run": {"runId": f"{job}-{day}", "facets": run_facets or {}},
        "job": {"namespace": "etl", "name": job, "facets": job_facets or {}},
    }
    ends = {
        "inputs": [read(name) for name in reads] if inputs is None else inputs,
        "outputs": [written(name) for name in writes] if outputs is None else outputs,
    }
    start = event(eventType="START", eventTime=at(day, begin), **about)
    return [start, event(eventType=state, eventTime=at(day, begin, 10), **about, **ends)]


def days(first: int, last: int) -> Events:
    """Days on which all runs succeeded."""
    return [each for day in range(first, last + 1) for job in FLOW for each in run(job, day)]
