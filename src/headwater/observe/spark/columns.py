"""Column lineage of an output's frame as the dataset facet `columnLineage`."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from openlineage.client.facet_v2 import column_lineage_dataset, schema_dataset

from headwater.graph.sparkplan.leaves import Leaf
from headwater.graph.sparkplan.lineage import Gap, PlanLineage
from headwater.graph.sparkplan.transformation import ColumnInput, D
from headwater.model.names import ColumnId, DatasetId

Facet = column_lineage_dataset.ColumnLineageDatasetFacet


def facet_of(lineage: PlanLineage[DatasetId], behind: Callable[[Leaf], Collection[DatasetId]]) -> Facet | None:
    """The facet: direct and conditional inputs by column, what decides the rows under `dataset`.

    A column is left out of which nothing is known, since one without inputs is made from nothing, as literals are. None
    where no column is left, or where the facet would not name a dataset that takes part, as a gap hides it or only its
    rows are counted: who has no facet to go by takes the output to be made from all that was read.

    Args:
        lineage: of a plan.
        behind: the datasets that a leaf may stand for.
    """
    known = known_columns(lineage.columns, (gap.columns for gap in lineage.gaps))
    without_columns = chain(lineage.unused, *(gap.leaves for gap in lineage.gaps))
    hidden = {dataset for leaf in without_columns for dataset in behind(leaf)}
    has_some = bool(known) or not lineage.columns
    return column_facet(known, lineage.dataset) if has_some and hidden <= named_in(known, lineage.dataset) else None


def known_columns(
    columns: Mapping[str, frozenset[ColumnInput[D]]], incomplete: Iterable[Iterable[str]]
) -> dict[str, frozenset[ColumnInput[D]]]:
    """The columns but for those of which nothing is known: that are incomplete, by some gap, and have no inputs."""
    unknown = {name for gap in incomplete for name in gap if not columns[name]}
    return {name: inputs for name, inputs in columns.items() if name not in unknown}


def named_in(columns: Mapping[str, Iterable[ColumnInput[D]]], dataset: Iterable[ColumnInput[D]]) -> set[D]:
    """The datasets of which a facet of these columns, and of what decides the rows, names a column."""
    return {one.dataset for inputs in (*columns.values(), dataset) for one in inputs}


def spread(
    lineage: PlanLineage[DatasetId], members: Callable[[DatasetId, str], Sequence[DatasetId]]
) -> PlanLineage[DatasetId]:
    """The lineage with every column of a group of datasets as the column of those that have it."""

    def all_of(inputs: Iterable[ColumnInput[DatasetId]]) -> frozenset[ColumnInput[DatasetId]]:
        return frozenset(
            ColumnInput(dataset, one.column, one.transformation)
            for one in inputs
            for dataset in members(one.dataset, one.column)
        )

    return replace(
        lineage,
        columns={column: all_of(inputs) for column, inputs in lineage.columns.items()},
        dataset=all_of(lineage.dataset),
    )


def column_facet(
    columns: Mapping[str, Iterable[ColumnInput[DatasetId]]], dataset: Iterable[ColumnInput[DatasetId]]
) -> Facet:
    """The facet of these columns, and of what decides the rows."""
    return Facet(
        fields={
            name: column_lineage_dataset.Fields(inputFields=_input_fields(inputs)) for name, inputs in columns.items()
        },
        dataset=_input_fields(dataset),
    )


def named_as(facet: Facet, schema: object) -> Facet:
    """The facet with its columns as the dataset's own schema facet writes them: Spark takes any case for the same."""
    fields = (schema.fields or []) if isinstance(schema, schema_dataset.SchemaDatasetFacet) else []
    own = {field.name.lower(): field.name for field in fields}
    exact = {field.name for field in fields}
    named = {name if name in exact else own.get(name.lower(), name): made for name, made in facet.fields.items()}
    return Facet(fields=named, dataset=facet.dataset)


def united(facets: Iterable[Facet]) -> Facet:
    """What all these facets of one dataset tell together."""
    fields: defaultdict[str, list[column_lineage_dataset.InputField]] = defaultdict(list)
    dataset: list[column_lineage_dataset.InputField] = []
    for facet in facets:
        dataset += facet.dataset or []
        for name, made in facet.fields.items():
            fields[name] += made.inputFields
    return Facet(
        fields={name: column_lineage_dataset.Fields(inputFields=_one_each(made)) for name, made in fields.items()},
        dataset=_one_each(dataset),
    )


def gaps_in_words(gaps: Iterable[Gap]) -> list[str]:
    """What column lineage did not see through, each kind once."""
    return list(dict.fromkeys(f"column lineage ends at {gap.kind}" for gap in gaps))


def _input_fields(inputs: Iterable[ColumnInput[DatasetId]]) -> list[column_lineage_dataset.InputField]:
    """One entry a column, with all the ways in which it takes part; sorted, so that equal plans give equal facets."""
    ways: defaultdict[ColumnId, set[tuple[str, str, bool]]] = defaultdict(set)
    for one in inputs:
        how = one.transformation
        ways[ColumnId(one.dataset, one.column)].add((how.type, str(how.subtype), how.masking))
    return _told(ways)


def _one_each(inputs: Iterable[column_lineage_dataset.InputField]) -> list[column_lineage_dataset.InputField]:
    """The same of inputs that may stand there several times."""
    ways: defaultdict[ColumnId, set[tuple[str, str, bool]]] = defaultdict(set)
    for one in inputs:
        for how in one.transformations or []:
            column = ColumnId(DatasetId(one.namespace, one.name), one.field)
            ways[column].add((how.type, str(how.subtype), bool(how.masking)))
    return _told(ways)


def _told(ways: Mapping[ColumnId, set[tuple[str, str, bool]]]) -> list[column_lineage_dataset.InputField]:
    return [
        column_lineage_dataset.InputField(
            namespace=column.dataset.namespace,
            name=column.dataset.name,
            field=column.column,
            transformations=[
                column_lineage_dataset.Transformation(type=kind, subtype=subtype, description="", masking=masking)
                for kind, subtype, masking in sorted(ways[column])
            ],
        )
        for column in sorted(ways)
    ]
