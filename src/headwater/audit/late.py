"""Events that stand behind the entry which revokes their key.

When an event came is the log's own word, so who holds the log and a revoked key can date one back. Its place in the log
tells that it was put there after the key was revoked.
"""

from typing import Any, Final

from headwater.audit.core import Report
from headwater.model.edits import KEY, REVOKED, EditEntry
from headwater.store.entries import as_today

_MOST_TOLD: Final = 3
"""Keys that are named one by one; of more, how many there are."""


class LateEvents:
    """Collects them from the entries of a bundle."""

    def __init__(self) -> None:
        self._revoked_at: dict[str, int] = {}
        self._late: dict[str, list[int]] = {}

    def take(self, entry: dict[str, Any], raw: bytes) -> None:
        """Look at an entry, after those before it."""
        if entry["kind"] == "event":
            if entry["verdict"] == "ok" and entry["keyId"] in self._revoked_at:
                self._late.setdefault(entry["keyId"], []).append(entry["index"])
        elif REVOKED.encode() in raw and isinstance(edits := as_today(entry["type"], raw), EditEntry):
            for edit in edits.edits:
                if edit.target[0] == KEY and edit.what == REVOKED:
                    self._revoked_at.setdefault(edit.target[1], entry["index"])

    def tell(self, report: Report) -> None:
        """Tell of them; those that the log says came after the key was revoked are findings of the core's already."""
        for key_id, late in [*self._late.items()][:_MOST_TOLD]:
            report.not_known.append(
                f"whether {len(late):,} events came before their key {key_id!r} was revoked, as the log says: they "
                f"stand behind entry {self._revoked_at[key_id]}, which revokes it, the first at {late[0]}"
            )
        if (more := len(self._late) - _MOST_TOLD) > 0:
            report.not_known.append(f"the same of events by {more:,} more keys")
