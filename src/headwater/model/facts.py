"""Facts: what an event says, cut into pieces that merge in any order.

`extract.facts(event)` is pure, and every fact has a `key` and a `merge` that is commutative, associative and
idempotent: so the merged facts of a log are the same for any order of arrival, any repetition and any batching. Stores
keep merged facts; everything else (edges, versions, staleness) is derived from them. What most share is in `merging`.

    fact            key                                    merge
    Content         digest                                 the same by construction
    RunTimes        run                                    min and max of times, greatest (rank, stamp) of states
    RunOfJob        run                                    last writer; naming a parent, and a root, beats not
    RunFacet        run, facet name                        last writer
    RunTelling      run, facet name, content               union: last stamp
    JobFacet        job, facet name, content               union: first time and last stamp
    Observation     run, direction, dataset                union: min and max of times
    ObservedFacet   run, direction, dataset, slot, name    last writer
    Telling         run, direction, dataset, name, content union: first and last stamp
    ColumnEvidence  run, target, strength, content         union: min and max of times
    UseEvidence     run, content                           union: min and max of times
    Declaration     job or dataset                         last writer, whole
    DeclaredTimes   job or dataset                         union: min and max of times
    DeclaredShape   dataset, time and event                union
    Alias           name, alias, evidence                  union: min and max of times
    Renaming        run, name, former name                 union: min and max of times
    CatalogEntry    dataset, catalog, table                union: min and max of times
    EngineCatalog   engine, word, catalog, names there     union: min and max of times
    Ending          run, terminal state                    union: min and max of times
    ControlFlow     run, way, job, dependency type         union: min and max of times
    JobFlow         run, source, target, their runs        union: min and max of times
    Quarantined     run or job, direction, namespace, name union: min and max of times
    Edit            target, what                           last writer by place in the log; min and max of times
    ChainLink       node, epoch, sequence, event digest    union: earliest arrival; proved if it ever was

A facet's value is kept once, by the SHA-256 of its JSON with sorted keys; the other facts point at it by digest.
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
"""The facets that make a version of a dataset."""

KEPT_FACETS: frozenset[str] = frozenset({*SHAPE_PARTS, "dataQualityAssertions", "dataQualityMetrics"})
"""The facets of a dataset of which every telling counts, not only what a run told last."""
KEPT_RUN_FACETS: frozenset[str] = frozenset({"test"})
"""The same of a run: each telling may be of other tests."""
Evidence = Literal["symlinks", "rename"]
TerminalState = Literal["COMPLETE", "FAIL", "ABORT"]
RunState = Literal["NEW", "RUNNING", "COMPLETED", "ABORTED", "FAILED"]
"""What became of a run, in Marquez's words."""
Way = Literal["upstream", "downstream"]
Target = tuple[str, ...]
"""What an edit is about: a kind, then the parts of its name, as in `("dataset", "lake", "orders")`."""

STATE_RANK: Mapping[str, int] = {"OTHER": 0, "START": 1, "RUNNING": 2, "COMPLETE": 3, "FAIL": 3, "ABORT": 3}
"""A terminal state beats RUNNING beats START, whatever their times."""

UNDER_WAY: frozenset[str] = frozenset({"START", "RUNNING"})
"""The event types by which a run has started: it was only created before."""

INFERRED_RANK: int = STATE_RANK["RUNNING"]
"""Of an end that was concluded from silence: whatever the run tells later takes it back, and an end that it told."""

TERMINAL_STATES: frozenset[TerminalState] = frozenset({"COMPLETE", "FAIL", "ABORT"})

ERRORS: frozenset[str] = frozenset({"errorMessage", "spark.exception"})
"""The run facets that say why a run failed."""

TROUBLE: frozenset[str] = ERRORS | {"extractionError", "unknownSourceAttribute"}
"""The run facets that a graph knows: they say that something went wrong with the run, or with what was told of it."""

STRENGTH: Mapping[str, int] = {"lineage": 3, "columnLineage": 2}
"""How strong a facet's evidence of columns is, strongest first; the product of inputs and outputs would be 1."""


@value
class Content(Merging):
    """A JSON value kept once: a facet, or a declaration. `digest` is the SHA-256 of `body`."""

    KEY = ("digest",)
    digest: bytes
    body: bytes

    def merge(self, _: Self) -> Self:
        """Return this one: equal digests mean equal bodies."""
        return self


@value
class RunTimes(Merging):
    """When a run was heard of, and its state: the greatest (rank, stamp) wins."""

    KEY = ("run_id",)
    run_id: str
    seen: Seen
    state: tuple[int, Stamp, str]
    """Rank of the event type, stamp, event type."""
    started_us: int | None = None
    """When it was first told to be under way, by a START or RUNNING; None where nothing told that."""

    def merge(self, other: "RunTimes") -> "RunTimes":
        """Return the union of times, with the stronger state and the earlier start."""
        started_us = self.started_us
        if started_us is None or (other.started_us is not None and other.started_us < started_us):
            started_us = other.started_us
        return RunTimes(self.run_id, self.seen.union(other.seen), max(self.state, other.state), started_us)


