"""Which columns of a dataset jobs check, by their newest runs' and their declarations' facets about inputs."""

from collections import defaultdict
from collections.abc import Generator, Iterator, Sequence
from itertools import chain
from typing import Final, NamedTuple

from headwater.graph.impact.checks import Check, Checks, reporting_runs
from headwater.model.facets.quality import DataQualityAssertionsFacet
from headwater.model.names import DatasetId, JobId
from headwater.service.knowledge.job_type import is_stream
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.views.quality import asserted_by

_KEY: Final = DataQualityAssertionsFacet.key


class _Report(NamedTuple):
    job: JobId
    time_us: int
    content: bytes


def checks_of(knowledge: Knowledge, name: DatasetId) -> Generator[None, None, Checks]:
    """The current checks of a dataset's columns, by the readers that report them.

    The store is queried only for datasets with reported checks, and only for the newest runs. Yields between steps: a
    stream may have reported thousands.
    """
    if knowledge.graph.digest_of(name, _KEY) is None:
        return {}
    by_job: dict[JobId, dict[str, list[tuple[int, str]]]] = defaultdict(lambda: defaultdict(list))
    for report in chain([*_declared(knowledge, name)], _reported_by_runs(knowledge, name)):
        if report is not None:
            facet = knowledge.facets.read(DataQualityAssertionsFacet, report.content)
            for assertion in () if facet is None else facet.assertions:
                if assertion.of_column is not None:
                    by_job[report.job][assertion.of_column].append((report.time_us, assertion.assertion))
        yield
    return {job: [_check(column, report) for column, report in sorted(of.items())] for job, of in by_job.items()}


def _check(column: str, reports: Sequence[tuple[int, str]]) -> Check:
    return Check(column, tuple(sorted({each for _, each in reports})), max(time_us for time_us, _ in reports))


def _declared(knowledge: Knowledge, name: DatasetId) -> Iterator[_Report]:
    graph = knowledge.graph
    for dataset in filter(None, map(graph.datasets.get, graph.members(name))):
        for (*_, node), declared in dataset.declared.items():
            if isinstance(node, JobId) and "input" in declared.sides and _KEY in declared.facets:
                yield _Report(node, declared.stamp.time_us, declared.facets[_KEY].content)


def _reported_by_runs(knowledge: Knowledge, name: DatasetId) -> Iterator[_Report | None]:
    """The reports that count, and None for each that does not."""
    graph, names = knowledge.graph, knowledge.graph.members(name)
    job_of: dict[str, JobId] = {}
    since_us: dict[str, int] = {}
    for job in filter(knowledge.is_job, graph.readers(name)):
        reporting = reporting_runs(graph, names, knowledge.activity(job).runs, is_stream=is_stream(knowledge, job))
        job_of.update(dict.fromkeys(reporting, job))
        since_us.update(reporting)
    for member in names:
        for row in asserted_by(knowledge, [*job_of], member):
            counts = row.direction == "input" and row.stamp.time_us >= since_us[row.run_id]
            yield _Report(job_of[row.run_id], row.stamp.time_us, row.content) if counts else None
