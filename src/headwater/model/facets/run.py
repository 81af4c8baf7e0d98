"""Facets of a run."""

from datetime import UTC, datetime
from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from headwater.model.facets.view import Integer, Items, Part, View
from headwater.model.times import read_time


def _date_time(text: str) -> str:
    try:
        read_time(text)
    except ValueError:
        raise PydanticCustomError("date_time", "not a date and time") from None
    return text


DateTimeText = Annotated[str, AfterValidator(_date_time), WithJsonSchema({"type": "string", "format": "date-time"})]
"""A date and time as written; `moment` parses it."""


def moment(text: DateTimeText) -> datetime:
    """The time with its offset from UTC; where a producer omits the offset, UTC."""
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
    """Why a run failed, as openlineage-spark reports it.

    Source: openlineage-spark 1.53 sends it; no schema of it is published.
    """

    key: ClassVar = "spark.exception"
    message: str


class ExtractionFailure(Part):
    """One task whose lineage could not be extracted."""

    error_message: str | None = None
    stack_trace: str | None = None
    task: str | None = None
    task_number: Integer | None = None


class ExtractionErrorFacet(View):
    """The gaps in the lineage, and the reasons: the run itself may have succeeded.

    Source: OpenLineage ExtractionErrorRunFacet 1-1-2
    """

    key: ClassVar = "extractionError"
    total_tasks: Integer | None = None
    failed_tasks: Integer | None = None
    errors: Items[ExtractionFailure] = Field(default_factory=list)

    @property
    def reports_a_gap(self) -> bool:
        """Whether anything is missing: some producers send the facet even if nothing is."""
        return self.failed_tasks != 0 or bool(self.errors)


class UnreadOperator(Part):
    """An operator whose inputs and outputs Airflow cannot extract; its properties are ignored."""

    name: str


class UnknownSourceAttributeFacet(View):
    """Operators without a lineage extractor: hooks may have reported their lineage all the same.

    Source: apache-airflow-providers-openlineage 2.2 sends it; no schema of it is published.
    """

    key: ClassVar = "unknownSourceAttribute"
    unknown_items: Items[UnreadOperator]


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
    """The parameters that the run was started with.

    Source: OpenLineage ExecutionParametersRunFacet 1-0-0
    """

    key: ClassVar = "executionParameters"
    parameters: Items[ExecutionParameter] | None = None
