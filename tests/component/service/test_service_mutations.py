"""However a valid event is changed: the service never fails, and every read still answers."""

import copy
import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.app import RUN, dataset, event, facet, schema, served
from tests.support.logs import logs
from tests.support.reads import read_everything

Steps = tuple[str | int, ...]

GOOD = event(
    run={
        "runId": RUN,
        "facets": {
            "parent": facet(run={"runId": "p"}, job={"namespace": "etl", "name": "dag"}),
            "nominalTime": facet(nominalStartTime="2026-05-22T14:00:00Z"),
            "headwater_run": facet(recordsIn=1, durationMs=2.5, stopReason="end"),
            "signature": facet(algorithm="Ed25519", keyId="node:x#sha256:y", payloadHash="z", signature="eA=="),
        },
    },
    job={
        "namespace": "etl",
        "name": "dag.load",
        "facets": {
            "documentation": facet(description="loads"),
            "jobType": facet(processingType="STREAMING", integration="SPARK", jobType="JOB"),
            "sourceCodeLocation": facet(type="git", url="https://example.org/code"),
            "lineage": facet(
                entries=[
                    {
                        "namespace": "lake",
                        "name": "mart",
                        "type": "DATASET",
                        "fields": {"total": {"inputs": [{"namespace": "lake", "name": "orders", "field": "price"}]}},
                        "inputs": [{"namespace": "lake", "name": "orders", "field": "id", "type": "DATASET"}],
                    }
                ]
            ),
        },
    },
    inputs=[{**dataset("orders", schema=schema("id", "price")), "inputFacets": {"x": facet(rows=1)}}],
    outputs=[
        dataset(
            "mart",
            schema=schema("id", "total"),
            documentation=facet(description="the mart"),
            dataSource=facet(name="lake", uri="lake"),
            datasetType=facet(datasetType="TABLE"),
            lifecycleStateChange=facet(lifecycleStateChange="CREATE"),
            version=facet(datasetVersion="7"),
            symlinks=facet(identifiers=[{"namespace": "glue", "name": "mart", "type": "TABLE"}]),
            columnLineage=facet(
                fields={
                    "total": {
                        "inputFields": [
                            {
                                "namespace": "lake",
                                "name": "orders",
                                "field": "price",
                                "transformations": [{"type": "DIRECT", "subtype": "AGGREGATION", "masking": False}],
                            }
                        ]
                    }
                },
                dataset=[{"namespace": "lake", "name": "orders", "field": "id"}],
            ),
        )
    ],
)

_values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(10**30, 10**40),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=5),
    st.sampled_from(["", "\0", "a:b", "a/b", "2026-05-22T14:23:11Z", [], {}, [{}], {"": {}}, {"a": [None]}]),
)


def _paths(value: object, path: Steps = ()) -> list[Steps]:
    steps: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for step, child in steps for place in _paths(child, (*path, step)))]


_mutations = st.tuples(
    st.sampled_from(_paths(GOOD)[1:]), st.sampled_from(["replace", "remove", "repeat", "rename"]), _values
)


def mutate(path: Steps, kind: str, value: object, body: Any) -> None:  # noqa: ANN401  JSON
    """Change one place of the body, if the place is still there."""
    *above, last = path
    for step in above:
        try:
            body = body[step]
        except (KeyError, IndexError, TypeError):
            return
    if isinstance(body, dict) and last in body:
        old = body.pop(last)
        if kind == "replace":
            body[last] = copy.deepcopy(value)
        elif kind in ("rename", "repeat"):
            body[str(value)] = copy.deepcopy(old)
            if kind == "repeat":
                body[last] = old
    elif isinstance(body, list) and isinstance(last, int) and last < len(body):
        body[last : last + 1] = {
            "replace": [copy.deepcopy(value)],
            "remove": [],
            "repeat": [body[last]] * 3,
            "rename": [[value]],
        }[kind]


@given(st.lists(_mutations, min_size=1, max_size=4))
@settings(max_examples=20)
def test_any_mutation_of_an_event_is_stored_or_refused_and_reads_still_answer(
    mutations: list[tuple[Steps, str, object]],
) -> None:
    body = copy.deepcopy(GOOD)
    for path, kind, value in mutations:
        mutate(path, kind, value, body)
    with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as client:
        assert client.post("/api/v1/lineage", content=json.dumps(GOOD)).status_code == 201

        response = client.post("/api/v1/lineage", content=json.dumps(body))

        assert response.status_code in (200, 201, 400, 422), response.text
        read_everything(client)


@given(logs)
@settings(max_examples=10)
def test_any_log_can_be_read_at_any_time_and_reads_the_same_after_a_restart(log: list[bytes]) -> None:
    reads = ("/api/v1/jobs", "/api/v1/namespaces", "/api/v1/namespaces/lake/datasets", "/api/v1/summary")
    with tempfile.TemporaryDirectory() as folder:
        with served(Path(folder)) as client:
            for raw in log:
                assert client.post("/api/v1/lineage", content=raw).status_code in (200, 201)
                assert [client.get(path).status_code for path in reads] in ([200] * 4, [200, 200, 404, 200])
            before = read_everything(client)
        with served(Path(folder)) as client:
            assert read_everything(client) == before
