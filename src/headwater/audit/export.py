"""Creates a bundle: a part of the log with everything needed to check it elsewhere."""

import shlex
import time
import zipfile
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import IO, Any, Final, NamedTuple

import orjson
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from headwater.audit.about import About
from headwater.audit.core import FORMAT
from headwater.audit.erasures import recorded_erasures
from headwater.audit.graph import Folding, graph_of, rows_of
from headwater.audit.keys import key_set
from headwater.errors import InvalidInputError, UnavailableError, UntrustedNoteError
from headwater.model.names import DatasetId
from headwater.model.nodes import Arrival
from headwater.model.producer import VERSION
from headwater.model.words import so_many
from headwater.signing.checkpoint import Checkpoint, parse_checkpoint
from headwater.signing.erasure import openings
from headwater.signing.leaf import SALT_BYTES, Kind, Seal
from headwater.signing.merkle import consistency_proof, nodes_between
from headwater.signing.note import NoteSigner, verified_text
from headwater.signing.segments import facet_spans
from headwater.store.entries import LoggedEvent, as_today, found
from headwater.store.reader import Reader

_TOGETHER: Final = 512
_ZIP_LEVEL: Final = 1
"""The fastest level: it compresses events to a sixth, and one core writes some 100 MB of them a second."""
_TRIES: Final = 5
_MOST_ALIKE: Final = 3
_PAUSE_S: Final = 0.1

Advance = Callable[[int, int], None]
"""Called with the number of entries done and the total; for what is about a dataset, each entry counts twice."""


class Exported(NamedTuple):
    """The result of an export."""

    manifest: Mapping[str, Any]
    misplaced: Sequence[int]
    """Entries whose time or run in the database differs from their bytes: no leaf covers these columns."""


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """The contents of a bundle to be created."""

    indexes: range
    """The log indexes; entries that are not stored yet are left out."""
    dataset: DatasetId | None
    """Limits the shown events to runs that name the dataset, by any of its names or in a facet, and edits of it."""
    since: str | None
    """A signed checkpoint that the auditor has stored."""
    has_upstream: bool = False
    """Whether also the events that tell what the dataset is made from are shown."""
    head: str | None = None
    """The checkpoint to prove against, with witnesses' signatures; by default one over all entries, signed now."""


def export(
    reader: Reader,
    signer: NoteSigner,
    keys: Mapping[str, Ed25519PublicKey],
    request: ExportRequest,
    file: IO[bytes],
    advance: Advance,
) -> Exported:
    """Write a bundle into a file.

    Raises:
        InvalidInputError: `head` or `since` is not one of this log, `since` covers more than `head`, the entries begin
            after it, or no entry is about the dataset.
        UnavailableError: the database does not answer, or is written to all the time, or a facet is erased meanwhile.
    """
    folded, shown_graph = _graph_of_log(reader)
    note = request.head or _signed(reader, signer, folded)
    size = _size_of(note, reader, signer, folded)
    if request.indexes.start > size:
        raise InvalidInputError(
            f"--from: the head to prove against covers only {so_many(size, 'entry')}, none from "
            f"{request.indexes.start:,} on: begin earlier, or prove against a newer head"
        )
    indexes = range(request.indexes.start, min(request.indexes.stop, size))
    about, read, steps = None, 0, len(indexes)
    if request.dataset is not None:
        read, steps = len(indexes), 2 * len(indexes)
        entries = _reading(reader, indexes, lambda done: advance(done, steps))
        about = About(reader, entries, request.dataset, has_upstream=request.has_upstream)
    is_whole = about is None and indexes == range(folded)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=_ZIP_LEVEL) as bundle:
        bundle.writestr("checkpoint.txt", note)
        _write_consistency(bundle, reader, signer, request.since, size)
        folding, misplaced = Folding(), list[int]()
        with bundle.open("entries.jsonl", "w", force_zip64=True) as lines:
            for some in _in_parts(indexes):
                misplaced += _write_entries(lines, reader, some, about, None if is_whole else folding)
                advance(read + some.stop - indexes.start, steps)
        if about is not None and folding.is_empty:
            raise InvalidInputError(_unknown(request, indexes, about))
        _check_none_erased(reader, folded)
        bundle.writestr("tree.json", orjson.dumps(_tree_hashes(reader, indexes, size)))
        bundle.writestr("keys.json", key_set(reader, keys))
        bundle.writestr("graph.json", orjson.dumps(shown_graph if is_whole else folding.graph()))
        manifest = {
            "format": FORMAT,
            "madeBy": f"headwater {VERSION}",
            "logKey": str(signer.verifier),
            "from": indexes.start,
            "to": indexes.stop,
            "size": size,
            "dataset": None if request.dataset is None else request.dataset._asdict(),
            "names": None if about is None else [name._asdict() for name in sorted(about.names)],
            "upstream": None if about is None else request.has_upstream,
            "graphOf": "log" if is_whole else "entries",
        }
        bundle.writestr("manifest.json", orjson.dumps(manifest, option=orjson.OPT_INDENT_2))
    return Exported(manifest, misplaced)


