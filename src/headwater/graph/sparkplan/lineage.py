"""The entry point: column lineage of a plan."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic

from headwater.graph.sparkplan.bottom_up import scope_of_plan
from headwater.graph.sparkplan.inputs import IDENTITY, NOTHING, Inputs, merged
from headwater.graph.sparkplan.leaves import Leaf, leaf_by_node
from headwater.graph.sparkplan.operator import WalkState
from headwater.graph.sparkplan.payloads import public_column
from headwater.graph.sparkplan.plan import Plan
from headwater.graph.sparkplan.scope import Scope
from headwater.graph.sparkplan.transformation import ColumnInput, D


@dataclass(frozen=True, slots=True)
class Gap:
    """An unsupported operator or reference, or a leaf that hides its inputs: only tables are known.

    `kind` is Spark's class. `columns` are the outputs that depend on it, so that their inputs are incomplete;
    `decides_rows` says the same of the dataset-wide inputs. `leaves` are the relations under it, or the leaf itself.
    """

    kind: str
    columns: frozenset[str]
    decides_rows: bool
    leaves: tuple[Leaf, ...]


@dataclass(frozen=True, slots=True)
class PlanLineage(Generic[D]):
    """The inputs of a plan's outputs.

    `columns` has every output column in order; literals have no inputs. Besides direct inputs, a column has the
    indirect ones of its own value: the conditions of CASE, IF and COALESCE, a window's partition and order, and the row
    inputs of a scalar subquery. `dataset` are the inputs that decide which rows there are: filters, join conditions,
    groups, sort orders. `inputs` are the leaves that are datasets, whether or not a column is used; `unused` are those
    without a used column: their rows are counted, or joined without a condition. For a command (INSERT, MERGE ...) the
    outputs are the target's columns.
    """

    columns: Mapping[str, frozenset[ColumnInput[D]]]
    dataset: frozenset[ColumnInput[D]]
    inputs: tuple[Leaf, ...]
    unused: tuple[Leaf, ...]
    gaps: tuple[Gap, ...]


def _hides_nothing(_: Leaf) -> bool:
    return False


def column_lineage(
    plan: Plan, dataset_of: Callable[[Leaf], D | None], hides: Callable[[Leaf], bool] = _hides_nothing
) -> PlanLineage[D]:
    """Trace every output column of a plan to the columns of its leaves.

    `dataset_of` is called once per leaf and returns its dataset, or None if it is not one (a `Range`, a
    `LocalRelation`): then its columns count as literals, unless the leaf `hides` their inputs. Unsupported operators,
    and such leaves, become a `Gap`, never an error.
    """
    leaf_of = leaf_by_node(plan)
    state = WalkState({node: leaf.index for node, leaf in leaf_of.items()})
    scope = scope_of_plan(plan.root, state)
    return _Result(tuple(leaf_of.values()), scope, state, dataset_of, hides).lineage()


@dataclass(frozen=True, slots=True)
class _Result(Generic[D]):
    """Converts the root's scope to a `PlanLineage`."""

    leaves: tuple[Leaf, ...]
    scope: Scope
    state: WalkState
    dataset_of: Callable[[Leaf], D | None]
    hides: Callable[[Leaf], bool]

    def lineage(self) -> PlanLineage[D]:
        datasets = {index: self.dataset_of(self.leaves[index]) for index in sorted(self.scope.leaves)}
        columns = self._columns()
        return PlanLineage(
            columns={
                name: with_datasets(inputs, datasets) - self._self_lineage(name, datasets)
                for name, inputs in columns.items()
            },
            dataset=with_datasets(self.scope.rows, datasets),
            inputs=tuple(self.leaves[index] for index, dataset in datasets.items() if dataset is not None),
            unused=tuple(self._unused(columns, datasets)),
            gaps=tuple(self._gaps(columns, [self.leaves[index] for index, known in datasets.items() if known is None])),
        )

    def _columns(self) -> dict[str, Inputs]:
        """The inputs by name; the columns of a query that have the same name count as one."""
        columns: dict[str, Inputs] = {}
        for attribute, inputs in zip(self.scope.output, self.scope.in_order(), strict=True):
            columns[attribute.name] = merged([columns.get(attribute.name, NOTHING), inputs])
        return columns

    def _self_lineage(self, column: str, datasets: Mapping[int, D | None]) -> frozenset[ColumnInput[D]]:
        """The identity input of a column that a row-level operation reads from its target: an unchanged value."""
        dataset = None if self.scope.target is None else datasets.get(self.scope.target)
        return frozenset() if dataset is None else frozenset({ColumnInput(dataset, column, IDENTITY)})

    def _unused(self, columns: Mapping[str, Inputs], datasets: Mapping[int, D | None]) -> Iterator[Leaf]:
        used = {origin for inputs in (*columns.values(), self.scope.rows) for origin in inputs.origins()}
        for index, dataset in datasets.items():
            if dataset is not None and index != self.scope.target and index not in used:
                yield self.leaves[index]

    def _gaps(self, columns: Mapping[str, Inputs], unnamed: Iterable[Leaf]) -> Iterator[Gap]:
        """The gaps that the result depends on; one whose columns are dropped again is left out."""
        hidden = {leaf.index: (leaf.kind, frozenset({leaf.index})) for leaf in unnamed if self.hides(leaf)}
        possible = {**self.state.gaps, **hidden}
        if not possible:
            return
        origins = {name: set(inputs.origins()) for name, inputs in columns.items()}
        row_origins = set(self.scope.rows.origins())
        for origin, (kind, leaves) in possible.items():
            dependent = frozenset(name for name, found in origins.items() if origin in found)
            if dependent or origin in row_origins:
                yield Gap(kind, dependent, origin in row_origins, tuple(self.leaves[index] for index in sorted(leaves)))


def with_datasets(inputs: Inputs, datasets: Mapping[int, D | None]) -> frozenset[ColumnInput[D]]:
    """The inputs with the datasets of their origins; an origin that is not a dataset counts as a literal."""
    return frozenset(
        ColumnInput(dataset, public_column(source.column), transformation)
        for transformation, sources in inputs.items()
        for source in sources
        if (dataset := datasets.get(source.origin)) is not None
    )
