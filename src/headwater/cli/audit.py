"""`headwater audit`: a part of the log in one file, and its self-contained check."""

import gc
import json
import socket
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import partial
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from headwater.audit.bounds import oversized_parts
from headwater.audit.chains import check_chains
from headwater.audit.core import Refused, Report, Trust, check_bundle
from headwater.audit.erasures import UNEXPLAINED, Erasures
from headwater.audit.export import ExportRequest
from headwater.audit.export import export as exported
from headwater.audit.graph import Folded, Folding, check_graph
from headwater.audit.heads import NamedHeads
from headwater.audit.late import LateEvents
from headwater.audit.made_from import MadeFrom, Reports, asked_about, made_from
from headwater.cli.audit_lineage import maker_lines, print_made_from
from headwater.cli.audit_trust import read_head, trust_of
from headwater.cli.exit_status import IS_BAD, NOT_DONE
from headwater.cli.export_note import note_export
from headwater.cli.json_output import JsonOption, print_result
from headwater.cli.misplaced import misplaced_warning
from headwater.cli.option_values import DatabaseOption
from headwater.cli.printed import say
from headwater.cli.progress import counted_progress
from headwater.cli.service_client import DEFAULT_URL, UrlOption
from headwater.emit.home import headwater_home
from headwater.errors import InvalidInputError, SetupError
from headwater.model.names import DatasetId
from headwater.model.nodes import Arrival
from headwater.model.times import microseconds, read_time
from headwater.model.words import so_many
from headwater.service.log.cosignatures import Cosignatures, enrolled_witnesses
from headwater.signing.keyfile import trusted_keys
from headwater.signing.note import NoteSigner
from headwater.signing.notefile import log_key
from headwater.store.opening import open_reader
from headwater.store.reader import Reader

audit = typer.Typer(
    name="audit",
    help="Export a part of the log as a bundle that proves itself, and verify such bundles.",
    no_args_is_help=True,
)


_SHOWN: Final = ("from", "to", "size", "logKey", "dataset", "names", "upstream")
"""The members of a bundle's manifest that are printed."""


@audit.callback()
def _group(context: typer.Context) -> None:
    """Export a part of the log as a bundle that proves itself, and verify such bundles."""
    gc.disable()  # the ten million facts of a million events have no cycles; collections take an eighth of the time
    context.call_on_close(gc.enable)


@audit.command()
def export(
    output: Annotated[
        Path, typer.Option("--output", "-o", dir_okay=False, metavar="FILE", help="The bundle, a zip archive.")
    ],
    begin: Annotated[
        str,
        typer.Option(
            "--from", metavar="WHEN", help="The first entry, by arrival time (2026-05-22T14:00:00Z) or index."
        ),
    ] = "0",
    end: Annotated[
        str | None,
        typer.Option("--to", metavar="WHEN", help="The end, exclusive, as a time or index; by default all."),
    ] = None,
    dataset: Annotated[
        tuple[str, str] | None,
        typer.Option(
            metavar="NAMESPACE NAME",
            help="Include only entries about this dataset, by any of its names; of the others, only their hashes.",
        ),
    ] = None,
    upstream: Annotated[
        bool, typer.Option("--upstream", help="With --dataset: also the entries that tell what it is made from.")
    ] = False,
    since: Annotated[
        Path | None,
        typer.Option(
            exists=True, dir_okay=False, help="A head that you kept; the bundle proves that the log only grew since."
        ),
    ] = None,
    head: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="Prove against this head, signed by a witness.")
    ] = None,
    witnesses: Annotated[
        int,
        typer.Option(min=0, help="Prove against the newest head that this many witnesses signed."),
    ] = 0,
    database: DatabaseOption = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    url: UrlOption = DEFAULT_URL,
    json_output: JsonOption = False,
) -> None:
    """Write a part of the log with keys, signed head, proofs and graph into one file; the service may keep running.

    Each export is recorded in the log, with who made it.

    Example: headwater audit export --from 2026-05-01T00:00:00Z --to 2026-06-01T00:00:00Z -o may.zip
    """
    if output.exists() and not force:
        raise InvalidInputError(f"--output: {output} already exists: name a new file, or replace it with --force")
    if upstream and dataset is None:
        raise InvalidInputError("--upstream: of which dataset? Name it with --dataset NAMESPACE NAME")
    if head is not None and witnesses:
        raise InvalidInputError("--witnesses: chooses a head of this service; leave it out, or --head")
    home = headwater_home()
    if not (home / "keys" / "log.key").exists():
        raise SetupError(f"there is no log key in {home / 'keys'}: export on the machine where the service runs")
    signer = log_key(home, None, socket.gethostname())
    with closing(open_reader(database or home / "headwater.db", home / "segments")) as reader:
        asked = ExportRequest(
            _range(reader, begin, end),
            None if dataset is None else DatasetId(*dataset),
            None if since is None else read_head(since, "--since"),
            upstream,
            _witnessed(reader, signer, home, witnesses) if head is None else read_head(head, "--head"),
        )
        with _whole(output) as file, counted_progress() as count:
            manifest, misplaced = exported(reader, signer, trusted_keys(home), asked, file, partial(count, "exporting"))
            warnings = [*oversized_parts(file), *misplaced_warning(misplaced, "bundle")]
            what = {"begin": manifest["from"], "end": manifest["to"], "dataset": dataset, "upstream": upstream}
            note_export(home, database or home / "headwater.db", signer, url, what)
    if manifest["from"] == manifest["to"]:
        warnings = [*warnings, f"no entry is in that range: {output} has none of the {manifest['size']:,} in the log"]
    for warning in warnings:
        say(f"warning: {warning}", err=True)
    members = {"file": str(output), **{key: manifest[key] for key in _SHOWN}, "warnings": warnings}
    print_result(_export_summary(output, manifest), members, json_output=json_output)


