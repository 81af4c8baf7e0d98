"""Facts: the content of an event, in pieces that merge in any order.

`extract.facts(event)` is pure, and every fact has a `key` and a `merge` that is commutative, associative and
idempotent: so the merged facts of a log are the same for any order of arrival, any repetition and any batching. Stores
keep merged facts; everything else (edges, versions, staleness) is derived from them. `merging` has the base classes.

    fact            key                                    merge
    Content         digest                                 the same by construction
    RunTimes        run                                    min and max of times, greatest (rank, stamp) of states
    RunOfJob        run                                    last writer; naming a parent, and a root, beats not
    RunFacet        run, facet name                        last writer
    RunFacetReport      run, facet name, content               union: last stamp
    JobFacet        job, facet name, content               union: first time and last stamp
    Observation     run, direction, dataset                union: min and max of times
    ObservedFacet   run, direction, dataset, slot, name    last writer
    FacetReport     run, direction, dataset, name, content union: first and last stamp
    ColumnEvidence  run, target, strength, content         union: min and max of times
    UseEvidence     run, content                           union: min and max of times
    Declaration     job or dataset                         last writer, replaced entirely
    DeclaredTimes   job or dataset                         union: min and max of times
    DeclaredShape   dataset, time and event                union
    Alias           name, alias, evidence                  union: min and max of times
    Renaming        run, name, former name                 union: min and max of times
    CatalogEntry    dataset, catalog, table                union: min and max of times
    EngineCatalog   engine, word, catalog, names there     union: min and max of times
    Ending          run, terminal state                    union: min and max of times
    ControlFlow     run, direction, job, dependency type   union: min and max of times
    JobFlow         run, source, target, their runs        union: min and max of times
    Quarantined     run or job, direction, namespace, name union: min and max of times
    Edit            target, what                           last writer by log index; min and max of times
    Deletion        target, log index, deleted or not      union: min and max of times
    ChainLink       node, epoch, sequence, event digest    union: earliest arrival; proved if it ever was

A facet's value is stored once, by the SHA-256 of its JSON with sorted keys; the other facts refer to it by digest.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal, NamedTuple, Self

from headwater.model.events import Direction, Stamp
from headwater.model.merging import LastWriter, Merging, Seen, Widening
from headwater.model.names import DatasetId, JobId
from headwater.model.value import value

Slot = Literal["facets", "direction_facets"]
ShapePart = Literal["schema", "version"]
SHAPE_PARTS: tuple[ShapePart, ...] = ("schema", "version")
"""Facets that define a version of a dataset."""

RETAINED_FACETS: frozenset[str] = frozenset({*SHAPE_PARTS, "dataQualityAssertions", "dataQualityMetrics"})
"""Dataset facets of which every report is retained, not only a run's last; `SHAPE_PARTS` only of the dataset itself."""
RETAINED_RUN_FACETS: frozenset[str] = frozenset({"test"})
"""The same for run facets: each report may concern other tests."""
Evidence = Literal["symlinks", "rename"]
TerminalState = Literal["COMPLETE", "FAIL", "ABORT"]
RunState = Literal["NEW", "RUNNING", "COMPLETED", "ABORTED", "FAILED"]
"""The state of a run, in Marquez's terms."""
FlowDirection = Literal["upstream", "downstream"]
Target = tuple[str, ...]
"""The target of an edit: a kind, then the parts of its name, as in `("dataset", "lake", "orders")`."""

STATE_RANK: Mapping[str, int] = {"OTHER": 0, "START": 1, "RUNNING": 2, "COMPLETE": 3, "FAIL": 3, "ABORT": 3}
"""A terminal state beats RUNNING beats START, whatever their times."""

UNDER_WAY: frozenset[str] = frozenset({"START", "RUNNING"})
"""Event types that mean a run has started; before, it was only created."""

INFERRED_RANK: int = STATE_RANK["RUNNING"]
"""The rank of an end that was inferred from silence: any later report of the run overrides it."""

TERMINAL_STATES: frozenset[TerminalState] = frozenset({"COMPLETE", "FAIL", "ABORT"})

ERRORS: frozenset[str] = frozenset({"errorMessage", "spark.exception"})
"""Run facets that give the reason for a failure."""

TROUBLE: frozenset[str] = ERRORS | {"extractionError", "unknownSourceAttribute"}
"""Run facets that the graph keeps: they report a problem with the run, or with its lineage."""

STRENGTH: Mapping[str, int] = {"lineage": 3, "columnLineage": 2}
"""The strength of a facet's column evidence, strongest first; inputs times outputs would be 1."""


