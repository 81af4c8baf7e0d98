"""Prints what a dataset is made from by a bundle's entries, and who signed them."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from headwater.audit.made_from import MadeFrom, Maker, signed_by
from headwater.cli.lineage_walk import MASKED, Step, Walk
from headwater.cli.printed import unbroken_console
from headwater.cli.trace import as_tree
from headwater.graph.column_path import ColumnFlow
from headwater.graph.walk import reachable
from headwater.model.names import ColumnId, DatasetId, GraphNode
from headwater.model.times import time_at
from headwater.model.words import so_many
from headwater.signing.directory import node_of


def print_made_from(made: MadeFrom) -> None:
    """Print the path of the dataset, or of the column that was asked for, as a tree."""
    console = unbroken_console()
    console.print(as_tree(_walk(made) if made.column is None else _column_walk(made.column, made.flows)))
    console.print()


def maker_lines(made: MadeFrom) -> Iterator[str]:
    """A line for each job on the path: its runs, the entries that report them, and who signed these."""
    for job, maker in made.makers.items():
        yield f"made by    {_words(job)}: {'; '.join(_facts(maker))}"


def _walk(made: MadeFrom) -> Walk:
    nodes: list[GraphNode] = [made.dataset, *made.path.jobs, *made.path.datasets]
    through = {
        (dataset.node_id, job.node_id): frozenset(node.node_id for node in behind)
        for (dataset, job), behind in made.path.through.items()
    }
    steps = tuple(Step(origin.node_id, end.node_id) for origin, end in made.path.edges)
    return _walk_over(made.dataset, steps, {node.node_id: _words(node) for node in nodes}, through)


def _column_walk(column: ColumnId, flows: Sequence[ColumnFlow]) -> Walk:
    labels = {end.node_id: _words(end) for flow in flows for end in (flow.source, flow.target)}
    how: dict[tuple[str, str], set[str]] = {}
    for source, target, edge in flows:
        kinds = {edge.subtype or edge.kind, *((MASKED,) if edge.masking else ())}
        how.setdefault((source.node_id, target.node_id), set()).update(kinds)
    steps = tuple(Step(*ends, tuple(sorted(kinds))) for ends, kinds in how.items())
    return _walk_over(column, steps, {column.node_id: _words(column), **labels})


def _walk_over(
    start: DatasetId | ColumnId,
    steps: tuple[Step, ...],
    labels: Mapping[str, str],
    through: Mapping[tuple[str, str], frozenset[str]] = MappingProxyType({}),
) -> Walk:
    before: dict[str, list[str]] = {}
    for step in steps:
        before.setdefault(step.target, []).append(step.source)
    hops = reachable([start.node_id], lambda node: before.get(node, ()), len(steps))
    return Walk(start.node_id, "upstream", hops, steps, labels, through)


def _facts(maker: Maker) -> Iterator[str]:
    if maker.last is not None:
        _, stamp, state = maker.last.times.state
        yield f"{so_many(maker.runs, 'run')}, the last {state} at {time_at(stamp.time_us):%Y-%m-%dT%H:%M:%SZ}"
    if not maker.entries:
        yield "only others report it"
        return
    first, last = maker.entries[0].log_index, maker.entries[-1].log_index
    yield f"entry {first}" if first == last else f"{so_many(len(maker.entries), 'entry')} from {first} to {last}"
    signed = signed_by(maker.entries)
    if signed:
        yield f"signed by {', '.join(sorted({node_of(key) for key in signed}))}"
    if unsigned := len(maker.entries) - sum(signed.values()):
        yield f"{unsigned:,} of them without a trusted signature"


def _words(node: GraphNode | ColumnId) -> str:
    match node:
        case ColumnId(dataset, column):
            return f"{_words(dataset)}:{column}"
        case (namespace, name):
            return f"{namespace} {name}".strip()