@audit.command()
def verify(
    bundle: Annotated[
        Path, typer.Argument(exists=True, dir_okay=False, help="A bundle written by `headwater audit export`.")
    ],
    dataset: Annotated[
        tuple[str, str] | None,
        typer.Option(
            metavar="NAMESPACE NAME", help="Show what this dataset is made from; by default that of the bundle, if any."
        ),
    ] = None,
    column: Annotated[str | None, typer.Option(metavar="NAME", help="Show it for this column of the dataset.")] = None,
    log_key: Annotated[
        str | None,
        typer.Option(metavar="NAME+HASH+KEY", help="The log's key, from a source you trust; by default the bundle's."),
    ] = None,
    keys: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, help="The nodes' keys, a JSON Web Key Set; by default the bundle's."),
    ] = None,
    since: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, help="A head that you kept; by default the bundle's, if any."),
    ] = None,
    witness: Annotated[
        list[str] | None, typer.Option(metavar="NAME+HASH+KEY", help="A witness who must have signed the head.")
    ] = None,
    json_output: JsonOption = False,
) -> None:
    """Check a bundle, offline, and show what its dataset is made from.

    Exit 0 if all is proven, 1 if something is wrong, 2 if it cannot be read.

    Example: headwater audit verify may.zip --log-key lineage.example.org+f0a1b2c3+AX…
    """
    trust = trust_of(log_key, keys, since, witness or ())
    try:
        report, folded, made = _checked(bundle, trust, None if dataset is None else DatasetId(*dataset), column)
    except Refused as fault:
        members = {"verdict": "unreadable", "reason": str(fault)}
        message = f"{bundle}: {fault}; expected a file written by `headwater audit export`"
        if json_output:
            typer.echo(json.dumps(members))
        else:
            say(f"headwater: {message}", err=True)
        raise typer.Exit(NOT_DONE) from None
    if made is not None and not json_output:
        print_made_from(made)
    print_result(_report_lines(report, made), _members(report, folded, made), json_output=json_output)
    if not report.is_proven:
        raise typer.Exit(IS_BAD)


def _export_summary(output: Path, manifest: Mapping[str, Any]) -> Iterator[str]:
    yield f"entries {manifest['from']:,} to {manifest['to']:,} of {manifest['size']:,} are in {output}"
    if manifest["dataset"] is not None:
        names = [" ".join(each.values()).strip() for each in manifest["names"]]
        yield f"it includes the entries about the dataset by any of its names: {', '.join(names)}"
        if manifest["upstream"]:
            yield "and those that tell what it is made from"
    yield f"give the auditor the log's key through another channel: {manifest['logKey']}"


def _witnessed(reader: Reader, signer: NoteSigner, home: Path, witnesses: int) -> str | None:
    """The newest head with so many witness signatures; None if none are required."""
    if not witnesses:
        return None
    cosignatures = Cosignatures(reader.tree, signer, enrolled_witnesses(home))
    cosignatures.load()
    return cosignatures.newest(witnesses)


