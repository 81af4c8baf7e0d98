"""`headwater root-cause`: why a dataset or column is wrong, by what changed upstream."""

from collections.abc import Container, Iterator, Mapping
from typing import Annotated, Final

import typer
from rich.console import Console

from headwater.cli.json_output import AnswerOption, print_answer
from headwater.cli.lineage_walk import Target, find, labels_around
from headwater.cli.option_values import RUN, bare_run
from headwater.cli.printed import Line, unbroken_console
from headwater.cli.service_client import (
    DEFAULT_URL,
    Answer,
    AsOfOption,
    LogSizeOption,
    ServiceClient,
    Then,
    UrlOption,
    in_path,
    service_at,
)
from headwater.errors import HeadwaterError, NotFoundError
from headwater.model.names import JobId, called, namesakes
from headwater.model.words import so_many

_DIGEST: Final = 19
"""The length of an event digest shown to people: `sha256:` and twelve digits."""

_Target = Annotated[
    str,
    typer.Argument(metavar="DATASET[:COLUMN]|run:ID", help="A dataset by name, alias, or the end of either; or a run."),
]
_RunOption = Annotated[
    str | None,
    typer.Option(
        "--run", metavar="ID", callback=bare_run, help="The run that wrote the bad data; by default the last one."
    ),
]
_DepthOption = Annotated[
    int, typer.Option("--depth", min=0, max=100, help="How many datasets upstream to follow at most.")
]


def root_cause(
    target: _Target,
    run: _RunOption = None,
    depth: _DepthOption = 20,
    as_of: AsOfOption = None,
    log_size: LogSizeOption = None,
    url: UrlOption = DEFAULT_URL,
    json_output: AnswerOption = False,
) -> None:
    """Show what changed or failed in the runs that made a dataset or column, likeliest cause first.

    Example: headwater root-cause lake.marts.carrier_delays:avg_arr_delay --log-size 1200
    """
    with service_at(url, then=Then(as_of, log_size)) as client:
        found = _dataset(client, target)
        node_id = f"{RUN}{bare_run(target)}" if found is None else found.node_id
        answer = client.get("/root-cause", {"nodeId": node_id, "depth": depth, "run": run})
        labels = {node_id: target} if json_output or found is None else labels_around(client, found)
    if json_output:
        print_answer(answer)
        return
    _print(unbroken_console(), labels[node_id], answer, labels)


def _dataset(client: ServiceClient, target: str) -> Target | None:
    """The dataset or column of that name; None if it is a run.

    Raises:
        NotFoundError: nothing has that name.
    """
    if target.startswith(RUN):
        return None
    try:
        return find(client, target)
    except NotFoundError as fault:
        try:
            client.get(f"/jobs/runs/{in_path(target)}")
        except HeadwaterError:
            raise fault from None
        return None


def _print(console: Console, target: str, answer: Answer, labels: Mapping[str, str]) -> None:
    run = answer["run"]
    head = Line(target, style="bold")
    if run is not None:
        since = f"at {run['endedAt']}" if run["endedAt"] else f"since {run['startedAt']}"
        head.append(f"  written by run {run['id']} of {run['job']['name']}, {run['state']} {since}", style="dim")
    console.print(head)
    for finding in answer["findings"]:
        for line in _finding(finding, labels):
            console.print(line)
    console.print()
    console.print(Line(_summary(answer, labels), style="bold" if not answer["findings"] else "dim"))
    if not answer["findings"]:
        alike = namesakes(_job(each["run"]) for each in answer["lookedAt"])
        for looked_at in answer["lookedAt"]:
            console.print(_looked_at(looked_at, alike))
        console.print(Line(f"what has changed since it was right: {_comparison(target)}", style="dim"))
    if answer["isCut"]:
        console.print(Line("the search stopped at --depth; a larger value goes further upstream", style="yellow"))


def _finding(finding: Answer, labels: Mapping[str, str]) -> Iterator[Line]:
    style = "dim" if finding["consequence"] else "red"
    text = Line(f"{finding['rank']:>3}  {finding['score']:.2f}  ").append(f"{finding['kind']:<16}", style=style)
    text.append(f"  {_words(finding, labels)}")
    if finding["consequence"]:
        text.append("  (a consequence)", style="dim")
    yield text
    way = " ← ".join(f"{_name(link['dataset'], labels)} ({link['by']})" for link in finding["path"])
    events = ", ".join(f"{event['digest'][:_DIGEST]} (log {event['logIndex']})" for event in finding["events"])
    runs = f"runs {', '.join(finding['runs'][:2])}"
    shown = " · ".join(filter(None, [finding["at"], way, runs, f"events {events}" if events else ""]))
    yield Line(f"{'':11}{shown}", style="dim")


def _words(finding: Answer, labels: Mapping[str, str]) -> str:
    """The words, with the dataset that they begin with named as everywhere else."""
    name, colon, rest = finding["words"].partition(": ")
    is_named = finding["nodeId"].endswith(f":{name}") and finding["nodeId"] in labels
    return f"{labels[finding['nodeId']]}{colon}{rest}" if colon and is_named else str(finding["words"])


def _summary(answer: Answer, labels: Mapping[str, str]) -> str:
    summary = str(answer["summary"])
    first = next(iter(answer["findings"]), None)
    if first is None or not summary.startswith(first["words"]):
        return summary
    return f"{_words(first, labels)}{summary.removeprefix(first['words'])}"


def _comparison(target: str) -> str:
    """The command that compares with an earlier time, or a run with an earlier one."""
    if target.startswith(RUN):
        return f"headwater diff EARLIER-RUN {target.removeprefix(RUN)} --runs"
    return "headwater diff TIME"


def _job(run: Answer) -> JobId:
    return JobId(run["job"]["namespace"], run["job"]["name"])


def _looked_at(looked_at: Answer, alike: Container[str]) -> Line:
    run = looked_at["run"]
    earlier = so_many(looked_at["comparedWith"], "earlier run")
    line = f"  {run['id']} of {called(_job(run), alike)}, compared with {earlier}"
    return Line(line, style="dim")


def _name(node_id: str, labels: Mapping[str, str]) -> str:
    """The name as in `trace`; the full one if the graph no longer has an edge to it."""
    return labels.get(node_id) or node_id.partition(":")[2]
