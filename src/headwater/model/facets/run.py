"""Facets of a run."""

from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from headwater.model.facets.forgiving import Exact
from headwater.model.facets.view import Integer, Items, Part, View
from headwater.model.names import JobId
from headwater.model.times import read_time


class RunRef(Part):
    """A run that a facet names; `facets` are that run's, for the views of `run` again."""

    run_id: str
    facets: dict[str, Any] | None = None


class JobRef(Part):
    """A job that a facet names; `facets` are that job's."""

    namespace: Exact
    name: Exact
    facets: dict[str, Any] | None = None

    @property
    def id(self) -> JobId:
        """The job's name as a pair."""
        return JobId(self.namespace, self.name)


class RootRun(Part):
    """The run at the top of a hierarchy of runs."""

    run: RunRef
    job: JobRef


class ParentFacet(View):
    """The run that this one is a part of.

    Source: OpenLineage ParentRunFacet 1-2-0
    """

    key: ClassVar = "parent"
    run: RunRef
    job: JobRef
    root: RootRun | None = None


def _date_time(text: str) -> str:
    try:
        read_time(text)
    except ValueError:
        raise PydanticCustomError("date_time", "not a date and time") from None
    return text


DateTimeText = Annotated[str, AfterValidator(_date_time), WithJsonSchema({"type": "string", "format": "date-time"})]
"""A date and time that stays as it was written; `moment` reads it."""


def moment(text: DateTimeText) -> datetime:
    """The time with its offset from UTC; some producers leave the offset out, and then mean UTC."""
    time = read_time(text)
    return time if time.tzinfo else time.replace(tzinfo=UTC)


class NominalTimeFacet(View):
    """The time that a scheduled run is for, which is not when it ran.

    Source: OpenLineage NominalTimeRunFacet 1-0-1
    """

    key: ClassVar = "nominalTime"
    nominal_start_time: DateTimeText | None = None
    nominal_end_time: DateTimeText | None = None

    @property
    def start(self) -> datetime | None:
        """The nominal start, with its offset from UTC."""
        return moment(self.nominal_start_time) if self.nominal_start_time is not None else None

    @property
    def end(self) -> datetime | None:
        """The nominal end, with its offset from UTC."""
        return moment(self.nominal_end_time) if self.nominal_end_time is not None else None


class ErrorMessageFacet(View):
    """Why a run failed.

    Source: OpenLineage ErrorMessageRunFacet 1-0-1
    """

    key: ClassVar = "errorMessage"
    message: str
    programming_language: str | None = None
    stack_trace: str | None = None


class SparkExceptionFacet(View):
    """Why a run failed, as openlineage-spark tells it.

    Source: openlineage-spark 1.53 sends it; no schema of it is published.
    """

    key: ClassVar = "spark.exception"
    message: str


class ExtractionFailure(Part):
    """One task whose lineage could not be worked out."""

    error_message: str | None = None
    stack_trace: str | None = None
    task: str | None = None
    task_number: Integer | None = None


class ExtractionErrorFacet(View):
    """What is missing from the lineage, and why: the run itself may have gone well.

    Source: OpenLineage ExtractionErrorRunFacet 1-1-2
    """

    key: ClassVar = "extractionError"
    total_tasks: Integer | None = None
    failed_tasks: Integer | None = None
    errors: Items[ExtractionFailure] = Field(default_factory=list)

    @property
    def tells_a_gap(self) -> bool:
        """Whether anything is missing, unless it says that nothing is: some write it of such runs, too."""
        return self.failed_tasks != 0 or bool(self.errors)


class UnreadOperator(Part):
    """An operator of which Airflow knows no way to read what it reads and writes; its properties are not looked at."""

    name: str


class UnknownSourceAttributeFacet(View):
    """Whose lineage was not looked for: hooks may have told it all the same.

    Source: apache-airflow-providers-openlineage 2.2 sends it; no schema of it is published.
    """

    key: ClassVar = "unknownSourceAttribute"
    unknown_items: Items[UnreadOperator]


class ExternalQueryFacet(View):
    """The query which the run left to another system.

    Source: OpenLineage ExternalQueryRunFacet 1-0-2
    """

    key: ClassVar = "externalQuery"
    external_query_id: str
    source: str | None = None


class ProcessingEngineFacet(View):
    """The engine that did the work.

    Source: OpenLineage ProcessingEngineRunFacet 1-1-1
    """

    key: ClassVar = "processing_engine"
    version: str | None = None
    name: str | None = None
    openlineage_adapter_version: str | None = None


class ExecutionParameter(Part):
    """A value the run was started with."""

    key: str
    name: str | None = None
    description: str | None = None
    value: str | None = None


class ExecutionParametersFacet(View):
    """What the run was started with.

    Source: OpenLineage ExecutionParametersRunFacet 1-0-0
    """

    key: ClassVar = "executionParameters"
    parameters: Items[ExecutionParameter] | None = None


class EnvironmentVariable(Part):
    """A name and a value of the process's environment."""

    name: str
    value: str


class EnvironmentVariablesFacet(View):
    """The environment the run saw.

    Source: OpenLineage EnvironmentVariablesRunFacet 1-0-0
    """

    key: ClassVar = "environmentVariables"
    environment_variables: Items[EnvironmentVariable]


class JobDependency(Part):
    """Another job, perhaps one run of it, that comes before or after this run."""

    job: JobRef
    run: RunRef | None = None
    dependency_type: str | None = Field(None, alias="dependency_type")
    sequence_trigger_rule: str | None = Field(None, alias="sequence_trigger_rule")
    status_trigger_rule: str | None = Field(None, alias="status_trigger_rule")


class JobDependenciesFacet(View):
    """Control flow: what had to end before this run, and what waits for it. No data need pass.

    Source: OpenLineage JobDependenciesRunFacet 1-0-1
    """

    key: ClassVar = "jobDependencies"
    upstream: Items[JobDependency] | None = None
    downstream: Items[JobDependency] | None = None
    trigger_rule: str | None = Field(None, alias="trigger_rule")
