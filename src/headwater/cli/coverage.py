"""`headwater coverage`: known gaps in the lineage that events report."""

from typing import Annotated, Final

import typer
from rich.console import Console

from headwater.cli.json_output import AnswerOption, print_answer
from headwater.cli.printed import Line, unbroken_console
from headwater.cli.search import known_namespace
from headwater.cli.service_client import (
    DEFAULT_URL,
    MOST_ITEMS,
    Answer,
    AsOfOption,
    LogSizeOption,
    Then,
    UrlOption,
    service_at,
)
from headwater.graph.coverage import GapKind
from headwater.model.words import so_many

_HEADINGS: Final = {
    "quarantined-name": "names in quarantine",
    "run-without-start": "runs without a START",
    "run-without-end": "runs without an end, and silent",
    "extraction-error": "runs whose lineage could not be extracted",
    "unread-operator": "runs that told no data, by operators that their scheduler cannot read",
    "silent-stream": "silent streams",
    "edge-without-columns": "datasets without column lineage",
    "dataset-without-schema": "datasets without a schema",
}

_NODE_WORDS: Final = {
    "missing": "events missing",
    "forks": "forked",
    "broken": "broken links",
    "replays": "replayed",
    "dropped": "dropped by the node",
    "silentEpochs": "silent",
    "clockAhead": "with a clock ahead",
}

_NamespaceOption = Annotated[
    str | None, typer.Option("--namespace", metavar="NAME", help="Only the gaps of this namespace.")
]
_KindOption = Annotated[
    GapKind | None, typer.Option("--kind", metavar="KIND", help=f"Only gaps of this kind: {', '.join(_HEADINGS)}.")
]
_LimitOption = Annotated[int, typer.Option("--limit", min=0, max=MOST_ITEMS, help="How many gaps to list at most.")]


def coverage(
    namespace: _NamespaceOption = None,
    kind: _KindOption = None,
    limit: _LimitOption = 50,
    as_of: AsOfOption = None,
    log_size: LogSizeOption = None,
    url: UrlOption = DEFAULT_URL,
    json_output: AnswerOption = False,
) -> None:
    """Show the known gaps: what events should have reported and did not, or reported wrongly.

    Example: headwater coverage --namespace demo
    """
    with service_at(url, then=Then(as_of, log_size)) as client:
        asked = {"namespace": known_namespace(client, namespace), "kind": kind, "limit": limit}
        answer = client.get("/coverage", asked)
    if json_output:
        print_answer(answer)
        return
    _print(unbroken_console(), answer)


def _print(console: Console, answer: Answer) -> None:
    total, signed = answer["total"], answer["total"]["signatures"]
    counts = (so_many(total[f"{what}s"], what) for what in ("job", "run", "dataset"))
    console.print(Line(", ".join(counts), style="bold"))
    kinds = ("verified", "unsigned", "unknownKey", "tampered", "malformed")
    counted = [f"{signed[kind]:,} {'unknown key' if kind == 'unknownKey' else kind}" for kind in kinds if signed[kind]]
    console.print(Line(f"{so_many(signed['events'], 'event')}: {', '.join(counted) or 'none'}"))
    _print_nodes(console, answer["nodes"])
    for kind, heading in _HEADINGS.items():
        gaps = [gap for gap in answer["gaps"] if gap["kind"] == kind]
        if gaps:
            console.print()
            console.print(Line(heading, style="bold yellow"))
        for gap in gaps:
            node = gap["nodeId"] or gap["namespace"]
            console.print(Line(f"  {node}  ").append(f"{gap['words']} · {gap['at']}", style="dim"))
    shown, found = len(answer["gaps"]), answer["totalCount"]
    is_empty = not (found or signed["events"] or any(total[count] for count in ("jobs", "runs", "datasets")))
    none = "no events are stored, so there are no gaps" if is_empty else "no gaps found"
    console.print()
    console.print(Line(f"{shown:,} of {so_many(found, 'gap')}" if found else none, style="bold"))


def _print_nodes(console: Console, nodes: Answer) -> None:
    if not nodes["nodes"]:
        return
    counted = [f"{nodes['troubles'][kind]:,} {word}" for kind, word in _NODE_WORDS.items() if nodes["troubles"][kind]]
    if nodes["unproved"]:
        counted.append(f"{so_many(nodes['unproved'], 'event')} without a trusted signature")
    console.print(Line(f"{so_many(nodes['nodes'], 'node')}: {', '.join(counted) or 'every record is complete'}"))
