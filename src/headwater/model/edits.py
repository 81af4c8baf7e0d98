"""Edits: settings that people make over the API and no OpenLineage event can express.

An edit is a log entry like any event, so that the log explains all state. It is a JSON object of our own, which cannot
be mistaken for an event: it has neither run nor job nor dataset.

    {"headwater": "edit/1", "id": "…", "time": "2026-05-22T14:23:11.000000Z", "by": null,
     "edits": [{"target": ["dataset", "lake", "orders"], "what": "tag:GOLD", "value": true}]}

    target                           what        value
    dataset | job, namespace, name   tag:NAME    true or false
    field, namespace, name, field    tag:NAME    true or false
    dataset | job, namespace, name   deleted     true, or false again
    namespace, name                  deleted     true, or false again
    namespace, name                  described   {"ownerName", "description"}
    source, name                     described   {"type", "connectionUrl", "description"}
    tag, name                        described   {"description"}
    names, ns, name, ns, name        apart       true, or false again: the two are not one dataset
    dataset | job, namespace, name   put         true: an event before it records what somebody put over the API
    run, id                          put         true, likewise
    key, key id                      enrolled    {"statement", "signatures", "token"}
    key, key id                      revoked     {"statement", "signatures", "token"}
    access-key, id                   granted     {"name", "sha256", "roles", "scopes", "nodes", "knowsRestricted",
                                                 "untilUs"}
    access-key, id                   revoked     true
    entry, index                     erased:PATH {"reason"}
    export, id of this entry         export      {"begin", "end", "dataset", "upstream"}

For each target and `what`, the later log entry wins. Of keys every statement is retained, as `enrolled:INDEX` and
`revoked:INDEX`, since a thief may have signed the last (`headwater.signing.standing`). Deleted targets are only hidden:
a later event that names one restores it.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

import orjson
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from headwater.errors import InvalidEventError
from headwater.model import strict_json
from headwater.model.credentials import without_secrets
from headwater.model.events import DatasetEvent, Event, Stamp
from headwater.model.extract import facts
from headwater.model.facts import Deletion, Edit, Fact, RunOfJob, Target
from headwater.model.merging import Seen
from headwater.model.names import DatasetId, GraphNode, JobId
from headwater.model.nodes import Arrival
from headwater.model.times import microseconds, time_at, timestamp

FORMAT: Final = "edit/1"
DELETED: Final = "deleted"
DESCRIBED: Final = "described"
APART: Final = "apart"
PUT: Final = "put"
ENROLLED: Final = "enrolled"
GRANTED: Final = "granted"
REVOKED: Final = "revoked"
KEY: Final = "key"
"""First part of targets that are nodes' signing keys."""
ACCESS_KEY: Final = "access-key"
"""First part of targets that are API keys."""
EXPORT: Final = "export"
"""The `what` of an export, and first part of such targets."""
_TAG: Final = "tag:"
ERASED: Final = "erased:"
"""Prefix of the `what` of an erasure, followed by the facet's path."""


@dataclass(frozen=True, slots=True)
class EditItem:
    """One edit: a value set on one target; any JSON value."""

    target: Target
    what: str
    value: object


@dataclass(frozen=True, slots=True)
class EditEntry:
    """A log entry that holds edits."""

    raw: bytes
    stamp: Stamp
    edits: tuple[EditItem, ...]

    def facts(self, log_index: int) -> Iterator[Edit]:
        """Its facts, as the entry at that log index; if two edits have the same target and `what`, the last."""
        seen = Seen(self.stamp.time_us, self.stamp.time_us)
        for edit in {(edit.target, edit.what): edit for edit in self.edits}.values():
            what = f"{edit.what}:{log_index}" if edit.target[0] == KEY else edit.what
            yield Edit(edit.target, what, orjson.dumps(edit.value, option=orjson.OPT_SORT_KEYS), log_index, seen)


def tag(name: str) -> str:
    """The `what` of an edit that sets a tag."""
    return f"{_TAG}{name}"


def tag_of(what: str) -> str | None:
    """The tag's name; None if the edit is not about a tag."""
    return what.removeprefix(_TAG) if what.startswith(_TAG) else None


def erased(path: str) -> str:
    """The `what` of an edit that erases the facet at that path."""
    return f"{ERASED}{path}"


def target_of(node: GraphNode) -> Target:
    """A job or dataset as the target of an edit."""
    return ("job" if isinstance(node, JobId) else "dataset", *node)


def target_of_names(name: DatasetId, other: DatasetId) -> Target:
    """Two names as the target of an edit, in either order."""
    return ("names", *min(name, other), *max(name, other))


