"""`headwater impact`: what a change of a dataset or column reaches, and whether it breaks there."""

from collections.abc import Sequence
from typing import Annotated, Final

import typer
from rich.console import Console

from headwater.cli.exit_status import IS_BAD
from headwater.cli.json_output import print_answer
from headwater.cli.lineage_walk import Walk, find, walk
from headwater.cli.printed import Line, unbroken_console
from headwater.cli.service_client import (
    DEFAULT_URL,
    Answer,
    AsOfOption,
    LogSizeOption,
    Then,
    UrlOption,
    service_at,
)
from headwater.cli.trace import JsonOption, TargetArgument, as_json, as_tree
from headwater.model.words import so_many

_STYLES: Final = {"breaks": "bold red", "starved": "red", "unknown": "yellow", "changed": "cyan", "unharmed": "green"}

_ChangeOption = Annotated[
    str | None,
    typer.Option("--change", metavar="CHANGE", help="What you plan: drop, rename:NEW or retype:TYPE."),
]


def impact(
    target: TargetArgument,
    change: _ChangeOption = None,
    as_of: AsOfOption = None,
    log_size: LogSizeOption = None,
    url: UrlOption = DEFAULT_URL,
    json_output: JsonOption = False,
) -> None:
    """Show what a change of a dataset or column reaches, and with --change what it breaks.

    Exit status: 1 if something breaks for certain, so that a check can stop a change; 0 if nothing does, or events do
    not tell (then --json has "breaking": null); 2 if it could not be asked.

    Example: headwater impact lake.raw.flights:arr_delay --change retype:bigint
    """
    with service_at(url, then=Then(as_of, log_size)) as client:
        found = find(client, target)
        answer = client.get_whole("/impact", {"nodeId": found.node_id, "change": change}, "reached")
        walked = walk(client, found, "downstream")
    if json_output:
        print_answer({**as_json(walked), **answer})
    else:
        _print(unbroken_console(), walked, answer)
    if answer["breaking"]:
        raise typer.Exit(IS_BAD)


def _print(console: Console, walked: Walk, answer: Answer) -> None:
    console.print(as_tree(walked, {reached["id"]: _note(reached) for reached in answer["reached"]}))
    guesses = [reached for reached in answer["reached"] if reached["id"] not in walked.hops and _is_guess(reached)]
    if guesses:
        console.print()
        console.print("These may use it; no event reports which columns they use:")
        for reached in guesses:
            console.print(Line(f"  {_label(walked, reached)}").append(_note(reached)))
    if breakages := _primary_breakages(answer["reached"]):
        console.print()
    for reached in breakages:
        console.print(Line(f"{_label(walked, reached)} ").append(reached["reason"], style="dim"))
    console.print()
    console.print(Line(answer["summary"], style="bold"))


def _primary_breakages(reached: Sequence[Answer]) -> list[Answer]:
    """The primary breakages: the jobs, which people must fix; other nodes only if no job is known, each once.

    A dataset that breaks because of one of its columns is reported with that column.
    """
    breaking = [each for each in reached if each["effect"] == "breaks"]
    reported = {_identity(each) for each in breaking if each["type"] == "DATASET_FIELD"}
    jobs = [each for each in breaking if each["type"] == "JOB"]
    return jobs or [each for each in breaking if each["type"] != "DATASET" or _identity(each) not in reported]


def _identity(reached: Answer) -> tuple[str, str, str]:
    return reached["namespace"], reached["name"], reached["reason"]


def _is_guess(reached: Answer) -> bool:
    path = reached["path"]  # empty if the reader lacks the permission to see it
    return bool((path[-1]["type"] is None) if path else reached["use"] == "unknown")


def _label(walked: Walk, reached: Answer) -> str:
    if reached["type"] == "DATASET_FIELD":
        dataset = f"dataset:{reached['namespace']}:{reached['name']}"
        return f"{walked.labels.get(dataset, reached['name'])}:{reached['field']}"
    name = walked.labels.get(reached["id"], reached["name"])
    return f"job {name}" if reached["type"] == "JOB" else str(name)


def _last_reported_before_run(reached: Answer) -> str | None:
    """When the step to a node was last reported, if that was before its last run began (or ended, if unknown).

    None if it was reported since.
    """
    last_run, path = reached["lastRun"], reached["path"]
    last_reported: str | None = path[-1].get("lastSeen") if path else None
    began = (last_run["startedAt"] or last_run["endedAt"]) if last_run else None
    return last_reported if last_reported and began and last_reported < began else None


def _note(reached: Answer) -> Line:
    """The note on a node after its name: the effect, the owner, the state of its last run."""
    note = Line()
    if reached["effect"] is not None:
        note.append(f"  {reached['effect']}", style=_STYLES[reached["effect"]])
    parts = [", ".join(owner["name"] for owner in reached["owners"])]
    last_run, quality = reached["lastRun"], reached["quality"]
    if last_run is not None and last_run["state"] != "COMPLETED":
        parts.append(f"last run {last_run['state']}")
    if last_reported := _last_reported_before_run(reached):
        parts.append(f"last reported {last_reported}")
    if quality is not None and quality["failed"]:
        parts.append(f"{len(quality['failed'])} of {so_many(quality['assertions'], 'check')} failed")
    if any(parts):
        note.append(f"  · {' · '.join(filter(None, parts))}", style="dim")
    return note
