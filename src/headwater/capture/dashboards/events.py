"""Events that declare dashboards and their queries."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import partial
from typing import Any, Final

from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, StaticDataset
from openlineage.client.facet_v2 import (
    DatasetFacet,
    JobFacet,
    dataset_type_dataset,
    datasource_dataset,
    documentation_dataset,
    documentation_job,
    job_type_job,
    ownership_dataset,
    ownership_job,
    schema_dataset,
    sql_job,
)

from headwater.capture.column_facet import column_facet
from headwater.capture.dashboards.resolved import AnalysedQuery, dataset
from headwater.capture.dashboards.spec import TABLES, Dashboard, Dashboards, DirectTable
from headwater.model import sql_lineage
from headwater.model.build import dataset_event, job_event
from headwater.model.credentials import without_secrets
from headwater.model.names import DatasetId, JobId
from headwater.model.sql_secrets import sql_without_secrets
from headwater.sql.label import Label
from headwater.sql.transformations import Transformation

INTEGRATION: Final = "DASHBOARD"
"""The `integration` of the facet `jobType` for jobs declared by a dashboards file."""


def events_of(time: datetime, file: Dashboards, asked: Iterable[AnalysedQuery]) -> Iterator[bytes]:
    """An event for each dashboard, then one for each query, and one for the tables that it uses without a query."""
    by_dashboard: dict[str, list[AnalysedQuery]] = {}
    for each in asked:
        by_dashboard.setdefault(each.dashboard.name, []).append(each)
    for dashboard in file.dashboards:
        queries = by_dashboard.get(dashboard.name, [])
        yield _dashboard(time, file, dashboard, queries)
        for query in queries:
            yield _query(time, file, query)
        if dashboard.tables:
            yield _tables(time, file, dashboard)


def withdrawals(time: datetime, jobs: Iterable[JobId]) -> Iterator[bytes]:
    """For each job an event with an empty declaration: no inputs, no outputs, deleted facets.

    It replaces the previous declaration; the lineage of the job's runs stays.
    """
    facets: dict[str, JobFacet] = {  # deleted facets still need their required fields
        "jobType": job_type_job.JobTypeJobFacet(processingType="BATCH", integration=INTEGRATION, deleted=True),
        "documentation": documentation_job.DocumentationJobFacet(description="", deleted=True),
        "ownership": ownership_job.OwnershipJobFacet(deleted=True),
        "sql": sql_job.SQLJobFacet(query="", deleted=True),
    }
    for each in jobs:
        yield job_event(time, Job(namespace=each.namespace, name=each.name, facets=facets))


def _dashboard(time: datetime, file: Dashboards, dashboard: Dashboard, queries: Iterable[AnalysedQuery]) -> bytes:
    name = sql_lineage.dashboard_of(file.label(dashboard, ""))
    columns = [
        sql_lineage.column_of(file.label(dashboard, each.query.name), column)
        for each in queries
        for column in (each.statement.columns if each.statement else ())
        if column != "*"
    ]
    columns += [column for rest in dashboard.tables for column in rest.columns]
    facets: dict[str, DatasetFacet] = {
        "datasetType": dataset_type_dataset.DatasetTypeDatasetFacet(datasetType="DASHBOARD"),
        "schema": schema_dataset.SchemaDatasetFacet(
            fields=[schema_dataset.SchemaDatasetFacetFields(name=column) for column in dict.fromkeys(columns)]
        ),
    }
    if dashboard.url:
        facets["dataSource"] = datasource_dataset.DatasourceDatasetFacet(name=name.namespace, uri=dashboard.url)
    if (words := _words(dashboard)) is not None:
        facets["documentation"] = documentation_dataset.DocumentationDatasetFacet(description=words)
    if dashboard.owners:
        owners = [ownership_dataset.Owner(name=each.name, type=each.type) for each in dashboard.owners]
        facets["ownership"] = ownership_dataset.OwnershipDatasetFacet(owners=owners)
    return dataset_event(time, StaticDataset(namespace=name.namespace, name=name.name, facets=facets))


def _query(time: datetime, file: Dashboards, asked: AnalysedQuery) -> bytes:
    label = file.label(asked.dashboard, asked.query.name)
    sql = sql_job.SQLJobFacet(query=sql_without_secrets(asked.query.sql, file.dialect), dialect=file.dialect)
    if asked.statement is None:
        return _job(time, asked.dashboard, label, {"sql": sql}, (), None)
    named = partial(dataset, file)
    reads = [*map(named, asked.statement.reads)]
    lineage = sql_lineage.dashboard_lineage(asked.statement, named, label, reads)
    return _job(time, asked.dashboard, label, {"sql": sql}, reads, lineage)


def _tables(time: datetime, file: Dashboards, dashboard: Dashboard) -> bytes:
    named = {rest: dataset(file, rest.table) for rest in dashboard.tables}
    fields: dict[str, Any] = {}
    for rest, name in named.items():
        for column in rest.columns:
            fields.setdefault(column, {"inputFields": []})["inputFields"].append(_same(name, column))
    lineage = {"fields": fields, "dataset": []} if all(map(_has_columns, named)) else None
    return _job(time, dashboard, file.label(dashboard, TABLES), {}, named.values(), lineage)


def _has_columns(rest: DirectTable) -> bool:
    return bool(rest.columns)


def _same(name: DatasetId, column: str) -> Mapping[str, Any]:
    how = Transformation("DIRECT", "IDENTITY")
    step = {"type": how.kind, "subtype": how.subtype, "description": "as declared", "masking": how.masking}
    return {"namespace": name.namespace, "name": name.name, "field": column, "transformations": [step]}


def _job(
    time: datetime,
    dashboard: Dashboard,
    label: Label,
    facets: Mapping[str, JobFacet],
    reads: Iterable[DatasetId],
    lineage: Mapping[str, Any] | None,
) -> bytes:
    target = sql_lineage.dashboard_of(label)
    columns = None if lineage is None else column_facet(lineage)
    output_facets: dict[str, DatasetFacet] = {} if columns is None else {"columnLineage": columns}
    name = sql_lineage.job_of(label)
    job = Job(namespace=name.namespace, name=name.name, facets={**_about(dashboard), **facets})
    inputs = [InputDataset(namespace=each.namespace, name=each.name) for each in reads]
    output = OutputDataset(namespace=target.namespace, name=target.name, facets=output_facets)
    return job_event(time, job, inputs=inputs, outputs=[output])


def _about(dashboard: Dashboard) -> dict[str, JobFacet]:
    facets: dict[str, JobFacet] = {
        "jobType": job_type_job.JobTypeJobFacet(processingType="BATCH", integration=INTEGRATION, jobType="QUERY")
    }
    if (words := _words(dashboard)) is not None:
        facets["documentation"] = documentation_job.DocumentationJobFacet(description=words)
    if dashboard.owners:
        owners = [ownership_job.Owner(name=each.name, type=each.type) for each in dashboard.owners]
        facets["ownership"] = ownership_job.OwnershipJobFacet(owners=owners)
    return facets


def _words(dashboard: Dashboard) -> str | None:
    return without_secrets(": ".join(filter(None, (dashboard.title, dashboard.description)))) or None
