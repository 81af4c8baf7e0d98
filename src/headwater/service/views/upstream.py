"""Which runs made what a run read, and which fed it directly, without a dataset between.

By the rules of the root-cause walk (`headwater.graph.causes.writers`). That walk also follows failed runs, for what
they should have written; here only runs count that wrote what was read.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from functools import partial
from itertools import chain, islice
from operator import itemgetter
from typing import Final, NamedTuple

from headwater.graph.causes.record import NOTHING_REPORTED, RunSummary
from headwater.graph.causes.visit import Writer
from headwater.graph.causes.writers import by_time, by_version, read_at_us
from headwater.graph.ends import has_written, reported_ends
from headwater.graph.records import Run, RunEnd
from headwater.graph.walk import walked
from headwater.model.merging import Seen
from headwater.model.names import DatasetId, JobId
from headwater.model.times import BEFORE_ALL_US
from headwater.service.background import collect_in_slices, result_in_slices
from headwater.service.knowledge.activity import KnownRun
from headwater.service.knowledge.history import KnownHistory
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.shapes import lineage as shapes_lineage
from headwater.service.shapes import marquez as shapes
from headwater.service.views.runs import run_shapes, version_at

_MOST_RUNS: Final = 200
"""Of a job that writes what was read: the newest that had begun by then, where any of them may be meant."""


class _Sources(NamedTuple):
    """Where a run's data came from, each with the job's run at that time."""

    datasets: dict[DatasetId, str | None]
    """By shown names."""
    jobs: dict[JobId, str | None]

    @property
    def runs(self) -> Iterator[str]:
        """The known runs."""
        yield from (run_id for each in self for run_id in each.values() if run_id is not None)


async def upstream_runs(knowledge: Knowledge, run: KnownRun, max_hops: int) -> shapes_lineage.UpstreamRuns:
    """The run and those within so many hops upstream of it, nearest first; works in time slices.

    This is history, so it includes deleted jobs and datasets.
    """
    with closing(KnownHistory(knowledge, with_deleted=True)) as history:
        upstream = _Upstream(knowledge, history)
        found = [*await result_in_slices(walked([run.run_id], lambda run_id: upstream.sources(run_id).runs, max_hops))]
        sources = await collect_in_slices(map(upstream.sources, found))
        shown = run_shapes(knowledge, map(knowledge.run, found))
        inputs = map(partial(_inputs, knowledge, history), shown, sources)
        return shapes_lineage.UpstreamRuns(runs=[*map(_upstream_run, shown, inputs, sources)])


_Wrote = Callable[[Run], bool]
"""Whether a run may have written what was read; of data that a job handed over any of its runs may."""


class _Upstream:
    """What was read and where it came from, found once per run."""

    def __init__(self, knowledge: Knowledge, history: KnownHistory) -> None:
        self._knowledge = knowledge
        self._graph = knowledge.graph
        self._history = history
        self._known: dict[str, _Sources] = {}

    def sources(self, run_id: str) -> _Sources:
        """The sources of the run's data; none if it has no events of its own."""
        if run_id not in self._known:
            run = self._history.summary(run_id)
            self._known[run_id] = _Sources({}, {}) if run is None else self._sources(run)
        return self._known[run_id]

    def _sources(self, run: RunSummary) -> _Sources:
        return _Sources({name: self._writer(run, name) for name in sorted(run.reads)}, dict(self._givers(run)))

    def _writer(self, reader: RunSummary, name: DatasetId) -> str | None:
        """The run that wrote exactly the version that was read, else the last to have written by then."""
        jobs = self._history.writers(name)
        ends: list[RunEnd] = [("output", member) for member in self._graph.members(name)]
        declaring = {job for job in jobs if not reported_ends(self._graph, job).isdisjoint(ends)}

        def wrote(run: Run) -> bool:
            if run.times is None or _is(reader, run):
                return False
            is_of_job = run.of_job is not None and run.of_job.job in declaring
            return has_written(self._graph, run.times.run_id, ends, is_of_job=is_of_job)

        if versions := self._versions(reader, name):
            before = (islice(self._runs_that(wrote, job, reader.last_us), _MOST_RUNS) for job in jobs)
            versions_of = self._history.versions_written([*chain.from_iterable(before)], name)
            same = map(self._history.summary, (run_id for run_id, its in versions_of.items() if its & versions))
            if (found := by_version(self._history, name, versions, [*filter(None, same)])) is not None:
                return found.run_id
        return self._last(jobs, reader, wrote)

    def _versions(self, reader: RunSummary, name: DatasetId) -> frozenset[str]:
        """The versions of a dataset that a run read: the first reported, but for a stream the last."""
        versions = self._history.versions_read(reader.run_id, name)
        if not versions or self._history.is_stream(reader.job):
            return versions  # without reading the run's events, of which there may be very many
        return self._history.record(reader.run_id).ends.get(("input", name), NOTHING_REPORTED).versions_at_first

    def _givers(self, reader: RunSummary) -> Iterator[tuple[JobId, str | None]]:
        """Each job that hands data to the run, by name: its run that is named, else that had ended last by then.

        A job that only other runs of the same job report as feeding it does not count for this run.
        """
        job, named = self._graph.jobs[reader.job], self._history.named_givers(reader.run_id)
        for giver, reporters in sorted(job.fed_by.items()):
            if giver in named:
                yield giver, next((run.run_id for run in named[giver]), None)
            elif reader.run_id in reporters or not job.runs.issuperset(reporters):
                yield giver, self._last([giver], reader, lambda run: not _is(reader, run))

    def _last(self, jobs: Iterable[JobId], reader: RunSummary, wrote: _Wrote) -> str | None:
        """The run of these jobs that had written last when the reader read, by time."""
        at_us = read_at_us(self._history, reader)
        runs = ((job, [*self._may_be_last(job, at_us, wrote)]) for job in jobs)
        found = (by_time(self._history, job, of_job, at_us) for job, of_job in runs)
        last = max(filter(None, found), key=lambda each: (_wrote_us(each, at_us), each.run.run_id), default=None)
        return None if last is None else last.run.run_id

    def _may_be_last(self, job: JobId, at_us: int, wrote: _Wrote) -> Iterator[RunSummary]:
        """The runs of the job that may have written last by then; for a stream any, however early it began."""
        if self._history.is_stream(job):
            yield from filter(None, map(self._history.summary, islice(self._runs_that(wrote, job, at_us), _MOST_RUNS)))
            return
        longest_us, last_us = self._knowledge.activity(job).longest_us, BEFORE_ALL_US
        for run_id, run, seen in self._begun(job, at_us):
            if seen.first_us + longest_us < last_us:
                return  # it and all that began before it had ended by then
            if seen.last_us >= last_us and wrote(run) and (summary := self._history.summary(run_id)) is not None:
                yield summary
                if summary.state == "COMPLETED" and summary.ended_us is not None and summary.ended_us <= at_us:
                    last_us = max(last_us, summary.ended_us)

    def _runs_that(self, wrote: _Wrote, job: JobId, until_us: int) -> Iterator[str]:
        """The matching runs of the job among those begun by then, newest first."""
        return (run_id for run_id, run, _ in self._begun(job, until_us) if wrote(run))

    def _begun(self, job: JobId, until_us: int) -> Iterator[tuple[str, Run, Seen]]:
        """Runs of the job with own events that may have begun by then, newest first, with their first and last event.

        They had events by then, even if only their creation; a run may be created long before it begins.
        """
        activity = self._knowledge.activity(job)
        for run_id in activity.begun_by(until_us, lambda run_id: self._knowledge.run(run_id).seen.first_us):
            run = self._graph.runs.get(run_id)
            if run is not None and run.times is not None and run.has_begun:
                yield run_id, run, run.times.seen


