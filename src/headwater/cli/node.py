"""`headwater node …`: the edge machines, and whether their records are whole."""

from collections.abc import Mapping
from typing import Annotated, Any, Final

import typer

from headwater.cli.agent_client import agent_here
from headwater.cli.json_output import AnswerOption, print_answer
from headwater.cli.printed import Line, say, unbroken_console
from headwater.cli.service_client import DEFAULT_URL, MOST_ITEMS, UrlOption, in_path, service_at
from headwater.errors import NotFoundError
from headwater.model.words import so_many

node = typer.Typer(name="node", help="Edge machines, and whether their records are complete.", no_args_is_help=True)

_WORDS: Final = {
    "missing": "missing",
    "forks": "forked",
    "broken": "broken",
    "replays": "replayed",
    "dropped": "dropped",
    "silentEpochs": "silent",
    "clockAhead": "clock ahead",
}


@node.callback()
def _group() -> None:
    """Edge machines, and whether their records are complete."""


@node.command("list")
def list_nodes(url: UrlOption = DEFAULT_URL, json_output: AnswerOption = False) -> None:
    """List the nodes, with what is missing, duplicated or inconsistent in their records.

    Example: headwater node list
    """
    with service_at(url) as client:
        answer = client.get("/nodes", {"limit": MOST_ITEMS})
    if json_output:
        print_answer(answer)
        return
    console = unbroken_console()
    for each in answer["nodes"]:
        console.print(Line(each["nodeId"], style="bold").append(f"  {_standing(each)}", style="dim"))
    console.print(Line(so_many(answer["totalCount"], "node"), style="bold"))


@node.command()
def describe(
    node_id: Annotated[
        str | None,
        typer.Argument(metavar="NODE", help="The node's id; without it, this machine's agent.", show_default=False),
    ] = None,
    url: UrlOption = DEFAULT_URL,
    json_output: AnswerOption = False,
) -> None:
    """Show a node: its epochs, and what is inconsistent in its record; or the agent of this machine.

    With an id it asks the lineage service; without one, this machine's agent.

    Example: headwater node describe 7f769f72-a4d4-4a05-8082-d63262957a6f
    """
    if node_id is None:
        _describe_agent(json_output)
        return
    with service_at(url) as client:
        try:
            answer = client.get(f"/nodes/{in_path(node_id)}")
        except NotFoundError as fault:
            raise NotFoundError(f"{fault} `headwater node list` lists the known nodes.") from fault
    if json_output:
        print_answer(answer)
        return
    console = unbroken_console()
    console.print(Line(answer["nodeId"], style="bold").append(f"  {_standing(answer)}", style="dim"))
    for epoch in answer["ofEpochs"]:
        counts = f"{so_many(epoch['events'], 'event')} to {epoch['lastSequence']}"
        seen = f"{epoch['firstSeen']} to {epoch['lastSeen']}{', over' if epoch['isOver'] else ''}"
        console.print(Line(f"  {epoch['epoch']}  ").append(f"{counts}, {seen}", style="dim"))
    for each in answer["listed"]:
        range_text = "" if each["first"] is None else f" {each['first']} to {each['last']}"
        console.print(
            Line(f"  {each['kind']}", style="bold yellow").append(f"  {each['epoch']}{range_text}: {each['words']}")
        )
    if answer["unproved"]:
        console.print(
            Line(
                f"{_unproved(answer)}. If they are its own: enrol its key with a token of "
                f"`headwater key token --node {answer['nodeId']}` (docs/trust.md)"
            )
        )
    elif not answer["listed"]:
        console.print(Line("its record is complete"))
    if answer["listed"]:
        console.print(Line(so_many(answer["listedCount"], "trouble")))


def _describe_agent(json_output: bool) -> None:
    with agent_here() as client:
        answer = client.get("/node")
    if json_output:
        print_answer(answer)
        return
    worker, endpoints = answer["worker"], answer["allowedEndpoints"]
    states = ", ".join(f"{count:,} {state}" for state, count in answer["executions"].items())
    say(f"agent {answer['version']}  process {answer['pid']}, since {answer['startedAt']}, in {answer['home']}")
    say(f"  {so_many(answer['jobs'], 'job')}; executions: {states or 'none'}")
    say("  Spark is not started" if worker["pid"] is None else f"  Spark runs below process {worker['pid']}")
    say(f"  allowed endpoints: {'any' if endpoints is None else ', '.join(endpoints) or 'none'}")


def _standing(each: Mapping[str, Any]) -> str:
    counts = [f"{each['troubles'][kind]:,} {word}" for kind, word in _WORDS.items() if each["troubles"][kind]]
    if each["unproved"]:
        counts.append(_unproved(each))
    return ", ".join([f"{so_many(each['events'], 'event')}, last received {each['lastReceivedAt']}", *counts])


def _unproved(each: Mapping[str, Any]) -> str:
    return f"{so_many(each['unproved'], 'event')} without a trusted signature"
