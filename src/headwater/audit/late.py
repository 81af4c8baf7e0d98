"""Events that stand behind the entry which revokes their key.

When an event came is the log's own word, so who holds the log and a revoked key can date one back. Its place in the log
tells that it was put there after the key was revoked. Where the log does not even say that it came before, it says
itself that the key did not count, whatever the keys are with which the signatures are checked.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from headwater.audit.core import Report
from headwater.errors import InvalidInputError
from headwater.model.edits import KEY, REVOKED, EditEntry
from headwater.model.facts import Edit
from headwater.signing.standing import Revocation, standing
from headwater.store.entries import as_today

_SIGNATURE: Final = "signature"
_MOST_TOLD: Final = 3
"""Keys that are named one by one; of more, how many there are."""


class _Late(NamedTuple):
    place: int
    received_us: int


class LateEvents:
    """Collects them from the entries of a bundle."""

    def __init__(self) -> None:
        self._revoked_at: dict[str, int] = {}
        self._late: dict[str, list[_Late]] = {}

    def take(self, entry: dict[str, Any], raw: bytes) -> None:
        """Look at an entry, after those before it."""
        if entry["kind"] == "event":
            if entry["verdict"] == "ok" and entry["keyId"] in self._revoked_at:
                self._late.setdefault(entry["keyId"], []).append(_Late(entry["index"], entry["receivedUs"]))
        elif REVOKED.encode() in raw and isinstance(edits := as_today(entry["type"], raw), EditEntry):
            for edit in edits.edits:
                if edit.target[0] == KEY and edit.what == REVOKED:
                    self._revoked_at.setdefault(edit.target[1], entry["index"])

    def tell(self, of_keys: Iterable[Edit], report: Report) -> None:
        """Tell of them; one that the log says came after the key was revoked is a finding, if not the core's already.

        `of_keys` is what the entries say of keys.
        """
        revoked, known = _revoked(of_keys, report), {each.entry for each in report.findings if each.check == _SIGNATURE}
        dated_back = dict[str, list[int]]()
        for key_id, late in self._late.items():
            for each in late:
                if key_id not in revoked or each.received_us < revoked[key_id].from_us:
                    dated_back.setdefault(key_id, []).append(each.place)
                elif each.place not in known:
                    told = f"the key {key_id!r} did not count when the event came: entry {self._revoked_at[key_id]}"
                    report.find(_SIGNATURE, each.place, f"{told} had revoked it, whatever its key set says")
        self._tell_of_dated_back(dated_back, report)

    def _tell_of_dated_back(self, dated_back: Mapping[str, list[int]], report: Report) -> None:
        for key_id, late in [*dated_back.items()][:_MOST_TOLD]:
            report.not_known.append(
                f"whether {len(late):,} events came before their key {key_id!r} was revoked, as the log says: they "
                f"stand behind entry {self._revoked_at[key_id]}, which revokes it, the first at {late[0]}"
            )
        if (more := len(dated_back) - _MOST_TOLD) > 0:
            report.not_known.append(f"the same of events by {more:,} more keys")


def _revoked(of_keys: Iterable[Edit], report: Report) -> Mapping[str, Revocation]:
    return standing(_readable(of_keys, report), {}).revoked


def _readable(of_keys: Iterable[Edit], report: Report) -> Iterator[Edit]:
    """Those that hold a statement; the service takes no other."""
    for edit in of_keys:
        try:
            standing([edit], {})
        except (InvalidInputError, ValueError, LookupError, TypeError):
            report.find("entry", edit.log_index, "what it says of a key is no statement")
        else:
            yield edit
