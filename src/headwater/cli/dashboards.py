"""`headwater dashboards …`: declare dashboards, their owners, and the queries or tables that they use."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final

import typer

from headwater.capture.dashboards.events import events_of, withdrawals
from headwater.capture.dashboards.reading import read_dashboards
from headwater.capture.dashboards.resolved import AnalysedQuery, Columns, asked, dataset
from headwater.capture.dashboards.spec import Dashboards
from headwater.cli.events_to import KeyEnvOption, key_variable, lineage_at
from headwater.cli.exit_status import IS_BAD
from headwater.cli.printed import say
from headwater.cli.service_client import DEFAULT_URL, TOKEN, ServiceClient, UrlOption, in_path, key_in, service_at
from headwater.cli.stale_declarations import StaleDeclaration, stale_declarations
from headwater.emission import opened_emitter
from headwater.emit.emitter import Emitter
from headwater.emit.home import headwater_home
from headwater.errors import HeadwaterError, NotFoundError, UnavailableError
from headwater.model.names import DatasetId
from headwater.model.words import so_many

dashboards = typer.Typer(
    name="dashboards", help="Declare dashboards, their owners and the columns that they use.", no_args_is_help=True
)
_DRAIN_S = 10.0
_NOTHING: Final[Mapping[str, object]] = {"reads": (), "columns": (), "gaps": (), "fault": None, "isGone": False}
"""The default members of a query's JSON."""
_JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON array, an object a query.")]
FileArgument = Annotated[Path, typer.Argument(metavar="FILE", help="The dashboards, in YAML.", show_default=False)]


@dashboards.callback()
def _group() -> None:
    """Declare dashboards, their owners and the columns that they use."""


@dashboards.command()
def lint(file: FileArgument, json_output: _JsonOption = False) -> None:
    """Check a file of dashboards and its queries, offline.

    Exit status: 0 all is well, 1 a query cannot be read, 2 the file cannot.

    Example: headwater dashboards lint dashboards.yaml
    """
    read = read_dashboards(file)
    faults = [each for each in asked(read, lambda _: ()) if each.statement is None]
    if json_output:
        typer.echo(json.dumps([*map(_fault, faults)]))
    else:
        for each in faults:
            say(f"{file}:{each.query.line}: {_name(each)}: {each.fault}")
    raise typer.Exit(IS_BAD if faults else 0)


@dashboards.command()
def push(
    file: FileArgument,
    url: UrlOption = DEFAULT_URL,
    token_env: KeyEnvOption = None,
    json_output: _JsonOption = False,
) -> None:
    """Report each dashboard, and the columns that its queries read, as signed events.

    The service is asked for the columns of the tables, which a star in a query needs; tables that it does not know are
    listed, and everything else is reported. Pushing a file again replaces what was reported of its dashboards: a query
    that was removed from the file no longer feeds them.

    Example: headwater dashboards push dashboards.yaml
    """
    read = read_dashboards(file)
    key = key_variable(token_env)
    with service_at(url, token=key_in(TOKEN) or (key and key_in(key))) as client:
        found = list(asked(read, _columns_at(client)))
        gone = [*stale_declarations(read, client)]
    with opened_emitter(lineage_at(url), None, key) as emitter:
        now = datetime.now(UTC)
        for event in (*events_of(now, read, found), *withdrawals(now, [each.job for each in gone])):
            emitter.put(event)
        _check_arrived(emitter)
    if json_output:
        typer.echo(json.dumps([*(_query(read, each) for each in found), *_rests(read), *map(_gone, gone)]))
        return
    say(*_summary_lines(read, found))
    say(*(f"{each.job.name}: no longer in the file: its declaration is withdrawn" for each in gone))


def _check_arrived(emitter: Emitter) -> None:
    """Wait until the service has all events.

    Raises:
        UnavailableError: it does not accept them now.
        HeadwaterError: it refused some for good.
    """
    has_all = emitter.drain(_DRAIN_S)
    stats = emitter.stats()
    if stats.dropped:
        lost = so_many(sum(stats.dropped.values()), "event")
        raise HeadwaterError(f"{lost} rejected and lost: {stats.last_error}")
    if not has_all:
        raise UnavailableError(
            f"{so_many(stats.spooled, 'event')} not sent yet, in {headwater_home() / 'spool'}: "
            f"{stats.last_error or 'no answer yet'}; push again once the service accepts them"
        )


def _fault(each: AnalysedQuery) -> dict[str, object]:
    return {"line": each.query.line, "dashboard": each.dashboard.name, "query": each.query.name, "message": each.fault}


def _query(file: Dashboards, each: AnalysedQuery) -> dict[str, object]:
    named: dict[str, object] = {"dashboard": each.dashboard.name, "query": each.query.name}
    if each.statement is None:
        return {**named, **_NOTHING, "fault": each.fault}
    reads = [dataset(file, table)._asdict() for table in each.statement.reads]
    return {**named, **_NOTHING, "reads": reads, "columns": [*each.statement.columns], "gaps": [*each.statement.gaps]}


def _rests(file: Dashboards) -> Iterator[dict[str, object]]:
    for dashboard in file.dashboards:
        if dashboard.tables:
            reads = [dataset(file, rest.table)._asdict() for rest in dashboard.tables]
            yield {"dashboard": dashboard.name, "query": None, **_NOTHING, "reads": reads}


def _gone(each: StaleDeclaration) -> dict[str, object]:
    return {"dashboard": each.dashboard, "query": each.query, **_NOTHING, "isGone": True}


def _columns_at(client: ServiceClient) -> Columns:
    known: dict[DatasetId, Sequence[str]] = {}

    def columns(name: DatasetId) -> Sequence[str]:
        if name not in known:
            known[name] = _asked_for(client, name)
        return known[name]

    return columns


def _asked_for(client: ServiceClient, name: DatasetId) -> Sequence[str]:
    try:
        found = client.get(f"/namespaces/{in_path(name.namespace)}/datasets/{in_path(name.name)}")
    except NotFoundError:
        return ()
    return [field["name"] for field in found["fields"]]


def _summary_lines(file: Dashboards, found: Sequence[AnalysedQuery]) -> Iterator[str]:
    for each in found:
        if each.statement is None:
            yield f"{_name(each)}: declared without its tables: {each.fault}"
            continue
        tables = ", ".join(dataset(file, table).name for table in each.statement.reads)
        gaps = f"; incomplete: {', '.join(each.statement.gaps)}" if each.statement.gaps else ""
        yield f"{_name(each)}: {so_many(len(each.statement.columns), 'column')} from {tables}{gaps}"
    for dashboard in file.dashboards:
        if dashboard.tables:
            rests = ", ".join(dataset(file, rest.table).name for rest in dashboard.tables)
            yield f"{dashboard.name}: uses {rests}"


def _name(each: AnalysedQuery) -> str:
    return f"{each.dashboard.name}.{each.query.name}" if each.query.name else each.dashboard.name
