"""Facets of a job."""

from typing import ClassVar, Final

from headwater.model.facets.view import Integer, Part, View

_LONGEST_S: Final = 10**9
"""A longer window than thirty years is no promise of another event."""


class EmissionPattern(Part):
    """When a job's events arrive, and whether each reports everything or only changes."""

    event_trigger: str | None = None
    event_content_mode: str | None = None
    window_duration: Integer | None = None
    """Seconds between two events, if they are periodic."""


class JobTypeFacet(View):
    """The kind of a job, for example BATCH, SPARK, QUERY.

    Source: OpenLineage JobTypeJobFacet 2-0-4
    """

    key: ClassVar = "jobType"
    processing_type: str | None = None
    integration: str | None = None
    job_type: str | None = None
    emission_pattern: EmissionPattern | None = None

    @property
    def window_s(self) -> int | None:
        """The seconds that the job lets pass between two events at most; None for one that makes no such promise.

        Source: OpenLineage JobTypeJobFacet 2-0-4: `windowDuration` only applies where `eventTrigger` is PERIODIC
        """
        pattern = self.emission_pattern
        if pattern is None or pattern.event_trigger != "PERIODIC" or pattern.window_duration is None:
            return None
        return pattern.window_duration if 0 < pattern.window_duration <= _LONGEST_S else None


class SqlFacet(View):
    """The query that the job runs.

    Source: OpenLineage SQLJobFacet 1-1-0
    """

    key: ClassVar = "sql"
    query: str
    dialect: str | None = None


class SourceCodeFacet(View):
    """The code of the job itself.

    Source: OpenLineage SourceCodeJobFacet 1-0-1
    """

    key: ClassVar = "sourceCode"
    language: str | None = None
    source_code: str


class SourceCodeLocationFacet(View):
    """The location of the job's source code.

    Source: OpenLineage SourceCodeLocationJobFacet 1-1-0
    """

    key: ClassVar = "sourceCodeLocation"
    type: str | None = None
    url: str | None = None
    repo_url: str | None = None
    path: str | None = None
    version: str | None = None
    tag: str | None = None
    branch: str | None = None
    pull_request_number: str | None = None
