import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunState, StaticDataset
from openlineage.client.facet_v2 import (
    column_lineage_dataset,
    documentation_job,
    error_message_run,
    job_type_job,
    nominal_time_run,
    output_statistics_output_dataset,
    ownership_job,
    parent_run,
    processing_engine_run,
    schema_dataset,
    sql_job,
    symlinks_dataset,
)

from headwater.errors import InvalidEventError
from headwater.model.build import HeadwaterPipelineFacet, HeadwaterRunFacet, dataset_event, job_event, run_event
from headwater.model.producer import HEADWATER_FACETS, PRODUCER

RUN_ID = "0190b6c3-6f2e-7a3c-8a55-4d0f9d4f6f11"
NOON_IN_NEPAL = datetime(2013, 1, 1, 12, 0, tzinfo=timezone(timedelta(hours=5, minutes=45)))


@pytest.fixture(scope="session")
def spec(shared: Path) -> jsonschema_rs.Validator:
    """The envelope of OpenLineage 2.0.2."""
    envelope = json.loads((shared / "openlineage" / "OpenLineage.json").read_text())
    return jsonschema_rs.Draft202012Validator(envelope, validate_formats=True)


@pytest.fixture(scope="session")
def facet_specs(shared: Path) -> Mapping[str, jsonschema_rs.Validator]:
    """Each facet's own schema, by the facet's name."""
    envelope = json.loads((shared / "openlineage" / "OpenLineage.json").read_text())
    registry = jsonschema_rs.Registry([(envelope["$id"], envelope)])
    schemas = [json.loads(path.read_text()) for path in (shared / "openlineage" / "facets").glob("*.json")]
    return {
        name: jsonschema_rs.Draft202012Validator(schema, registry=registry, validate_formats=True)
        for schema in schemas
        for name in schema["properties"]
    }


def complete_run_event(state: RunState = RunState.COMPLETE) -> bytes:
    flights_dep_delay = column_lineage_dataset.InputField(
        namespace="file",
        name="/data/flights.csv",
        field="dep_delay",
        transformations=[
            column_lineage_dataset.Transformation(type="DIRECT", subtype="AGGREGATION", description="avg(dep_delay)")
        ],
    )
    return run_event(
        state,
        NOON_IN_NEPAL,
        Run(
            runId=RUN_ID,
            facets={
                "headwater_run": HeadwaterRunFacet(recordsIn=336776, bytesIn=None, stopReason="end of input"),
                "headwater_pipeline": HeadwaterPipelineFacet(name="carrier-delays", schemaVersion=1, mode="batch"),
                "processing_engine": processing_engine_run.ProcessingEngineRunFacet(version="4.1.1", name="spark"),
                "nominalTime": nominal_time_run.NominalTimeRunFacet(nominalStartTime="2013-01-01T00:00:00Z"),
                "errorMessage": error_message_run.ErrorMessageRunFacet(
                    message="Table not found: Zürich \ud800", programmingLanguage="PYTHON"
                ),
                "parent": parent_run.ParentRunFacet(
                    run=parent_run.Run(runId=RUN_ID), job=parent_run.Job(namespace="production", name="nightly")
                ),
            },
        ),
        Job(
            namespace="production",
            name="carrier-delays",
            facets={
                "sql": sql_job.SQLJobFacet(query="SELECT carrier, avg(dep_delay) FROM input GROUP BY carrier"),
                "documentation": documentation_job.DocumentationJobFacet(description="Delays by carrier"),
                "ownership": ownership_job.OwnershipJobFacet(owners=[ownership_job.Owner(name="team:flights")]),
                "jobType": job_type_job.JobTypeJobFacet(
                    processingType="BATCH", integration="HEADWATER", jobType="PIPELINE"
                ),
            },
        ),
        inputs=[
            InputDataset(
                namespace="file",
                name="/data/flights.csv",
                facets={
                    "schema": schema_dataset.SchemaDatasetFacet(
                        fields=[schema_dataset.SchemaDatasetFacetFields(name="dep_delay", type="int")]
                    )
                },
            )
        ],
        outputs=[
            OutputDataset(
                namespace="file",
                name="/lake/marts/carrier_delays",
                facets={
                    "columnLineage": column_lineage_dataset.ColumnLineageDatasetFacet(
                        fields={"avg_dep_delay": column_lineage_dataset.Fields(inputFields=[flights_dep_delay])}
                    ),
                    "symlinks": symlinks_dataset.SymlinksDatasetFacet(
                        identifiers=[symlinks_dataset.Identifier(namespace="lake", name="marts.delays", type="TABLE")]
                    ),
                },
                outputFacets={
                    "outputStatistics": output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet(rowCount=16)
                },
            )
        ],
    )