def _unknown(request: ExportRequest, indexes: range, about: About) -> str:
    fault = f"--dataset: no entry from {indexes.start} up to {indexes.stop} is about {' '.join(request.dataset or ())}"
    if alike := about.alike():
        named = (f"--dataset {shlex.join(each)}" for each in alike[:_MOST_ALIKE])
        return f"{fault}; did you mean {' or '.join(named)}?"
    return f"{fault}; the search of the page finds names, as does GET /api/v1/search?q="


def _graph_of_log(reader: Reader) -> tuple[int, Mapping[str, Any]]:
    """The graph that the store shows, and the number of entries it covers."""
    for _ in range(_TRIES):
        folded = _folded(reader)
        graph = graph_of(rows_of(reader))
        if reader.size() == folded:
            return folded, graph
    raise UnavailableError("the log is written to all the time: export from a copy, or while fewer events arrive")


def _folded(reader: Reader) -> int:
    """The number of log entries, once the facts of all of them are stored: some may be stored in part."""
    for _ in range(_TRIES):
        size, folded = reader.size(), reader.folded()
        if size == folded:
            return size
        if size < folded:
            raise UnavailableError(
                f"the database has the facts of {so_many(folded, 'entry')}, but only {so_many(size, 'entry')}: the "
                "last ones were removed, or it was restored in part; restore it whole from a backup"
            )
        time.sleep(_PAUSE_S)
    raise UnavailableError(
        f"the facts of {so_many(size - folded, 'entry')} are not stored yet: export while fewer events arrive, or, if "
        "no service runs, start it once"
    )


def _check_none_erased(reader: Reader, folded: int) -> None:
    """Check that no entry since then records an erasure: the graph and the entries would be those of two logs."""
    seen = 0
    while some := reader.edits(_TOGETHER, seen)[0]:  # the newest first; more may come, and are then seen twice
        for logged in some:
            if logged.log_index < folded:
                return
            if any(recorded_erasures(logged.event_type, logged.raw)):
                raise UnavailableError("a facet was erased from the log in the meantime: export again")
        seen += len(some)


def _signed(reader: Reader, signer: NoteSigner, size: int) -> str:
    return Checkpoint(signer.verifier.name, size, reader.tree.frontier(size).root).signed(signer)


def _size_of(note: str, reader: Reader, signer: NoteSigner, folded: int) -> int:
    """The size of a checkpoint, which must be this log's own."""
    head = _own(note, signer, "--head")
    if head.size > folded or reader.tree.frontier(head.size).root != head.root:
        raise InvalidInputError(
            f"--head: not a head over the first {head.size} of this log's {so_many(folded, 'entry')}"
        )
    return head.size


def _own(note: str, signer: NoteSigner, option: str) -> Checkpoint:
    try:
        return parse_checkpoint(verified_text(note, [signer.verifier]))
    except UntrustedNoteError as fault:
        raise InvalidInputError(f"{option}: {fault}") from fault


