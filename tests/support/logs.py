"""Generated logs of OpenLineage events, with few names, so that runs, jobs and datasets are often related."""

import json
from typing import Any

from hypothesis import strategies as st

BASE = "https://example.org/producer"
RUN_IDS = [f"0198f7d0-0000-7000-8000-00000000000{n}" for n in range(3)] + ["a run id that is no UUID"]
INCOMPLETE = [{"namespace": "", "name": "nowhere"}, {"namespace": "", "name": "ice.s.t1"}]
SPELLINGS = [{"namespace": "s3://lake", "name": "s/t1"}, {"namespace": "s3a://lake", "name": "/s/t1/"}]
IN_ENGINE = {"namespace": "lake", "name": "t0.s.t1"}
"""A table of the catalog `t0`, if there is such a catalog."""
IN_MEMORY = {"namespace": "lake", "name": "default_catalog.default_database.t"}
"""A name that every Flink program may give to a table of its own."""
DATASETS = [*({"namespace": "lake", "name": f"t{n}"} for n in range(4)), *INCOMPLETE, *SPELLINGS, IN_ENGINE]
JOBS = ["load", "mart", "ghost"]
COLUMNS = ["a", "b"]


def _facet(**members: object) -> dict[str, Any]:
    return {"_producer": BASE, "_schemaURL": f"{BASE}/facet.json", **members}


_TABLES = [{"namespace": "hive", "name": name, "type": "TABLE"} for name in ("s.t1", "s.t2")]
_catalog = st.builds(
    lambda kind, uri: _facet(framework="iceberg", type=kind, name="ice", warehouseUri=uri),
    st.sampled_from(["glue", "hadoop"]),
    st.sampled_from(["s3://lake", "s3a://lake/", ""]),
)
_engine_catalog = st.sampled_from(
    [_facet(type="glue", warehouseUri="s3a://lake/"), _facet(namespace="hive", prefix=""), _facet(type="glue")]
)
_deleted_facet = st.just(_facet(_deleted=True))
_of_run = st.sampled_from([{}, *({"runId": run_id} for run_id in [*RUN_IDS, "a silent run"])])
_named_job = st.builds(
    lambda name, of_run: {"namespace": "etl", "name": name, "type": "JOB", **of_run}, st.sampled_from(JOBS), _of_run
)
_own_job = _of_run.map(lambda of_run: {"type": "JOB", **of_run})
_dependencies = st.builds(
    lambda way, jobs, kind: _facet(**{way: [{"job": job, "dependency_type": kind} for job in jobs]}),
    st.sampled_from(["upstream", "downstream"]),
    st.lists(st.sampled_from(JOBS).map(lambda name: {"namespace": "etl", "name": name}), max_size=2),
    st.sampled_from(["DIRECT_INVOCATION", None]),
)
_source = st.builds(
    lambda dataset, field: {**dataset, "field": field},
    st.sampled_from([*DATASETS[:4], *INCOMPLETE, *SPELLINGS, {"namespace": "s3://lake", "name": "/s/t1"}]),
    st.sampled_from(COLUMNS),
)
_made = st.builds(
    lambda source, way, masking: {**source, "transformations": [{**way, "masking": masking}]},
    _source,
    st.sampled_from([{"type": "DIRECT", "subtype": "IDENTITY"}, {"type": "INDIRECT", "subtype": "FILTER"}]),
    st.booleans(),
)
_field = st.builds(
    lambda name, kind: {"name": name, **kind},
    st.sampled_from(COLUMNS),
    st.sampled_from([{"type": "int"}, {"type": "struct", "fields": [{"name": "x", "type": "int"}]}]),
)
_owners = st.lists(st.sampled_from(["ann", "bob"]), max_size=2, unique=True).map(
    lambda names: _facet(owners=[{"name": name, "type": "MAINTAINER"} for name in names])
)
_described = st.sampled_from(["one", "two"]).map(lambda text: _facet(description=text))
_metrics = st.integers(0, 2).map(lambda rows: _facet(rowCount=rows, columnMetrics={"a": {"nullCount": rows}}))
_explicit = st.builds(lambda source: {**source, "type": "DATASET"}, _source)
_dataset_facets = st.fixed_dictionaries(
    {},
    optional={
        "schema": st.lists(_field, unique_by=lambda field: field["name"]).map(lambda fields: _facet(fields=fields)),
        "columnLineage": st.builds(
            lambda fields, used: _facet(fields=fields, **({"dataset": used} if used else {})),
            st.dictionaries(
                st.sampled_from(COLUMNS),
                st.lists(_source | _made, max_size=2).map(lambda sources: {"inputFields": sources}),
                max_size=2,
            ),
            st.lists(_made, max_size=1),
        )
        | _deleted_facet,
        "lineage": st.lists(_explicit | _named_job | _own_job, max_size=2).map(lambda inputs: _facet(inputs=inputs))
        | st.just(_facet()),
        "symlinks": st.sampled_from([*DATASETS[:4], *INCOMPLETE, *_TABLES, IN_MEMORY]).map(
            lambda alias: _facet(identifiers=[{"type": "OTHER", **alias}])
        ),
        "catalog": _catalog,
        "headwater_engine_catalog": _engine_catalog,
        "lifecycleStateChange": st.sampled_from(DATASETS).map(
            lambda former: _facet(lifecycleStateChange="RENAME", previousIdentifier=former)
        )
        | st.sampled_from(["CREATE", "DROP", "TRUNCATE"]).map(lambda change: _facet(lifecycleStateChange=change)),
        "documentation": _described,
        "ownership": _owners | _deleted_facet,
        "datasetType": st.sampled_from(["TABLE", "VIEW"]).map(lambda kind: _facet(datasetType=kind)),
        "dataQualityMetrics": _metrics,
        "tags": st.lists(st.sampled_from([{}, {"field": "a"}]), max_size=2).map(
            lambda places: _facet(tags=[{"key": "pii", "value": "true", **place} for place in places])
        ),
        "version": st.integers(0, 2).map(lambda number: _facet(datasetVersion=str(number))),
        "dataQualityAssertions": st.booleans().map(
            lambda is_met: _facet(assertions=[{"assertion": "not_null", "success": is_met, "column": "a"}])
        ),
    },
)
_datasets = st.lists(
    st.builds(lambda dataset, facets: {**dataset, "facets": facets}, st.sampled_from(DATASETS), _dataset_facets),
    max_size=2,
)
_of_reading = st.fixed_dictionaries(
    {},
    optional={
        "dataQualityMetrics": _metrics,
        "subset": st.sampled_from(["2026-05-21", "2026-05-22"]).map(
            lambda day: _facet(inputCondition={"type": "partition", "partitions": [{"identifier": {"day": day}}]})
        ),
    },
)
_of_writing = st.fixed_dictionaries(
    {}, optional={"outputStatistics": st.integers(0, 2).map(lambda rows: _facet(rowCount=rows, size=8 * rows))}
)


