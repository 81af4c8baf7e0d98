"""The observer that reports a run as OpenLineage events."""

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from pathlib import Path

from openlineage.client.event_v2 import Run, RunState
from openlineage.client.facet_v2 import RunFacet
from pyspark.sql import DataFrame, SparkSession

from headwater.graph.sparkplan.leaves import leaves
from headwater.graph.sparkplan.lineage import column_lineage
from headwater.graph.sparkplan.plan import parse_plan
from headwater.model.build import run_event
from headwater.model.facts import TerminalState
from headwater.model.names import DatasetId
from headwater.observe.counters import Counters
from headwater.observe.failure import Failure
from headwater.observe.guard import Guard
from headwater.observe.lifecycle import Lifecycle
from headwater.observe.run_facets import HeadwaterStreamFacet, counters_facet, failure_facet, gaps_facet
from headwater.observe.spark.columns import Facet, facet_of, gap_texts, named_as, spread
from headwater.observe.spark.executions import Moved
from headwater.observe.spark.iceberg import version_facet
from headwater.observe.spark.tally import read_facet, sum_of, written_facet
from headwater.pipeline.execution import Execution
from headwater.pipeline.kafka.topics import Topic
from headwater.pipeline.reporting.job import job_of, pipeline_facets
from headwater.pipeline.reporting.run_figures import RunFigures
from headwater.pipeline.reporting.sources import Datasets
from headwater.pipeline.reporting.topics import cut_at_payloads
from headwater.pipeline.spec import IcebergOutput, Output, PipelineSpec, PythonProcessor
from headwater.pipeline.stop import EndReason


