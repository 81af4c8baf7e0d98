"""`headwater trace`: where data comes from; also prints any walk as JSON or as a tree."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated

import typer
from rich.tree import Tree

from headwater.cli.folded_walk import folded
from headwater.cli.json_output import print_answer
from headwater.cli.lineage_walk import AROUND, INDIRECT, INSIDE, WHOLE, Step, Walk, find, is_whole, walk
from headwater.cli.printed import Line, unbroken_console
from headwater.cli.service_client import DEFAULT_URL, AsOfOption, LogSizeOption, Then, UrlOption, service_at

TargetArgument = Annotated[
    str, typer.Argument(metavar="DATASET[:COLUMN]", help="A dataset by name, alias, or the end of either.")
]
_LAST = INDIRECT | {AROUND, INSIDE, WHOLE}
"""Kinds of steps that pass on no value; they are sorted after those that do."""
JsonOption = Annotated[bool, typer.Option("--json", help="Print nodes and edges as JSON.")]


def trace(
    target: TargetArgument,
    as_of: AsOfOption = None,
    log_size: LogSizeOption = None,
    url: UrlOption = DEFAULT_URL,
    json_output: JsonOption = False,
) -> None:
    """Show what a dataset or column is made from, as a tree.

    Example: headwater trace lake.marts.carrier_delays:avg_arr_delay
    """
    with service_at(url, then=Then(as_of, log_size)) as client:
        walked = walk(client, find(client, target), "upstream")
    if json_output:
        print_answer(as_json(walked))
        return
    unbroken_console().print(as_tree(walked))


def as_json(walked: Walk) -> dict[str, object]:
    """The walk for a script: nodes nearest first, edges in the direction of the data."""
    return {
        "start": walked.start,
        "direction": walked.way,
        "nodes": [{"id": node, "name": walked.labels[node], "distance": hops} for node, hops in walked.hops.items()],
        "edges": [{"origin": step.source, "destination": step.target, "how": step.how} for step in walked.steps],
    }


def as_tree(walked: Walk, notes: Mapping[str, Line] = MappingProxyType({})) -> Tree:
    """The walk for people, with notes by node id; a repeated node is not expanded again."""
    walked, notes = folded(walked, notes)
    root = Tree(Line(walked.labels[walked.start], style="bold"))
    unfolded = {(walked.start, _behind(walked, walked.start, ""))}
    waiting = [(root, walked.start, "")]
    while waiting:
        branch, node, came_from = waiting.pop(0)
        for step in sorted(walked.next_steps(node, came_from), key=_direct_first):
            end = walked.far_end(step)
            behind = _behind(walked, end, node)
            has_more, is_new = bool(behind), (end, behind) not in unfolded
            if not is_new and {AROUND, INSIDE, WHOLE if is_whole(node) else ""}.intersection(step.how):
                continue  # the way back, or a column that is shown elsewhere
            line = _line(walked, step, is_repeated=has_more and not is_new)
            twig = branch.add(line.append(notes.get(end, Line())))
            if is_new:
                unfolded.add((end, behind))
                waiting.append((twig, end, node))
    if not root.children:
        root.add(Line("none: no edges " + walked.way, style="dim"))
    return root


def _behind(walked: Walk, node: str, came_from: str) -> frozenset[str]:
    return frozenset(map(walked.far_end, walked.next_steps(node, came_from)))


def _direct_first(step: Step) -> tuple[bool, str]:
    return (bool(step.how) and step.only(_LAST), step.source + step.target)


def _line(walked: Walk, step: Step, *, is_repeated: bool) -> Line:
    line = Line(walked.labels[walked.far_end(step)])
    if step.how:
        line.append(f"  {', '.join(step.how).lower()}", style="dim")
    if is_repeated:
        line.append("  (shown above)", style="dim italic")
    return line