def _accessed(datasets: list[dict[str, Any]], slot: str, facets: dict[str, Any]) -> list[dict[str, Any]]:
    """Add these facets to the first of the datasets."""
    return [{**each, slot: facets} if facets and not number else each for number, each in enumerate(datasets)]


_inputs = st.builds(_accessed, _datasets, st.just("inputFacets"), _of_reading)
_outputs = st.builds(_accessed, _datasets, st.just("outputFacets"), _of_writing)
_job_facets = st.fixed_dictionaries(
    {},
    optional={
        "sql": st.sampled_from(["SELECT 1", "SELECT 2"]).map(lambda query: _facet(query=query)),
        "jobType": st.builds(
            lambda kind, pattern: _facet(processingType=kind, integration="SPARK", jobType="JOB", **pattern),
            st.sampled_from(["BATCH", "STREAMING"]),
            st.sampled_from([{}, {"emissionPattern": {"eventTrigger": "PERIODIC", "windowDuration": 10}}]),
        ),
        "documentation": _described,
        "ownership": _owners,
        "tags": st.sampled_from(["1", "2"]).map(lambda value: _facet(tags=[{"key": "tier", "value": value}])),
        "lineage": st.builds(
            lambda target, inputs: _facet(entries=[{**target, "inputs": inputs}]),
            st.sampled_from(DATASETS[:5]).map(lambda target: {**target, "type": "DATASET"}) | _named_job | _own_job,
            st.lists(_explicit | _named_job | _own_job, max_size=2),
        ),
    },
)
_job = st.builds(
    lambda name, facets: {"namespace": "etl", "name": name, "facets": facets},
    st.sampled_from(JOBS),
    _job_facets,
)
_parent = st.builds(
    lambda run, name: {"run": {"runId": run}, "job": {"namespace": "etl", "name": name}},
    st.sampled_from([*RUN_IDS, "a silent run"]),
    st.sampled_from(["dag", "other-dag", "load"]),
)
_run_facets = st.fixed_dictionaries(
    {},
    optional={
        "parent": st.builds(
            lambda parent, root: _facet(**parent, **({"root": root} if root else {})), _parent, st.none() | _parent
        ),
        "errorMessage": st.just(_facet(message="boom", programmingLanguage="PYTHON")) | _deleted_facet,
        "jobDependencies": _dependencies,
        "test": st.lists(st.sampled_from(["unique", "fresh"]), max_size=2, unique=True).map(
            lambda names: _facet(tests=[{"name": name, "status": "fail"} for name in names])
        )
        | _deleted_facet,
        "nominalTime": st.just(_facet(nominalStartTime="2026-05-22T14:00:00Z")),
        "executionParameters": st.sampled_from(["1", "2"]).map(
            lambda value: _facet(parameters=[{"key": "day", "name": "day", "value": value}])
        ),
        "extractionError": st.integers(0, 1).map(lambda failed: _facet(totalTasks=2, failedTasks=failed, errors=[])),
        "headwater_run": st.booleans().map(lambda is_inferred: _facet(isInferred=is_inferred)),
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
        "inputs": _inputs,
        "outputs": _outputs,
    }
)
_job_event = st.fixed_dictionaries(
    {"eventTime": _time, "producer": st.just(BASE), "job": _job, "inputs": _inputs, "outputs": _outputs}
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


def _of_many_runs(log: list[tuple[bytes, bool]]) -> list[bytes]:
    """Give most run events a run of their own."""
    bodies = [json.loads(raw) for raw, _ in log]
    for number, (body, (_, is_alone)) in enumerate(zip(bodies, log, strict=True)):
        if is_alone and "run" in body:
            body["run"]["runId"] = f"0198f7d0-0000-7000-8000-0000000001{number:02d}"
    return [json.dumps(body).encode() for body in bodies]


of_many_runs = st.lists(st.tuples(events, st.sampled_from([True, True, False])), min_size=1, max_size=20).map(
    _of_many_runs
)
"""A log in which few runs have several events, as usual: few have events both before and after a given time."""
