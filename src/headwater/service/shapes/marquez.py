"""The JSON of Marquez's answers, as types: its members under its names, then ours; and of edits by users.

Facets are whatever producers sent, so their values stay `Any`; in truth they are the stored JSON itself.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict  # pydantic reads no other on Python 3.11

from headwater.graph.columns import Kind
from headwater.graph.mending import Rule
from headwater.model.facts import RunState
from headwater.signing.verify import Verdict

Facets = Mapping[str, Any]


class Failure(TypedDict):
    """Every error; `errors` only where parameters or a member of an event are wrong.

    `retriable` only with 403: whether the same request may go through once people have put right what the message says.
    """

    code: int
    message: str
    errors: NotRequired[Sequence[str]]
    retriable: NotRequired[bool]


class Name(TypedDict):
    """A job or dataset."""

    namespace: str
    name: str


class Versioned(Name):
    """A version of a job or dataset."""

    version: str


class DatasetVersionOfRun(TypedDict):
    """What a run read or wrote; the facets are those of this one read or write."""

    datasetVersionId: Versioned
    facets: Facets


class Signature(TypedDict):
    """The signature verdicts of a run's events; `verdict` is the worst of them."""

    verdict: Verdict
    keyId: str | None
    events: int
    verified: int


class Counters(TypedDict):
    """What a run has counted, from its headwater_run or expanso_run facet."""

    recordsIn: int | None
    recordsOut: int | None
    bytesIn: int | None
    bytesOut: int | None
    errorCount: int | None
    durationMs: float | None
    stopReason: str | None


class Mended(TypedDict):
    """What a producer got wrong and evidence put right; docs/mending.md lists the rules."""

    rule: Rule
    what: str
    evidence: Sequence[str]


class Gap(TypedDict):
    """What is known to be missing from a run's lineage, from its `extractionError` facet."""

    failedTasks: int
    totalTasks: int
    messages: Sequence[str]


class RunOfParent(TypedDict):
    """Another run, as a `parent` facet names it."""

    runId: str
    job: Name


class Run(TypedDict):
    """A run; `signature` is None for one that is only named as a parent.

    `staleAfter` is when a run that goes on counts as stale, if its job promises to be heard of now and then. `tags` are
    those that its producer told.
    """

    id: str
    createdAt: str
    updatedAt: str
    nominalStartTime: str | None
    nominalEndTime: str | None
    state: RunState
    startedAt: str | None
    endedAt: str | None
    durationMs: int | None
    args: Mapping[str, str]
    jobVersion: Versioned | None
    inputDatasetVersions: Sequence[DatasetVersionOfRun]
    outputDatasetVersions: Sequence[DatasetVersionOfRun]
    facets: Facets
    job: Name
    signature: Signature | None
    counters: Counters | None
    parent: RunOfParent | None
    root: RunOfParent | None
    staleAfter: str | None
    gap: Gap | None
    tags: Sequence[str]
    mended: Sequence[Mended]


class Runs(TypedDict):
    """A page of a job's runs, newest first."""

    runs: Sequence[Run]
    totalCount: int


class RunFacets(TypedDict):
    """The facets of a run, or of its job as the run reported them."""

    runId: str
    facets: Facets


class RunEvent(TypedDict):
    """An event of a run, as the log has it."""

    index: int
    eventType: str
    eventTime: str
    receivedAt: str
    digest: str
    verdict: Verdict
    keyId: str | None


class RunEvents(TypedDict):
    """A page of a run's events, by event time."""

    events: Sequence[RunEvent]
    totalCount: int


class JobCore(TypedDict):
    """The members of a job in every answer."""

    id: Name
    type: str
    name: str
    simpleName: str
    parentJobName: str | None
    parentJobUuid: str | None
    createdAt: str
    updatedAt: str
    namespace: str
    inputs: Sequence[Name]
    outputs: Sequence[Name]
    location: str | None
    description: str | None
    latestRun: Run | None


class Job(JobCore):
    """A job, its newest runs, and its facets."""

    currentVersion: str | None
    facets: Facets
    labels: Sequence[str]
    latestRuns: Sequence[Run] | None
    tags: Sequence[str]


class Jobs(TypedDict):
    """A page of jobs, latest event first."""

    jobs: Sequence[Job]
    totalCount: int


class JobVersion(TypedDict):
    """A job with one set of inputs and outputs."""

    id: Versioned
    name: str
    namespace: str
    version: str
    createdAt: str
    inputs: Sequence[Name]
    outputs: Sequence[Name]
    location: str | None
    latestRun: Run | None


class JobVersions(TypedDict):
    """A page of a job's versions, newest first."""

    versions: Sequence[JobVersion]
    totalCount: int


