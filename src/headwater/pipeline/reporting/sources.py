"""The datasets of a run, and which relation of its plans reads which of them."""

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from openlineage.client.facet_v2 import schema_dataset
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from headwater.graph.sparkplan.leaves import Leaf, leaves
from headwater.graph.sparkplan.plan import Plan
from headwater.model.names import DatasetId
from headwater.observe.described import Described
from headwater.observe.guard import Guard
from headwater.observe.spark.failure import failure_of
from headwater.observe.spark.iceberg import version_facet
from headwater.observe.spark.jvm import Java, java_class
from headwater.observe.spark.relations import Relation, leaves_of, relations
from headwater.observe.spark.schema import schema_facet
from headwater.pipeline.catalogs import catalogs_of
from headwater.pipeline.kafka.topics import Topic
from headwater.pipeline.reporting.datasets import (
    api,
    database_tables,
    files_read,
    files_written,
    goes_beyond,
    has_columns_of_its_table,
)
from headwater.pipeline.reporting.merged_outputs import merged_output
from headwater.pipeline.reporting.tables import described_table
from headwater.pipeline.reporting.topics import SOURCE, fields_of, learn_topic, topic_dataset
from headwater.pipeline.session import RUN_ID_PROPERTY
from headwater.pipeline.sinks.kafka import payload_columns
from headwater.pipeline.spec import (
    FileInput,
    FileOutput,
    GenerateInput,
    HttpInput,
    HttpOutput,
    IcebergInput,
    IcebergOutput,
    InputKind,
    KafkaInput,
    KafkaOutput,
    OutputKind,
    PipelineSpec,
    SqlInput,
    SqlOutput,
    StdoutOutput,
)
from headwater.pipeline.tables import quoted_column

log = logging.getLogger(__name__)

_ASK_CATALOG: Final = (
    "events lack a table, since its catalog cannot be asked: check the catalog's uri, and the variables under its "
    "options_env"
)
_FILES: Final = "files"
"""The namespace of a group name for all files of a relation, which share one set of columns."""

_CONSTANT: Final = frozenset({"LocalRelation", "Range"})
"""Relations whose rows are part of the query."""


