"""`headwater diff`: what was added, removed or changed between two times or two runs, and by which event."""

import json
from collections.abc import Iterator
from typing import Annotated, Final

import typer

from headwater.cli.json_output import print_answer
from headwater.cli.lineage_walk import find
from headwater.cli.option_values import RUN, bare_run
from headwater.cli.printed import Line, unbroken_console
from headwater.cli.search import known_namespace
from headwater.cli.service_client import DEFAULT_URL, LONG_S, Answer, UrlOption, service_at
from headwater.model.names import is_uuid

_SIGNS: Final = {"came": ("+", "green"), "went": ("-", "red"), "changed": ("~", "yellow")}
_KINDS: Final = {
    "columnEdge": "column edge",
    "datasetFacet": "facet of dataset",
    "jobFacet": "facet of job",
    "runFacet": "facet of the run",
}
_ARGUMENTS: Final = {"from": "FROM", "to": "TO"}
_LEFT_OUT: Final = "…"
_MAX_CHARS: Final = 200


def diff(
    before: Annotated[
        str, typer.Argument(metavar="FROM", help="A time with its zone, log:N for the first N events, or a run id.")
    ],
    after: Annotated[str | None, typer.Argument(metavar="TO", help="As FROM; now, if it is left out.")] = None,
    runs: Annotated[bool, typer.Option("--runs", help="FROM and TO are two run ids.")] = False,
    dataset: Annotated[
        str | None,
        typer.Option(metavar="DATASET[:COLUMN]", help="Only what touches it; as for `headwater trace`."),
    ] = None,
    namespace: Annotated[str | None, typer.Option(help="Only what touches something in this namespace.")] = None,
    url: UrlOption = DEFAULT_URL,
    json_output: Annotated[bool, typer.Option("--json", help="Print the changes as JSON.")] = False,
) -> None:
    """Show what was added, removed or changed between two times or two runs, and by which event.

    Example: headwater diff 2026-05-22T00:00:00Z --dataset lake.marts.carrier_delays
    """
    if runs and after is None:
        raise typer.BadParameter("expected two run ids", param_hint="TO")
    if not runs and any(map(_is_run, (before, after))):
        raise typer.BadParameter("to compare two runs, add --runs", param_hint="FROM and TO")
    asked = {"fromRun": bare_run(before), "toRun": bare_run(after)} if runs else {"from": before, "to": after}
    with service_at(url, LONG_S, options=_ARGUMENTS) as client:
        asked["namespace"] = known_namespace(client, namespace)
        if dataset is not None:
            asked["nodeId"] = find(client, dataset).node_id
        answer = client.get_whole("/diff", asked, "changes")
    if json_output:
        print_answer(answer)
        return
    console = unbroken_console()
    for line in _lines(answer):
        console.print(line)


def _is_run(text: str | None) -> bool:
    """Whether the text can only be a run id."""
    return text is not None and (text.startswith(RUN) or is_uuid(text))


def _lines(answer: Answer) -> Iterator[Line]:
    for change in answer["changes"]:
        sign, style = _SIGNS[change["change"]]
        yield Line(f"{sign} ", style).append(_subject(change), "bold").append(_how(change)).append(_by(change), "dim")
        if change["facet"] is not None:
            yield from _members(change)
    counts = answer["counts"]
    summary = (
        f"{counts['came']} added, {counts['went']} removed, {counts['changed']} changed"
        if answer["totalCount"]
        else ("no differences")
    )
    yield Line(summary, "bold")


def _subject(change: Answer) -> str:
    kind = _KINDS.get(change["kind"], change["kind"])
    node, facet = change["nodeId"] or "", f" {change['facet']}" if change["facet"] else ""
    if change["origin"]:
        node = f"{_bare(change['origin'])} → {_bare(change['destination'])}"
    return f"{kind} {_bare(node)}".rstrip() + facet


def _bare(node_id: str) -> str:
    """A node id without its kind, which is shown already."""
    head, _, rest = node_id.partition(":")
    return rest if head in ("job", "dataset", "datasetField") else node_id


def _how(change: Answer) -> str:
    before, after = change["before"], change["after"]
    match change["kind"]:
        case "column" | "tag":
            return f"  {_arrow(before, after)}" if before or after else ""
        case "columnEdge":
            return "  " + _arrow(*(_transformations(side) for side in (before, after)))
        case "dataset" if change["change"] == "changed":
            return "  " + "; ".join(_names(change["nodeId"], before, after))
    return ""


def _names(shown: str, before: list[str], after: list[str]) -> Iterator[str]:
    """Changes in a dataset's names; the dataset itself is shown by its name afterwards."""
    new = [name for name in after if name not in before]
    names_by_text = {
        "was called": before if shown in new else [],
        "also called": [name for name in new if name != shown],
        "no longer called": [name for name in before if name not in after],
    }
    yield from (f"{how} {', '.join(map(_bare, names))}" for how, names in names_by_text.items() if names)


def _arrow(before: str | None, after: str | None) -> str:
    return f"{before} → {after}" if before and after else before or after or ""


def _transformations(steps: list[Answer] | None) -> str | None:
    return (steps and ", ".join(_step(step) for step in steps)) or None


def _step(step: Answer) -> str:
    kind: str = (step["subtype"] or step["type"]).lower()
    return f"{kind}, masked" if step["masking"] else kind


def _by(change: Answer) -> str:
    event = change["event"]
    if event is None:
        return ""
    parts = [f"{event['eventType']} at {event['eventTime']}", f"entry {event['index']} of the log"]
    if event["job"] is not None:
        parts.insert(0, f"{event['job']['namespace']}:{event['job']['name']}")
    return "  · " + " · ".join(parts)


def _members(change: Answer) -> Iterator[Line]:
    before, after = (dict(_leaves(change[side] or {}, "")) for side in ("before", "after"))
    for path in sorted(before.keys() | after.keys()):
        if before.get(path) != after.get(path):
            sides = [_short(side[path]) for side in (before, after) if path in side]
            yield Line(f"    {path}: {' → '.join(sides)}")


def _leaves(value: object, path: str) -> Iterator[tuple[str, object]]:
    """Values by path; a list item is under its key or name, if it has one."""
    match value:
        case dict():
            for name, member in value.items():
                yield from _leaves(member, f"{path}.{name}".lstrip("."))
        case list():
            for index, entry in enumerate(value):
                known = (entry.get("key") or entry.get("name")) if isinstance(entry, dict) else None
                yield from _leaves(entry, f"{path}[{known or index}]")
        case _:
            yield path, value


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MAX_CHARS else text[:_MAX_CHARS] + _LEFT_OUT
