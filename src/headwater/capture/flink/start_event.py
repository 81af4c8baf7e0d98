"""The START event of a submitted job's run."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

from openlineage.client.event_v2 import Job, Run, RunState
from openlineage.client.facet_v2 import JobFacet, RunFacet, job_type_job, processing_engine_run, sql_job

from headwater.capture.flink.run_ids import run_of_job
from headwater.capture.flink.sql_text import shown_sql
from headwater.capture.flink.tables import UnnamedTableError, datasets, field_names
from headwater.graph.flinkplan.lineage import StatementLineage, column_lineage
from headwater.graph.sparkplan.transformation import ColumnInput
from headwater.model.build import run_event
from headwater.model.names import DatasetId, JobId
from headwater.model.producer import VERSION
from headwater.observe.described import Described
from headwater.observe.run_facets import gaps_facet
from headwater.observe.spark.columns import column_facet, known_columns, named_in

TableName = tuple[str, ...]


class _Known(NamedTuple):
    """A table's datasets, and the names of its columns there."""

    datasets: list[Described]
    fields: Mapping[str, str]
    is_unnamed: bool = False
    """Whether it holds data, but the datasets are unknown."""


class Submitted(NamedTuple):
    """The cluster's data of a job: its name, its start time, and Flink's version."""

    job_id: str
    name: str
    started_ms: int
    is_batch: bool
    version: str

    @property
    def run_id(self) -> str:
        """The id of the job's run."""
        return run_of_job(self.job_id, self.started_ms)


@dataclass(slots=True)
class Flow:
    """The inputs and outputs of a job.

    Attributes:
        gaps: messages for people on lineage that could not be determined, each once.
        columns: how many output columns have column lineage.
    """

    inputs: dict[DatasetId, Described] = field(default_factory=dict)
    outputs: dict[DatasetId, Described] = field(default_factory=dict)
    gaps: list[str] = field(default_factory=list)
    columns: int = 0


def flow_of(writes: Iterable[Mapping[str, Any]], unseen: Iterable[str]) -> Flow:
    """The flow of a job's statements; `unseen` are reasons why some could not be analysed."""
    flow = Flow(gaps=[_worded(reason) for reason in unseen])
    lineages: defaultdict[DatasetId, list[StatementLineage[DatasetId]]] = defaultdict(list)
    inputs_of: defaultdict[DatasetId, set[DatasetId]] = defaultdict(set)
    for write in writes:
        known = {tuple(table["name"]): _known(table, flow) for table in write["tables"]}
        for found in known.values():
            flow.inputs |= {one.id: one for one in found.datasets}
        if "target" in write:
            target = _known(write["target"], flow)
            flow.outputs |= {one.id: one for one in target.datasets}
            for one in target.datasets:
                lineages[one.id].append(_lineage(write, target, known, flow))
                inputs_of[one.id].update(source.id for found in known.values() for source in found.datasets)
    for id, found_lineages in lineages.items():
        columns, dataset = _union(found_lineages)
        if columns and inputs_of[id] <= named_in(columns, dataset):  # else it would omit an input
            flow.outputs[id].facets["columnLineage"] = column_facet(columns, dataset)
            flow.columns += len(columns)
    flow.gaps = list(dict.fromkeys(flow.gaps))
    return flow


def start_event(job: JobId, about: Submitted, flow: Flow, sql: str | None) -> bytes:
    """START of the job's run, at the time when Flink started it."""
    kind = "BATCH" if about.is_batch else "STREAMING"
    facets: dict[str, JobFacet] = {
        "jobType": job_type_job.JobTypeJobFacet(processingType=kind, integration="FLINK", jobType="JOB")
    }
    if sql:
        facets["sql"] = sql_job.SQLJobFacet(query=shown_sql(sql), dialect="flink")
    engine = processing_engine_run.ProcessingEngineRunFacet(
        version=about.version, name="flink", openlineageAdapterVersion=VERSION
    )
    run_facets: dict[str, RunFacet] = {"processing_engine": engine, **gaps_facet(flow.gaps)}
    return run_event(
        RunState.START,
        datetime.fromtimestamp(about.started_ms / 1000, UTC),
        Run(runId=about.run_id, facets=run_facets),
        Job(namespace=job.namespace, name=job.name, facets=facets),
        inputs=[one.as_input() for one in flow.inputs.values()],
        outputs=[one.as_output() for one in flow.outputs.values()],
    )


def _known(table: Mapping[str, Any], flow: Flow) -> _Known:
    fields = field_names(table)
    try:
        return _Known(datasets(table), fields)
    except UnnamedTableError as unnamed:
        flow.gaps.append(str(unnamed))
        return _Known([], fields, is_unnamed=True)


def _lineage(
    write: Mapping[str, Any], target: _Known, known: Mapping[TableName, _Known], flow: Flow
) -> StatementLineage[DatasetId]:
    """Column lineage by dataset; a list of topics is one table, whose columns are in every topic.

    A column with unknown inputs is left out, since a column listed without inputs is one made from literals.
    """
    by_table = column_lineage(write["tree"], write["columns"], lambda table: table)
    flow.gaps += [f"column lineage ends at {gap.kind}" for gap in by_table.gaps]
    unnamed = {name for name, table in known.items() if table.is_unnamed}
    from_unnamed = [name for name, inputs in by_table.columns.items() if any(one.dataset in unnamed for one in inputs)]
    columns = known_columns(
        {name: _in_datasets(inputs, known) for name, inputs in by_table.columns.items()},
        (*(gap.columns for gap in by_table.gaps), from_unnamed),
    )
    return StatementLineage(
        {target.fields[name]: inputs for name, inputs in columns.items()},
        _in_datasets(by_table.dataset, known),
        by_table.gaps,
    )


def _in_datasets(
    inputs: Iterable[ColumnInput[TableName]], known: Mapping[TableName, _Known]
) -> frozenset[ColumnInput[DatasetId]]:
    return frozenset(
        ColumnInput(dataset.id, table.fields[found.column], found.transformation)
        for found in inputs
        if (table := known.get(found.dataset)) is not None and found.column in table.fields
        for dataset in table.datasets
    )


def _union(
    lineages: Iterable[StatementLineage[DatasetId]],
) -> tuple[dict[str, frozenset[ColumnInput[DatasetId]]], frozenset[ColumnInput[DatasetId]]]:
    """The union of lineages: several statements of one set may write to one table."""
    columns: dict[str, frozenset[ColumnInput[DatasetId]]] = {}
    dataset: frozenset[ColumnInput[DatasetId]] = frozenset()
    for one in lineages:
        dataset |= one.dataset
        for name, inputs in one.columns.items():
            columns[name] = columns.get(name, frozenset()) | inputs
    return columns, dataset


def _worded(reason: str) -> str:
    if reason == "DataStream":
        return "a DataStream program is not analysed: OpenLineage's listener reports its datasets"
    return f"a statement could not be analysed: {reason}"
