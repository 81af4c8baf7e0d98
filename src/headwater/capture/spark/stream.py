"""One streaming query, from its start to its end: one run."""

from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from openlineage.client.event_v2 import RunState
from openlineage.client.facet_v2 import RunFacet

from headwater.capture.spark.action import Action, shown_name
from headwater.capture.spark.application import Application, why
from headwater.capture.spark.columns import SourceQuery, add_columns
from headwater.capture.spark.figures import Figures
from headwater.capture.spark.reading import Read, struct_of
from headwater.capture.spark.writing import Write, sink_of
from headwater.graph.sparkplan.leaves import Attribute
from headwater.model.build import HeadwaterRunFacet
from headwater.model.names import DatasetId
from headwater.observe.described import Described
from headwater.observe.failure import UNKNOWN_FAILURE, Failure
from headwater.observe.guard import Guard
from headwater.observe.run_facets import HeadwaterStreamFacet, gaps_facet
from headwater.observe.run_reporter import Content
from headwater.observe.spark.executions import Moved
from headwater.observe.spark.failure import java_failure
from headwater.observe.spark.iceberg import version_facet
from headwater.observe.spark.jvm import Java
from headwater.observe.spark.progress import Report, sources_of
from headwater.observe.spark.relations import Relation, items, relations
from headwater.observe.spark.schema import schema_facet
from headwater.observe.spark.tally import read_facet, sum_of, written_facet

_RUNNING_EVERY: Final = timedelta(seconds=10)
_QUERY_ID: Final = "spark.sql.streaming.queryId"


