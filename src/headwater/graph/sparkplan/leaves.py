"""The relations that a plan reads. The plan's JSON does not name them all, so the caller does.

How to name a leaf. The JSON has its class, its columns, and the aliases and views around it; only the JVM knows paths,
URLs and table names of unregistered relations. Within a plan, the JVM's leaves are identified by the expression id of
their first column, `Leaf.key`:

1. JSON first: `Leaf.table` is set if the relation was resolved through a catalog, `Leaf.views` names the temporary
   views (such as a pipeline's inputs) that contain the leaf, innermost first.
2. Otherwise ask the JVM, in one walk for all leaves of a plan. `plan.collectLeaves()` lists the leaves of the tree
   except those of `plan.subqueriesAll()`, the plans below expressions, and `plan.innerChildren()`, the query of a
   command. The key of a JVM leaf is `leaf.output().head().exprId().id()`; its name is
   `leaf.table().name()` for a `DataSourceV2Relation` or `StreamingRelationV2`, and for a `LogicalRelation`
   `leaf.relation().location().rootPaths()` over files, `leaf.relation().jdbcOptions()` over JDBC.

A self join reads one table through two leaves with different keys. The union of a data frame with itself has two leaves
with the same key, which are the same table.
"""

from dataclasses import dataclass
from typing import NamedTuple

from headwater.graph.sparkplan.plan import Entry, Expression, Node, Plan

_REFERENCES = frozenset({"CTERelationRef", "UnionLoopRef", "OneRowRelation"})
_WRAPPERS = frozenset({"SubqueryAlias", "View"})


class Attribute(NamedTuple):
    """A column of an operator's output. The expression id is unique in a JVM; table aliases do not change it."""

    name: str
    expression_id: int


@dataclass(frozen=True, slots=True)
class Leaf:
    """A relation at the bottom of a plan.

    `kind` is Spark's class, for example `DataSourceV2Relation`, `LogicalRelation`, `StreamingRelationV2`, `LogicalRDD`,
    `LocalRelation` or `Range`; the last two are not datasets. `table` is the name in a catalog, as parts, if the
    relation was resolved through one. `aliases` are the names directly around the leaf and `views` all views that
    contain it, both innermost first, each as parts. `source` is the source's name in a stream's relation.
    """

    index: int
    kind: str
    columns: tuple[Attribute, ...]
    table: tuple[str, ...] | None = None
    aliases: tuple[tuple[str, ...], ...] = ()
    views: tuple[tuple[str, ...], ...] = ()
    source: str | None = None
    streaming: bool = False

    @property
    def key(self) -> int | None:
        """The expression id of the first column, or None if there is no column."""
        return self.columns[0].expression_id if self.columns else None


def leaves(plan: Plan) -> tuple[Leaf, ...]:
    """The relations of a plan, top down and left to right; those in an operator's subqueries after its children."""
    return tuple(leaf_by_node(plan).values())


def leaf_by_node(plan: Plan) -> dict[Node, Leaf]:
    """The leaves by their operators, in the order of `leaves`."""
    found: dict[Node, Leaf] = {}
    pending: list[tuple[Node, _Context]] = [(plan.root, _Context())]
    while pending:
        node, context = pending.pop()
        if is_leaf(node):
            found[node] = _leaf(len(found), node, context)
        below = context.below(node)
        pending.extend((subquery, below.in_subquery()) for subquery in reversed(node.subqueries))
        pending.extend((child, below) for child in reversed(node.children))
    return found


def is_leaf(node: Node) -> bool:
    """True for a relation: it has columns and no children, and does not reference another part of the plan."""
    return not node.children and "output" in node.entry and node.kind not in _REFERENCES


def attributes(expressions: list[Expression]) -> tuple[Attribute, ...]:
    """The name and id of each named expression; others are left out."""
    return tuple(attribute for expression in expressions if (attribute := _attribute(expression[0])) is not None)


def _attribute(head: Entry) -> Attribute | None:
    try:
        name, number = head["name"], head["exprId"]["id"]
    except (LookupError, TypeError):
        return None
    return Attribute(name, number) if isinstance(name, str) and isinstance(number, int) else None


@dataclass(frozen=True, slots=True)
class _Context:
    """The aliases and views directly around an operator, and all views that contain it, innermost first."""

    wrappers: tuple[Node, ...] = ()
    views: tuple[tuple[str, ...], ...] = ()

    def below(self, node: Node) -> "_Context":
        view = _identifier(node.entry.get("desc")) if node.kind == "View" else ()
        wrappers = (node, *self.wrappers) if node.kind in _WRAPPERS else ()
        return _Context(wrappers, (view, *self.views) if view else self.views)

    def in_subquery(self) -> "_Context":
        return _Context((), self.views)


def _leaf(index: int, node: Node, context: _Context) -> Leaf:
    aliases = tuple(_alias(wrapper) for wrapper in context.wrappers if wrapper.kind == "SubqueryAlias")
    source = node.entry.get("sourceName")
    return Leaf(
        index=index,
        kind=node.kind,
        columns=attributes(node.output()),
        table=_table(node, context.wrappers),
        aliases=aliases,
        views=context.views,
        source=source if isinstance(source, str) else None,
        streaming=node.entry.get("isStreaming") is True or node.kind.startswith("Streaming"),
    )


def _table(node: Node, wrappers: tuple[Node, ...]) -> tuple[str, ...] | None:
    """The name in a catalog, from the relation's metadata or the qualified alias that Spark puts directly around it."""
    if isinstance(node.entry.get("catalogTable"), dict):
        return _identifier(node.entry["catalogTable"])
    alias = _alias(wrappers[0]) if wrappers and wrappers[0].kind == "SubqueryAlias" else ()
    return alias if len(alias) > 1 else None


def _identifier(description: object) -> tuple[str, ...]:
    """Those of catalog, database and table that a `CatalogTable` has."""
    identifier = description.get("identifier") if isinstance(description, dict) else None
    if not isinstance(identifier, dict):
        return ()
    return tuple(str(identifier[part]) for part in ("catalog", "database", "table") if identifier.get(part))


def _alias(node: Node) -> tuple[str, ...]:
    """The parts of an alias; Spark writes its qualifier as the string `[catalog, database]`, or as an empty list."""
    identifier = node.entry.get("identifier")
    if not isinstance(identifier, dict):
        return ()
    qualifier = identifier.get("qualifier")
    parts = qualifier.strip("[]").split(", ") if isinstance(qualifier, str) else []
    return (*(part for part in parts if part), str(identifier.get("name")))
