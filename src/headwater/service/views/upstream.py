"""Which runs made what a run read."""

from headwater.graph.walk import reachable
from headwater.model.names import DatasetId
from headwater.service import shapes
from headwater.service.knowledge.activity import KnownRun
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.shapes import lineage as shapes_lineage
from headwater.service.views.runs import run_shapes


def upstream_runs(knowledge: Knowledge, run: KnownRun, max_hops: int) -> shapes_lineage.UpstreamRuns:
    """The run and those within so many hops upstream of it, nearest first."""
    sources: dict[str, dict[DatasetId, str | None]] = {}

    def writers(run_id: str) -> list[str]:
        sources[run_id] = _writers(knowledge, run_id)
        return [writer for writer in sources[run_id].values() if writer is not None]

    found = list(reachable([run.run_id], writers, max_hops))
    shown = run_shapes(knowledge, map(knowledge.run, found))
    return shapes_lineage.UpstreamRuns(
        runs=[
            _upstream_run(each, sources.get(run_id) or _writers(knowledge, run_id))
            for run_id, each in zip(found, shown, strict=True)
        ]
    )


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
    graph = knowledge.graph
    written = [
        (seen.last_us if seen.last_us <= until_us else seen.first_us, run_id)
        for job in graph.writers(name)
        for run_id in graph.jobs[job].runs
        if run_id != reader
        for member in graph.members(name)
        if (seen := graph.runs[run_id].observed.get(("output", member))) is not None and seen.first_us <= until_us
    ]
    return max(written, default=(0, None))[1]


def _upstream_run(run: shapes.Run, writers: dict[DatasetId, str | None]) -> shapes_lineage.UpstreamRun:
    version = run["jobVersion"]
    return shapes_lineage.UpstreamRun(
        job=shapes_lineage.JobOfRun(**run["job"], version=None if version is None else version["version"]),
        run=shapes_lineage.RunTimes(id=run["id"], start=run["startedAt"], end=run["endedAt"], status=run["state"]),
        inputs=[
            shapes_lineage.RunInput(**read["datasetVersionId"], producedByRunId=writers.get(_name(read)))
            for read in run["inputDatasetVersions"]
        ],
    )


def _name(read: shapes.DatasetVersionOfRun) -> DatasetId:
    return DatasetId(read["datasetVersionId"]["namespace"], read["datasetVersionId"]["name"])
