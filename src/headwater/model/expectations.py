"""What Great Expectations found, told as the standard tells it.

OpenLineage's validation action hangs what it asserted of an input on it as a facet of its own. What was measured it
tells by the standard's `dataQualityMetrics` as well, what was asserted not: so that is added here, beside its own.

A pure function of one event, so that facts are. `docs/mending.md` says the same to users.

Source: openlineage-integration-common, `openlineage/common/provider/great_expectations/action.py`
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from headwater.model.events import DatasetRef, RunEvent, standing
from headwater.model.facets.quality import DataQualityAssertionsFacet

_OWN: Final = "greatExpectations_assertions"


def with_assertions(event: RunEvent) -> RunEvent:
    """The event as if its inputs had been told with `dataQualityAssertions`, too."""
    if not any(_OWN in each.direction_facets for each in event.inputs):
        return event
    return replace(event, inputs=tuple(map(_with, event.inputs)))


def _with(dataset: DatasetRef) -> DatasetRef:
    told = standing(dataset.direction_facets, _OWN)
    assertions = [*_assertions(told.get("assertions") if told is not None else None)]
    if told is None or not assertions or DataQualityAssertionsFacet.key in dataset.direction_facets:
        return dataset
    about = {key: value for key, value in told.items() if key in ("_producer", "_schemaURL")}
    added = {DataQualityAssertionsFacet.key: {**about, "assertions": assertions}}
    return replace(dataset, direction_facets={**dataset.direction_facets, **added})


def _assertions(told: object) -> Iterator[Mapping[str, Any]]:
    for each in told if isinstance(told, list) else ():
        match each:
            case {"expectationType": str(name), "success": bool(success)}:
                column = each.get("column")
                about = {"column": column} if isinstance(column, str) else {}
                yield {"assertion": name, "success": success, **about}
