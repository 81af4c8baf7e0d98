"""Check an audit bundle offline: this one file, Python's standard library, and Ed25519.

It shares no code with the service that wrote the bundle. A bundle is a zip archive:

    manifest.json         format, the log's key, which entries (`from` up to `to`, without it) of how many (`size`)
    checkpoint.txt        the log's signed head at that size (https://c2sp.org/tlog-checkpoint)
    since-checkpoint.txt, consistency.json    an earlier head, and the proof that the log only grew since
    tree.json             the hashes left and right of the entries, with which they give the head
    keys.json             the nodes' public keys (RFC 7517); `nbf` and `revokedFrom` say when each counts
    entries.jsonl         the entries, one a line; of those that are not shown only `index` and `leaf`
    graph.json            the graph that was shown, which `headwater.audit.graph` compares and counts

Checks, by name: `checkpoint` (who signed the head), `consistency` (it extends the earlier head), `entry` (each gives
the leaf it claims), `inclusion` (the leaves, in their order and without a gap, give the head), `signature` (each event
that the log calls verified was signed, exactly as shown, by a key that was valid then).

Source: RFC 6962, RFC 9162 section 2.1.4.2; docs/decisions/0010 (leaf); docs/trust.md (what is signed).
"""

import hashlib
import json
import zipfile
from base64 import b64encode, urlsafe_b64decode, urlsafe_b64encode
from binascii import a2b_base64
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from operator import ne
from typing import IO, Any, NamedTuple

from nacl.exceptions import BadSignatureError
from nacl.signing import VerifyKey

FORMAT = "headwater audit bundle/1"
PARTS = {"manifest.json", "checkpoint.txt", "since-checkpoint.txt", "consistency.json", "tree.json", "keys.json"}
PARTS |= {"entries.jsonl", "graph.json"}
MOST_FINDINGS, MOST_BYTES = 100, 1 << 28  # of a check; of an entry or other part: a small file may unpack to anything
MOST_LEVELS = 254  # of objects and arrays inside one another: with more, readers do not agree whether they read it
TOGETHER = 1 << 23  # bytes of entries that go through each check together: who does one thing often does it faster
ENCODE = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode
ESCAPED = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}
ERASED = b'{"_deleted":true}'
HASH_BYTES, SALT_BYTES = 32, 16
ENTRY_MEMBERS = {"index", "leaf", "kind", "type", "receivedUs", "verdict", "keyId", "facets", "salt", "salts", "parts"}
ENTRY_MEMBERS |= {"raw"}
NOT_PROVEN = ("unsigned", "tampered", "unknown-key", "malformed")  # verdicts of the log other than `ok`
SIGNATURE_MEMBERS = {"_producer", "_schemaURL", "algorithm", "keyId", "payloadHash", "signature"}
SIGNATURE_SCHEMAS = {"https://headwater.dev/spec/facets/1-0-0/SignatureRunFacet.json"}  # all that docs/trust.md lists
SIGNATURE_SCHEMAS |= {"https://example.org/spec/lineage/signature.json"}  # of other implementations
Entry = dict[str, Any]
Look = Callable[[Entry, bytes], None]
ReadJson = Callable[[bytes], Any]


class Refused(Exception):
    """A check failed; the message says how."""


class Finding(NamedTuple):
    """A failure of a check; `entry` is the log index, if it is about one entry."""

    check: str
    entry: int | None
    message: str


class Key(NamedTuple):
    """A node's key, and when it counts; seconds since 1970."""

    public: VerifyKey
    not_before: float
    revoked_at: float


@dataclass(slots=True)
class Trust:
    """The auditor's own knowledge; members that are None are taken from the bundle, and that is reported."""

    log_key: str | None = None
    keys: Mapping[str, Any] | None = None
    since: str | None = None
    witnesses: Sequence[str] = ()
    read_json: ReadJson | None = None  # `read_once`, or another that is trusted and refuses what it does
    read_event: ReadJson | None = None  # the same for `read_strictly`


@dataclass(slots=True)
class Report:
    """The result of a check."""

    checked: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    not_known: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)  # by check how often it failed
    head: "Head" = field(default_factory=lambda: Head("", 0, b""))  # that the log signed, else without a name
    tree: "Tree" = field(default_factory=lambda: Tree())  # of the entries, whatever the head says

    @property
    def is_proven(self) -> bool:
        """Whether every check passed."""
        return not self.found

    def find(self, check: str, entry: int | None, message: str) -> None:
        """Record that a check failed."""
        self.found[check] += 1
        if self.found[check] <= MOST_FINDINGS:
            self.findings.append(Finding(check, entry, message))
        else:
            self.counts["findings not listed"] += 1