@value
class Content(Merging):
    """A JSON value stored once: a facet, or a declaration. `digest` is the SHA-256 of `body`."""

    KEY = ("digest",)
    digest: bytes
    body: bytes

    def merge(self, _: Self) -> Self:
        """Return this one: equal digests mean equal bodies."""
        return self


@value
class RunTimes(Merging):
    """When a run was reported, and its state: the greatest (rank, stamp) wins."""

    KEY = ("run_id",)
    run_id: str
    seen: Seen
    state: tuple[int, Stamp, str]
    """Rank of the event type, stamp, event type."""
    started_us: int | None = None
    """When it first reported START or RUNNING; None if it did not."""

    def merge(self, other: "RunTimes") -> "RunTimes":
        """Return the union of times, with the stronger state and the earlier start."""
        started_us = self.started_us
        if started_us is None or (other.started_us is not None and other.started_us < started_us):
            started_us = other.started_us
        return RunTimes(self.run_id, self.seen.union(other.seen), max(self.state, other.state), started_us)


@value
class ParentRun:
    """A run and its job, as a `parent` facet names them: the parent, or the root."""

    run_id: str
    job: JobId


@value
class RunOfJob(Merging):
    """Which job a run belongs to, its parent, and the root, which may equal the parent.

    An event that names the parent beats one that does not; among those, one that names the root wins.
    """

    KEY = ("run_id",)
    run_id: str
    job: JobId
    parent: ParentRun | None
    root: ParentRun | None
    stamp: Stamp

    @property
    def parts_of(self) -> tuple[ParentRun, ...]:
        """The parent and root, without the run itself and without duplicates."""
        named = [each for each in (self.parent, self.root) if each is not None and each.run_id != self.run_id]
        return tuple(named[:1] if named[1:] == named[:1] else named)

    def merge(self, other: Self) -> Self:
        """Return the one that names a parent, then the one that names a root, then the later one."""
        own, others = ((fact.parent is not None, fact.root is not None, fact.stamp) for fact in (self, other))
        return self if own >= others else other


@value
class RunFacet(LastWriter):
    """A run facet."""

    KEY = ("run_id", "name")
    run_id: str
    name: str
    content: bytes
    stamp: Stamp


@value
class RunFacetReport(LastWriter):
    """A report of one of `RETAINED_RUN_FACETS`, retained permanently; `stamp` is its last occurrence."""

    KEY = ("run_id", "name", "content")
    run_id: str
    name: str
    content: bytes
    stamp: Stamp


class Stamped(NamedTuple):
    """The content of a facet of a job or dataset, by digest, and when it was reported; the greatest wins.

    If one event both reads and writes a dataset, the output counts as later: it describes the result.
    """

    stamp: Stamp
    is_written: bool
    """Whether a run reported it of an output."""
    content: bytes


@value
class JobFacet(Merging):
    """A job facet with this content, retained permanently, from its first to its last report.

    `stamp` is the last.
    """

    KEY = ("job", "name", "content")
    job: JobId
    name: str
    content: bytes
    first_us: int
    stamp: Stamp

    @property
    def stamped(self) -> Stamped:
        """The last report of this content."""
        return Stamped(self.stamp, False, self.content)

    def merge(self, other: "JobFacet") -> "JobFacet":
        """Return the facet from the earlier first to the later last time."""
        first_us, stamp = min(self.first_us, other.first_us), max(self.stamp, other.stamp)
        return JobFacet(self.job, self.name, self.content, first_us, stamp)


@value
class Observation(Widening):
    """A run read (input) or wrote (output) a dataset."""

    KEY = ("run_id", "direction", "dataset")
    run_id: str
    direction: Direction
    dataset: DatasetId
    seen: Seen


@value
class ObservedFacet(LastWriter):
    """A facet of a dataset, as a run reported it."""

    KEY = ("run_id", "direction", "dataset", "slot", "name")
    run_id: str
    direction: Direction
    dataset: DatasetId
    slot: Slot
    name: str
    content: bytes
    stamp: Stamp

    @property
    def is_of_dataset(self) -> bool:
        """Whether it describes the dataset rather than a single write, as every facet of an input does."""
        return self.slot == "facets" or self.direction == "input"

    @property
    def stamped(self) -> Stamped:
        """The facet's content with its stamp."""
        return Stamped(self.stamp, self.direction == "output", self.content)


