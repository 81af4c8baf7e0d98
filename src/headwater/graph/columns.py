"""Column edges, parsed from the facets that carry them.

A `lineage` facet is stronger evidence than `columnLineage`; the graph decides which counts, per run and target. Parts
that cannot be parsed are skipped: they stay visible in the facet itself.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

from headwater.model.names import DatasetId, JobId
from headwater.model.objects import text

Kind = Literal["DIRECT", "INDIRECT"]


class ColumnEdge(NamedTuple):
    """Data flows from a source column into a target column.

    `target_column` None: the source affects every column of the target (a filter, a join). `source_column` None: the
    whole source dataset. The source's namespace may be empty, as with inputs.
    """

    target_column: str | None
    source: DatasetId
    source_column: str | None
    kind: Kind
    subtype: str
    masking: bool
    description: str


def edges_into(target: DatasetId, facet: Mapping[str, Any]) -> tuple[ColumnEdge, ...]:
    """The edges into `target` that a columnLineage facet, or either kind of lineage facet, reports.

    Source: OpenLineage ColumnLineageDatasetFacet 1-2-0 and LineageFacet 1-0-0
    """
    if isinstance(facet.get("entries"), list):
        entries = (entry for entry in facet["entries"] if isinstance(entry, dict) and entry.get("type") != "JOB")
        mine = [entry for entry in entries if _name(entry) == tuple(target)]
        return tuple(edge for entry in mine for edge in _edges(entry))
    return tuple(_edges(facet))


class JobUse(NamedTuple):
    """A job uses a column or a whole dataset itself, rather than to produce a dataset."""

    job: JobId | None
    """None: the job that reports it."""
    edge: ColumnEdge


def job_uses(facet: Mapping[str, Any]) -> Iterator[JobUse]:
    """The uses by jobs themselves in the `lineage` facet of a job."""
    for entry in _list(facet.get("entries")):
        if isinstance(entry, dict) and entry.get("type") == "JOB":
            namespace, name = _name(entry)
            job = JobId(namespace, name) if isinstance(namespace, str) and isinstance(name, str) else None
            for source in _list(entry.get("inputs")) if job or (namespace, name) == (None, None) else ():
                for edge in _edges_of_source(None, source, {}):
                    yield JobUse(job, edge if source.get("transformations") else edge._replace(kind="DIRECT"))


def legacy_transformations(facet: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, str]]]:
    """The legacy `transformationDescription` and `transformationType` of a columnLineage facet, by column."""
    for column, entry in _items(facet.get("fields")):
        if isinstance(entry, dict):
            transformation = text(entry, "transformationDescription"), text(entry, "transformationType")
            if any(transformation):
                yield column, transformation


def _name(entity: Mapping[str, Any]) -> tuple[object, object]:
    return entity.get("namespace"), entity.get("name")


def _edges(facet: Mapping[str, Any]) -> Iterator[ColumnEdge]:
    for column, entry in _items(facet.get("fields")):
        if isinstance(entry, dict):
            for source in (*_list(entry.get("inputFields")), *_list(entry.get("inputs"))):
                yield from _edges_of_source(column, source, entry)
    for source in (*_list(facet.get("dataset")), *_list(facet.get("inputs"))):
        yield from _edges_of_source(None, source, {})


def _edges_of_source(column: str | None, source: object, entry: Mapping[str, Any]) -> Iterable[ColumnEdge]:
    if not isinstance(source, dict) or source.get("type", "DATASET") != "DATASET":
        return ()
    namespace, name, field = source.get("namespace"), source.get("name"), source.get("field")
    if not (isinstance(namespace, str) and isinstance(name, str) and name):
        return ()
    if field is not None and not isinstance(field, str):
        return ()
    dataset = DatasetId(namespace, name)
    steps: list[Mapping[str, Any]] = [step for step in _list(source.get("transformations")) if isinstance(step, dict)]
    return [_edge(column, dataset, field, step) for step in steps or [_former(column, entry)]]


def _edge(column: str | None, source: DatasetId, field: str | None, step: Mapping[str, Any]) -> ColumnEdge:
    kind: Kind = "INDIRECT" if step.get("type") == "INDIRECT" else "DIRECT"
    masking = step.get("masking") is True
    return ColumnEdge(column, source, field, kind, text(step, "subtype"), masking, text(step, "description"))


def _former(column: str | None, entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """The legacy form, in use before `transformations` came with 1-1-0, as a transformation."""
    former = text(entry, "transformationType")
    return {
        "type": "DIRECT" if column is not None else "INDIRECT",
        "subtype": "TRANSFORMATION" if former == "MASKED" else former,
        "masking": former == "MASKED",
        "description": text(entry, "transformationDescription"),
    }


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _items(value: object) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from value.items()
