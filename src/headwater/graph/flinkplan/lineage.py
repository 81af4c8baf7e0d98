"""The entry point: column lineage of a statement."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic

from headwater.graph.flinkplan.bottom_up import scope_of_tree
from headwater.graph.flinkplan.scope import Scope
from headwater.graph.flinkplan.state import Correlations, Node, Table, WalkState
from headwater.graph.sparkplan.inputs import Inputs
from headwater.graph.sparkplan.lineage import with_datasets
from headwater.graph.sparkplan.transformation import ColumnInput, D


@dataclass(frozen=True, slots=True)
class Gap:
    """An operator that is not supported, or has an unsupported expression: its inputs are known by table only.

    `kind` is Calcite's class. `columns` are the outputs that depend on it, so that their inputs are incomplete;
    `decides_rows` says the same of the dataset-wide inputs. `tables` are those under it.
    """

    kind: str
    columns: frozenset[str]
    decides_rows: bool
    tables: frozenset[Table]


@dataclass(frozen=True, slots=True)
class StatementLineage(Generic[D]):
    """The inputs of a statement's outputs; the attributes are those of `sparkplan.lineage.PlanLineage`."""

    columns: Mapping[str, frozenset[ColumnInput[D]]]
    dataset: frozenset[ColumnInput[D]]
    gaps: tuple[Gap, ...]


def column_lineage(tree: Node, columns: Sequence[str], dataset_of: Callable[[Table], D | None]) -> StatementLineage[D]:
    """Trace every column of a statement's target to columns of the tables that it reads.

    `columns` are the target's, in the order of the query's output; the query's own names are ignored. `dataset_of` is
    called once per table; None means that it is not a dataset, and its columns count as literals. Unsupported parts of
    the plan become a `Gap`, never an error.
    """
    state = WalkState()
    try:
        scope = scope_of_tree(tree, Correlations({}), state)
    except RecursionError:
        scope = state.opaque("a plan nested too deeply", {**tree, "columns": list(columns)})
    if len(scope.columns) != len(columns):
        scope = state.opaque(str(tree["kind"]), {**tree, "columns": list(columns)})
    return _Result(tuple(columns), scope, state, dataset_of).lineage()


@dataclass(frozen=True, slots=True)
class _Result(Generic[D]):
    """Converts the root's scope to a `StatementLineage`."""

    names: tuple[str, ...]
    scope: Scope
    state: WalkState
    dataset_of: Callable[[Table], D | None]

    def lineage(self) -> StatementLineage[D]:
        datasets = {origin: self.dataset_of(table) for table, origin in self.state.tables.items()}
        columns = dict(zip(self.names, self.scope.columns, strict=True))
        return StatementLineage(
            columns={name: with_datasets(inputs, datasets) for name, inputs in columns.items()},
            dataset=with_datasets(self.scope.rows, datasets),
            gaps=tuple(self._gaps(columns)),
        )

    def _gaps(self, columns: Mapping[str, Inputs]) -> Iterator[Gap]:
        """The gaps that the result depends on; one whose columns are dropped again is left out."""
        origins = {name: set(inputs.origins()) for name, inputs in columns.items()}
        row_origins = set(self.scope.rows.origins())
        for number, (kind, tables) in enumerate(self.state.gaps, start=1):
            dependent = frozenset(name for name, found in origins.items() if -number in found)
            if dependent or -number in row_origins:
                yield Gap(kind, dependent, -number in row_origins, tables)