def check_bundle(file: IO[bytes], trust: Trust, look: Look = lambda entry, raw: None) -> Report:
    """Check a bundle, or raise Refused; `look` is called with each shown entry and its raw bytes."""
    report = Report()
    try:
        with zipfile.ZipFile(file) as bundle:
            if sorted(names := bundle.namelist()) != sorted({*names} & PARTS):
                raise Refused(f"the bundle has duplicate or unknown files among these: {', '.join(names)}")
            if any(each.file_size > MOST_BYTES for each in bundle.infolist() if each.filename != "entries.jsonl"):
                raise Refused(f"a part of the bundle would unpack to more than {MOST_BYTES:,} bytes")
            manifest = read_once(bundle.read("manifest.json"))
            if manifest["format"] != FORMAT:
                raise Refused(f"the bundle's format is {manifest['format']!r}, and this program reads {FORMAT!r}")
            report.head = _check_heads(bundle, manifest, trust, report)
            _check_entries(bundle, manifest, trust, report, look)
    except zipfile.BadZipFile as fault:
        raise Refused("this is no zip archive, or a damaged one") from fault
    except Exception as fault:  # whatever a reader can stumble over: anybody may have written the file
        raise Refused(str(fault) if isinstance(fault, Refused) else f"the bundle cannot be read: {fault!r}") from fault
    report.not_known += (
        "whether what a node signed was true",
        "who held a node's key when it signed: a key that was stolen and not revoked signs as its owner",
        "what a node never sent, and what it sent after the head checked here",
        "whether the log shows others a different history: compare its head with theirs, or with a witness's",
    )
    return report


class Head(NamedTuple):
    """A log's name and size, and the root hash of its tree."""

    origin: str
    size: int
    root: bytes


def _check_heads(bundle: zipfile.ZipFile, manifest: Mapping[str, Any], trust: Trust, report: Report) -> Head:
    log_key = trust.log_key or manifest["logKey"]
    if trust.log_key is None:
        report.not_known.append(f"whether {log_key} is the log's key: it was taken from the bundle (--log-key)")
    note, head = bundle.read("checkpoint.txt").decode(), Head("", 0, b"")
    try:
        head = opened_of_log(note, log_key)
        report.checked.append(f"checkpoint: {head.origin} signed the head over {_so_many(head.size, 'entry')}")
        for witness in trust.witnesses:
            opened(note, witness)
            report.checked.append(f"checkpoint: {witness.partition('+')[0]} witnessed it")
    except Refused as fault:
        report.find("checkpoint", None, str(fault))
    if head.origin:  # without the log's signature, it says nothing of the log
        if head.size != manifest["size"]:
            report.find("checkpoint", None, f"the head is of size {head.size}, the manifest says {manifest['size']}")
        _check_consistency(bundle, log_key, head, trust, report)
    return head


def _check_consistency(bundle: zipfile.ZipFile, log_key: str, head: Head, trust: Trust, report: Report) -> None:
    is_there = "since-checkpoint.txt" in bundle.namelist()
    earlier = trust.since or (bundle.read("since-checkpoint.txt").decode() if is_there else None)
    if is_there and trust.since is None:
        report.not_known.append("whether the earlier head is one that you kept: it was taken from the bundle (--since)")
    if earlier is None:
        return report.not_known.append("whether the log only grew since an earlier head: none was given (--since)")
    try:
        old = opened_of_log(earlier, log_key)
        shown: Mapping[str, Any] = read_once(bundle.read("consistency.json") if is_there else b'{"from":0,"proof":[]}')
        if 0 < old.size < head.size and shown["from"] != old.size:
            raise Refused(f"the bundle has no proof from {_so_many(old.size, 'entry')} on: export it with --since")
        check_consistent(old, head, [read_hash(each) for each in shown["proof"] if shown["from"] == old.size])
        report.checked.append(f"consistency: the head extends the one over {_so_many(old.size, 'entry')} that was kept")
    except Refused as fault:
        report.find("consistency", None, str(fault))


