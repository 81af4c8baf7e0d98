"""One query execution of a program: what it read and wrote, and how much."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from openlineage.client.event_v2 import RunState
from openlineage.client.facet_v2 import RunFacet

from headwater.capture.spark.application import WELL, Ending, why
from headwater.capture.spark.changes import change_of
from headwater.capture.spark.columns import SourceQuery, add_columns
from headwater.capture.spark.reading import Read, rows_unseen
from headwater.capture.spark.writing import WHOLE, Write, query_of, writes_of
from headwater.model.build import HeadwaterRunFacet
from headwater.observe.described import Described
from headwater.observe.guard import Guard
from headwater.observe.run_facets import gaps_facet
from headwater.observe.run_reporter import Content
from headwater.observe.spark.executions import Moved
from headwater.observe.spark.jvm import Java
from headwater.observe.spark.relations import Relation, relations
from headwater.observe.spark.tally import Tally, read_facet, sum_of, written_facet

_NAMED_AT_MOST = 3
"""The most inputs listed in the name of a query without a target."""


@dataclass(slots=True, kw_only=True)
class Action:
    """A query execution, running or ended.

    Attributes:
        called: the name of the action, `collect` or `append` for example.
        ended_at: None while it runs.
        moved: rows, bytes and files written, by the index in `writes`.
    """

    called: str
    number: int
    kind: str
    started_at: datetime
    ended_at: datetime | None = None
    ending: Ending = WELL
    writes: list[Write] = field(default_factory=list)
    read: Read = field(default_factory=Read)
    tally: Tally = field(default_factory=Tally)
    moved: dict[int, Moved] = field(default_factory=dict)
    gaps: list[str] = field(default_factory=list)

    @property
    def is_whole(self) -> bool:
        """Whether another execution may have done its writing."""
        return self.kind in WHOLE

    @property
    def is_part(self) -> bool:
        """Whether another execution may turn out to contain it."""
        return any(write.is_part for write in self.writes)

    @property
    def has_datasets(self) -> bool:
        """Whether it read or wrote any dataset."""
        return bool(self.inputs()) or any(write.dataset is not None for write in self.writes)

    @property
    def name(self) -> str:
        """The job's name: the same for executions with the same target, or the same action on the same inputs."""
        if self.writes:
            return "+".join(dict.fromkeys(write.label for write in self.writes))
        names = sorted({shown_name(one) for one in self.inputs()})
        more = [f"{len(names) - _NAMED_AT_MOST} more"] if len(names) > _NAMED_AT_MOST else []
        return f"{self.called.removesuffix('ToPython')}.{'+'.join([*names[:_NAMED_AT_MOST], *more])}"

    def inputs(self) -> list[Described]:
        """All datasets read."""
        return self.read.distinct()

    def outputs(self) -> list[Described]:
        """All datasets written."""
        return [write.dataset for write in self.writes if write.dataset is not None]

    def contains(self, part: "Action") -> bool:
        """Whether `part` did this action's writing: at the same time, to the same target."""
        if not self.is_whole or part.started_at < self.started_at:
            return False
        return bool(_targets(self) & _targets(part)) or any(
            whole.label.endswith(f".{inner.label}") for whole in self.writes for inner in part.writes
        )

    def adopt(self, part: "Action") -> None:
        """Take over the figures of `part`."""
        for source, scan in part.tally.read.items():
            self.tally.add_scan(source, scan)
        for index, figures in part.moved.items():
            self.moved.setdefault(index, figures)

    def content(self) -> Content:
        """The content of the action's events."""
        for dataset, figures in self._reads():
            dataset.read["inputStatistics"] = read_facet(figures)
        for index, write in enumerate(self.writes):
            if write.dataset is not None and index in self.moved:
                write.dataset.written["outputStatistics"] = written_facet(self.moved[index])
        return Content(self._facets(), self.inputs(), self.outputs())

    def _reads(self) -> Iterator[tuple[Described, Moved]]:
        """The inputs with their statistics, except for a scan of several datasets at once."""
        for source, scan in self.tally.read.items():
            found = self.read.datasets.get(source, [])
            if len(found) == 1 and source not in self.read.about:
                yield found[0], scan

    def _facets(self) -> dict[str, RunFacet]:
        facets = {**gaps_facet(self.gaps), **why(self.ending.failure)}
        if self.ended_at is None:
            return facets
        scans = [scan for source, scan in self.tally.read.items() if self.read.datasets.get(source)]
        read = sum_of(scans) if scans or not self.inputs() else Moved()
        written = sum_of(self.moved.values())
        facets["headwater_run"] = HeadwaterRunFacet(
            recordsIn=read.rows,
            recordsOut=written.rows,
            bytesIn=read.bytes,
            bytesOut=written.bytes,
            errorCount=0 if self.ending.failure is None else 1,
            durationMs=round((self.ended_at - self.started_at).total_seconds() * 1000),
            stopReason=self.ending.stop_reason,
        )
        return facets


def shown_name(dataset: Described) -> str:
    """A dataset's name for people: of a table its name in the catalog, otherwise the dataset's own name."""
    links = dataset.facets.get("symlinks")
    identifiers = getattr(links, "identifiers", None)
    return str(identifiers[0].name) if identifiers else dataset.id.name


def _targets(action: "Action") -> set[object]:
    labels: set[object] = {write.label for write in action.writes}
    return labels | {dataset.id for dataset in action.outputs()}


def learn_plan(action: Action, execution: Java, guard: Guard, behind: SourceQuery | None = None) -> None:
    """Fill in the action's inputs and outputs, with column lineage, from an execution's plan."""
    analysed, session = execution.analyzed(), execution.sparkSession()
    action.kind = analysed.productPrefix()
    is_done = action.ended_at is not None and action.ending.state == RunState.COMPLETE
    change = guard.attempt("change", partial(change_of, analysed, session, is_done=is_done), None)
    if change is not None:
        action.writes = [change]
        return
    action.writes = guard.attempt("writes", partial(writes_of, analysed, session), [])
    nothing: list[Relation] = []
    found = guard.attempt("relations", partial(_relations, query_of(analysed), action), nothing)
    for relation in found:
        guard.attempt("relation", partial(action.read.take, relation, session), None)
    action.gaps += [f"{kind} does not identify a dataset" for kind in action.read.unknown]
    if action.writes:
        seen = [] if behind is None else [column.name for column in behind.output]
        action.read.unseen = guard.attempt("rows", partial(rows_unseen, query_of(analysed), seen), frozenset())
        action.gaps += ["the source of an RDD's rows is unknown"] * len(action.read.unseen)
    if action.kind == "DeleteFromTable":  # its only relation is its target
        action.read = Read()
    for write in action.writes:
        if write.dataset is not None:
            learn = partial(add_columns, write.dataset, write.plan, action.read, behind)
            action.gaps += guard.attempt("columns", learn, ["the columns are unknown"])
        elif action.kind == "SaveIntoDataSourceCommand":  # others may have failed to create their table
            action.gaps.append(f"{action.kind} does not identify a dataset")


def _relations(analysed: Java, action: Action) -> list[Relation]:
    """The plan's relations, with the versions of their tables before the action."""
    started_ms = action.started_at.timestamp() * 1000
    return list(relations(analysed, lambda snapshot: bool(snapshot.timestampMillis() > started_ms)))
