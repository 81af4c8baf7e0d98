"""What a dataset is made from by the entries of a bundle, and who signed them."""

import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import IO, Any, Final, NamedTuple

from headwater.audit.about import Subject, subject_of
from headwater.audit.core import Report, read_once
from headwater.graph.column_path import ColumnFlow, column_path
from headwater.graph.lineage import Graph
from headwater.graph.path import PathTo, path_to
from headwater.model.edits import EditEntry
from headwater.model.events import Event, JobEvent, RunEvent
from headwater.model.facts import RunTimes
from headwater.model.names import ColumnId, DatasetId, JobId
from headwater.model.nodes import Arrival
from headwater.model.times import time_at, timestamp

_GOOD: Final = "ok"


class Asked(NamedTuple):
    """The dataset, or a column of it, of which a bundle is to show what it is made from."""

    dataset: DatasetId
    column: str | None
    names: Sequence[DatasetId]
    """The names that the bundle says this dataset has."""
    is_alone: bool
    """Whether the bundle shows the entries about it, but not those about its sources."""


def asked_about(file: IO[bytes], dataset: DatasetId | None, column: str | None = None) -> Asked | None:
    """The dataset that an auditor names, else that of the bundle; None: neither names one, or it is unreadable."""
    try:
        with zipfile.ZipFile(file) as bundle:
            manifest = read_once(bundle.read("manifest.json"))
        if manifest.get("dataset") is None:
            return None if dataset is None else Asked(dataset, column, (), is_alone=False)
        own, names = _dataset(manifest["dataset"]), [*map(_dataset, manifest["names"])]
        is_own = dataset is None or dataset in (own, *names)
        is_alone = manifest.get("upstream") is not True
        return Asked(dataset or own, column, names if is_own else (), is_alone=is_alone)
    except Exception:  # anybody may have written the file; the check of the bundle says what is wrong with it
        return None


def _dataset(members: Mapping[str, Any]) -> DatasetId:
    match members:
        case {"namespace": str(namespace), "name": str(name)}:
            return DatasetId(namespace, name)
    raise ValueError


class EntryBy(NamedTuple):
    """An entry, and the key that signed it; None: it has no trusted signature."""

    log_index: int
    key_id: str | None


class Reports:
    """The entries about each run, and about each declared job and dataset."""

    def __init__(self) -> None:
        self._about: dict[Subject, list[EntryBy]] = {}

    def take(self, entry: Event | EditEntry | None, index: int, arrival: Arrival) -> None:
        """Take in an entry as it was parsed; None: it would be refused today."""
        if isinstance(entry, Event):
            key_id = arrival.key_id if arrival.verdict == _GOOD else None
            self._about.setdefault(subject_of(entry), []).append(EntryBy(index, key_id))

    def about(self, *subjects: Subject) -> list[EntryBy]:
        """The entries about any of these, by index."""
        found = (each for subject in subjects for each in self._about.get(subject, ()))
        return sorted(found, key=attrgetter("log_index"))


class LastRun(NamedTuple):
    """The run of a job that reported last, and the entries about it."""

    times: RunTimes
    entries: Sequence[EntryBy]


class Maker(NamedTuple):
    """A job on a dataset's path."""

    runs: int
    last: LastRun | None
    entries: Sequence[EntryBy]
    """The entries about its runs and its declaration, by index; none if only others report about it."""

    def members(self) -> Mapping[str, Any]:
        """As JSON."""
        last = None if self.last is None else _members_of(self.last)
        return {"runs": self.runs, "lastRun": last, **_counted(self.entries), "signedBy": signed_by(self.entries)}


def signed_by(entries: Sequence[EntryBy]) -> Mapping[str, int]:
    """By key, how many of the entries it signed."""
    return Counter(key_id for _, key_id in entries if key_id is not None)


def _members_of(last: LastRun) -> Mapping[str, Any]:
    _, stamp, state = last.times.state
    at = timestamp(time_at(stamp.time_us))
    return {"runId": last.times.run_id, "state": state, "at": at, **_counted(last.entries)}


def _counted(entries: Sequence[EntryBy]) -> Mapping[str, int | None]:
    """How many entries, and the first and last of them."""
    first, last = (entries[0].log_index, entries[-1].log_index) if entries else (None, None)
    return {"entries": len(entries), "firstEntry": first, "lastEntry": last}


class MadeFrom(NamedTuple):
    """What a dataset is made from; all nodes by the names shown."""

    dataset: DatasetId
    path: PathTo
    makers: Mapping[JobId, Maker]
    """The jobs on its path."""
    column: ColumnId | None
    """The column that was asked for."""
    flows: Sequence[ColumnFlow]
    """Everything upstream of that column."""

    def members(self) -> Mapping[str, Any]:
        """As JSON."""
        return {
            "dataset": self.dataset._asdict(),
            "edges": [{"origin": origin.node_id, "destination": end.node_id} for origin, end in self.path.edges],
            "jobs": {job.node_id: maker.members() for job, maker in self.makers.items()},
            "column": None if self.column is None else self.column.column,
            "columnEdges": [_members_of_flow(flow) for flow in self.flows],
        }


def _members_of_flow(flow: ColumnFlow) -> Mapping[str, Any]:
    edge = flow.edge
    return {
        "origin": flow.source.node_id,
        "destination": flow.target.node_id,
        "type": edge.kind,
        "subtype": edge.subtype,
        "description": edge.description,
        "masking": edge.masking,
    }


def made_from(asked: Asked, graph: Graph, reports: Reports, report: Report) -> MadeFrom | None:
    """What the shown entries say that the dataset is made from; None if they are not proven, or none names it.

    What they do not tell is added to the report, which is complete but for this.
    """
    name = graph.shown(asked.dataset)
    if not report.is_proven:
        report.not_known.append(f"what {_words(asked.dataset)} is made from: not all is proven")
        return None
    if not graph.is_known(name):
        report.not_known.append(f"what {_words(asked.dataset)} is made from: no entry that is shown names it")
        return None
    if others := sorted(set(asked.names).difference(graph.members(name))):
        names = ", ".join(map(_words, others))
        report.not_known.append(f"whether {_words(name)} is also {names}: no entry that is shown says so")
    path = path_to(graph, name)
    if asked.is_alone and path.datasets - {name}:
        report.not_known.append(f"what the sources of {_words(name)} are made from: export with --upstream shows it")
    makers = {job: _maker(job, graph, reports) for job in path.jobs}
    column = None if asked.column is None else ColumnId(name, asked.column)
    flows = [] if column is None else column_path(graph, column)
    if column is not None and not flows:
        report.not_known.append(f"what {column.column} of {_words(name)} is made from: no entry that is shown says it")
    return MadeFrom(name, path, makers, column, flows)


def _maker(job: JobId, graph: Graph, reports: Reports) -> Maker:
    runs = graph.jobs[job].runs
    times = [known for run_id in runs if (known := graph.runs[run_id].times) is not None]
    last = max(times, key=lambda each: (each.seen.last_us, each.run_id), default=None)
    return Maker(
        len(runs),
        None if last is None else LastRun(last, reports.about((RunEvent, last.run_id))),
        reports.about((JobEvent, job), *((RunEvent, run_id) for run_id in runs)),
    )


def _words(name: DatasetId) -> str:
    return " ".join(name).strip()
