"""`headwater drift`: schemas that changed, and what depends on the changed columns."""

from collections.abc import Mapping
from typing import Annotated, Final

import typer
from rich.console import Console

from headwater.cli.json_output import AnswerOption, print_answer
from headwater.cli.lineage_walk import find
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
from headwater.errors import InvalidNameError
from headwater.model.words import so_many

_STYLES: Final = {True: "bold red", None: "yellow", False: "green"}
_WORDS: Final = {True: "breaking", None: "breaking for some readers", False: "not breaking"}

_DatasetArgument = Annotated[
    str | None, typer.Argument(metavar="DATASET", help="A dataset by name or node id; else all of them.")
]
_NamespaceOption = Annotated[
    str | None, typer.Option("--namespace", metavar="NAME", help="Only datasets of this namespace.")
]
_FromOption = Annotated[
    str | None,
    typer.Option("--from", metavar="TIME", help="Only changes reported at or after this time, with its zone."),
]
_ToOption = Annotated[str | None, typer.Option("--to", metavar="TIME", help="Only changes reported until this time.")]
_LimitOption = Annotated[int, typer.Option("--limit", min=0, max=MOST_ITEMS, help="How many changes to list at most.")]


def drift(
    dataset: _DatasetArgument = None,
    namespace: _NamespaceOption = None,
    begin: _FromOption = None,
    end: _ToOption = None,
    limit: _LimitOption = 20,
    as_of: AsOfOption = None,
    log_size: LogSizeOption = None,
    url: UrlOption = DEFAULT_URL,
    json_output: AnswerOption = False,
) -> None:
    """Show schema changes, newest first: who reported each, which columns changed, and what depends on them.

    Example: headwater drift lake.raw.flights --from 2026-05-22T00:00:00Z
    """
    with service_at(url, then=Then(as_of, log_size)) as client:
        asked = {"namespace": known_namespace(client, namespace), "from": begin, "to": end, "limit": limit}
        if dataset is not None:
            found = find(client, dataset)
            if found.column is not None:
                raise InvalidNameError(
                    f"{dataset!r} is a column; schema changes are listed by dataset: name the dataset alone"
                )
            asked["nodeId"] = found.node_id
        answer = client.get("/drift", asked)
    if json_output:
        print_answer(answer)
        return
    _print(unbroken_console(), answer)


def _print(console: Console, answer: Answer) -> None:
    for each in answer["drift"]:
        console.print(Line(f"{each['at']}  {each['nodeId']}", style="bold"), _by(each))
        for change in each["changes"]:
            console.print(_change(change))
            for job in change["jobs"]:
                console.print(Line(f"    {job}", style="dim"))
    shown, found = len(answer["drift"]), answer["totalCount"]
    if found:
        console.print()
    console.print(Line(f"{shown:,} of {so_many(found, 'change')}" if found else "no schema changed", style="bold"))


def _by(each: Answer) -> Line:
    subject, job = each["subject"], each["toldBy"]
    if subject is not None:
        rule = "" if subject["fitsRule"] is None else " fits" if subject["fitsRule"] else " breaks"
        rule = f",{rule} {subject['compatibility'] or 'its rule'}" if rule else ""
        return Line(f"{subject['subject']} version {subject['version']}{rule}", style="dim")
    return Line("declared" if job is None else f"reported by {job['namespace']}:{job['name']}", style="dim")


def _change(change: Answer) -> Line:
    ends = " → ".join(end for end in (change["before"], change["after"]) if end is not None)
    reaches = change["reaches"]
    line = Line(f"  {change['column']} {change['change']} {ends}  ")
    line.append(_WORDS[change["breaking"]], style=_STYLES[change["breaking"]])
    if any(reaches.values()):
        line.append(f", reaches {_counted(reaches)}", style="dim")
    return line


def _counted(reaches: Mapping[str, int]) -> str:
    return ", ".join(so_many(count, kind.removesuffix("s")) for kind, count in reaches.items() if count)