def opened_of_log(note: str, key: str) -> Head:
    """Parse a checkpoint of the log with this key: one key may sign for logs of several names."""
    head = opened(note, key)
    if head.origin != key.strip().partition("+")[0]:
        raise Refused(f"the head is of the log {head.origin!r}, but the log's key is of another")
    return head


def opened(note: str, key: str) -> Head:
    """Parse a checkpoint after verifying the key's signature; the key is NAME+HASH+BASE64."""
    name, key_hash, encoded = key.strip().split("+", 2)
    kind, public = a2b_base64(encoded)[:1], a2b_base64(encoded)[1:]
    if hashlib.sha256(name.encode() + b"\n" + kind + public).digest()[:4].hex() != key_hash or kind not in b"\1\4":
        raise Refused("the log's or witness's key does not match its own hash")
    text, _, lines = note.rpartition("\n\n")
    for line in lines.splitlines():
        if line.startswith(f"\u2014 {name} "):
            signature = a2b_base64(line.rpartition(" ")[2])
            if signature[:4].hex() == key_hash:
                time = f"cosignature/v1\ntime {int.from_bytes(signature[4:12], 'big')}\n" if kind == b"\4" else ""
                try:  # the time is what a witness signs, too
                    VerifyKey(public).verify(f"{time}{text}\n".encode(), signature[-64:])
                except BadSignatureError:
                    raise Refused(f"the signature of {name} does not match this head") from None
                origin, size, root = text.split("\n")[:3]
                return Head(origin, int(size), a2b_base64(root))
    raise Refused(f"{name} did not sign the head")


def read_hash(encoded: str) -> bytes:
    """Decode a tree hash; with other lengths, two hashes could be split differently and still hash to the same."""
    if len(node := a2b_base64(encoded)) != HASH_BYTES:
        raise Refused(f"a hash of the tree has {len(node)} bytes, expected {HASH_BYTES}")
    return node


def check_consistent(old: Head, new: Head, proof: Sequence[bytes]) -> None:
    """Check that the newer tree begins with the older (RFC 9162, section 2.1.4.2)."""
    if old.size == new.size or old.size == 0:
        if old.size and (proof or old.root != new.root):
            raise Refused(f"the log has two heads over {_so_many(old.size, 'entry')}: it shows two histories")
        return
    if old.size > new.size:
        raise Refused(f"the log had {_so_many(old.size, 'entry')} and has {new.size}: cut off, or this bundle is older")
    nodes = iter([old.root, *proof] if old.size & (old.size - 1) == 0 else proof)
    index, last = old.size - 1, new.size - 1
    while index & 1:
        index, last = index >> 1, last >> 1
    first = second = next(nodes, b"")
    while last and (node := next(nodes, b"")):
        if index & 1 or index == last:
            first, second = node_hash(node, first), node_hash(node, second)
            while not index & 1 and index:
                index, last = index >> 1, last >> 1
        else:
            second = node_hash(second, node)
        index, last = index >> 1, last >> 1
    if last or first != old.root or second != new.root or [*nodes]:
        raise Refused("the head does not extend the one that was kept: the log was rewritten")


def _check_entries(bundle: zipfile.ZipFile, manifest: Entry, trust: Trust, report: Report, look: Look) -> None:
    hashes, begin = read_once(bundle.read("tree.json")), manifest["from"]
    if trust.keys is None:
        report.not_known.append("whether the nodes' keys are theirs: they were taken from the bundle (--keys)")
    keys = read_keys(trust.keys or read_once(bundle.read("keys.json")))
    head, tree, at, after, rest = report.head, report.tree, begin, begin, b""
    if begin < 0 or len(hashes["left"]) != len(heights := [*_heights(0, begin)]):
        raise Refused(f"tree.json lacks hashes for the entries before {begin}, or has too many")
    for height, node in zip(heights, hashes["left"], strict=True):
        tree.add(read_hash(node), height)
    with bundle.open("entries.jsonl") as lines:
        while (part := lines.read(TOGETHER)) or rest:
            *complete, rest = (rest + part).split(b"\n") if part else (rest, b"")
            if len(rest) > MOST_BYTES:
                raise Refused(f"an entry would unpack to more than {MOST_BYTES:,} bytes")
            some = [(entry, entry.get("raw", "").encode()) for entry in map(trust.read_json or read_once, complete)]
            for entry, raw in some:
                if (index := entry["index"]) != after:
                    report.find("inclusion", at, f"the entry at this position of the bundle has the index {index}")
                entry["index"], after = (index, index + 1) if isinstance(index, int) else (at, after + 1)
                tree.add(_checked_leaf(entry, raw, report), 0)
                at += 1
            shown = [each for each in some if "raw" in each[0]]
            for entry, raw in (each for each in shown if each[0]["kind"] == "event"):
                _check_signature(entry, raw, keys, trust.read_event, report)
            for entry, raw in shown:
                look(entry, raw)
    if at != manifest["to"]:
        report.find("inclusion", at, f"the bundle ends here, but its manifest says at {manifest['to']}")
    for height, node in zip(_heights(at, head.size), hashes["right"], strict=False):
        tree.add(read_hash(node), height)
    if (tree.size, tree.root()) != (head.size, head.root):
        report.find("inclusion", None, "the entries do not hash to the head that the log signed")
    _report_entries(begin, at, report)