@value
class ParentRun:
    """A run and its job, as a run's `parent` facet names them: that which it is a part of, or the root of all these."""

    run_id: str
    job: JobId


@value
class RunOfJob(Merging):
    """Which job a run belongs to, its parent, and the root of the runs that it is a part of, which may be its parent.

    An event that names the parent beats one that does not; of those that do, one that names the root the others.
    """

    KEY = ("run_id",)
    run_id: str
    job: JobId
    parent: ParentRun | None
    root: ParentRun | None
    stamp: Stamp

    @property
    def parts_of(self) -> tuple[ParentRun, ...]:
        """The other runs that it is told to be a part of: its parent, then the root."""
        told = [each for each in (self.parent, self.root) if each is not None and each.run_id != self.run_id]
        return tuple(told[:1] if told[1:] == told[:1] else told)

    def merge(self, other: Self) -> Self:
        """Return the one that names a parent, the one that names a root, else the later one."""
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
class RunTelling(LastWriter):
    """One of `KEPT_RUN_FACETS` that a run told, for good, whatever it told since; `stamp` is when it last did."""

    KEY = ("run_id", "name", "content")
    run_id: str
    name: str
    content: bytes
    stamp: Stamp


class Stamped(NamedTuple):
    """What a facet said of a job or dataset, by its digest, and when: of several the greatest holds.

    An event that reads a dataset and writes it says what it was and what it is: the latter is later.
    """

    stamp: Stamp
    is_written: bool
    """Whether a run told it of what it wrote."""
    content: bytes


@value
class JobFacet(Merging):
    """A job facet, for good, whatever was told of the job since: of the times that it was told the first and the last.

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
        """What it said last."""
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
    """A facet of a dataset, as a run saw it."""

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
        """Whether it tells of the dataset, and not of one write alone: what a reader met is how the dataset is."""
        return self.slot == "facets" or self.direction == "input"

    @property
    def stamped(self) -> Stamped:
        """What it says."""
        return Stamped(self.stamp, self.direction == "output", self.content)


@value
class Telling(Merging):
    """One of `KEPT_FACETS` that a run told of a dataset, for good, whatever it told since: a stream tells of many.

    Of the times that it told the same the first and the last are kept.
    """

    KEY = ("run_id", "direction", "dataset", "name", "content")
    run_id: str
    direction: Direction
    dataset: DatasetId
    name: str
    content: bytes
    first: Stamp
    last: Stamp

    def merge(self, other: "Telling") -> "Telling":
        """Return the telling from the earlier first to the later last time."""
        first, last = min(self.first, other.first), max(self.last, other.last)
        return Telling(self.run_id, self.direction, self.dataset, self.name, self.content, first, last)


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
    """A `lineage` facet of a run's job which says what jobs use themselves, and not to make a dataset of it."""

    KEY = ("run_id", "content")
    run_id: str
    content: bytes
    seen: Seen


@value
class Declaration(LastWriter):
    """A job or dataset as a job event or dataset event declared it.

    `content` is the digest of a JSON object: `{"inputs": [ref…], "outputs": [ref…]}` for a job, perhaps with `"flows":
    [[source, target]…]`, of datasets that it says the sources of and does not write `"targets": [ref…]`, and with
    `"uses"`, the digest of a `lineage` facet which says what jobs use themselves; and one `ref` for a dataset. A `ref`
    is `{"namespace", "name", "facets": {facet name: hex digest}}`, perhaps with `"silent"`, the names of those that may
    say where it comes from and do not, and of one that a dataset event declared with `"jobs": [[namespace, name]…]`,
    those that make it. An end of a flow is `["job" or "dataset", namespace, name]`, or null for the job itself. Behind
    the name of a job one of its runs may stand.
    """

    KEY = ("kind", "node")
    node: JobId | DatasetId
    content: bytes
    stamp: Stamp

    @property
    def kind(self) -> Literal["job", "dataset"]:
        """Tells the two kinds of node apart, which are equal as tuples."""
        return "job" if isinstance(self.node, JobId) else "dataset"


@value
class DeclaredTimes(Widening):
    """When job events or dataset events named a job or dataset, also those that others have replaced since."""

    KEY = ("kind", "node")
    node: JobId | DatasetId
    seen: Seen

    @property
    def kind(self) -> Literal["job", "dataset"]:
        """Tells the two kinds of node apart, which are equal as tuples."""
        return "job" if isinstance(self.node, JobId) else "dataset"


