"""`headwater lab`: real components on this machine, to try things with."""

import sys
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import orjson
import typer
from rich.console import Console
from rich.table import Table

from headwater.cli.printed import say
from headwater.emit.home import headwater_home
from headwater.errors import SetupError

if TYPE_CHECKING:
    from headwater.lab.lab import Lab, PartStatus

lab = typer.Typer(
    name="lab", help="Real components on this machine: Kafka with Connect and S3, Flink, Trino.", no_args_is_help=True
)
_MIB = 1 << 20
_JsonOption = Annotated[bool, typer.Option("--json", help="Print a JSON array, one object a part.")]


@lab.callback()
def _group() -> None:
    """Real components on this machine: Kafka with Connect and S3, Flink, Trino."""


@lab.command()
def up(
    name: Annotated[str, typer.Argument(metavar="LAB", help="kafka, flink, trino or all.", show_default=False)],
    parts: Annotated[
        list[str] | None,
        typer.Argument(metavar="PART", help="Only these parts, and what they need.", show_default=False),
    ] = None,
    port: Annotated[list[str] | None, typer.Option("--port", metavar="PART=PORT", help="The port of a part.")] = None,
    json_output: _JsonOption = False,
) -> None:
    """Start a lab, all of it on 127.0.0.1.

    kafka is a broker, a schema registry, Connect, and S3 with Glue; flink a session cluster; trino a Trino over
    tables in S3 with Glue; all is all of these, 2.5 GB.

    Running parts stay as they are; leftovers of an earlier start are removed first.

    Example: headwater lab up kafka broker registry --port broker=19092
    """
    started = _lab(name, _ports(port or []))
    since = time.monotonic()
    started.up(parts or [], lambda line: say(line, err=True))
    took_s = time.monotonic() - since
    _print(started.status(), took_s, json_output=json_output)


@lab.command()
def fetch(
    name: Annotated[str, typer.Argument(metavar="LAB", help="kafka, flink, trino or all.", show_default=False)],
) -> None:
    """Download the parts of a lab without starting it; `up` does this when needed.

    Example: headwater lab fetch flink
    """
    _lab(name).fetch(lambda line: say(line, err=True))


@lab.command()
def status(json_output: _JsonOption = False) -> None:
    """Show each part: whether it is up, where, how much memory it has and how long it took to start.

    Example: headwater lab status --json
    """
    found = list({part.name: part for one in _labs() for part in one.status()}.values())  # S3 is in two labs
    _print(found, json_output=json_output)


@lab.command()
def logs(
    part: Annotated[
        str,
        typer.Argument(metavar="PART", help="broker, registry, connect, s3, trino ...", show_default=False),
    ],
    lines: Annotated[int, typer.Option("--lines", "-n", min=1, help="How many lines, from the end.")] = 50,
) -> None:
    """Show the last lines that a part printed.

    Example: headwater lab logs connect -n 200
    """
    labs = _labs()
    found = next((one for one in labs if one.has(part)), labs[0])
    printed = found.log(part).read_text(errors="replace").splitlines()
    say(*printed[-lines:])


@lab.command()
def down(
    keep: Annotated[bool, typer.Option("--keep", help="Keep data and logs, for the next start.")] = False,
) -> None:
    """Stop every part of every lab, and remove its data.

    Example: headwater lab down
    """
    for one in _labs():
        one.down(lambda line: say(line, err=True), keep=keep)


def _labs() -> "list[Lab]":
    _lab("kafka")  # raises an error that names a missing package
    from headwater.lab.lab import LABS

    return [_lab(name) for name in LABS]


def _lab(name: str, ports: dict[str, int] | None = None) -> "Lab":
    try:
        from headwater.lab.lab import Lab
    except ModuleNotFoundError as missing:
        raise SetupError(f"{missing.name} is not installed: pip install 'headwater[lab]'") from missing
    return Lab(name, headwater_home(), ports)


def _ports(settings: list[str]) -> dict[str, int]:
    pairs = [setting.partition("=") for setting in settings]
    if any(not (part and port.isdecimal() and 0 < int(port) < 65_535) for part, _, port in pairs):
        raise typer.BadParameter("--port: expected PART=PORT, such as broker=19092")
    return {part: int(port) for part, _, port in pairs}


def _print(found: "list[PartStatus]", took_s: float | None = None, *, json_output: bool) -> None:
    if json_output:
        typer.echo(orjson.dumps([asdict(one) for one in found]))
    else:
        _show(found, took_s)


def _show(found: "list[PartStatus]", took_s: float | None = None) -> None:
    table = Table("part", "", "state", "address", "pid", "memory", "ready after", box=None, header_style="dim")
    for one in found:
        table.add_row(
            one.name,
            one.title,
            one.state,
            one.address,
            " ".join(map(str, one.pids)),
            f"{one.rss_bytes // _MIB} MiB" if one.pids else "",
            f"{one.ready_after_s} s" if one.pids and one.ready_after_s is not None else "",
        )
    total = sum(one.rss_bytes for one in found)
    if total:
        table.add_section()
        whole = "" if took_s is None else f"{took_s:.1f} s"
        table.add_row("", "the whole lab", "", "", "", f"{total // _MIB} MiB", whole)
    Console(width=None if sys.stdout.isatty() else 140).print(table)