def _report_entries(begin: int, end: int, report: Report) -> None:
    count = report.counts
    shown = f"{_so_many(count['shown'], 'entry')} shown, {count['edits']:,} of them edits,"
    went_well = {
        "inclusion": f"entries {begin:,} to {end:,}, in order and without gaps, against the head",
        "entry": f"{shown} each against its leaf; {count['withheld']:,} not shown",
        "signature": f"{_so_many(count['signed'], 'event')}, each by a key that was valid when it arrived",
    }
    report.checked += (f"{check}: {passed}" for check, passed in went_well.items() if not report.found[check])
    if count["withheld"]:
        report.not_known += [f"the content of {_so_many(count['withheld'], 'entry')} not shown, and what it is about"]
    for verdict in filter(count.get, NOT_PROVEN):
        report.not_known.append(f"who wrote {_so_many(count[verdict], 'event')}: the log found them {verdict}")
    if count["erased"]:
        report.not_known += [f"the content of {_so_many(count['erased'], 'facet')} since erased, and who signed them"]


def _so_many(count: int, what: str) -> str:
    """A count with its noun, which is passed in the singular."""
    return f"{count:,} {what if count == 1 else f'{what}s'.replace('ys', 'ies')}"


def _checked_leaf(entry: Entry, raw: bytes, report: Report) -> bytes:
    """The leaf hash of an entry, computed from its own bytes."""
    claimed, index = read_hash(entry["leaf"]), entry["index"]
    if unknown := entry.keys() - (ENTRY_MEMBERS if "raw" in entry else {"index", "leaf"}):
        report.find("entry", index, f"it has unknown members: {', '.join(sorted(unknown))}")
    if "raw" not in entry:
        report.counts["withheld"] += 1
        return claimed
    report.counts["shown"] += 1
    report.counts["edits"] += entry["kind"] == "edit"
    if (leaf := leaf_of(entry, raw)) != claimed:
        report.find("entry", index, "its bytes or attributes do not hash to its leaf: it was altered")
    if entry["kind"] != ("edit" if entry["type"] == "EDIT" else "event"):  # only the kind is in the leaf
        report.find("entry", index, f"its leaf says {entry['kind']}, but the bundle {entry['type']}")
    if entry["verdict"] not in ("ok", *NOT_PROVEN):
        report.find("entry", index, f"its verdict is unknown: {entry['verdict']!r}")
    return leaf