def _checked(
    path: Path, trust: Trust, dataset: DatasetId | None, column: str | None
) -> tuple[Report, Folded, MadeFrom | None]:
    reports, heads, erasures, late, seen = Reports(), NamedHeads(), Erasures(), LateEvents(), 0
    with path.open("rb") as file, counted_progress() as count:
        asked = asked_about(file, dataset, column)
        folding = Folding(has_columns=asked is not None)

        def look(entry: dict[str, Any], raw: bytes) -> None:
            nonlocal seen
            seen += 1
            arrival = Arrival(entry["receivedUs"], entry["verdict"], entry["keyId"])
            read = folding.take(entry["type"], raw, entry["index"], arrival)
            if asked is not None:
                reports.take(read, entry["index"], arrival)
            for each in (heads, erasures, late):
                each.take(entry, raw)
            if seen % 1_000 == 0:
                count("verifying", seen, 0)

        report = check_bundle(file, trust, look)
        folded = check_graph(file, folding, report)
        check_chains(folding.links, report)
        heads.check(report)
        erasures.check(report, is_whole=folded.is_of_log)
        late.report_late(folding.of_keys, report)
        if column is not None and asked is None:
            raise InvalidInputError("--column: of which dataset? Name it with --dataset NAMESPACE NAME")
        made = None if asked is None else made_from(asked, folding.known, reports, report)
    return report, folded, made


def _report_lines(report: Report, made: MadeFrom | None) -> Iterator[str]:
    if made is not None:
        yield from maker_lines(made)
    for checked in report.checked:
        yield f"checked    {checked}"
    for (check, message), alike in groupby(report.findings, attrgetter("check", "message")):
        entries = [finding.entry for finding in alike]
        where = "" if entries[0] is None else f" entry {entries[0]}:"
        if len(entries) > 1:
            where = f" entries {entries[0]} to {entries[-1]}, {len(entries)} of them:"
        yield f"WRONG      {check}:{where} {message}"
    if more := report.counts["findings not listed"]:
        yield f"WRONG      and {more:,} more"
    for unknown in report.not_known:
        yield f"not known  {unknown}"
    yield f"verdict    {_verdict(report)}"


def _verdict(report: Report) -> str:
    if not report.is_proven:
        return "NOT PROVEN"
    if blank := report.counts[UNEXPLAINED]:
        return f'proven, except for facets left out of {so_many(blank, "event")}: see "not known"'
    return "proven: these are the entries of the log, unaltered"


def _members(report: Report, folded: Folded, made: MadeFrom | None) -> dict[str, object]:
    return {
        "verdict": "proven" if report.is_proven else "not proven",
        "checked": report.checked,
        "findings": [finding._asdict() for finding in report.findings],
        "notKnown": report.not_known,
        "counts": dict(report.counts),
        "graph": folded.members(),
        "madeFrom": None if made is None else made.members(),
    }


def _range(reader: Reader, begin: str, end: str | None) -> range:
    """The range of entries.

    Raises:
        InvalidInputError: an end is neither a time nor an index in the log, or the ends are in the wrong order.
    """
    size = reader.size()
    first = _index(reader.first_received, begin, size, "--from")
    last = size if end is None else _index(reader.end_received, end, size, "--to")
    if last < first:
        raise InvalidInputError(f"--to: expected no earlier than --from (entries {first} to {last})")
    return range(first, last)


def _index(at_time: Callable[[int], int], when: str, size: int, option: str) -> int:
    """The index in the log: as given, or that of a time, in microseconds since 1970."""
    expected = (
        f"expected a time like 2026-05-22T14:00:00Z, or an index from 0 to {size}: the log has {so_many(size, 'entry')}"
    )
    if when.isascii() and when.isdigit():
        if (index := int(when)) > size:
            raise InvalidInputError(f"{option}: {when} is beyond the end of the log; {expected}")
        return index
    try:
        time = read_time(when)
    except ValueError as fault:
        raise InvalidInputError(f"{option}: {when!r} cannot be read; {expected}") from fault
    return at_time(microseconds(time))


@contextmanager
def _whole(path: Path) -> Iterator[Any]:
    """A temporary file that is renamed to the path once it is complete."""
    try:
        number, unfinished = tempfile.mkstemp(dir=path.absolute().parent, prefix=f".{path.name}.")
    except OSError as fault:
        raise SetupError(f"--output: {path} cannot be written: {fault.strerror}") from fault
    with open(number, "w+b") as file:
        try:
            yield file
        except BaseException:
            Path(unfinished).unlink()
            raise
    Path(unfinished).replace(path)
