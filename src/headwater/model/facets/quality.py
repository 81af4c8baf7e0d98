"""Facets about data quality: assertions, metrics, and a run's tests."""

from typing import Any, ClassVar, Final, NamedTuple

from pydantic import Field

from headwater.model.facet_texts import sorted_json
from headwater.model.facets.counts import Count
from headwater.model.facets.lenient import Exact
from headwater.model.facets.view import Items, Number, Part, View

_PASSED: Final = frozenset({"pass", "passed", "success", "succeeded", "ok"})
_FAILED: Final = frozenset({"fail", "failed", "failure", "error", "runtime error"})
"""The standard has `pass`, `fail` and `skip`; the others are those of other tools, such as dbt."""


class _Outcome(Part):
    name: str | None = None
    severity: str | None = None
    """The severity of a failure: `error` or `warn`."""
    description: str | None = None
    expected: str | None = None
    actual: str | None = None
    content: str | None = None
    """The subject of the check, for example a query."""
    content_type: str | None = None
    params: dict[str, Any] | None = None


class CheckId(NamedTuple):
    """The assertion, and its column; a number distinguishes those that agree in both."""

    assertion: str
    of_column: str | None
    is_named: bool
    which: str
    """Its name, or else its parameters, as JSON."""


class Assertion(_Outcome):
    """An expectation, and whether the data fulfilled it."""

    assertion: str
    success: bool
    column: Exact | None = None

    @property
    def of_column(self) -> str | None:
        """The column it is about; None: the whole dataset, for which some producers write an empty name."""
        return self.column or None

    @property
    def check(self) -> CheckId:
        """The identity of the expectation across runs: expected and observed values may differ each time."""
        which = sorted_json(self.params or {}).decode() if self.name is None else self.name
        return CheckId(self.assertion, self.of_column, self.name is not None, which)


class DataQualityAssertionsFacet(View):
    """Expectations on a dataset; producers hang it on the dataset or on the input.

    Source: OpenLineage DataQualityAssertionsDatasetFacet 1-0-2
    """

    key: ClassVar = "dataQualityAssertions"
    assertions: Items[Assertion]


class ColumnMetrics(Part):
    """The measurements of one column."""

    null_count: Count | None = None
    distinct_count: Count | None = None
    sum: Number | None = None
    count: Number | None = None
    min: Number | None = None
    max: Number | None = None
    quantiles: dict[str, Number] | None = None
    """By quantile, for example `"0.95"`."""


class DataQualityMetricsFacet(View):
    """The measurements of a dataset, or of the part of it that a run read.

    Source: OpenLineage DataQualityMetricsDatasetFacet 1-0-0, DataQualityMetricsInputDatasetFacet 1-0-3
    """

    key: ClassVar = "dataQualityMetrics"
    column_metrics: dict[str, ColumnMetrics] = Field(default_factory=dict)
    row_count: Count | None = None
    bytes: Count | None = None
    file_count: Count | None = None
    last_updated: str | None = None


class ExecutedTest(_Outcome):
    """One test and its result."""

    name: str
    status: Exact
    type: str | None = None

    @property
    def passed(self) -> bool | None:
        """Whether it passed, by its status; None if it was not carried out, or its status is unknown."""
        status = self.status.lower()
        return True if status in _PASSED else False if status in _FAILED else None


class RunTestsFacet(View):
    """The tests that a run carried out.

    Source: OpenLineage TestRunFacet 1-0-0
    """

    key: ClassVar = "test"
    tests: Items[ExecutedTest]
