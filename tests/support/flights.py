"""A scenario: flights are cut to legs, filtered by origin, and averaged by carrier; a board and a copy read too."""

from typing import Any

from tests.support.app import dataset, event, facet


def source(table: str, column: str, kind: str, subtype: str) -> dict[str, Any]:
    how = [{"type": kind, "subtype": subtype, "description": "", "masking": False}]
    return {"namespace": "lake", "name": table, "field": column, "transformations": how}


def columns(dataset_wide: list[dict[str, Any]], /, **fields: list[dict[str, Any]]) -> dict[str, Any]:
    by_column = {column: {"inputFields": sources} for column, sources in fields.items()}
    return facet(fields=by_column, dataset=dataset_wide)


def schema(**types: str) -> dict[str, Any]:
    return facet(fields=[{"name": name, "type": kind} for name, kind in types.items()])


def ran(job: str, run: str, minute: int, inputs: list[Any], outputs: list[Any], **facets: object) -> dict[str, Any]:
    return event(
        eventType="COMPLETE",
        eventTime=f"2026-05-22T14:{minute:02d}:00Z",
        run={"runId": run},
        job={"namespace": "etl", "name": job, "facets": facets},
        inputs=inputs,
        outputs=outputs,
    )


OWNED = facet(owners=[{"name": "team:planning", "type": "MAINTAINER"}])
FAILED = facet(
    assertions=[
        {"assertion": "not_null", "success": True, "column": "carrier"},
        {"assertion": "between", "success": False, "column": "avg_delay", "severity": "error"},
    ]
)
FLIGHTS = [
    ran("ingest", "r1", 1, [], [dataset("flights", schema=schema(carrier="string", arr_delay="int", origin="string"))]),
    ran(
        "cut",
        "r2",
        2,
        [dataset("flights")],
        [
            dataset(
                "legs",
                schema=schema(carrier="string", delay="int"),
                columnLineage=columns(
                    [source("flights", "origin", "INDIRECT", "FILTER")],
                    carrier=[source("flights", "carrier", "DIRECT", "IDENTITY")],
                    delay=[source("flights", "arr_delay", "DIRECT", "IDENTITY")],
                ),
            )
        ],
    ),
    ran(
        "average",
        "r3",
        3,
        [dataset("legs")],
        [
            dataset(
                "delays",
                schema=schema(carrier="string", avg_delay="double"),
                ownership=OWNED,
                dataQualityAssertions=FAILED,
                columnLineage=columns(
                    [source("legs", "carrier", "INDIRECT", "GROUP_BY")],
                    carrier=[source("legs", "carrier", "DIRECT", "IDENTITY")],
                    avg_delay=[source("legs", "delay", "DIRECT", "AGGREGATION")],
                ),
            )
        ],
    ),
    ran("board", "r4", 4, [dataset("delays")], [], ownership=OWNED),
    ran("copy", "r5", 5, [dataset("flights")], [dataset("flights_copy")]),
]