def edit_entry(edit_id: str, time_us: int, by: str | None, edits: Iterable[EditItem]) -> EditEntry:
    """An entry with these edits; `by` is who made them, if known.

    Every entry has its own id, so that the same edit can be made, taken back and made again.
    """
    body = {
        "headwater": FORMAT,
        "id": edit_id,
        "time": timestamp(time_at(time_us)),
        "by": by,
        "edits": [{"target": edit.target, "what": edit.what, "value": edit.value} for edit in edits],
    }
    return parse_edit(orjson.dumps(body))


def parse_edit(raw: bytes) -> EditEntry:
    """Read an entry of edits.

    Raises:
        MalformedJsonError: the bytes are not a JSON document.
        InvalidEventError: the message gives the path of the first bad field.
    """
    try:
        wire = _Wire.model_validate(strict_json.parse(raw))
    except ValidationError as invalid:
        first = invalid.errors(include_url=False, include_input=False)[0]
        path = ".".join(str(step) for step in first["loc"]) or "edit"
        raise InvalidEventError(f"{path}: {first['msg']}") from None
    stamp = Stamp(microseconds(wire.time), hashlib.sha256(raw).digest())
    items = (EditItem(tuple(map(without_secrets, each.target)), each.what, each.value) for each in wire.edits)
    return EditEntry(raw, stamp, tuple(items))


class FactsInOrder:
    """Converts log entries to facts in log order, and restores deleted nodes that an event names."""

    def __init__(self, deleted: Iterable[Target]) -> None:
        self._deleted = set(deleted)

    @property
    def deleted(self) -> frozenset[Target]:
        """The targets that are deleted as of the entries so far."""
        return frozenset(self._deleted)

    def facts(self, entry: Event | EditEntry, log_index: int, arrival: Arrival | None = None) -> tuple[Fact, ...]:
        """The entry's facts; an event that names deleted targets also restores them."""
        if isinstance(entry, EditEntry):
            return self.of_edits(entry, log_index)
        found = facts(entry, arrival)
        return self.of_event(found, named(entry, found), entry.stamp.time_us, log_index) if self._deleted else found

    def of_edits(self, entry: EditEntry, log_index: int) -> tuple[Fact, ...]:
        """The facts of an entry of edits."""
        return self._noted(tuple(entry.facts(log_index)))

    def of_event(
        self, found: tuple[Fact, ...], named: Iterable[GraphNode], time_us: int, log_index: int
    ) -> tuple[Fact, ...]:
        """The facts of an event, plus edits that restore the deleted targets that it names."""
        return (*found, *self._brought_back(named, time_us, log_index)) if self._deleted else found

    def note(self, found: Iterable[Fact]) -> None:
        """Take over the deletions in the facts of earlier entries."""
        for edit in found:
            if isinstance(edit, Edit) and edit.what == DELETED:
                (self._deleted.add if edit.value == b"true" else self._deleted.discard)(edit.target)

    def _brought_back(self, named: Iterable[GraphNode], time_us: int, log_index: int) -> tuple[Fact, ...]:
        seen = Seen(time_us, time_us)
        targets = {target for node in named for target in (target_of(node), ("namespace", node.namespace))}
        return self._noted(
            tuple(Edit(target, DELETED, b"false", log_index, seen) for target in sorted(self._deleted & targets))
        )

    def _noted(self, edits: Sequence[Edit]) -> tuple[Fact, ...]:
        """The edits, and each deletion or restoration among them."""
        self.note(edits)
        deletions = (edit for edit in edits if edit.what == DELETED)
        return (
            *edits,
            *(Deletion(each.target, each.log_index, each.value == b"true", each.seen) for each in deletions),
        )


def named(event: Event, found: Iterable[Fact]) -> tuple[GraphNode, ...]:
    """The jobs and datasets that an event names; `found` are its facts."""
    if isinstance(event, DatasetEvent):
        return (event.dataset.id,)
    datasets = (dataset.id for dataset in (*event.inputs, *event.outputs))
    parents = (each.job for fact in found if isinstance(fact, RunOfJob) for each in fact.parts_of)
    return (event.job, *datasets, *parents)


class _WireEdit(BaseModel):
    model_config = ConfigDict(strict=True)
    target: Annotated[list[str], Field(min_length=2)]
    what: str
    value: Any


class _Wire(BaseModel):
    model_config = ConfigDict(strict=True)
    headwater: Literal["edit/1"]
    id: str
    time: Annotated[AwareDatetime, Field(strict=False)]
    by: str | None
    edits: Annotated[list[_WireEdit], Field(min_length=1)]


def described(value: bytes) -> Mapping[str, Any]:
    """The value of a `described` edit."""
    members: Mapping[str, Any] = orjson.loads(value)
    return members