def _is(reader: RunSummary, run: Run) -> bool:
    return run.times is not None and run.times.run_id == reader.run_id


def _wrote_us(writer: Writer, at_us: int) -> int:
    """When it had last written by that time; a stream writes continuously."""
    ended_us = writer.run.ended_us
    return at_us if writer.by == "stream" or ended_us is None else ended_us


def _inputs(
    knowledge: Knowledge, history: KnownHistory, run: shapes.Run, sources: _Sources
) -> list[shapes_lineage.RunInput]:
    """The inputs of a run, even if only declared for its job, each with the run that wrote it."""
    read = {_name(each["datasetVersionId"]): each["datasetVersionId"] for each in run["inputDatasetVersions"]}
    if (summary := history.summary(run["id"])) is not None:
        at_us = read_at_us(history, summary)
        read |= {name: version_at(knowledge, name, at_us) for name in sources.datasets.keys() - read.keys()}
    return [
        shapes_lineage.RunInput(**version, producedByRunId=sources.datasets.get(name))
        for name, version in sorted(read.items(), key=itemgetter(0))
    ]


def _upstream_run(
    run: shapes.Run, inputs: list[shapes_lineage.RunInput], sources: _Sources
) -> shapes_lineage.UpstreamRun:
    version = run["jobVersion"]
    return shapes_lineage.UpstreamRun(
        job=shapes_lineage.JobOfRun(**run["job"], version=None if version is None else version["version"]),
        run=shapes_lineage.RunTimes(id=run["id"], start=run["startedAt"], end=run["endedAt"], status=run["state"]),
        inputs=inputs,
        inputJobs=[
            shapes_lineage.InputJob(namespace=job.namespace, name=job.name, producedByRunId=producer)
            for job, producer in sources.jobs.items()
        ],
    )


def _name(version: shapes.Versioned) -> DatasetId:
    return DatasetId(version["namespace"], version["name"])