class Stream:
    """One start of a streaming query.

    Its inputs and its own target are determined when it starts; the outputs of each micro-batch of a `foreachBatch` are
    added as they come.
    """

    def __init__(self, execution: Java, name: str | None, started_at: datetime, guard: Guard, figures: Figures) -> None:
        self._guard = guard
        self.session_id: str = execution.sparkSessionForStream().sessionUUID()
        self._is_endless = "ProcessingTime" in execution.trigger().getClass().getSimpleName()
        self._read = Read()
        self._gaps: list[str] = []
        self._outputs: dict[DatasetId, Described] = {}
        self._inputs: dict[DatasetId, Described] = {}
        self._written: dict[DatasetId, Moved] = {}
        self._rows_in: defaultdict[str, int] = defaultdict(int)
        self._last: Report | None = None
        self._running_at: datetime | None = None
        self._execution = execution
        self._query_id: str = execution.id().toString()
        self._figures = figures
        self._started_at = started_at
        self._sink: Write | None = None
        self.behind: SourceQuery | None = None
        self._learn(execution)
        self._job = name or self._named_by_data()

    def begin(self, application: Application, run_id: str) -> None:
        """Emit START, with all that is known so far."""
        self._run = application.child(self._job, "STREAMING", self._started_at, run_id)
        self._run.emit(RunState.START, self._content({}))

    def progressed(self, report: Report, at: datetime) -> None:
        """Count a micro-batch; emits RUNNING after the first one, and then periodically."""
        self._last = report
        for source in report["sources"]:
            self._rows_in[source["description"]] += source["numInputRows"]
        written = report["sink"].get("numOutputRows", -1)  # -1 if Spark does not know
        if self._sink is not None and self._sink.dataset is not None and written >= 0:
            self._wrote(self._sink.dataset.id, Moved(rows=written))
        if self._running_at is None or at - self._running_at >= _RUNNING_EVERY:
            self._running(at)

    def acted(self, action: Action) -> None:
        """Add an action of one of its micro-batches; failures are reported by the query's own end."""
        new = False
        for dataset in action.inputs():
            new |= dataset.id not in self._inputs
            self._inputs[dataset.id] = dataset
        for index, write in enumerate(action.writes):
            if write.dataset is not None:
                new |= write.dataset.id not in self._outputs
                self._outputs[write.dataset.id] = write.dataset
                self._wrote(write.dataset.id, action.moved.get(index))
        self._gaps += [gap for gap in action.gaps if gap not in self._gaps]
        if new:
            self._running(action.ended_at)

    def end(self, at: datetime, *, failed: bool, stop_reason: str | None, leaving: bool = False) -> None:
        """Emit the terminal event; a query with an endless trigger that did not fail was stopped.

        Args:
            at: the time of the end.
            failed: whether Spark has an exception for it.
            stop_reason: why it was stopped, if known.
            leaving: whether the program and Spark are ending, so that Spark must not be called.
        """
        failure = self._guard.attempt("failure", self._failure, UNKNOWN_FAILURE) if failed else None
        if failure is None and stop_reason is None and self._is_endless:
            stop_reason = "stopped"
        if not leaving:
            self._guard.attempt("version", self._learn_version, None)
        state = RunState.COMPLETE if stop_reason is None else RunState.ABORT
        facets = self._counters(at, failure, stop_reason)
        self._run.emit(RunState.FAIL if failure else state, self._content({**facets, **why(failure)}), at)

    def _failure(self) -> Failure:
        return java_failure(self._execution.exception().get())

    def _running(self, at: datetime | None) -> None:
        if at is not None:
            self._running_at = at
            self._guard.attempt("version", self._learn_version, None)
            self._run.emit(RunState.RUNNING, self._content(self._counters(at, None, None)), at)

    def _learn(self, execution: Java) -> None:
        plan, session = execution.analyzedPlan(), execution.sparkSessionForStream()
        nothing: list[Relation] = []
        found = self._guard.attempt("relations", lambda: list(relations(plan, lambda _: False)), nothing)
        for relation in found:
            self._guard.attempt("relation", partial(self._read.take, relation, session), None)
        self._gaps += [f"{kind} does not identify a dataset" for kind in self._read.unknown]
        self._inputs = {dataset.id: dataset for dataset in self._read.distinct()}
        output = [Attribute(one.name(), one.exprId().id()) for one in items(plan.output())]
        self.behind = SourceQuery(plan.toJSON(), output, self._read)
        self._sink = self._guard.attempt("sink", partial(sink_of, execution, session), None)
        if self._sink is not None and self._sink.dataset is not None:
            learn = partial(add_columns, self._sink.dataset, plan, self._read)
            self._gaps += self._guard.attempt("columns", learn, ["the columns are unknown"])
            self._sink.dataset.facets.setdefault("schema", schema_facet(struct_of(plan.schema())))
            self._outputs[self._sink.dataset.id] = self._sink.dataset

    def _named_by_data(self) -> str:
        """The name of a query without one of its own: after its target, else after its inputs."""
        if self._sink is not None:
            return self._sink.label
        return f"foreach.{'+'.join(sorted(shown_name(dataset) for dataset in self._inputs.values())) or 'rows'}"

    def _wrote(self, dataset: DatasetId, figures: Moved | None) -> None:
        if figures is not None:
            known = self._written.get(dataset, Moved())
            self._written[dataset] = sum_of((known, figures))

    def _learn_version(self) -> None:
        """Find the newest snapshot that this query committed, by the query id that Iceberg stores in it."""
        if self._sink is None or self._sink.table is None or self._sink.dataset is None:
            return
        self._sink.table.refresh()
        for snapshot in self._figures.history(self._sink.table, self._sink.branch):
            if snapshot.get("summary", {}).get(_QUERY_ID) == self._query_id:
                self._sink.dataset.facets["version"] = version_facet(str(snapshot["snapshot-id"]))
                return

    def _content(self, facets: Mapping[str, RunFacet]) -> Content:
        for dataset, figures in self._written.items():
            if dataset in self._outputs:
                self._outputs[dataset].written["outputStatistics"] = written_facet(figures)
        if len(self._read.distinct()) == 1 and self._rows_in:
            (followed,) = self._read.distinct()
            followed.read["inputStatistics"] = read_facet(Moved(rows=sum(self._rows_in.values())))
        return Content({**gaps_facet(self._gaps), **facets}, self._inputs.values(), self._outputs.values())

    def _counters(self, at: datetime, failure: Failure | None, stop_reason: str | None) -> dict[str, RunFacet]:
        out = sum_of(self._written.values()) if self._written or not self._outputs else Moved()
        facets: dict[str, RunFacet] = {
            "headwater_run": HeadwaterRunFacet(
                recordsIn=sum(self._rows_in.values()),
                recordsOut=out.rows,
                bytesIn=None,
                bytesOut=out.bytes,
                errorCount=0 if failure is None else 1,
                durationMs=round((at - self._started_at).total_seconds() * 1000),
                stopReason=stop_reason,
            )
        }
        if self._last is not None:
            facets["headwater_stream"] = HeadwaterStreamFacet(sources=sources_of(self._last))
        return facets
