"""Generated logs of OpenLineage events: few names, so that runs, jobs and datasets meet often."""

import json
from typing import Any

from hypothesis import strategies as st

BASE = "https://example.org/producer"
RUN_IDS = [f"0198f7d0-0000-7000-8000-00000000000{n}" for n in range(3)] + ["a run id that is no UUID"]
DATASETS = [{"namespace": "lake", "name": f"t{n}"} for n in range(4)] + [{"namespace": "", "name": "nowhere"}]
COLUMNS = ["a", "b"]


def _facet(**members: object) -> dict[str, Any]:
    return {"_producer": BASE, "_schemaURL": f"{BASE}/facet.json", **members}


_source = st.builds(
    lambda dataset, field: {**dataset, "field": field}, st.sampled_from(DATASETS[:4]), st.sampled_from(COLUMNS)
)
_explicit = st.builds(lambda source: {**source, "type": "DATASET"}, _source)
_dataset_facets = st.fixed_dictionaries(
    {},
    optional={
        "schema": st.lists(st.sampled_from(COLUMNS), unique=True).map(
            lambda names: _facet(fields=[{"name": name, "type": "int"} for name in names])
        ),
        "columnLineage": st.dictionaries(
            st.sampled_from(COLUMNS),
            st.lists(_source, max_size=2).map(lambda found: {"inputFields": found}),
            max_size=2,
        ).map(lambda fields: _facet(fields=fields)),
        "lineage": st.lists(_explicit, max_size=2).map(lambda inputs: _facet(inputs=inputs)),
        "symlinks": st.sampled_from(DATASETS[:4]).map(lambda alias: _facet(identifiers=[{**alias, "type": "TABLE"}])),
        "version": st.integers(0, 2).map(lambda number: _facet(datasetVersion=str(number))),
    },
)
_datasets = st.lists(
    st.builds(lambda dataset, facets: {**dataset, "facets": facets}, st.sampled_from(DATASETS), _dataset_facets),
    max_size=2,
)
_job_facets = st.fixed_dictionaries(
    {},
    optional={
        "sql": st.sampled_from(["SELECT 1", "SELECT 2"]).map(lambda query: _facet(query=query)),
        "lineage": st.builds(
            lambda target, inputs: _facet(entries=[{**target, "type": "DATASET", "inputs": inputs}]),
            st.sampled_from(DATASETS[:4]),
            st.lists(_explicit, max_size=1),
        ),
    },
)
_job = st.builds(
    lambda name, facets: {"namespace": "etl", "name": name, "facets": facets},
    st.sampled_from(["load", "mart", "ghost"]),
    _job_facets,
)
_run_facets = st.fixed_dictionaries(
    {},
    optional={
        "parent": st.builds(
            lambda run, name: _facet(run={"runId": run}, job={"namespace": "etl", "name": name}),
            st.sampled_from(RUN_IDS),
            st.sampled_from(["dag", "other-dag"]),
        ),
        "errorMessage": st.just(_facet(message="boom", programmingLanguage="PYTHON")),
    },
)
_time = st.integers(0, 59).map(lambda second: f"2026-05-22T14:23:{second:02d}.000Z")
_run_event = st.fixed_dictionaries(
    {
        "eventType": st.sampled_from(["START", "RUNNING", "COMPLETE", "FAIL", "ABORT", "OTHER"]),
        "eventTime": _time,
        "producer": st.just(BASE),
        "schemaURL": st.just(f"{BASE}/OpenLineage.json"),
        "run": st.builds(lambda run, facets: {"runId": run, "facets": facets}, st.sampled_from(RUN_IDS), _run_facets),
        "job": _job,
        "inputs": _datasets,
        "outputs": _datasets,
    }
)
_job_event = st.fixed_dictionaries(
    {"eventTime": _time, "producer": st.just(BASE), "job": _job, "inputs": _datasets, "outputs": _datasets}
)
_dataset_event = st.fixed_dictionaries(
    {
        "eventTime": _time,
        "producer": st.just(BASE),
        "dataset": st.builds(
            lambda dataset, facets: {**dataset, "facets": facets}, st.sampled_from(DATASETS), _dataset_facets
        ),
    }
)

events = st.one_of(_run_event, _run_event, _run_event, _job_event, _dataset_event).map(
    lambda body: json.dumps(body).encode()
)
"""One event, as bytes."""

logs = st.lists(events, min_size=1, max_size=14)
"""A log of events, as bytes."""
