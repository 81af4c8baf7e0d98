"""Prints what a dataset is made from by a bundle's entries, and who signed them."""

from collections.abc import Iterator

from headwater.audit.made_from import MadeFrom, Maker, signed_by
from headwater.cli.lineage_walk import Step, Walk
from headwater.cli.printed import unbroken_console
from headwater.cli.trace import as_tree
from headwater.graph.walk import reachable
from headwater.model.names import GraphNode
from headwater.model.times import time_at
from headwater.model.words import so_many
from headwater.signing.directory import node_of


def print_made_from(made: MadeFrom) -> None:
    """Print the dataset's path as a tree."""
    console = unbroken_console()
    console.print(as_tree(_walk(made)))
    console.print()


def maker_lines(made: MadeFrom) -> Iterator[str]:
    """A line for each job on the path: its runs, the entries that report them, and who signed these."""
    for job, maker in made.makers.items():
        yield f"made by    {_words(job)}: {'; '.join(_facts(maker))}"


def _walk(made: MadeFrom) -> Walk:
    nodes: list[GraphNode] = [made.dataset, *made.path.jobs, *made.path.datasets]
    steps = tuple(Step(origin.node_id, end.node_id) for origin, end in made.path.edges)
    before: dict[str, list[str]] = {}
    for step in steps:
        before.setdefault(step.target, []).append(step.source)
    return Walk(
        made.dataset.node_id,
        "upstream",
        reachable([made.dataset.node_id], lambda node: before.get(node, ()), len(steps)),
        steps,
        {node.node_id: _words(node) for node in nodes},
        {
            (dataset.node_id, job.node_id): frozenset(node.node_id for node in behind)
            for (dataset, job), behind in made.path.through.items()
        },
    )


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


def _words(node: GraphNode) -> str:
    return " ".join(node).strip()
