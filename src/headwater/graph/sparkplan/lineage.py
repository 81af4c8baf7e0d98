"""Column lineage of a whole plan."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic

from headwater.graph.sparkplan.bottom_up import scope_of_plan
from headwater.graph.sparkplan.inputs import IDENTITY, NOTHING, Inputs, merged
from headwater.graph.sparkplan.leaves import Leaf, leaf_by_node
from headwater.graph.sparkplan.operation import Ledger
from headwater.graph.sparkplan.payloads import shown
from headwater.graph.sparkplan.plan import Plan
from headwater.graph.sparkplan.scope import Scope
from headwater.graph.sparkplan.transformation import ColumnInput, D


@dataclass(frozen=True, slots=True)
class Gap:
    """An operator, or a reference, that no rule covers, or a leaf that hides its columns: only tables are known.

    `kind` is Spark's class. `columns` are the outputs whose inputs pass through it and are therefore incomplete;
    `decides_rows` says the same of the dataset-wide inputs. `leaves` are the relations under it, or the
    leaf itself.
    """

    kind: str
    columns: frozenset[str]
    decides_rows: bool
    leaves: tuple[Leaf, ...]


@dataclass(frozen=True, slots=True)
class PlanLineage(Generic[D]):
    """What a plan's outputs are made from.

    `columns` has every output column in order, literals with no inputs. Besides direct inputs a column lists what
    decides its own value only: the conditions of CASE, IF and COALESCE, a window's partition and order, whatever
    decides the rows of a scalar subquery. `dataset` are the inputs that decide the rows as a whole: filters, join
    conditions, groups, sort orders. `inputs` are the leaves that were named, whether or not a column is used; `unused`
    are those of them of which none is: their rows were counted, or joined without a condition. For a command (INSERT,
    MERGE ...) the outputs are the target's columns.
    """

    columns: Mapping[str, frozenset[ColumnInput[D]]]
    dataset: frozenset[ColumnInput[D]]
    inputs: tuple[Leaf, ...]
    unused: tuple[Leaf, ...]
    gaps: tuple[Gap, ...]


def _shows_all(_: Leaf) -> bool:
    return False


def column_lineage(
    plan: Plan, dataset_of: Callable[[Leaf], D | None], hides: Callable[[Leaf], bool] = _shows_all
) -> PlanLineage[D]:
    """Trace every output column of a plan to the columns of its leaves.

    `dataset_of` is called once a leaf and returns what the leaf is a part of, or None where that is no dataset (a
    `Range`, a `LocalRelation`): then its columns count as literals, unless the leaf `hides` what they are made from. An
    operator that no rule covers gives a `Gap`, never an error, and so does such a leaf.
    """
    leaf_of = leaf_by_node(plan)
    ledger = Ledger({node: leaf.index for node, leaf in leaf_of.items()})
    scope = scope_of_plan(plan.root, ledger)
    return _Result(tuple(leaf_of.values()), scope, ledger, dataset_of, hides).lineage()


@dataclass(frozen=True, slots=True)
class _Result(Generic[D]):
    """Turns the scope of the whole plan into what the caller asked for."""

    leaves: tuple[Leaf, ...]
    scope: Scope
    ledger: Ledger
    dataset_of: Callable[[Leaf], D | None]
    hides: Callable[[Leaf], bool]

    def lineage(self) -> PlanLineage[D]:
        datasets = {index: self.dataset_of(self.leaves[index]) for index in sorted(self.scope.leaves)}
        columns = self._columns()
        return PlanLineage(
            columns={
                name: named(inputs, datasets) - self._unchanged(name, datasets) for name, inputs in columns.items()
            },
            dataset=named(self.scope.rows, datasets),
            inputs=tuple(self.leaves[index] for index, dataset in datasets.items() if dataset is not None),
            unused=tuple(self._unused(columns, datasets)),
            gaps=tuple(self._gaps(columns, [self.leaves[index] for index, known in datasets.items() if known is None])),
        )

    def _columns(self) -> dict[str, Inputs]:
        """By name; a query, unlike a table, may have two columns of one name, which then count as one."""
        columns: dict[str, Inputs] = {}
        for attribute, inputs in zip(self.scope.output, self.scope.in_order(), strict=True):
            columns[attribute.name] = merged([columns.get(attribute.name, NOTHING), inputs])
        return columns

    def _unchanged(self, column: str, datasets: Mapping[int, D | None]) -> frozenset[ColumnInput[D]]:
        """A row-level command reads its target; that a column keeps its value is no lineage."""
        dataset = None if self.scope.target is None else datasets.get(self.scope.target)
        return frozenset() if dataset is None else frozenset({ColumnInput(dataset, column, IDENTITY)})

    def _unused(self, columns: Mapping[str, Inputs], datasets: Mapping[int, D | None]) -> Iterator[Leaf]:
        used = {origin for inputs in (*columns.values(), self.scope.rows) for origin in inputs.origins()}
        for index, dataset in datasets.items():
            if dataset is not None and index != self.scope.target and index not in used:
                yield self.leaves[index]

    def _gaps(self, columns: Mapping[str, Inputs], unnamed: Iterable[Leaf]) -> Iterator[Gap]:
        """The gaps that the result depends on; what a query drops again leaves none."""
        hidden = {leaf.index: (leaf.kind, frozenset({leaf.index})) for leaf in unnamed if self.hides(leaf)}
        possible = {**self.ledger.gaps, **hidden}
        if not possible:
            return
        origins = {name: set(inputs.origins()) for name, inputs in columns.items()}
        deciding = set(self.scope.rows.origins())
        for origin, (kind, leaves) in possible.items():
            through = frozenset(name for name, found in origins.items() if origin in found)
            if through or origin in deciding:
                yield Gap(kind, through, origin in deciding, tuple(self.leaves[index] for index in sorted(leaves)))


def named(inputs: Inputs, datasets: Mapping[int, D | None]) -> frozenset[ColumnInput[D]]:
    """The inputs by the datasets that their origins are; one that is none counts as a literal."""
    return frozenset(
        ColumnInput(dataset, shown(source.column), transformation)
        for transformation, sources in inputs.items()
        for source in sources
        if (dataset := datasets.get(source.origin)) is not None
    )
