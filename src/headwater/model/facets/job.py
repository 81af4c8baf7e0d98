"""Facets of a job."""

from typing import ClassVar

from headwater.model.facets.view import Integer, Part, View


class EmissionPattern(Part):
    """When a job's events come, and whether each tells all or only what is new."""

    event_trigger: str
    event_content_mode: str
    window_duration: Integer | None = None
    """Seconds between two events, where they come by the clock."""


class JobTypeFacet(View):
    """What kind of job it is, for example BATCH, SPARK, QUERY.

    Source: OpenLineage JobTypeJobFacet 2-0-4
    """

    key: ClassVar = "jobType"
    processing_type: str
    integration: str
    job_type: str | None = None
    emission_pattern: EmissionPattern | None = None


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
    language: str
    source_code: str


class SourceCodeLocationFacet(View):
    """Where the code of the job is kept.

    Source: OpenLineage SourceCodeLocationJobFacet 1-1-0
    """

    key: ClassVar = "sourceCodeLocation"
    type: str
    url: str
    repo_url: str | None = None
    path: str | None = None
    version: str | None = None
    tag: str | None = None
    branch: str | None = None
    pull_request_number: str | None = None