@dataclass(slots=True)
class Datasets:
    """The inputs and outputs of a run.

    Attributes:
        inputs: everything read, declared or found in a plan.
        outputs: by the output's path in the pipeline file; standard output is not a dataset.
        by_source: the datasets of a relation's source (see `relations`).
        opaque: sources whose columns are not those of their datasets.
        made_up: sources that read no external data.
        topics: the known topics of each Kafka input.
        missing: a text for each table that cannot be among them, since its catalog could not be asked.
    """

    spec: PipelineSpec
    run_id: str
    home: Path
    guard: Guard
    inputs: dict[DatasetId, Described] = field(default_factory=dict)
    outputs: dict[str, Described] = field(default_factory=dict)
    by_source: dict[str, list[Described]] = field(default_factory=dict)
    opaque: set[str] = field(default_factory=set)
    made_up: set[str] = field(default_factory=set)
    topics: dict[str, tuple[Topic, ...]] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    _source_by_key: dict[int, str] = field(default_factory=dict)
    _by_input: dict[str, list[Described]] = field(default_factory=dict)
    _new_tables: set[str] = field(default_factory=set)
    _of_functions: set[int] = field(default_factory=set)
    """The keys of relations whose rows a user's function made in memory."""

    def describe(self, session: SparkSession | None) -> None:
        """Add all datasets declared in the pipeline file; reads no data. Tables are looked up through the session."""
        for one in self.spec.inputs.values():
            nothing: list[Described] = []
            found = self.guard.attempt("input", partial(self._described_input, session, one.reads), nothing)
            self._by_input[one.name] = [self._known(described) for described in found]
        for output in self.spec.all_outputs:
            described = self.guard.attempt("output", partial(self._described_output, session, output.writes), None)
            if described is not None:
                self.outputs[output.location.path] = described
            if isinstance(output.writes, IcebergOutput) and (described is None or "schema" not in described.facets):
                self._new_tables.add(output.location.path)

    def learn_topics(self, topics: Mapping[str, tuple[Topic, ...]]) -> None:
        """Add the topics found, with the current schemas of their payloads."""
        if self.topics:  # a stream goes on with a new schema: its tables may have new columns
            self._new_tables |= {
                one.location.path for one in self.spec.all_outputs if isinstance(one.writes, IcebergOutput)
            }
        self.topics = dict(topics)
        for name, found in topics.items():
            reads = self.spec.inputs[name].reads
            if isinstance(reads, KafkaInput):
                self._by_input[name] = [self._known(topic_dataset(reads, topic.name)) for topic in found]
                self.by_source[f"{SOURCE}{name}"] = self._by_input[name]
                for described, topic in zip(self._by_input[name], found, strict=True):
                    learn_topic(described, topic)

    def gaps(self) -> list[str]:
        """A text for each input and output that may be more than the datasets known of it."""
        read = (one.name for one in self.spec.inputs.values() if goes_beyond(one.reads))
        written = (one.location.path for one in self.spec.all_outputs if goes_beyond(one.writes))
        return [
            *(f"{name} may read more than the tables of its database that it names" for name in read),
            *(f"{path} writes a table that is not of its database" for path in written),
        ]

    def members(self, dataset: DatasetId, column: str) -> list[DatasetId]:
        """For a group name of topics or files, the members that have the column; otherwise the dataset itself."""
        if dataset.namespace == _FILES:
            return [described.id for described in self.by_source[dataset.name]]
        name = dataset.name.removeprefix(SOURCE)
        if dataset.namespace != SOURCE or name not in self.topics:
            return [dataset]
        fields = fields_of(self.topics[name])
        by_topic = zip(self.topics[name], self._by_input[name], strict=True)
        return [described.id for topic, described in by_topic if column in fields[topic.name] or column.startswith("_")]

    def read_through(self, name: str, frame: DataFrame) -> None:
        """Add the sources of an input frame's relations, with their versions and columns."""
        described = self._by_input.get(name, [])
        followed = isinstance(self.spec.inputs[name].reads, KafkaInput) and frame.isStreaming
        for relation in () if followed else relations(frame._jdf.queryExecution().analyzed(), self._is_own):
            self._source_by_key[relation.key] = relation.source
            self.by_source.setdefault(relation.source, described)
            reads = self.spec.inputs[name].reads
            if isinstance(reads, GenerateInput):
                self.made_up.add(relation.source)
            if isinstance(reads, SqlInput) and not has_columns_of_its_table(reads):
                self.opaque.add(relation.source)
            self._learn(described, relation, frame.schema)

    def learn_function(self, before: DataFrame, after: DataFrame) -> None:
        """Find the relations whose rows a user's function created itself, by comparing its argument and its result."""
        self._of_functions |= _in_memory(after) - _in_memory(before)

    def learn_relations(self, session: SparkSession, analysed: Java, plan: Plan) -> None:
        """Add the sources of a frame's relations; undeclared tables named in SQL become inputs.

        `plan` is the parsed analysed plan: the JVM is asked only about relations that no earlier plan had.
        """
        if all(leaf.key in self._source_by_key or _is_topics(leaf) for leaf in leaves(plan)):
            return
        for relation in relations(analysed, self._is_own, self._source_by_key):
            self._source_by_key[relation.key] = relation.source
            if relation.source.startswith("table:") and relation.source not in self.by_source:
                table = relation.source.removeprefix("table:")
                described = self.guard.attempt("table", partial(self._described_table, session, table), None)
                self.by_source[relation.source] = [] if described is None else [self._known(described)]
                self._learn(self.by_source[relation.source], relation, None)

    def dataset_of(self, leaf: Leaf) -> DatasetId | None:
        """The dataset whose columns a leaf has, or a group name (see `members`), if there is one."""
        if _is_topics(leaf):
            topics = self.by_source.get(leaf.source or "", [])
            return topics[0].id if len(topics) == 1 else DatasetId(SOURCE, leaf.source or "")
        source = self._source_by_key.get(leaf.key) if leaf.key is not None else None
        datasets = self.by_source.get(source, []) if source is not None and source not in self.opaque else []
        if len(datasets) > 1 and source is not None and source.startswith("files:"):
            return DatasetId(_FILES, source)
        return datasets[0].id if len(datasets) == 1 else None

    def hides(self, leaf: Leaf) -> bool:
        """Whether a leaf reads, or may read, something, but its columns are not those of a single dataset."""
        if self.dataset_of(leaf) is not None or leaf.key is None:
            return False
        source = self._source_by_key.get(leaf.key)
        if source is not None:
            return source not in self.made_up and not source.startswith("range:")
        return self.is_of_function(leaf) or leaf.kind not in _CONSTANT

    def behind(self, leaf: Leaf) -> list[DatasetId]:
        """The datasets that a leaf may stand for."""
        if self.is_of_function(leaf):
            return list(self.inputs)
        source = leaf.source if _is_topics(leaf) else self._source_by_key.get(leaf.key or 0)
        return [described.id for described in self.by_source.get(source or "", [])]

    def is_of_function(self, leaf: Leaf) -> bool:
        """Whether a user's function made the rows, from data that no plan shows or from nothing."""
        return leaf.kind == "LogicalRDD" or leaf.key in self._of_functions

    def learn_output(self, path: str, frame: DataFrame) -> None:
        """Set an output's columns; an existing table keeps its own."""
        described = self.outputs.get(path)
        writes = next(one.writes for one in self.spec.all_outputs if one.location.path == path)
        if isinstance(writes, KafkaOutput):
            frame = frame.select(*map(quoted_column, payload_columns(frame, writes)))
        if described is not None and not (isinstance(writes, KafkaOutput) and writes.format == "raw"):
            described.facets.setdefault("schema", schema_facet(frame.schema))

    def described_again(self, session: SparkSession, path: str, writes: IcebergOutput) -> Described | None:
        """An Iceberg output after it was written: only now a new table's location and columns are certain."""
        known = self.outputs.get(path)
        if known is not None and path not in self._new_tables:
            return known
        fresh = self._described_table(session, writes.table)
        if fresh is not None and known is not None:
            fresh.facets = {**known.facets, **fresh.facets}
        if fresh is not None:
            self.outputs[path] = fresh
            self._new_tables.discard(path)
        return fresh

    def distinct_outputs(self) -> list[Described]:
        """The outputs; a dataset that several outputs write is merged into one."""
        writes: dict[DatasetId, list[Described]] = {}
        for described in self.outputs.values():
            writes.setdefault(described.id, []).append(described)
        return [merged_output(each) for each in writes.values()]

    def _learn(self, described: list[Described], relation: Relation, schema: StructType | None) -> None:
        if len(described) != 1:
            return
        if relation.version is not None:
            described[0].facets["version"] = version_facet(relation.version)
        if schema is not None and relation.source not in self.opaque and not relation.source.startswith("topics:"):
            described[0].facets.setdefault("schema", schema_facet(schema))

    def _is_own(self, snapshot: Java) -> bool:
        """Whether the run itself wrote the snapshot; a table's reported version is the one before the run."""
        return bool(snapshot.summary().get(RUN_ID_PROPERTY) == self.run_id)

    def _known(self, described: Described) -> Described:
        return self.inputs.setdefault(described.id, described)

    def _described_input(self, session: SparkSession | None, reads: InputKind) -> list[Described]:
        match reads:
            case FileInput() | HttpInput():
                found = files_read(reads) if isinstance(reads, FileInput) else [api(reads)]
                if reads.schema and session is not None and len(found) == 1:
                    found[0].facets["schema"] = _declared_schema(session, reads.schema)
                return found
            case IcebergInput():
                table = self._described_table(session, reads.table)
                return [] if table is None else [table]
            case SqlInput():
                return database_tables(reads)
            case KafkaInput():
                return [topic_dataset(reads, topic) for topic in reads.topics]
            case GenerateInput():
                return []

    def _described_output(self, session: SparkSession | None, writes: OutputKind) -> Described | None:
        match writes:
            case FileOutput():
                return files_written(writes)
            case HttpOutput():
                return api(writes)
            case IcebergOutput():
                return self._described_table(session, writes.table)
            case KafkaOutput():
                return topic_dataset(writes, writes.topic)
            case SqlOutput():
                return next(iter(database_tables(writes)), None)
            case StdoutOutput():
                return None

    def _described_table(self, session: SparkSession | None, table: str) -> Described | None:
        if session is None:
            return None
        try:
            described = described_table(session, table, catalogs_of(self.spec, self.home).get(table.partition(".")[0]))
        except Exception as fault:
            why = failure_of(fault).message
            self.missing[table] = f"{table} is missing: its catalog could not be asked ({why})"
            log.warning(_ASK_CATALOG, extra={"table": table, "why": why})
            return None
        self.missing.pop(table, None)
        return described


def _in_memory(frame: DataFrame) -> set[int]:
    leaves = leaves_of(frame._jdf.queryExecution().analyzed())
    local = (leaf.output() for leaf in leaves if leaf.productPrefix() == "LocalRelation")
    return {columns.head().exprId().id() for columns in local if not columns.isEmpty()}


def _is_topics(leaf: Leaf) -> bool:
    return leaf.kind == "KafkaPayload"


def _declared_schema(session: SparkSession, ddl: str) -> schema_dataset.SchemaDatasetFacet:
    java: Java = java_class(session, "org.apache.spark.sql.types.StructType").fromDDL(ddl)
    return schema_facet(StructType.fromJson(json.loads(java.json())))