@value
class FacetReport(Merging):
    """A report of one of `RETAINED_FACETS` by a run, retained permanently: a stream may report many.

    Of repeated reports with the same content, the first and the last are retained.
    """

    KEY = ("run_id", "direction", "dataset", "name", "content")
    run_id: str
    direction: Direction
    dataset: DatasetId
    name: str
    content: bytes
    first: Stamp
    last: Stamp

    def merge(self, other: "FacetReport") -> "FacetReport":
        """Return the report from the earlier first to the later last time."""
        first, last = min(self.first, other.first), max(self.last, other.last)
        return FacetReport(self.run_id, self.direction, self.dataset, self.name, self.content, first, last)


@value
class ColumnEvidence(Widening):
    """A facet from which column edges into `target` can be read; within a run only the strongest counts."""

    KEY = ("run_id", "target", "strength", "content")
    run_id: str
    target: DatasetId
    strength: int
    content: bytes
    seen: Seen


@value
class UseEvidence(Widening):
    """A `lineage` facet of a run's job that reports what jobs use themselves, without making a dataset of it."""

    KEY = ("run_id", "content")
    run_id: str
    content: bytes
    seen: Seen


@value
class Declaration(LastWriter):
    """A job or dataset as a job event or dataset event declared it.

    `content` is the digest of a JSON object. For a job: `{"inputs": [ref…], "outputs": [ref…]}`, optionally with
    `"flows": [[source, target]…]`, `"targets": [ref…]` (datasets whose sources it reports without writing them), and
    `"uses"` (the digest of a `lineage` facet that reports what jobs use themselves). For a dataset: one `ref`. A `ref`
    is `{"namespace", "name", "facets": {facet name: hex digest}}`, optionally with `"silent"` (the names of its lineage
    facets that name no sources) and, in a dataset event, `"jobs": [[namespace, name]…]` (its producers). An end of a
    flow is `["job" or "dataset", namespace, name]`, or null for the job itself. A job's name may be followed by a run
    id.
    """

    KEY = ("kind", "node")
    node: JobId | DatasetId
    content: bytes
    stamp: Stamp

    @property
    def kind(self) -> Literal["job", "dataset"]:
        """Distinguishes the two kinds of node, which are equal as tuples."""
        return "job" if isinstance(self.node, JobId) else "dataset"


@value
class DeclaredTimes(Widening):
    """When a job or dataset was declared, including by declarations since replaced."""

    KEY = ("kind", "node")
    node: JobId | DatasetId
    seen: Seen

    @property
    def kind(self) -> Literal["job", "dataset"]:
        """Distinguishes the two kinds of node, which are equal as tuples."""
        return "job" if isinstance(self.node, JobId) else "dataset"


@value
class DeclaredShape(Merging):
    """The schema and version in a dataset event, retained permanently.

    Digests of the facets; None where the event has none.
    """

    KEY = ("dataset", "stamp")
    dataset: DatasetId
    stamp: Stamp
    schema: bytes | None
    version: bytes | None

    def merge(self, other: Self) -> Self:
        """Return either: an event says only one thing."""
        return max(self, other, key=lambda fact: (fact.schema or b"", fact.version or b""))


@value
class Alias(Widening):
    """Evidence that two names are one dataset."""

    KEY = ("name", "alias", "evidence")
    name: DatasetId
    alias: DatasetId
    evidence: Evidence
    seen: Seen


@value
class Renaming(Widening):
    """A run reports that it renamed a dataset, so that both names are one dataset; ignored if the run failed."""

    KEY = ("run_id", "name", "former")
    run_id: str
    name: DatasetId
    former: DatasetId
    seen: Seen

    @property
    def alias(self) -> Alias:
        """The same evidence without a run."""
        return Alias(self.name, self.former, "rename", self.seen)


class Catalog(NamedTuple):
    """A catalog as a `catalog` facet describes it; unknown URIs are empty.

    Two are the same if all four members agree, whatever engine reports them.
    """

    kind: str
    """`hadoop`, `hive`, `glue`, `rest` …"""
    name: str
    """The reporting engine's name for it: other engines may use another."""
    metadata_uri: str
    warehouse_uri: str


@value
class CatalogEntry(Widening):
    """A dataset is this table of this catalog."""

    KEY = ("dataset", "catalog", "table")
    dataset: DatasetId
    catalog: Catalog
    table: str
    """With its namespaces, for example `sales.orders`."""
    seen: Seen


@value
class EngineCatalog(Widening):
    """A query engine's configuration: names that begin with a word refer to a catalog or another namespace.

    For example, `trino://host:8080` reports that its `lake.…` are the tables of an Iceberg catalog, or that its
    `shop.…` are those of a database, which has its own names for them. It applies to all such names, present and
    future.
    """

    KEY = ("engine", "word", "catalog", "names")
    engine: str
    """The namespace of the engine's own names."""
    word: str
    """The first part of these names, before the first dot: the engine's name for the catalog."""
    catalog: Catalog
    """The catalog of the tables, with an empty name; all empty if `names` is set."""
    names: DatasetId
    """The namespace and prefix of the names they refer to; both empty if `catalog` is set."""
    seen: Seen


