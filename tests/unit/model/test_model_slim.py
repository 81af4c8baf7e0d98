"""Events written without the official client: equal to the client's, and without importing it."""

import json
import subprocess
import sys
from datetime import UTC, datetime
from typing import Any

import pytest
from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunState, StaticDataset
from openlineage.client.facet_v2 import (
    catalog_dataset,
    column_lineage_dataset,
    dataset_type_dataset,
    dataset_version_dataset,
    datasource_dataset,
    error_message_run,
    job_type_job,
    processing_engine_run,
    schema_dataset,
    symlinks_dataset,
)

from headwater.errors import InvalidEventError
from headwater.model import build
from headwater.model.names import DatasetId, JobId
from headwater.model.slim import Described, dataset_event, facet, own_facet, run_event

RUN_ID = "0190b6c3-6f2e-7a3c-8a55-4d0f9d4f6f11"
NOON = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)
ORDERS, TABLE = DatasetId("kafka://broker:9092", "orders"), DatasetId("s3://lake", "sales/orders")


def test_a_run_event_equals_that_of_the_official_client() -> None:
    step: dict[str, Any] = {"type": "DIRECT", "subtype": "IDENTITY", "masking": False}
    source: dict[str, Any] = {**ORDERS._asdict(), "field": "price", "transformations": [step]}
    link = {"namespace": "glue", "name": "sales.orders", "type": "TABLE"}
    pattern: dict[str, Any] = {"eventTrigger": "PERIODIC", "eventContentMode": "ACCUMULATIVE", "windowDuration": 60}
    slim = run_event(
        "FAIL",
        NOON,
        RUN_ID,
        JobId("kafka-connect", "lake"),
        run_facets={
            "errorMessage": facet("1-0-1/ErrorMessageRunFacet", message="no \udcff", programmingLanguage="JAVA"),
            "processing_engine": facet("1-1-1/ProcessingEngineRunFacet", version="4.3.1", name="kafka-connect"),
            "headwater_run": own_facet("headwater_run", errorCount=1, durationMs=9, stopReason=None),
        },
        job_facets={
            "jobType": facet(
                "2-0-4/JobTypeJobFacet", processingType="STREAMING", integration="K", emissionPattern=pattern
            )
        },
        inputs=[],
        outputs=[
            Described(
                TABLE,
                {
                    "columnLineage": facet(
                        "1-2-0/ColumnLineageDatasetFacet", fields={"price": {"inputFields": [source]}}
                    ),
                    "symlinks": facet("1-0-1/SymlinksDatasetFacet", identifiers=[link]),
                    "catalog": facet("1-1-0/CatalogDatasetFacet", framework="iceberg", type="glue", name="lake"),
                    "version": facet("1-0-1/DatasetVersionDatasetFacet", datasetVersion="77"),
                },
            )
        ],
    )

    official_source = column_lineage_dataset.InputField(
        **{**source, "transformations": [column_lineage_dataset.Transformation(**step)]}
    )
    official = build.run_event(
        RunState.FAIL,
        NOON,
        Run(
            RUN_ID,
            {
                "errorMessage": error_message_run.ErrorMessageRunFacet("no \udcff", "JAVA"),
                "processing_engine": processing_engine_run.ProcessingEngineRunFacet("4.3.1", "kafka-connect"),
                "headwater_run": build.HeadwaterRunFacet(
                    recordsIn=None, recordsOut=None, bytesIn=None, bytesOut=None, errorCount=1, durationMs=9
                ),
            },
        ),
        Job(
            "kafka-connect",
            "lake",
            {
                "jobType": job_type_job.JobTypeJobFacet(
                    "STREAMING", "K", emissionPattern=job_type_job.EmissionPattern(**pattern)
                )
            },
        ),
        outputs=[
            OutputDataset(
                *TABLE,
                facets={
                    "columnLineage": column_lineage_dataset.ColumnLineageDatasetFacet(
                        {"price": column_lineage_dataset.Fields([official_source])}
                    ),
                    "symlinks": symlinks_dataset.SymlinksDatasetFacet([symlinks_dataset.Identifier(**link)]),
                    "catalog": catalog_dataset.CatalogDatasetFacet("iceberg", "glue", "lake"),
                    "version": dataset_version_dataset.DatasetVersionDatasetFacet("77"),
                },
            )
        ],
    )
    assert json.loads(slim) == json.loads(official)


def test_a_dataset_event_equals_that_of_the_official_client() -> None:
    slim = dataset_event(
        NOON,
        Described(
            ORDERS,
            {
                "dataSource": facet("1-0-1/DatasourceDatasetFacet", name="k", uri="k"),
                "datasetType": facet("1-0-1/DatasetTypeDatasetFacet", datasetType="TOPIC", subType=None),
                "schema": facet(
                    "1-2-0/SchemaDatasetFacet", fields=[{"name": "id", "type": "long", "ordinal_position": 1}]
                ),
            },
        ),
    )

    official = build.dataset_event(
        NOON,
        StaticDataset(
            *ORDERS,
            facets={
                "dataSource": datasource_dataset.DatasourceDatasetFacet("k", "k"),
                "datasetType": dataset_type_dataset.DatasetTypeDatasetFacet("TOPIC"),
                "schema": schema_dataset.SchemaDatasetFacet(
                    [schema_dataset.SchemaDatasetFacetFields("id", "long", ordinal_position=1)]
                ),
            },
        ),
    )
    assert json.loads(slim) == json.loads(official)


def test_inputs_equal_those_of_the_official_client() -> None:
    job = JobId("n", "j")

    slim = run_event(
        "START", NOON, RUN_ID, job, run_facets={}, job_facets={}, inputs=[Described(ORDERS, {})], outputs=[]
    )

    official = build.run_event(RunState.START, NOON, Run(RUN_ID), Job(*job), inputs=[InputDataset(*ORDERS)])
    assert json.loads(slim)["inputs"] == [{**json.loads(official)["inputs"][0], "facets": {}}]


def test_a_value_that_json_cannot_represent_and_a_time_without_zone_are_refused() -> None:
    with pytest.raises(InvalidEventError, match="eventTime: the time has no zone"):
        dataset_event(datetime(2026, 1, 1), Described(ORDERS, {}))
    with pytest.raises(InvalidEventError, match="cannot be written as JSON"):
        dataset_event(NOON, Described(ORDERS, {"x": own_facet("headwater_run", rate=float("nan"))}))


@pytest.mark.parametrize("program", ["headwater.capture.connect.watcher", "headwater.capture.registry"])
def test_watchers_import_neither_the_official_client_nor_event_validation(program: str) -> None:
    imported = subprocess.run(
        [sys.executable, "-c", f"import sys, {program}, headwater.emit.emitter; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()

    assert {"openlineage", "pydantic", "requests", "yaml"}.isdisjoint(imported)
