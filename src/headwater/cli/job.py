"""`headwater job …`: the jobs of this machine's agent."""

from pathlib import Path
from typing import Annotated, Any

import typer

from headwater.cli.agent_client import (
    JsonOption,
    NameArgument,
    NamespaceOption,
    WhyOption,
    agent_here,
    found_job,
)
from headwater.cli.execution import with_trouble
from headwater.cli.json_output import print_answer
from headwater.cli.option_values import bare_run
from headwater.cli.printed import lines_of, say
from headwater.cli.run import overrides
from headwater.cli.who import who
from headwater.model.words import so_many
from headwater.pipeline.check import read_source

job = typer.Typer(name="job", help="Pipelines that the agent of this machine runs.", no_args_is_help=True)


@job.callback()
def _group() -> None:
    """Pipelines that the agent of this machine runs."""


@job.command()
def deploy(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The pipeline file.", show_default=False)],
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Replace a value of the file: agent.schedule.every=5m."),
    ] = None,
    json_output: JsonOption = False,
) -> None:
    """Deploy a pipeline to the agent; a new version replaces the one that it runs.

    Example: headwater job deploy orders.yaml
    """
    body = {
        "source": read_source(file).decode("utf-8-sig", errors="replace"),
        "path": str(file.absolute()),
        "settings": dict(overrides(settings or [])),
        "by": who(),
    }
    with agent_here() as client:
        answer = client.post("/jobs", body)
    _show(answer, f"{answer['name']}: version {answer['version']} is deployed", json_output)


@job.command("list")
def list_jobs(json_output: JsonOption = False) -> None:
    """List the jobs that are deployed here.

    Example: headwater job list
    """
    with agent_here() as client:
        answer = client.get("/jobs")
    if json_output:
        print_answer(answer)
        return
    for each in answer:
        say(*lines_of([_line(each)]))
    say(so_many(len(answer), "job"))


@job.command()
def describe(name: NameArgument, namespace: NamespaceOption = None, json_output: JsonOption = False) -> None:
    """Show a job: its version, when it starts next, its pipeline, and how its newest execution ended.

    Example: headwater job describe orders-to-lake
    """
    with agent_here() as client:
        answer = client.get(f"/jobs/{found_job(client, name, namespace)['id']}")
        newest = client.get("/executions", {"job": answer["id"], "limit": 1})
    lines = [
        _line(answer),
        *([] if answer["problem"] else [_plan(answer)]),
        f"  version {answer['version']} of {answer['deployed']['path']}, {_deployed(answer['deployed'])}",
        *(f"  newest: {with_trouble(each)}" for each in newest),
    ]
    _show(answer, "\n".join(lines), json_output)


@job.command()
def stop(
    name: NameArgument, namespace: NamespaceOption = None, why: WhyOption = None, json_output: JsonOption = False
) -> None:
    """Stop a job; it starts again only by `rerun` or `deploy`.

    Example: headwater job stop orders-to-lake --why "the shop is closed"
    """
    with agent_here() as client:
        found = found_job(client, name, namespace)
        answer = client.post(f"/jobs/{found['id']}/stop", {"by": who(), "note": why})
    _show(answer, f"{name}: stop requested", json_output)


@job.command()
def rerun(name: NameArgument, namespace: NamespaceOption = None, json_output: JsonOption = False) -> None:
    """Start a job now, stopped or not.

    Example: headwater job rerun orders-to-lake
    """
    with agent_here() as client:
        answer = client.post(f"/jobs/{found_job(client, name, namespace)['id']}/rerun", {})
    _show(answer, f"{name}: starting as run {answer['runId']}", json_output)


@job.command()
def history(
    name: NameArgument,
    namespace: NamespaceOption = None,
    limit: Annotated[int, typer.Option(min=1, max=1_000, help="How many executions.")] = 50,
    json_output: JsonOption = False,
) -> None:
    """Show a job's versions and executions, newest first.

    Example: headwater job history orders-to-lake
    """
    with agent_here() as client:
        answer = client.get(f"/jobs/{found_job(client, name, namespace)['id']}/history", {"limit": limit})
    versions = [f"version {one['version']}  {_deployed(one)}" for one in answer["versions"]]
    _show(answer, "\n".join([*versions, *map(with_trouble, answer["executions"])]), json_output)


@job.command()
def logs(
    name: NameArgument,
    namespace: NamespaceOption = None,
    run_id: Annotated[
        str | None, typer.Option("--run", callback=bare_run, help="The execution; by default the newest.")
    ] = None,
    lines: Annotated[int, typer.Option(min=1, max=1_000, help="How many lines, from the end.")] = 200,
) -> None:
    """Print the log of a job's newest execution, or of the one given by --run.

    Example: headwater job logs orders-to-lake
    """
    with agent_here() as client:
        found = found_job(client, name, namespace)
        newest = client.get("/executions", {"job": found["id"], "limit": 1})
        wanted = run_id or next((one["runId"] for one in newest), None)
        log_lines = [] if wanted is None else client.get(f"/executions/{wanted}/logs", {"lines": lines})
    if wanted is None:
        say(f"{name} has not run yet", err=True)
    say(*log_lines)


@job.command()
def delete(
    name: NameArgument, namespace: NamespaceOption = None, why: WhyOption = None, json_output: JsonOption = False
) -> None:
    """Stop a job and delete it with its history and logs; its lineage stays.

    Example: headwater job delete orders-to-lake
    """
    with agent_here() as client:
        found = found_job(client, name, namespace)
        answer = client.delete(f"/jobs/{found['id']}", {"by": who(), "note": why})
    _show(answer, f"{name}: deleted", json_output)


def _line(each: Any) -> str:  # noqa: ANN401
    following = f", next start {each['nextStart']}" if each["nextStart"] else ""
    wanted = "" if each["wanted"] in ("active", each["state"]) else f", {each['wanted']}"
    problem = f"\n  refused: {each['problem']}" if each["problem"] else ""
    return f"{each['namespace']}/{each['name']}  version {each['version']}  {each['state']}{wanted}{following}{problem}"


def _plan(job: Any) -> str:  # noqa: ANN401
    return f"  {job['mode']}, {job['schedule'] or 'no schedule'}, restart {job['restart']}"


def _deployed(version: Any) -> str:  # noqa: ANN401
    by = f" by {version['deployedBy']}" if version["deployedBy"] else ""
    return f"deployed {version['deployedAt']}{by}"


def _show(answer: object, text: str, json_output: bool) -> None:
    if json_output:
        print_answer(answer)
    else:
        say(*lines_of([text]))
