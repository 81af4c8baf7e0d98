"""The JSON of graphs: jobs and datasets around a node, columns, and the runs upstream of a run."""

from collections.abc import Sequence
from typing import Literal, NotRequired

from typing_extensions import TypedDict  # pydantic reads no other on Python 3.11

from headwater.model.facts import RunState
from headwater.service.shapes.marquez import DatasetCore, DatasetInputField, InputField, JobCore, Name


class Edge(TypedDict):
    """An edge in the direction of the data, but for columns also when it was seen, and in how many runs.

    Only the `inEdges` of a column lead against it, from the column to what it is made from.
    Between two datasets no job is known to take the data; `derivation` says which facet tells of it.
    """

    origin: str
    destination: str
    firstSeen: NotRequired[str]
    lastSeen: NotRequired[str]
    runs: NotRequired[int]
    derivation: NotRequired[str]


class JobInLineage(JobCore):
    """A job in a lineage graph."""

    currentRunUuid: str | None


class JobNode(TypedDict):
    """A job, what it reads (inEdges) and what it writes, also jobs that hand data over without a dataset."""

    id: str
    type: Literal["JOB"]
    data: JobInLineage
    inEdges: Sequence[Edge]
    outEdges: Sequence[Edge]


class DatasetNode(TypedDict):
    """A dataset, who writes it (inEdges) and who reads it, also datasets, where no job is known between."""

    id: str
    type: Literal["DATASET"]
    data: DatasetCore
    inEdges: Sequence[Edge]
    outEdges: Sequence[Edge]


class Lineage(TypedDict):
    """Jobs and datasets around a node, by node id."""

    graph: Sequence[DatasetNode | JobNode]


class Path(TypedDict):
    """The edges of what a job or dataset is made from and of what is made from it; `isCut`: there are more beyond."""

    edges: Sequence[Edge]
    isCut: bool


class Neighbour(Name):
    """A job or dataset next to another; a dataset with its other names."""

    nodeId: str
    symlinks: NotRequired[Sequence[Name]]


class Neighbours(TypedDict):
    """A page of the jobs, or of the datasets, next to a node on one side, by name."""

    neighbours: Sequence[Neighbour]
    totalCount: int


class InputFieldOfVersion(InputField):
    """A source column, of a dataset as it is now."""

    datasetVersion: str | None


class ColumnData(TypedDict):
    """A column of a dataset as it is now, and what it is made from; `fieldType` is empty if unknown."""

    namespace: str
    dataset: str
    datasetVersion: str | None
    field: str
    fieldType: str
    transformationDescription: str | None
    transformationType: str | None
    inputFields: Sequence[InputFieldOfVersion]


class ColumnNode(TypedDict):
    """A column; `inEdges` lead from it to what it is made from, as Marquez has it, `outEdges` to what it feeds."""

    id: str
    type: Literal["DATASET_FIELD"]
    data: ColumnData
    inEdges: Sequence[Edge]
    outEdges: Sequence[Edge]


class InputFieldsOfDataset(TypedDict):
    """What goes into a dataset as a whole, or comes from all of another, where that is too much for each column."""

    namespace: str
    dataset: str
    inputFields: Sequence[DatasetInputField]


class ColumnLineage(TypedDict):
    """Columns that feed a node, and where asked for those that it feeds, by node id; `isCut` where more are beyond.

    What is told in `datasetInputFields` stands neither in `inputFields` nor among the edges of the graph.
    """

    graph: Sequence[ColumnNode]
    isCut: NotRequired[Literal[True]]
    datasetInputFields: NotRequired[Sequence[InputFieldsOfDataset]]


class JobOfRun(TypedDict):
    """The job of a run, at the version that the run had."""

    namespace: str
    name: str
    version: str | None


class RunTimes(TypedDict):
    """When a run was, and how it went."""

    id: str
    start: str | None
    end: str | None
    status: RunState


class RunInput(TypedDict):
    """A dataset version that a run read, and the run that had written it."""

    namespace: str
    name: str
    version: str
    producedByRunId: str | None


class InputJob(TypedDict):
    """A job that handed data to a run without a dataset between, and the run of it that had done so."""

    namespace: str
    name: str
    producedByRunId: str | None


class UpstreamRun(TypedDict):
    """A run, what it read, and which jobs handed data to it without a dataset between."""

    job: JobOfRun
    run: RunTimes
    inputs: Sequence[RunInput]
    inputJobs: Sequence[InputJob]


class UpstreamRuns(TypedDict):
    """A run and those that made what it read, nearest first."""

    runs: Sequence[UpstreamRun]