class Reporter:
    """Reports one run. All calls go through a guard: nothing here can fail the run."""

    def __init__(
        self,
        spec: PipelineSpec,
        execution: Execution,
        *,
        home: Path,
        now: Callable[[], datetime],
        put: Callable[[bytes], None],
    ) -> None:
        self._spec = spec
        self._execution = execution
        self._now = now
        self._guard = Guard()
        self._datasets = Datasets(spec, execution.run_id, home, self._guard)
        self._lifecycle = Lifecycle(execution.started_at, now, put)
        self._session: SparkSession | None = None
        self._accounts: RunFigures | None = None
        self._columns_of: dict[str, Facet | None] = {}
        self._gaps: list[str] = []
        self._rows_were_hidden = False
        self._engine: dict[str, RunFacet] = {}

    def begin(self, session: SparkSession | None) -> None:
        """Emit START, with the datasets as far as they are known without reading them."""
        if self._lifecycle.begun:
            return
        self._session = session
        version = session.version if session is not None else "unknown"
        self._engine = pipeline_facets(self._spec, version)
        self._guard.attempt("datasets", lambda: self._datasets.describe(session), None)
        self._emit(RunState.START, {"headwater_run": counters_facet(Counters())})

    def ready_to_count(self, session: SparkSession) -> None:
        """Count rows written from now on; counts from before a stream's restart are kept."""
        if self._accounts is not None:
            return
        account = partial(RunFigures, session, self._spec, self._execution)
        self._accounts = self._guard.attempt("accounts", account, None)

    def planned(
        self, inputs: Mapping[str, DataFrame], frames: Mapping[str, DataFrame], topics: Mapping[str, tuple[Topic, ...]]
    ) -> None:
        """Determine the inputs and the column lineage of the frames."""
        self._guard.attempt("topics", lambda: self._datasets.learn_topics(topics), None)
        for name, frame in inputs.items():
            self._guard.attempt("input frame", partial(self._datasets.read_through, name, frame), None)
        for step in self._spec.processors:
            if isinstance(step.does, PythonProcessor) and step.source is not None:
                learn = partial(self._datasets.learn_function, frames[step.source], frames[step.frame])
                self._guard.attempt("function", learn, None)
        nothing: list[str] = []
        self._gaps = self._guard.attempt("input", self._datasets.gaps, nothing)
        facets = {source: self._columns(frames[source]) for source in {one.source for one in self._spec.outputs}}
        for output in self._spec.all_outputs:
            columns = facets.get(output.source)
            self._guard.attempt("output", partial(self._learn_output, output, frames, columns), None)
        if self._spec.mode == "stream":
            self.running()

    def watch(self, output: Output, frame: DataFrame) -> DataFrame:
        """The frame with its rows counted."""
        accounts = self._accounts
        return frame if accounts is None else self._guard.attempt("watch", lambda: accounts.watch(output, frame), frame)

    def watch_stream(self, frame: DataFrame) -> DataFrame:
        """The frame with its rows counted."""
        accounts = self._accounts
        return frame if accounts is None else self._guard.attempt("watch", lambda: accounts.watch_stream(frame), frame)

    def wrote(self, output: Output, rows: int | None) -> None:
        """Count written rows."""
        accounts = self._accounts
        if accounts is not None:
            self._guard.attempt("counters", lambda: accounts.wrote(output, rows), None)

    def running(self) -> None:
        """Emit RUNNING, with the counters so far and a stream's progress."""
        if self._lifecycle.begun and not self._lifecycle.over:
            self._refresh()
            self._emit(RunState.RUNNING, self._progress_facets(self._counters(None)))

    def end(self, state: TerminalState, why: EndReason, failure: Failure | None) -> Counters:
        """Emit COMPLETE, FAIL or ABORT, with the final counters; no events after it."""
        self.begin(None)
        self._refresh()
        counters = self._emit_end(state, why, failure)
        if self._accounts is not None:
            self._guard.attempt("close", self._accounts.close, None)
        return counters

    def end_without_spark(self, state: TerminalState, why: EndReason, failure: Failure | None) -> Counters:
        """As `end`, with what is known so far; for another thread, if this one is blocked in a call to Spark."""
        if not self._lifecycle.begun:
            self._emit(RunState.START, {"headwater_run": counters_facet(Counters())})
        return self._emit_end(state, why, failure)

    def _emit_end(self, state: TerminalState, why: EndReason, failure: Failure | None) -> Counters:
        counters = self._counters(why, 0 if failure is None else 1)
        facets = self._progress_facets(counters)
        if failure is not None:
            facets["errorMessage"] = failure_facet(failure)
        self._emit(RunState[state], facets)
        return counters

    def _columns(self, frame: DataFrame) -> Facet | None:
        nothing: tuple[Facet | None, list[str]] = (None, ["the columns are unknown"])
        facet, gaps = self._guard.attempt("column lineage", partial(self._learn_columns, frame), nothing)
        self._gaps += [gap for gap in gaps if gap not in self._gaps]
        return facet

    def _learn_columns(self, frame: DataFrame) -> tuple[Facet | None, list[str]]:
        """The column lineage facet of a frame, if enough of it is known, and its gaps."""
        if self._session is None:
            return None, []
        analysed, datasets = frame._jdf.queryExecution().analyzed(), self._datasets
        plan = parse_plan(cut_at_payloads(analysed.toJSON()) if datasets.topics else analysed.toJSON())
        datasets.learn_relations(self._session, analysed, plan)
        found = column_lineage(plan, datasets.dataset_of, datasets.hides)
        self._rows_were_hidden |= any(map(datasets.is_of_function, leaves(plan)))
        return facet_of(spread(found, datasets.members), datasets.behind), gap_texts(found.gaps)

    def _learn_output(self, output: Output, frames: Mapping[str, DataFrame], columns: Facet | None) -> None:
        self._columns_of[output.location.path] = columns
        self._datasets.learn_output(output.location.path, frames[output.source])
        described = self._datasets.outputs.get(output.location.path)
        if described is not None:
            described.facets.pop("columnLineage", None)  # that of an earlier schema
            if columns is not None:
                described.facets["columnLineage"] = named_as(columns, described.facets.get("schema"))

    def _refresh(self) -> None:
        accounts = self._accounts
        if accounts is None:
            return
        self._guard.attempt("counters", accounts.refresh, None)
        for output in self._spec.all_outputs:
            self._guard.attempt("output", partial(self._refresh_output, accounts, output), None)
        self._guard.attempt("statistics", lambda: self._refresh_inputs(accounts), None)

    def _refresh_output(self, accounts: RunFigures, output: Output) -> None:
        path = output.location.path
        if path in accounts.versions and isinstance(output.writes, IcebergOutput) and self._session is not None:
            described = self._datasets.described_again(self._session, path, output.writes)
            if described is not None:
                described.facets["version"] = version_facet(str(accounts.versions[path]))
                if (columns := self._columns_of.get(path)) is not None:  # a new table may have had no location before
                    described.facets["columnLineage"] = named_as(columns, described.facets.get("schema"))
        described = self._datasets.outputs.get(path)
        moved = accounts.written(output)
        if described is not None and moved is not None:
            described.written["outputStatistics"] = written_facet(moved)

    def _refresh_inputs(self, accounts: RunFigures) -> None:
        """Set the statistics of the inputs, except for a scan of several datasets at once."""
        read: dict[DatasetId, list[Moved]] = {}
        for source, datasets in self._datasets.by_source.items():
            moved = accounts.read(source)
            if moved is not None and len(datasets) == 1:
                read.setdefault(datasets[0].id, []).append(moved)
        for dataset, scans in read.items():
            self._datasets.inputs[dataset].read["inputStatistics"] = read_facet(sum_of(scans))

    def _counters(self, why: EndReason | None, error_count: int = 0) -> Counters:
        elapsed = self._now() - self._execution.started_at
        nothing = (Moved(0, 0), Moved(0, 0))
        accounts = self._accounts
        if accounts is None:
            read, written = nothing
        else:
            sources = self._datasets.by_source
            read, written = self._guard.attempt("counters", lambda: accounts.totals(sources), nothing)
            if self._rows_were_hidden and not read.rows:
                read = Moved()  # reads of a user's function are not counted
            error_count += self._guard.attempt("counters", accounts.dead_letters, 0)
        return Counters(
            records_in=read.rows,
            records_out=written.rows,
            bytes_in=read.bytes,
            bytes_out=written.bytes,
            error_count=error_count,
            duration_ms=max(0, round(elapsed.total_seconds() * 1000)),
            stop_reason=None if why is None else why.reason,
            stopped_by=None if why is None else why.by,
            stop_note=None if why is None else why.note,
        )

    def _progress_facets(self, counters: Counters) -> dict[str, RunFacet]:
        gaps = [*self._gaps, *self._datasets.missing.values()]
        facets: dict[str, RunFacet] = {"headwater_run": counters_facet(counters), **gaps_facet(gaps)}
        sources = [] if self._accounts is None else self._accounts.stream_sources()
        if sources:
            facets["headwater_stream"] = HeadwaterStreamFacet(sources=sources)
        return facets

    def _emit(self, state: RunState, facets: dict[str, RunFacet]) -> None:
        """Emit an event; if a dataset's facet cannot be serialised, without the datasets."""
        full = partial(self._event, facets, with_datasets=True)
        bare = partial(self._event, facets, with_datasets=False)
        if not self._guard.attempt("event", lambda: self._lifecycle.emit(state, full), False):
            self._guard.attempt("event without datasets", lambda: self._lifecycle.emit(state, bare), False)

    def _event(self, facets: Mapping[str, RunFacet], state: RunState, time: datetime, *, with_datasets: bool) -> bytes:
        inputs = self._datasets.inputs.values() if with_datasets else []
        outputs = self._datasets.distinct_outputs() if with_datasets else []
        return run_event(
            state,
            time,
            Run(runId=self._execution.run_id, facets={**self._engine, **facets}),
            job_of(self._spec),
            inputs=[one.as_input() for one in inputs],
            outputs=[one.as_output() for one in outputs],
        )