def _write_consistency(
    bundle: zipfile.ZipFile, reader: Reader, signer: NoteSigner, since: str | None, size: int
) -> None:
    if since is None:
        return
    old = _own(since, signer, "--since")
    if size < old.size <= reader.size():
        raise InvalidInputError(
            f"--since: it covers {so_many(old.size, 'entry')}, and the head to prove against only {size:,}: "
            "name an earlier head"
        )
    proof = consistency_proof(old.size, size, reader.tree.node) if 0 < old.size <= size else []
    bundle.writestr("since-checkpoint.txt", since)
    bundle.writestr("consistency.json", orjson.dumps({"from": old.size, "proof": _encoded(proof)}))


def _tree_hashes(reader: Reader, indexes: range, size: int) -> Mapping[str, Sequence[str]]:
    node = reader.tree.node
    left = [node(height, index) for height, index in nodes_between(0, indexes.start)]
    right = [node(height, index) for height, index in nodes_between(indexes.stop, size)]
    return {"left": _encoded(left), "right": _encoded(right)}


def _in_parts(indexes: range) -> Iterator[range]:
    return (range(begin, min(begin + _TOGETHER, indexes.stop)) for begin in indexes[::_TOGETHER])


def _reading(reader: Reader, indexes: range, advance: Callable[[int], None]) -> Iterator[LoggedEvent]:
    for some in _in_parts(indexes):
        yield from reader.logged(some)
        advance(some.stop - indexes.start)


def _write_entries(
    lines: IO[bytes], reader: Reader, indexes: range, about: About | None, folding: Folding | None
) -> list[int]:
    """Write the entries at these indexes, each parsed once; `folding` takes in those that are shown.

    Returns:
        The entries that the database has under another time or run than their bytes say.
    """
    runs, misplaced = reader.runs_at(indexes), list[int]()
    for logged, sealed in _complete(reader, indexes):
        event = as_today(logged.event_type, logged.raw)
        if not logged.matches_bytes(event, runs.get(logged.log_index)):
            misplaced.append(logged.log_index)
        if about is not None and not about.has(event, logged.log_index):
            lines.write(_line({"index": logged.log_index, "leaf": b64encode(sealed.leaf).decode()}))
            continue
        if folding is not None:
            arrival = Arrival(logged.received_us, logged.verdict, logged.key_id)
            folding.take_read(event, logged.event_type, logged.log_index, arrival)
        lines.write(_line(_entry(logged, sealed)))
    return misplaced


def _complete(reader: Reader, indexes: range) -> Iterator[tuple[LoggedEvent, Seal]]:
    """The entries at these indexes, each with its leaf, once all are stored."""
    entries = list(reader.logged(indexes))
    found_at = [logged.log_index for logged in entries]
    missing = next((index for index, at in zip_longest(indexes, found_at) if index != at), None)
    if missing is not None:
        raise UnavailableError(
            f"the log has no entry {missing}, but has later ones: it was removed, or the database was "
            "restored in part; restore it whole from a backup, or export the entries before it, with --to"
        )
    return zip(entries, reader.tree.seals(indexes), strict=True)


def _entry(logged: LoggedEvent, sealed: Seal) -> Mapping[str, Any]:
    arrival = found(logged.event_type, logged.received_us, logged.verdict, logged.key_id)
    return {
        "index": logged.log_index,
        "kind": arrival.kind,
        "type": logged.event_type,
        "receivedUs": arrival.received_us,
        "verdict": arrival.verdict,
        "keyId": arrival.key_id,
        "leaf": b64encode(sealed.leaf).decode(),
        **_opening(logged.raw, sealed.salt, arrival.kind),
        "raw": logged.raw.decode(),
    }


def _opening(raw: bytes, salt: bytes, kind: Kind) -> Mapping[str, Any]:
    """The data to open an entry's commitment: its salt, or the remaining ones."""
    if len(salt) != SALT_BYTES:
        return openings(raw, salt)._asdict()
    spans = facet_spans(raw) if kind == "event" else []
    facets = [at for span in spans for at in (span.begin, span.end)]
    return {"salt": b64encode(salt).decode(), "facets": facets}


def _line(members: Mapping[str, Any]) -> bytes:
    return orjson.dumps(members, option=orjson.OPT_APPEND_NEWLINE)


def _encoded(hashes: Sequence[bytes]) -> list[str]:
    return [b64encode(each).decode() for each in hashes]
