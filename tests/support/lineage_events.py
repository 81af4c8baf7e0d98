"""Short constructors of events with column lineage."""

import json
from collections.abc import Iterable
from typing import Any

from starlette.testclient import TestClient

from tests.support.app import dataset, event, facet, post, schema

LAKE = "/api/v1/namespaces/lake/datasets"


def run_event(run: str, kind: str, second: int, **changes: object) -> dict[str, Any]:
    return event(eventType=kind, eventTime=f"2026-05-22T14:23:{second:02d}Z", run={"runId": run}, **changes)


def job(name: str) -> dict[str, str]:
    return {"namespace": "etl", "name": name}


def event_with_lineage(
    number: int, name: str, lineage: dict[str, Any], reads: Iterable[str] = (), job_name: str = "load"
) -> bytes:
    """An event of a new run that writes a dataset, with a `lineage` facet for it."""
    return json.dumps(
        event(
            eventType="COMPLETE",
            run={"runId": f"0198f7d0-0000-7000-8000-{number:012d}"},
            job=job(job_name),
            inputs=[dataset(each) for each in reads],
            outputs=[dataset(name, lineage=facet(**lineage))],
        )
    ).encode()


def symlinks(*names: tuple[str, str]) -> dict[str, Any]:
    return facet(identifiers=[{"namespace": namespace, "name": name, "type": "TABLE"} for namespace, name in names])


def lineage_facet(**columns: list[tuple[str, str, str]]) -> dict[str, Any]:
    """The sources of each target column, as (dataset, column, type/subtype)."""
    return facet(
        fields={column: {"inputFields": [source(*each) for each in sources]} for column, sources in columns.items()}
    )


def source(name: str, column: str, how: str) -> dict[str, Any]:
    """A source column with its transformation, as type/subtype."""
    kind, _, subtype = how.partition("/")
    transformation = {"type": kind, "subtype": subtype, "description": "", "masking": False}
    return {"namespace": "lake", "name": name, "field": column, "transformations": [transformation]}


def post_columns(client: TestClient) -> None:
    wide = {**lineage_facet(total=[("b", "price", "DIRECT/AGGREGATION")], id=[("b", "id", "DIRECT/IDENTITY")])}
    wide["dataset"] = [source("b", "day", "INDIRECT/FILTER")]
    first = lineage_facet(price=[("a", "price", "DIRECT/IDENTITY")])
    post(
        client,
        run_event("1", "COMPLETE", 1, job=job("ab"), inputs=[dataset("a", schema=schema("price"))]),
        run_event(
            "1",
            "COMPLETE",
            2,
            job=job("ab"),
            outputs=[dataset("b", schema=schema("id", "price", "day"), columnLineage=first)],
        ),
        run_event(
            "2",
            "COMPLETE",
            3,
            job=job("bc"),
            inputs=[dataset("b")],
            outputs=[dataset("c", schema=schema("id", "total"), columnLineage=wide)],
        ),
    )
