"""Something that changed or went wrong, where, when, and which events show it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from headwater.graph.causes.history import History
from headwater.graph.causes.record import EventRef
from headwater.graph.causes.visit import Visit
from headwater.model.names import DatasetId, JobId

Kind = Literal[
    "failed-run",
    "missing-run",
    "schema-change",
    "lifecycle-change",
    "failed-check",
    "volume-jump",
    "code-change",
    "new-writer",
    "rerun",
    "parameter-change",
    "engine-change",
    "silent-stream",
    "freshness-gap",
]


class RowFigures(NamedTuple):
    """An unusual number of rows, the usual one, and the robust z-score; None: the earlier runs do not differ."""

    rows: int
    usual: float
    z: float | None


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule's finding. `weight` is the probability that such a finding is the cause, from 0 to 1, on its own."""

    kind: Kind
    weight: float
    words: str
    where: DatasetId | JobId
    visit: Visit
    at_us: int
    runs: tuple[str, ...]
    """The run that shows it, then those it was compared with."""
    events: tuple[EventRef, ...]
    is_of_feed: bool = False
    """It lies between the visited run and the runs that feed it, rather than in the run itself."""
    columns: frozenset[tuple[str, str]] = frozenset()
    """For a schema change: each column, and whether it was added, removed or retyped."""
    was_before: bool = False
    """It was already so at the reader's previous read, so it explains nothing newer."""
    what: str | None = None
    """What was found, without figures: of findings that agree in it, in kind and node, the first stands for all. None:
    `words`."""
    rows: RowFigures | None = None
    """For a volume jump."""

    @property
    def node_id(self) -> str:
        """The node id of the job or dataset."""
        return self.where.node_id

    @property
    def hops(self) -> int:
        """The number of datasets between the finding and the output."""
        return self.visit.hops + self.is_of_feed

    @property
    def is_read(self) -> bool:
        """Whether it is about something that the visited run read."""
        return self.where in self.visit.run.reads


Rule = Callable[[Visit, History], Iterator[Finding]]


def shown_by(event: EventRef | None) -> tuple[EventRef, ...]:
    """The evidence of a single event; empty for a run without events."""
    return () if event is None else (event,)
