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
    """The facet: each column's direct and conditional inputs; under `dataset`, the columns that decide the rows.

    A column with unknown inputs is left out, since a column listed without inputs is one made from literals. Returns
    None if no column is left, or if the facet would omit a dataset that takes part, because of a gap or because only
    its rows are counted: without a facet, readers derive the output from all inputs.

    Args:
        lineage: the column lineage of a plan.
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
    """The columns, without those of unknown origin: incomplete by some gap, and without inputs."""
    unknown = {name for gap in incomplete for name in gap if not columns[name]}
    return {name: inputs for name, inputs in columns.items() if name not in unknown}


def named_in(columns: Mapping[str, Iterable[ColumnInput[D]]], dataset: Iterable[ColumnInput[D]]) -> set[D]:
    """The datasets that a facet of these columns and row-deciding inputs would name."""
    return {one.dataset for inputs in (*columns.values(), dataset) for one in inputs}


def spread(
    lineage: PlanLineage[DatasetId], members: Callable[[DatasetId, str], Sequence[DatasetId]]
) -> PlanLineage[DatasetId]:
    """The lineage with each column of a group of datasets replaced by that column of the members that have it."""

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
    """The facet of these columns, and of the inputs that decide the rows."""
    return Facet(
        fields={
            name: column_lineage_dataset.Fields(inputFields=_input_fields(inputs)) for name, inputs in columns.items()
        },
        dataset=_input_fields(dataset),
    )


def named_as(facet: Facet, schema: object) -> Facet:
    """The facet with column names in the case of the dataset's schema facet: Spark ignores case."""
    fields = (schema.fields or []) if isinstance(schema, schema_dataset.SchemaDatasetFacet) else []
    own = {field.name.lower(): field.name for field in fields}
    exact = {field.name for field in fields}
    named = {name if name in exact else own.get(name.lower(), name): inputs for name, inputs in facet.fields.items()}
    return Facet(fields=named, dataset=facet.dataset)


def united(facets: Iterable[Facet]) -> Facet:
    """The union of several facets of one dataset."""
    fields: defaultdict[str, list[column_lineage_dataset.InputField]] = defaultdict(list)
    dataset: list[column_lineage_dataset.InputField] = []
    for facet in facets:
        dataset += facet.dataset or []
        for name, inputs in facet.fields.items():
            fields[name] += inputs.inputFields
    return Facet(
        fields={name: column_lineage_dataset.Fields(inputFields=_one_each(inputs)) for name, inputs in fields.items()},
        dataset=_one_each(dataset),
    )


def gap_texts(gaps: Iterable[Gap]) -> list[str]:
    """Texts for the gaps that column lineage could not resolve, each kind once."""
    return list(dict.fromkeys(f"column lineage ends at {gap.kind}" for gap in gaps))


def _input_fields(inputs: Iterable[ColumnInput[DatasetId]]) -> list[column_lineage_dataset.InputField]:
    """One entry per column, with all its transformations; sorted, so that equal plans give equal facets."""
    transformations: defaultdict[ColumnId, set[tuple[str, str, bool]]] = defaultdict(set)
    for one in inputs:
        how = one.transformation
        transformations[ColumnId(one.dataset, one.column)].add((how.type, str(how.subtype), how.masking))
    return _merged_inputs(transformations)


def _one_each(inputs: Iterable[column_lineage_dataset.InputField]) -> list[column_lineage_dataset.InputField]:
    """Merge entries of the same column."""
    transformations: defaultdict[ColumnId, set[tuple[str, str, bool]]] = defaultdict(set)
    for one in inputs:
        for how in one.transformations or []:
            column = ColumnId(DatasetId(one.namespace, one.name), one.field)
            transformations[column].add((how.type, str(how.subtype), bool(how.masking)))
    return _merged_inputs(transformations)


def _merged_inputs(
    transformations: Mapping[ColumnId, set[tuple[str, str, bool]]],
) -> list[column_lineage_dataset.InputField]:
    return [
        column_lineage_dataset.InputField(
            namespace=column.dataset.namespace,
            name=column.dataset.name,
            field=column.column,
            transformations=[
                column_lineage_dataset.Transformation(type=kind, subtype=subtype, description="", masking=masking)
                for kind, subtype, masking in sorted(transformations[column])
            ],
        )
        for column in sorted(transformations)
    ]
