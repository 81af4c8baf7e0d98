"""The audit trail: every write over the API and every export is an entry of the log that says who did it, and when.

A write that is an edit is such an entry itself. A write that becomes an event looks like any posted event, and cannot
hold its sender, so an edit beside it records that it was put, and by whom; likewise for each export.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from headwater.model.edits import EXPORT, PUT, EditEntry, EditItem, edit_entry
from headwater.model.facts import Target
from headwater.service.http.answers import iso
from headwater.service.request.access import Service
from headwater.service.shapes import access as shapes
from headwater.store.entries import LoggedEvent, as_today
from headwater.store.reader import Reader


async def note_put(service: Service, target: Target, by: str | None) -> None:
    """The edit that records who put what became an event; None without access control."""
    entry = edit_entry(service.new_id(), service.now_us(), by, [EditItem(target, PUT, True)])
    await service.intake.edit(entry)


async def note_export(service: Service, body: shapes.ExportBody, by: str | None) -> shapes.Action:
    """Record an export of a part of the log; when this returns, it is in the log."""
    entry = export_entry(service.new_id(), service.now_us(), by, body.model_dump())
    stored = await service.intake.edit(entry, is_proved=True)
    return _action(stored.log_index, entry.stamp.time_us, entry.edits, by)


def export_entry(edit_id: str, time_us: int, by: str | None, what: Mapping[str, Any]) -> EditEntry:
    """The log entry that records an export."""
    return edit_entry(edit_id, time_us, by, [EditItem((EXPORT, edit_id), EXPORT, what)])


def actions(store: Reader, limit: int, offset: int) -> shapes.Actions:
    """A page of all actions of users, newest first."""
    page, total = store.edits(limit, offset)
    return shapes.Actions(actions=[_logged(each) for each in page], totalCount=total)


def _logged(logged: LoggedEvent) -> shapes.Action:
    entry = as_today(logged.event_type, logged.raw)
    if not isinstance(entry, EditEntry):
        return _action(logged.log_index, logged.received_us, (), None)
    by: str | None = orjson.loads(logged.raw)["by"]
    return _action(logged.log_index, logged.received_us, entry.edits, by)


def _action(index: int, time_us: int, edits: Sequence[EditItem], by: str | None) -> shapes.Action:
    did: Sequence[shapes.Deed] = [shapes.Deed(what=_words(each), target=list(each.target)) for each in edits]
    return shapes.Action(index=index, at=iso(time_us), by=by, did=did)


def _words(edit: EditItem) -> str:
    """The action, without values such as an API key's."""
    return f"{edit.what}, undone" if edit.value is False else edit.what