@value
class Ending(Widening):
    """A run reported this end; a producer may report more than one."""

    KEY = ("run_id", "state")
    run_id: str
    state: TerminalState
    seen: Seen


@value
class ControlFlow(Widening):
    """A run's `jobDependencies` facet names a job that runs before it (upstream) or after it; no data need pass."""

    KEY = ("run_id", "direction", "job", "dependency")
    run_id: str
    direction: FlowDirection
    job: JobId
    dependency: str
    """The type of the dependency, for example `DIRECT_INVOCATION`; empty if not reported."""
    seen: Seen


@value
class JobFlow(Widening):
    """A run's explicit lineage reports a flow between a job that it names and a dataset or another job.

    None stands for the run's own job, at one end at most, with another job at the other. A named job's run may be
    given: then the data came from, or went into, exactly that run.
    """

    run_id: str
    source: JobId | DatasetId | None
    target: JobId | DatasetId | None
    seen: Seen
    source_run: str | None = None
    target_run: str | None = None

    @property
    def key(self) -> tuple[object, ...]:
        """The run and both ends, with their kinds (a job and a dataset may be equal as tuples) and runs."""
        ends = type(self.source), self.source, type(self.target), self.target
        return ("JobFlow", self.run_id, *ends, self.source_run, self.target_run)


@value
class Quarantined(Widening):
    """A dataset mentioned without a complete name: not in the graph unless other evidence resolves it."""

    KEY = ("subject", "direction", "namespace", "name")
    subject: str
    """`run:ID`, or the job's node id."""
    direction: Direction
    namespace: str
    name: str
    seen: Seen


@value
class Edit(Merging):
    """An edit made over the API; of two with the same target and `what`, the later in the log wins.

    The only fact whose merge depends on the order of arrival: people mean what they said last.
    """

    KEY = ("target", "what")
    target: Target
    what: str
    value: bytes
    """JSON, keys sorted."""
    log_index: int
    seen: Seen

    def merge(self, other: Self) -> Self:
        """Return the later of the two, with the times of both."""
        later = max(self, other, key=lambda fact: (fact.log_index, fact.value))
        return replace(later, seen=self.seen.union(other.seen))


@value
class Deletion(Widening):
    """A log entry deleted a target over the API, or restored it; `Edit` has only the last of these."""

    KEY = ("target", "log_index", "is_deleted")
    target: Target
    log_index: int
    is_deleted: bool
    seen: Seen


@value
class ChainLink(Merging):
    """A signed event's position in its node's chain.

    Two links at one position are a replay of one event if their payload hashes are equal, else a fork.
    """

    KEY = ("node", "epoch", "sequence", "digest")
    node: str
    epoch: str
    sequence: int
    digest: bytes
    """The digest of the event's bytes as received."""
    payload_hash: bytes
    previous_hash: bytes
    """Empty if it is the first."""
    event_us: int
    received_us: int
    is_proved: bool
    """Whether a trusted key had signed it, as known on arrival."""
    statements: bytes
    """Further statements as JSON, see `headwater.model.nodes`; empty for most events."""

    def merge(self, other: Self) -> Self:
        """Return the earlier arrival, proved if either is."""
        received_us = min(self.received_us, other.received_us)
        return replace(self, received_us=received_us, is_proved=self.is_proved or other.is_proved)


Fact = (
    Content
    | RunTimes
    | RunOfJob
    | RunFacet
    | RunFacetReport
    | JobFacet
    | Observation
    | ObservedFacet
    | FacetReport
    | ColumnEvidence
    | UseEvidence
    | Declaration
    | DeclaredTimes
    | DeclaredShape
    | Alias
    | Renaming
    | CatalogEntry
    | EngineCatalog
    | Ending
    | ControlFlow
    | JobFlow
    | Quarantined
    | Edit
    | Deletion
    | ChainLink
)


def happened_us(facts: Iterable[Fact]) -> int:
    """The event time of an event, given its facts, which all carry it; microseconds since 1970."""
    return next(_happened_us(fact) for fact in facts if not isinstance(fact, Content))


def _happened_us(fact: Any) -> int:  # noqa: ANN401  any fact but a content
    match fact:
        case Widening() | RunTimes() | Edit():
            return fact.seen.last_us
        case ChainLink():
            return fact.event_us
        case FacetReport():
            return fact.last.time_us
    time_us: int = fact.stamp.time_us
    return time_us