@value
class DeclaredShape(Merging):
    """The schema and version that a dataset event gave a dataset, for good, whatever was declared since.

    Digests of the facets; None where the event has none.
    """

    KEY = ("dataset", "stamp")
    dataset: DatasetId
    stamp: Stamp
    schema: bytes | None
    version: bytes | None

    def merge(self, other: Self) -> Self:
        """Return either: one event says one thing."""
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
    """A run tells that it renamed a dataset, so that both names are one dataset; it counts unless the run failed."""

    KEY = ("run_id", "name", "former")
    run_id: str
    name: DatasetId
    former: DatasetId
    seen: Seen

    @property
    def alias(self) -> Alias:
        """The same, told without a run."""
        return Alias(self.name, self.former, "rename", self.seen)


class Catalog(NamedTuple):
    """A catalog as a `catalog` facet tells of it; a URI that it does not tell is empty.

    Two are the same where all four agree, whatever engine speaks.
    """

    kind: str
    """`hadoop`, `hive`, `glue`, `rest` …"""
    name: str
    """What the engine that spoke calls it: another engine may know it under another name."""
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
    """A query engine is set up so that its names which begin with a word mean what stands behind that word.

    `trino://host:8080` says that its `lake.…` are the tables of an Iceberg catalog, or that its `shop.…` are those of
    a database, which has names of its own for them. It holds for all such names, whenever they come.
    """

    KEY = ("engine", "word", "catalog", "names")
    engine: str
    """The namespace of the engine's own names."""
    word: str
    """What these begin with, before the first dot: what the engine calls the catalog."""
    catalog: Catalog
    """Whose tables they are, its name left empty; all empty where the names say it."""
    names: DatasetId
    """The namespace of the names behind the word, and what they begin with; both empty where the catalog says it."""
    seen: Seen


@value
class Ending(Widening):
    """A run was told to have ended so: a producer may tell of more than one end."""

    KEY = ("run_id", "state")
    run_id: str
    state: TerminalState
    seen: Seen


@value
class ControlFlow(Widening):
    """A run's `jobDependencies` facet names a job that comes before it (upstream) or after it; no data need pass."""

    KEY = ("run_id", "way", "job", "dependency")
    run_id: str
    way: Way
    job: JobId
    dependency: str
    """The type of the dependency, for example `DIRECT_INVOCATION`; empty where it is not told."""
    seen: Seen


@value
class JobFlow(Widening):
    """A run's explicit lineage says that data flows between a job that it names and a dataset or another job.

    None stands for the job of the run itself, which is at one end at most, and then with another job at the other.
    Of a job that is named its run may be, too: then the data came from just that run, or went into it.
    """

    run_id: str
    source: JobId | DatasetId | None
    target: JobId | DatasetId | None
    seen: Seen
    source_run: str | None = None
    target_run: str | None = None

    @property
    def key(self) -> tuple[object, ...]:
        """The run and both ends with their kinds, a job and a dataset may be equal as tuples, and with their runs."""
        ends = type(self.source), self.source, type(self.target), self.target
        return ("JobFlow", self.run_id, *ends, self.source_run, self.target_run)


@value
class Quarantined(Widening):
    """A dataset that was mentioned without a full name: in no graph, unless other evidence tells which one it is."""

    KEY = ("subject", "direction", "namespace", "name")
    subject: str
    """`run:ID`, or the job's node id."""
    direction: Direction
    namespace: str
    name: str
    seen: Seen


@value
class Edit(Merging):
    """Something said over the API; of two about one thing the one that stands later in the log holds.

    The only fact whose merge asks for the order of arrival: people mean what they said last.
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
class ChainLink(Merging):
    """A signed event says that this is its place in its node's record.

    Two links at one place are the same event twice (a replay) if their payload hashes are equal, else a fork.
    """

    KEY = ("node", "epoch", "sequence", "digest")
    node: str
    epoch: str
    sequence: int
    digest: bytes
    """Of the event's bytes as they came."""
    payload_hash: bytes
    previous_hash: bytes
    """Empty where the event says that there is none before it."""
    event_us: int
    received_us: int
    is_proved: bool
    """Whether a trusted key signed it, as far as was known when it came."""
    said: bytes
    """What few events say beside their place, as JSON: see `headwater.model.nodes`; empty for all others."""

    def merge(self, other: Self) -> Self:
        """Return the link as it came first, proved if one of the two is."""
        received_us = min(self.received_us, other.received_us)
        return replace(self, received_us=received_us, is_proved=self.is_proved or other.is_proved)


Fact = (
    Content
    | RunTimes
    | RunOfJob
    | RunFacet
    | RunTelling
    | JobFacet
    | Observation
    | ObservedFacet
    | Telling
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
    | ChainLink
)


def happened_us(facts: Iterable[Fact]) -> int:
    """The event time of an event, out of what it says, all of which has it; microseconds since 1970."""
    return next(_happened_us(fact) for fact in facts if not isinstance(fact, Content))


def _happened_us(fact: Any) -> int:  # noqa: ANN401  any fact but a content
    match fact:
        case Widening() | RunTimes() | Edit():
            return fact.seen.last_us
        case ChainLink():
            return fact.event_us
        case Telling():
            return fact.last.time_us
    time_us: int = fact.stamp.time_us
    return time_us