class Field(TypedDict):
    """A column; `fields` are those inside it."""

    name: str
    type: str | None
    description: str | None
    tags: Sequence[str]
    fields: NotRequired[Sequence[Any]]


class Transformation(TypedDict):
    """What was done to a source column on its way."""

    type: Kind
    subtype: str
    description: str
    masking: bool


class InputField(TypedDict):
    """A source column."""

    namespace: str
    dataset: str
    field: str
    transformationDescription: str | None
    transformationType: str | None
    transformations: Sequence[Transformation]


class DatasetInputField(TypedDict):
    """What goes into each column of a dataset, or comes from each of another; listed once, not once for each.

    `field` is the source column, None where all of that dataset is meant; `targetField` the column that it goes into,
    None where that is every one.
    """

    namespace: str
    dataset: str
    field: str | None
    targetField: str | None
    transformations: Sequence[Transformation]


class ColumnSources(TypedDict):
    """A column of a dataset and what it is made from."""

    name: str
    inputFields: Sequence[InputField]
    transformationDescription: str | None
    transformationType: str | None


class DatasetCore(TypedDict):
    """A dataset's members in every answer; `symlinks` are its other names, only streams have `schemaLocation`.

    `datasetType` is what a producer said that it is, such as `DASHBOARD`, and left out where none did.
    """

    id: Name
    type: str
    name: str
    physicalName: str
    createdAt: str
    updatedAt: str
    namespace: str
    sourceName: str
    fields: Sequence[Field]
    tags: Sequence[str]
    lastModifiedAt: None
    lastLifecycleState: str | None
    description: str | None
    schemaLocation: NotRequired[str | None]
    symlinks: Sequence[Name]
    datasetType: NotRequired[str]


class SourcesOfDataset(TypedDict):
    """What a dataset is made from; `datasetInputFields` only where it would be too much for each column."""

    columnLineage: Sequence[ColumnSources] | None
    datasetInputFields: NotRequired[Sequence[DatasetInputField]]


class Dataset(DatasetCore, SourcesOfDataset):
    """A dataset with its newest facets."""

    currentVersion: str | None
    deleted: bool
    facets: Facets
    mended: Sequence[Mended]


class Datasets(TypedDict):
    """A page of datasets, by name."""

    datasets: Sequence[Dataset]
    totalCount: int


class DatasetVersion(TypedDict):
    """A dataset while it had one schema and version."""

    id: Name
    type: str
    name: str
    physicalName: str
    createdAt: str
    version: str
    namespace: str
    sourceName: str
    fields: Sequence[Field]
    tags: Sequence[str]
    currentSchemaVersion: str
    schemaLocation: NotRequired[str | None]
    lifecycleState: str | None
    description: str | None
    createdByRun: Run | None
    facets: Facets


class DatasetVersions(TypedDict):
    """A page of a dataset's versions, newest first."""

    versions: Sequence[DatasetVersion]
    totalCount: int


class Namespace(TypedDict):
    """A namespace of jobs or datasets."""

    name: str
    createdAt: str
    updatedAt: str
    ownerName: str
    description: str | None
    isHidden: bool


class Namespaces(TypedDict):
    """A page of namespaces, by name."""

    namespaces: Sequence[Namespace]
    totalCount: int


class Events(TypedDict):
    """A page of the log: each event as it came."""

    events: Sequence[Any]
    totalCount: int


class Hit(TypedDict):
    """A job or dataset that was found; `symlinks` are a dataset's other names."""

    type: Literal["DATASET", "JOB"]
    name: str
    namespace: str
    nodeId: str
    updatedAt: str
    symlinks: Sequence[Name]


class Hits(TypedDict):
    """What was found."""

    totalCount: int
    results: Sequence[Hit]


class Tag(TypedDict):
    """A tag that people or producers put on jobs, datasets and columns."""

    name: str
    description: str | None


class Tags(TypedDict):
    """A page of the tags, by name."""

    tags: Sequence[Tag]


class Source(TypedDict):
    """Where datasets are kept."""

    type: str
    name: str
    createdAt: str
    updatedAt: str
    connectionUrl: str
    description: str | None


class Sources(TypedDict):
    """A page of the sources, by name."""

    sources: Sequence[Source]
    totalCount: int


class GraphqlAnswer(TypedDict):
    """Data in the form of the query, and what is wrong with it."""

    data: Mapping[str, Any] | None
    errors: NotRequired[Sequence[Mapping[str, Any]]]


class Edit(TypedDict):
    """An edit made over the API; `entry` is its entry in the log."""

    index: int
    receivedAt: str
    digest: str
    entry: Any


class Edits(TypedDict):
    """A page of the edits, the newest first."""

    edits: Sequence[Edit]
    totalCount: int
