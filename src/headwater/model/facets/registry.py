"""Which view belongs to which facet, and a whole event checked by them."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, Literal

from headwater.model.facets.about import DatasetTagsFacet, DocumentationFacet, OwnershipFacet, TagsFacet
from headwater.model.facets.dataset import (
    CatalogFacet,
    DatasetTypeFacet,
    DataSourceFacet,
    HierarchyFacet,
    LifecycleStateChangeFacet,
    SchemaFacet,
    StorageFacet,
    SymlinksFacet,
    VersionFacet,
)
from headwater.model.facets.input_output import (
    IcebergCommitReportFacet,
    IcebergScanReportFacet,
    InputStatisticsFacet,
    OutputStatisticsFacet,
)
from headwater.model.facets.job import JobTypeFacet, SourceCodeFacet, SourceCodeLocationFacet, SqlFacet
from headwater.model.facets.lineage import ColumnLineageFacet, DatasetLineageFacet, JobLineageFacet
from headwater.model.facets.own import (
    ChainFacet,
    EngineCatalogFacet,
    ExpansoRunFacet,
    HeadwaterRunFacet,
    HeartbeatFacet,
    SignatureFacet,
    SubjectFacet,
)
from headwater.model.facets.quality import DataQualityAssertionsFacet, DataQualityMetricsFacet, RunTestsFacet
from headwater.model.facets.run import (
    EnvironmentVariablesFacet,
    ErrorMessageFacet,
    ExecutionParametersFacet,
    ExternalQueryFacet,
    ExtractionErrorFacet,
    JobDependenciesFacet,
    NominalTimeFacet,
    ParentFacet,
    ProcessingEngineFacet,
    UnknownSourceAttributeFacet,
)
from headwater.model.facets.subset import InputSubsetFacet, OutputSubsetFacet
from headwater.model.facets.view import Unreadable, View

Entity = Literal["run", "job", "dataset", "inputDataset", "outputDataset"]

_VIEWS_OF_ENTITY: Final[Mapping[Entity, tuple[type[View], ...]]] = {
    "run": (
        ChainFacet,
        EnvironmentVariablesFacet,
        ErrorMessageFacet,
        ExecutionParametersFacet,
        ExpansoRunFacet,
        ExternalQueryFacet,
        ExtractionErrorFacet,
        HeadwaterRunFacet,
        HeartbeatFacet,
        JobDependenciesFacet,
        NominalTimeFacet,
        ParentFacet,
        ProcessingEngineFacet,
        RunTestsFacet,
        SignatureFacet,
        TagsFacet,
        UnknownSourceAttributeFacet,
    ),
    "job": (
        DocumentationFacet,
        JobLineageFacet,
        JobTypeFacet,
        OwnershipFacet,
        SourceCodeFacet,
        SourceCodeLocationFacet,
        SqlFacet,
        TagsFacet,
    ),
    "dataset": (
        CatalogFacet,
        ColumnLineageFacet,
        DataQualityAssertionsFacet,
        DataQualityMetricsFacet,
        DataSourceFacet,
        DatasetLineageFacet,
        DatasetTagsFacet,
        DatasetTypeFacet,
        DocumentationFacet,
        EngineCatalogFacet,
        HierarchyFacet,
        LifecycleStateChangeFacet,
        OwnershipFacet,
        SchemaFacet,
        StorageFacet,
        SubjectFacet,
        SymlinksFacet,
        VersionFacet,
    ),
    "inputDataset": (
        DataQualityAssertionsFacet,
        DataQualityMetricsFacet,
        IcebergScanReportFacet,
        InputStatisticsFacet,
        InputSubsetFacet,
    ),
    "outputDataset": (IcebergCommitReportFacet, OutputStatisticsFacet, OutputSubsetFacet),
}

VIEWS: Final[Mapping[tuple[Entity, str], type[View]]] = MappingProxyType(
    {(entity, view.key): view for entity, views in _VIEWS_OF_ENTITY.items() for view in views}
)
"""The view of a facet by what carries it and its name; `inputFacets` are of an `inputDataset`."""


def unreadable_facets(body: Mapping[str, Any]) -> tuple[Unreadable, ...]:
    """Every facet of an event's parsed body that is not what its schema says, with its path from the event's top.

    A facet without a view need only be an object. Never raises, whatever the body holds.
    """
    return tuple(_faults(body))


def _faults(body: Mapping[str, Any]) -> Iterator[Unreadable]:
    for entity, place, facets in _places(body):
        if facets is None:
            continue
        if not isinstance(facets, dict):
            yield Unreadable("", place, "expected an object")
            continue
        for key, facet in facets.items():
            view = VIEWS.get((entity, key))
            read = view.read(facets) if view else None
            if isinstance(read, Unreadable):
                yield read.under(place)
            elif not isinstance(facet, dict | None):
                yield Unreadable(key, f"{place}.{key}", "expected an object")


def _places(body: object) -> Iterator[tuple[Entity, str, Any]]:
    yield "run", "run.facets", _member(_member(body, "run"), "facets")
    yield "job", "job.facets", _member(_member(body, "job"), "facets")
    yield "dataset", "dataset.facets", _member(_member(body, "dataset"), "facets")
    yield from _places_of_side(body, "inputs", "inputDataset", "inputFacets")
    yield from _places_of_side(body, "outputs", "outputDataset", "outputFacets")


def _places_of_side(body: object, side: str, entity: Entity, slot: str) -> Iterator[tuple[Entity, str, Any]]:
    datasets = _member(body, side)
    for index, dataset in enumerate(datasets if isinstance(datasets, list) else ()):
        yield "dataset", f"{side}.{index}.facets", _member(dataset, "facets")
        yield entity, f"{side}.{index}.{slot}", _member(dataset, slot)


def _member(value: object, name: str) -> Any:  # noqa: ANN401 JSON: anything may be there
    return value.get(name) if isinstance(value, dict) else None
