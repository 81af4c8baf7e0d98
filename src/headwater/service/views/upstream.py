"""Which runs made what a run read, and which handed data to it without a dataset between."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from headwater.graph.records import Run, RunEnd
from headwater.graph.walk import reachable
from headwater.model.merging import Seen
from headwater.model.names import DatasetId, JobId
from headwater.service import shapes
from headwater.service.knowledge.activity import KnownRun
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.shapes import lineage as shapes_lineage
from headwater.service.views.runs import run_shapes


class _Sources(NamedTuple):
    """Where a run's data came from, each with the run that it was of then."""

    datasets: dict[DatasetId, str | None]
    """By shown names."""
    jobs: dict[JobId, str | None]

    @property
    def runs(self) -> Iterator[str]:
        """The runs that are known."""
        yield from (run_id for each in self for run_id in each.values() if run_id is not None)


def upstream_runs(knowledge: Knowledge, run: KnownRun, max_hops: int) -> shapes_lineage.UpstreamRuns:
    """The run and those within so many hops upstream of it, nearest first."""
    sources: dict[str, _Sources] = {}

    def before(run_id: str) -> Iterator[str]:
        sources[run_id] = _sources(knowledge, run_id)
        return sources[run_id].runs

    found = list(reachable([run.run_id], before, max_hops))
    shown = run_shapes(knowledge, map(knowledge.run, found))
    return shapes_lineage.UpstreamRuns(
        runs=[
            _upstream_run(each, sources.get(run_id) or _sources(knowledge, run_id))
            for run_id, each in zip(found, shown, strict=True)
        ]
    )


def _sources(knowledge: Knowledge, run_id: str) -> _Sources:
    return _Sources(_writers(knowledge, run_id), dict(_givers(knowledge, run_id)))


def _writers(knowledge: Knowledge, run_id: str) -> dict[DatasetId, str | None]:
    """For each dataset that the run read, by its shown name: the run that had written it last by then."""
    run = knowledge.graph.runs.get(run_id)
    read: dict[DatasetId, int] = {}
    for (direction, name), seen in run.observed.items() if run else ():
        if direction == "input":
            shown = knowledge.graph.shown(name)
            read[shown] = max(seen.last_us, read.get(shown, seen.last_us))
    return {name: _last_writer(knowledge, name, run_id, until_us) for name, until_us in sorted(read.items())}


def _last_writer(knowledge: Knowledge, name: DatasetId, reader: str, until_us: int) -> str | None:
    """The run that was last seen to write the dataset by that time; not the reader itself."""
    ends: list[RunEnd] = [("output", member) for member in knowledge.graph.members(name)]

    def written(run: Run) -> list[Seen]:
        return [seen for end in ends if (seen := run.observed.get(end)) is not None]

    return _last_seen(knowledge, knowledge.graph.writers(name), reader, until_us, written)


def _givers(knowledge: Knowledge, run_id: str) -> Iterator[tuple[JobId, str | None]]:
    """Each job that hands data to the run, by name: its run that was heard of last by then.

    What other runs of the run's own job alone tell to be handed to that is not told of this one.
    """
    graph = knowledge.graph
    run = graph.runs.get(run_id)
    if run is None or run.of_job is None or run.times is None:
        return
    job = graph.jobs[run.of_job.job]
    for giver, tellers in sorted(job.fed_by.items()):
        if run_id not in tellers and job.runs.issuperset(tellers):
            continue
        until_us = tellers.get(run_id, run.times.seen).last_us
        yield giver, _last_seen(knowledge, [giver], run_id, until_us, _heard_of)


def _heard_of(run: Run) -> list[Seen]:
    return [] if run.times is None else [run.times.seen]


def _last_seen(
    knowledge: Knowledge, jobs: Iterable[JobId], reader: str, until_us: int, seen_in: Callable[[Run], Iterable[Seen]]
) -> str | None:
    """The run of these jobs, other than the reader, that was seen last by that time, by what is `seen_in` it."""
    last: tuple[int, str] | None = None
    for job in jobs:
        done = knowledge.activity(job)
        for run_id in done.begun_by(until_us, lambda run_id: knowledge.run(run_id).seen.first_us):
            run = knowledge.graph.runs.get(run_id)
            if run is None or run.times is None or run_id == reader:
                continue
            if last is not None and run.times.seen.first_us + done.longest_us < last[0]:
                break  # it and all that began before it had ended by then
            for seen in seen_in(run):
                if seen.first_us <= until_us:
                    found = seen.last_us if seen.last_us <= until_us else seen.first_us, run_id
                    last = found if last is None else max(last, found)
    return None if last is None else last[1]


def _upstream_run(run: shapes.Run, sources: _Sources) -> shapes_lineage.UpstreamRun:
    version = run["jobVersion"]
    return shapes_lineage.UpstreamRun(
        job=shapes_lineage.JobOfRun(**run["job"], version=None if version is None else version["version"]),
        run=shapes_lineage.RunTimes(id=run["id"], start=run["startedAt"], end=run["endedAt"], status=run["state"]),
        inputs=[
            shapes_lineage.RunInput(**read["datasetVersionId"], producedByRunId=sources.datasets.get(_name(read)))
            for read in run["inputDatasetVersions"]
        ],
        inputJobs=[
            shapes_lineage.InputJob(namespace=job.namespace, name=job.name, producedByRunId=producer)
            for job, producer in sources.jobs.items()
        ],
    )


def _name(read: shapes.DatasetVersionOfRun) -> DatasetId:
    return DatasetId(read["datasetVersionId"]["namespace"], read["datasetVersionId"]["name"])
