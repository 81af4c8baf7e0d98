"""`headwater execution …`: the executions of this machine's agent."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import typer

from headwater.cli.agent_client import JsonOption, NamespaceOption, agent_here, found_job
from headwater.cli.json_output import print_answer
from headwater.cli.option_values import bare_run
from headwater.cli.printed import lines_of, say

execution = typer.Typer(name="execution", help="Executions of the agent of this machine.", no_args_is_help=True)


@execution.callback()
def _group() -> None:
    """Executions of the agent of this machine."""


@execution.command("list")
def list_executions(
    name: Annotated[str | None, typer.Option("--job", help="Only those of this job.")] = None,
    namespace: NamespaceOption = None,
    limit: Annotated[int, typer.Option(min=1, max=1_000, help="How many.")] = 50,
    json_output: JsonOption = False,
) -> None:
    """List executions, newest first.

    Example: headwater execution list --job orders-to-lake
    """
    with agent_here() as client:
        of_job = None if name is None else int(found_job(client, name, namespace)["id"])
        answer = client.get("/executions", {"job": of_job, "limit": limit})
    if json_output:
        print_answer(answer)
    else:
        say(*lines_of(map(with_trouble, answer) if answer else ("no executions",)))


@execution.command()
def describe(
    run_id: Annotated[
        str, typer.Argument(metavar="RUN", callback=bare_run, help="The execution's run id.", show_default=False)
    ],
    json_output: JsonOption = False,
) -> None:
    """Show an execution: its state, its counters, why it ended, and whether its lineage was delivered.

    Example: headwater execution describe 01a1fd5c-bf4f-7259-9205-000000000001
    """
    with agent_here() as client:
        answer = client.get(f"/executions/{run_id}")
    if json_output:
        print_answer(answer)
    else:
        say(*lines_of(_description(answer)))


def execution_line(each: Mapping[str, Any]) -> str:
    """An execution on one line."""
    ended = f" to {each['endedAt']}" if each["endedAt"] else ""
    return (
        f"{each['runId']}  {each['namespace']}/{each['job']}  version {each['version']}  {each['state']}"
        f"  {each['trigger']}  {each['startedAt'] or each['createdAt']}{ended}{_why(each)}"
    )


def with_trouble(each: Mapping[str, Any]) -> str:
    """An execution on one line; below it the first line of its error, or why its lineage waits."""
    trouble = each["error"]
    if not trouble and each["state"] == "degraded" and each["health"]["lastError"]:
        trouble = f"its events are not delivered yet: {each['health']['lastError']}"
    return f"{execution_line(each)}\n    {trouble.splitlines()[0]}" if trouble else execution_line(each)


def _description(each: Mapping[str, Any]) -> Iterator[str]:
    yield execution_line(each)
    if each["error"]:
        yield f"  error     {each['error']}"
    counters = ", ".join(f"{key} {value}" for key, value in each["counters"].items() if value is not None)
    yield f"  counters  {counters or 'none'}"
    health = each["health"]
    delivered = ", ".join(f"{count} by {transport}" for transport, count in health["delivered"].items())
    yield f"  lineage   {health['lineage']}: delivered {delivered or 'none'}, waiting {health['waiting']}"
    if health["dropped"]:
        yield f"            dropped {', '.join(f'{count} ({reason})' for reason, count in health['dropped'].items())}"
    if health["lastError"]:
        yield f"            last error: {health['lastError']}"
    for step in each["transitions"]:
        yield f"  {step['at']}  {step['state']}"


def _why(each: Mapping[str, Any]) -> str:
    stop = each["stop"]
    if stop is None:
        return ""
    by = f" by {stop['by']}" if stop["by"] else ""
    note = f": {stop['note']}" if stop["note"] else ""
    return f"  ({stop['reason']}{by}{note})"
