"""Names: a dataset, a job, a column, and their node ids.

A name is a pair (namespace, name) everywhere inside Headwater. The joined form `dataset:NS:NAME` exists only at the
wire, for Marquez's clients. Both parts may contain colons, so it is ambiguous, and only the graph can tell which
reading is meant: hence `readings`. Passwords in names are stripped (`sanitized`).
"""

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator
from typing import Literal, NamedTuple, TypeVar

from headwater.errors import InvalidNameError
from headwater.model.credentials import without_secrets

NodeKind = Literal["dataset", "job", "datasetField", "run"]


class DatasetId(NamedTuple):
    """A dataset, for example `DatasetId("kafka://broker:9092", "orders")`."""

    namespace: str
    name: str

    @classmethod
    def sanitized(cls, namespace: str, name: str) -> "DatasetId":
        """The dataset with this name as reported, after stripping passwords."""
        return cls(without_secrets(namespace), without_secrets(name))

    @property
    def is_complete(self) -> bool:
        """False where the namespace or the name is empty: then only other evidence can identify the dataset."""
        return bool(self.namespace and self.name)

    @property
    def node_id(self) -> str:
        """`dataset:NS:NAME`, as Marquez writes it."""
        return f"dataset:{self.namespace}:{self.name}"


class JobId(NamedTuple):
    """A job, for example `JobId("production", "orders-to-lake")`."""

    namespace: str
    name: str

    @classmethod
    def sanitized(cls, namespace: str, name: str) -> "JobId":
        """The job with this name as reported, after stripping passwords."""
        return cls(without_secrets(namespace), without_secrets(name))

    @property
    def node_id(self) -> str:
        """`job:NS:NAME`, as Marquez writes it."""
        return f"job:{self.namespace}:{self.name}"


class ColumnId(NamedTuple):
    """A column of a dataset; nested fields are written with dots."""

    dataset: DatasetId
    column: str

    @property
    def node_id(self) -> str:
        """`datasetField:NS:NAME:FIELD`, as Marquez writes it."""
        return f"datasetField:{self.dataset.namespace}:{self.dataset.name}:{self.column}"


GraphNode = DatasetId | JobId
AnyNode = GraphNode | ColumnId
"""A graph node or column, which a node id can name. (Nodes that sign events are machines, with other ids.)"""
NodeT = TypeVar("NodeT", bound=GraphNode)


def namesakes(nodes: Iterable[GraphNode]) -> frozenset[str]:
    """The ids of the jobs that have the name of another job, and of the datasets that have that of another dataset.

    >>> sorted(namesakes([DatasetId("a", "t"), DatasetId("b", "t"), JobId("a", "t")]))
    ['dataset:a:t', 'dataset:b:t']
    """
    by_id = {node.node_id: node for node in nodes}
    count = Counter((type(node), node.name) for node in by_id.values())
    return frozenset(node_id for node_id, node in by_id.items() if count[type(node), node.name] > 1)


def called(node: GraphNode, alike: Container[str]) -> str:
    """The name of a job or dataset for a sentence; with its namespace if it is among these `namesakes`."""
    return f"{node.namespace}:{node.name}" if node.node_id in alike else node.name


def without_column(node: NodeT | ColumnId) -> NodeT | DatasetId:
    """A column's dataset; datasets and jobs unchanged."""
    return node.dataset if isinstance(node, ColumnId) else node


class NodeReading(NamedTuple):
    """One interpretation of a node id."""

    kind: NodeKind
    node: AnyNode


_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def is_uuid(run_id: str) -> bool:
    """Whether the text is a UUID with hyphens, in either case."""
    return _UUID.fullmatch(run_id) is not None


def run_id_of(sent: str) -> str:
    """The run id as sent; a UUID in lower case, since its case has no meaning."""
    return sent.lower() if is_uuid(sent) else sent


def readings(node_id: str) -> Iterator[NodeReading]:
    """Every way to read a node id, the likeliest first.

    The likeliest reading lets the namespace keep every colon but the last
    (`dataset:kafka://broker:9092:orders`); names that hold colons come out of the later readings.

    >>> next(readings("dataset:kafka://broker:9092:orders")).node
    DatasetId(namespace='kafka://broker:9092', name='orders')

    Raises:
        InvalidNameError: the text has no known kind, or too few parts.
    """
    kind, _, rest = node_id.partition(":")
    parts = rest.split(":")
    match kind:
        case "dataset" if len(parts) > 1:
            yield from (NodeReading("dataset", DatasetId.sanitized(*pair)) for pair in _pairs(parts))
        case "job" if len(parts) > 1:
            yield from (NodeReading("job", JobId.sanitized(*pair)) for pair in _pairs(parts))
        case "datasetField" if len(parts) > 2:
            for end in range(len(parts) - 1, 1, -1):
                column = ":".join(parts[end:])
                for pair in _pairs(parts[:end]):
                    yield NodeReading("datasetField", ColumnId(DatasetId.sanitized(*pair), column))
        case _:
            raise InvalidNameError(
                f"nodeId: expected dataset:NAMESPACE:NAME, datasetField:NAMESPACE:NAME:FIELD or job:NAMESPACE:NAME, "
                f"found {without_secrets(node_id)[:200]!r}"
            )


def _pairs(parts: list[str]) -> Iterator[tuple[str, str]]:
    for cut in range(len(parts) - 1, 0, -1):
        yield ":".join(parts[:cut]), ":".join(parts[cut:])