def facets_in(part: object) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every facet of an event with its name, at any place."""
    if isinstance(part, list):
        for item in part:
            yield from facets_in(item)
    elif isinstance(part, dict):
        for key, value in part.items():
            if key in {"facets", "inputFacets", "outputFacets"}:
                yield from value.items()
            else:
                yield from facets_in(value)


def empty_values_in(part: object) -> Iterator[Any]:
    if isinstance(part, list | dict):
        for item in part.values() if isinstance(part, dict) else part:
            if item in (None, [], {}):
                yield item
            yield from empty_values_in(item)


@pytest.mark.parametrize("state", list(RunState))
def test_a_run_event_of_every_state_is_valid_by_the_spec(state: RunState, spec: jsonschema_rs.Validator) -> None:
    event = json.loads(complete_run_event(state))

    spec.validate(event)
    assert event["eventType"] == state.value


def test_every_facet_is_valid_by_its_own_schema(facet_specs: Mapping[str, jsonschema_rs.Validator]) -> None:
    facets = dict(facets_in(json.loads(complete_run_event())))

    unknown = {name for name in facets if name not in facet_specs}

    assert unknown == {"headwater_run", "headwater_pipeline"}
    for name in facets.keys() - unknown:
        facet_specs[name].validate({name: facets[name]})


def test_job_events_and_dataset_events_are_valid_by_the_spec(spec: jsonschema_rs.Validator) -> None:
    orders: dict[str, Any] = {"namespace": "kafka://broker:9092", "name": "orders"}

    job = json.loads(job_event(NOON_IN_NEPAL, Job("production", "orders-to-lake"), inputs=[InputDataset(**orders)]))
    dataset = json.loads(dataset_event(NOON_IN_NEPAL, StaticDataset(**orders)))

    spec.validate(job)
    spec.validate(dataset)
    assert job["schemaURL"].endswith("/JobEvent")
    assert job["inputs"] == [orders]
    assert dataset["schemaURL"].endswith("/DatasetEvent")
    assert dataset["dataset"] == orders


def test_we_are_the_producer_of_the_event_and_of_every_facet() -> None:
    event = json.loads(complete_run_event())

    assert event["producer"] == PRODUCER
    assert {facet["_producer"] for _, facet in facets_in(event)} == {PRODUCER}


def test_our_own_facets_name_their_own_schemas() -> None:
    facets = dict(facets_in(json.loads(complete_run_event())))

    assert facets["headwater_run"]["_schemaURL"] == f"{HEADWATER_FACETS}/headwater_run.json"
    assert facets["headwater_pipeline"]["_schemaURL"] == f"{HEADWATER_FACETS}/headwater_pipeline.json"


def test_an_event_omits_unknown_values() -> None:
    assert list(empty_values_in(json.loads(complete_run_event()))) == []


def test_an_empty_required_map_is_written() -> None:
    lineage = column_lineage_dataset.ColumnLineageDatasetFacet(fields={})

    event = json.loads(dataset_event(NOON_IN_NEPAL, StaticDataset("n", "d", facets={"columnLineage": lineage})))

    assert event["dataset"]["facets"]["columnLineage"]["fields"] == {}


def test_counters_start_at_zero_and_an_unknown_one_is_left_out() -> None:
    event = json.loads(
        run_event(
            RunState.START,
            NOON_IN_NEPAL,
            Run(RUN_ID, {"headwater_run": HeadwaterRunFacet(bytesOut=None)}),
            Job("n", "j"),
        )
    )

    counters = {key: value for key, value in event["run"]["facets"]["headwater_run"].items() if key[0] != "_"}
    assert counters == {"recordsIn": 0, "recordsOut": 0, "bytesIn": 0, "errorCount": 0, "durationMs": 0}


def test_the_time_is_written_in_utc_with_all_six_digits() -> None:
    event = json.loads(dataset_event(NOON_IN_NEPAL, StaticDataset("n", "d")))

    assert event["eventTime"] == "2013-01-01T06:15:00.000000Z"
    assert datetime.fromisoformat(event["eventTime"]) == NOON_IN_NEPAL


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(InvalidEventError, match="eventTime"):
        dataset_event(datetime(2013, 1, 1), StaticDataset("n", "d"))


@pytest.mark.parametrize("value", [float("nan"), b"bytes", {1: {2}}], ids=["nan", "bytes", "set"])
def test_a_value_that_json_cannot_represent_is_refused_without_repeating_it(value: object) -> None:
    facet = error_message_run.ErrorMessageRunFacet(message=value, programmingLanguage="PYTHON")  # type: ignore[arg-type]

    with pytest.raises(InvalidEventError) as refusal:
        run_event(RunState.FAIL, datetime.now(UTC), Run(RUN_ID, {"errorMessage": facet}), Job("n", "j"))

    assert str(value) not in str(refusal.value)
