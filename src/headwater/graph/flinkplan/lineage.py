"""Column lineage of a whole statement."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic

from headwater.graph.flinkplan.bottom_up import scope_of_tree
from headwater.graph.flinkplan.scope import Scope
from headwater.graph.flinkplan.walk import Ledger, Node, Surroundings, Table
from headwater.graph.sparkplan.inputs import Inputs
from headwater.graph.sparkplan.lineage import named
from headwater.graph.sparkplan.transformation import ColumnInput, D


@dataclass(frozen=True, slots=True)
class Gap:
    """An operator that no rule covers, or that has an expression none covers: what comes out is known by table only.

    `kind` is Calcite's class. `columns` are the outputs whose inputs pass through it and are therefore incomplete;
    `decides_rows` says the same of the dataset-wide inputs. `tables` are those under it.
    """

    kind: str
    columns: frozenset[str]
    decides_rows: bool
    tables: frozenset[Table]


@dataclass(frozen=True, slots=True)
class StatementLineage(Generic[D]):
    """What a statement's outputs are made from; what is said of `sparkplan.lineage.PlanLineage` holds here, too."""

    columns: Mapping[str, frozenset[ColumnInput[D]]]
    dataset: frozenset[ColumnInput[D]]
    gaps: tuple[Gap, ...]


def column_lineage(tree: Node, columns: Sequence[str], dataset_of: Callable[[Table], D | None]) -> StatementLineage[D]:
    """Trace every column of a statement's target to columns of the tables that it reads.

    `columns` are the target's, in the order in which the query has them; the names that the query gives them do not
    matter. `dataset_of` is called once a table; None where that is no dataset: then its columns count as literals. What
    no rule covers gives a `Gap`, never an error.
    """
    ledger = Ledger()
    try:
        scope = scope_of_tree(tree, Surroundings({}), ledger)
    except RecursionError:
        scope = ledger.opaque("a tree too deep", {**tree, "columns": list(columns)})
    if len(scope.columns) != len(columns):
        scope = ledger.opaque(str(tree["kind"]), {**tree, "columns": list(columns)})
    return _Result(tuple(columns), scope, ledger, dataset_of).lineage()


@dataclass(frozen=True, slots=True)
class _Result(Generic[D]):
    """Turns the scope of the whole tree into what the caller asked for."""

    names: tuple[str, ...]
    scope: Scope
    ledger: Ledger
    dataset_of: Callable[[Table], D | None]

    def lineage(self) -> StatementLineage[D]:
        datasets = {origin: self.dataset_of(table) for table, origin in self.ledger.tables.items()}
        columns = dict(zip(self.names, self.scope.columns, strict=True))
        return StatementLineage(
            columns={name: named(inputs, datasets) for name, inputs in columns.items()},
            dataset=named(self.scope.rows, datasets),
            gaps=tuple(self._gaps(columns)),
        )

    def _gaps(self, columns: Mapping[str, Inputs]) -> Iterator[Gap]:
        """The gaps that the result depends on; what a query drops again leaves none."""
        origins = {name: set(inputs.origins()) for name, inputs in columns.items()}
        deciding = set(self.scope.rows.origins())
        for place, (kind, tables) in enumerate(self.ledger.gaps, start=1):
            through = frozenset(name for name, found in origins.items() if -place in found)
            if through or -place in deciding:
                yield Gap(kind, through, -place in deciding, tables)