def leaf_of(entry: Mapping[str, Any], raw: bytes) -> bytes:
    """Compute an entry's leaf hash; an erased facet is replaced by `ERASED`, and `parts` has its commitment."""
    facets, erased = entry["facets"], {int(number): a2b_base64(part) for number, part in entry.get("parts", {}).items()}
    length = SALT_BYTES * (1 + len(facets) // 2)
    stream = hashlib.shake_256(a2b_base64(entry["salt"])).digest(length) if "salt" in entry else b""
    salts = [a2b_base64(each or "") for each in entry["salts"]] if "salts" in entry else []
    salts = salts or [stream[at : at + SALT_BYTES] for at in range(0, len(stream), SALT_BYTES)]
    odd = len(facets) % 2 or {*map(len, salts)} - {0, SALT_BYTES} or {*map(len, erased.values())} - {HASH_BYTES}
    if odd or not salts[0] or facets != sorted(facets):  # facets over one another take any time to hash
        return b""  # of another length, they could be split from the bytes behind them otherwise
    rest, committed, at, shift = [salts[0]], [b""], 0, 0
    for number in range(len(facets) // 2):
        begin, end = facets[2 * number : 2 * number + 2]
        rest.append(raw[at + shift : begin + shift])
        length = len(ERASED) if number in erased else end - begin
        value = raw[begin + shift : begin + shift + length]
        if number in erased and value != ERASED:
            return b""
        part = erased.get(number) or hashlib.sha256(salts[number + 1] + value).digest()
        committed.append(begin.to_bytes(8, "big") + end.to_bytes(8, "big") + part)
        at, shift = end, shift + length - (end - begin)
    committed[0] = hashlib.sha256(b"".join([*rest, raw[at + shift :]])).digest()
    commitment, key_id = hashlib.sha256(b"".join(committed)).hexdigest(), ENCODE(entry["keyId"])
    leaf = f'{{"commitment":"sha256:{commitment}","keyId":{key_id},"kind":{ENCODE(entry["kind"])},'
    leaf += f'"receivedUs":{entry["receivedUs"]:d},"verdict":{ENCODE(entry["verdict"])},"version":1}}'
    return hashlib.sha256(b"\0" + leaf.encode()).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Hash two nodes of the tree (RFC 6962, section 2.1)."""
    return hashlib.sha256(b"\1" + left + right).digest()


class Tree:
    """An append-only tree, as the perfect subtrees it consists of."""

    def __init__(self) -> None:
        self.size = 0
        self._nodes: list[tuple[int, bytes]] = []
        self._added: list[tuple[bytes, int]] = []

    def add(self, node: bytes, height: int) -> None:
        """Append a perfect subtree of that height."""
        self._added.append((node, height))
        self.size += 1 << height
        while self._nodes and self._nodes[-1][0] == height:
            node, height = node_hash(self._nodes.pop()[1], node), height + 1
        self._nodes.append((height, node))

    def root(self) -> bytes:
        """The root hash of the tree."""
        root = self._nodes[-1][1] if self._nodes else hashlib.sha256().digest()
        for _, node in reversed(self._nodes[:-1]):
            root = node_hash(node, root)
        return root

    def heads(self, sizes: Collection[int]) -> dict[int, bytes]:
        """The root hashes that it had at these sizes, where known."""
        again, heads = Tree(), {}
        for node, height in self._added:
            again.add(node, height)
            if again.size in sizes:
                heads[again.size] = again.root()
        return heads


def _heights(begin: int, end: int) -> Iterator[int]:
    while begin < end:
        yield (height := (min(end - begin, begin & -begin) or end - begin).bit_length() - 1)
        begin += 1 << height


def read_keys(jwks: Mapping[str, Any]) -> dict[str, Key]:
    """The Ed25519 keys of a set by id; one whose id contains another key's hash is left out."""
    keys = {}
    for jwk in jwks["keys"]:
        if (jwk["kty"], jwk.get("crv")) == ("OKP", "Ed25519"):
            public, hashed = urlsafe_b64decode(jwk["x"] + "="), jwk["kid"].partition("#sha256:")[2]
            own = urlsafe_b64encode(hashlib.sha256(public).digest()).decode().rstrip("=")
            from_time = jwk.get("revokedFrom")
            revoked = float("inf") if from_time is None else datetime.fromisoformat(from_time).timestamp()
            if hashed in ("", own):
                keys[jwk["kid"]] = Key(VerifyKey(public), float(jwk.get("nbf") or 0), revoked)
    return keys


def _check_signature(entry: Entry, raw: bytes, keys: Mapping[str, Key], read: ReadJson | None, report: Report) -> None:
    verdict, key_id, time_s = entry["verdict"], entry["keyId"], entry["receivedUs"] / 1_000_000
    erased = [number for number in entry.get("parts", ()) if 0 <= 2 * int(number) < len(entry["facets"])]
    if erased:
        report.counts["erased"] += len(erased)
    elif verdict in NOT_PROVEN:
        report.counts[verdict] += 1
    elif key_id not in keys:
        problem = f"no known key {key_id!r} matches the hash in that id, by --keys or else by the bundle"
        report.find("signature", entry["index"], problem)
    elif not keys[key_id].not_before <= time_s < keys[key_id].revoked_at:
        report.find("signature", entry["index"], f"the key {key_id!r} was not valid when the event arrived")
    elif not is_signed(raw, key_id, keys[key_id].public, read):
        report.find("signature", entry["index"], f"the event is not what {key_id!r} signed")
    else:
        report.counts["signed"] += 1


def is_signed(raw: bytes, key_id: str, public: VerifyKey, read: ReadJson | None = None) -> bool:
    """Whether the key signed the event, either as sent with the facet cut out, or in canonical form."""
    with suppress(ValueError, TypeError, LookupError, AttributeError, RecursionError):  # it is no such event
        return any(_is_good(*part, key_id, public) for part in _signed_parts(raw, read or read_strictly))
    return False


def _is_good(payload: bytes, facet: dict[str, Any], producer: str, key_id: str, public: VerifyKey) -> bool:
    """Whether the signature is valid. It does not cover the facet itself, so each member is checked against it."""
    payload_hash, types = f"sha256:{hashlib.sha256(payload).hexdigest()}", {*map(type, facet.values())}
    facet = {name: without_halves(member) for name, member in facet.items()}
    expected = {"_producer": producer, "algorithm": "Ed25519", "keyId": key_id, "payloadHash": payload_hash}
    if facet.keys() != SIGNATURE_MEMBERS or facet | expected != facet or facet["_schemaURL"] not in SIGNATURE_SCHEMAS:
        return False
    signature = a2b_base64(facet["signature"])
    if types != {str} or b64encode(signature).decode() != facet["signature"]:
        return False
    with suppress(BadSignatureError):
        return bool(public.verify(payload, signature) == payload)
    return False


def _signed_parts(raw: bytes, read: ReadJson) -> Iterator[tuple[bytes, dict[str, Any], str]]:
    """The candidates for the signed bytes of an event, each with the signature facet and the event's producer."""
    event = read(raw)
    facet = event["run"]["facets"]["signature"]
    before, found, after = raw.partition(b'"signature":' + canonical(facet).encode())
    if found:  # should it stand elsewhere, too, then what is left holds its own signature, which nobody can sign
        payload = before[:-1] + after if before.endswith(b",") else before + after.removeprefix(b",")
        yield payload, facet, without_halves(event["producer"])
    rewritten = canonical(event := read_strictly(raw)).encode()
    if len(rewritten) != len(raw) or sum(map(ne, rewritten, raw)) != 1:  # programs rewrite all, people edit one byte
        facet = event["run"]["facets"].pop("signature")
        yield canonical(event).encode(), facet, without_halves(event["producer"])


def read_once(text: bytes) -> Any:  # noqa: ANN401  whatever the text holds
    """Parse JSON; raise ValueError for an object with duplicate keys."""
    return json.loads(text, object_pairs_hook=_members)


def read_strictly(raw: bytes) -> Entry:
    """Parse JSON that has only one reading, with numbers kept as written; raise ValueError for any other."""
    literal = {"parse_int": _Literal, "parse_float": _Literal, "parse_constant": int}  # int: no NaN, no Infinity
    value: Entry = json.loads(raw.decode(), object_pairs_hook=_members, **literal)
    deep: list[Any] = [value] * (raw.count(b"[") + raw.count(b"{") > MOST_LEVELS)
    for _ in range(MOST_LEVELS * len(deep)):
        held = (each for one in deep for each in (one.values() if isinstance(one, dict) else one))
        deep = [each for each in held if isinstance(each, dict | list)]
    if deep:
        raise ValueError("too deep")
    return value


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object without duplicate keys: parsers do not agree which duplicate counts."""
    if len({canonical(key) for key, _ in pairs}) < len(pairs):  # escapes that stand for no character are one
        raise ValueError(f"duplicate key among {', '.join(key for key, _ in pairs)[:200]}")
    return dict(pairs)


class _Literal(str):
    """A number as written."""


def canonical(value: object) -> str:
    """The canonical form that is signed, see docs/trust.md: sorted keys, no white space, numbers as written."""
    if isinstance(value, _Literal):
        return str(value)
    if isinstance(value, str):
        return json.dumps(without_halves(value), ensure_ascii=False).translate(ESCAPED)
    if isinstance(value, dict):
        members = sorted(value.items(), key=lambda member: without_halves(member[0]).encode())
        return "{" + ",".join(f"{canonical(key)}:{canonical(each)}" for key, each in members) + "}"
    return "[" + ",".join(map(canonical, value)) + "]" if isinstance(value, list) else json.dumps(value)


def without_halves(text: str) -> str:
    """The text with each lone surrogate replaced by U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
