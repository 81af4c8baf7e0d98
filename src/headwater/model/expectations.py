"""Great Expectations' assertions, converted to the standard facet.

OpenLineage's validation action attaches an input's assertions as a facet of its own. It reports measurements also as
the standard's `dataQualityMetrics`, but assertions not as `dataQualityAssertions`: that facet is added here.

A pure function of one event, as all corrections are, so that facts stay pure. `docs/mending.md` documents it for users.

Source: openlineage-integration-common, `openlineage/common/provider/great_expectations/action.py`
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from headwater.model.events import DatasetRef, RunEvent, undeleted
from headwater.model.facets.quality import DataQualityAssertionsFacet

_OWN: Final = "greatExpectations_assertions"


def with_assertions(event: RunEvent) -> RunEvent:
    """The event with `dataQualityAssertions` added to its inputs."""
    if not any(_OWN in each.direction_facets for each in event.inputs):
        return event
    return replace(event, inputs=tuple(map(_with, event.inputs)))


def _with(dataset: DatasetRef) -> DatasetRef:
    facet = undeleted(dataset.direction_facets, _OWN)
    assertions = [*_assertions(facet.get("assertions") if facet is not None else None)]
    if facet is None or not assertions or DataQualityAssertionsFacet.key in dataset.direction_facets:
        return dataset
    about = {key: value for key, value in facet.items() if key in ("_producer", "_schemaURL")}
    added = {DataQualityAssertionsFacet.key: {**about, "assertions": assertions}}
    return replace(dataset, direction_facets={**dataset.direction_facets, **added})


def _assertions(reported: object) -> Iterator[Mapping[str, Any]]:
    for each in reported if isinstance(reported, list) else ():
        match each:
            case {"expectationType": str(name), "success": bool(success)}:
                column = each.get("column")
                about = {"column": column} if isinstance(column, str) else {}
                yield {"assertion": name, "success": success, **about}
