"""Events that come after the entry that revokes their key.

Only the log says when an event arrived, so whoever controls the log and a revoked key can backdate one. Its index in
the log shows that it was added after the revocation. If even its arrival time is after the revocation, the log itself
shows that the key did not count, whichever keys the signatures are checked with.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from headwater.audit.core import Report
from headwater.errors import InvalidInputError
from headwater.model.edits import KEY, REVOKED, EditEntry
from headwater.model.facts import Edit
from headwater.model.strict_json import may_contain
from headwater.model.words import so_many
from headwater.signing.standing import Revocation, standing
from headwater.store.entries import as_today

_SIGNATURE: Final = "signature"
_MOST_NAMED: Final = 3
"""Most keys that are named one by one; of more, the number."""


class _Late(NamedTuple):
    log_index: int
    received_us: int


class LateEvents:
    """Collects late events from the entries of a bundle."""

    def __init__(self) -> None:
        self._revoked_at: dict[str, int] = {}
        self._late: dict[str, list[_Late]] = {}

    def take(self, entry: dict[str, Any], raw: bytes) -> None:
        """Take in an entry; entries must be in order."""
        if entry["kind"] == "event":
            if entry["verdict"] == "ok" and entry["keyId"] in self._revoked_at:
                self._late.setdefault(entry["keyId"], []).append(_Late(entry["index"], entry["receivedUs"]))
        elif may_contain(raw, REVOKED) and isinstance(edits := as_today(entry["type"], raw), EditEntry):
            for edit in edits.edits:
                if edit.target[0] == KEY and edit.what == REVOKED:
                    self._revoked_at.setdefault(edit.target[1], entry["index"])

    def report_late(self, of_keys: Iterable[Edit], report: Report) -> None:
        """Report late events; one that by the log's own record came after the revocation is a finding.

        Unless it is one of the core's already. `of_keys` are the edits of keys in the entries.
        """
        revoked, known = _revoked(of_keys, report), {each.entry for each in report.findings if each.check == _SIGNATURE}
        dated_back = dict[str, list[int]]()
        for key_id, late in self._late.items():
            for each in late:
                if key_id not in revoked or each.received_us < revoked[key_id].from_us:
                    dated_back.setdefault(key_id, []).append(each.log_index)
                elif each.log_index not in known:
                    problem = (
                        f"the key {key_id!r} was not valid when the event arrived: entry {self._revoked_at[key_id]}"
                    )
                    report.find(_SIGNATURE, each.log_index, f"{problem} had revoked it, whatever the key set says")
        self._report_dated_back(dated_back, report)

    def _report_dated_back(self, dated_back: Mapping[str, list[int]], report: Report) -> None:
        for key_id, late in [*dated_back.items()][:_MOST_NAMED]:
            report.not_known.append(
                f"whether {so_many(len(late), 'event')} came before the key {key_id!r} was revoked, as the log says: "
                f"the first is entry {late[0]}, after entry {self._revoked_at[key_id]}, which revokes it"
            )
        if (more := len(dated_back) - _MOST_NAMED) > 0:
            report.not_known.append(f"the same for events by {so_many(more, 'more key')}")


def _revoked(of_keys: Iterable[Edit], report: Report) -> Mapping[str, Revocation]:
    return standing(_readable(of_keys, report), {}).revoked


def _readable(of_keys: Iterable[Edit], report: Report) -> Iterator[Edit]:
    """The edits that hold a valid statement; the service accepts no other."""
    for edit in of_keys:
        try:
            standing([edit], {})
        except (InvalidInputError, ValueError, LookupError, TypeError):
            report.find("entry", edit.log_index, "it holds an invalid statement about a key")
        else:
            yield edit
