"""Checks that each erasure in a bundle is recorded in the log.

Erasing removes a facet from an event without changing its leaf. Whoever passes on a bundle could remove one too; but
only the log's own erasures are recorded in a log entry.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Final

from headwater.audit.core import Report
from headwater.errors import MalformedJsonError
from headwater.model.edits import ERASED, EditEntry
from headwater.model.strict_json import may_contain
from headwater.model.words import so_many
from headwater.signing.facet import SIGNATURE
from headwater.signing.segments import facet_spans
from headwater.store.entries import as_today

UNEXPLAINED: Final = "erased without a word"
"""Counts events with an erased facet that no entry records."""
_SIGNATURE: Final = f"run.facets.{SIGNATURE}"
"""Erased along with every other facet of its event."""
_MOST_NAMED: Final = 3
"""Most that are named one by one; of more, the number."""


class Erasures:
    """Collects the erasures, and their records, from the entries of a bundle."""

    def __init__(self) -> None:
        self._erased: dict[int, list[str]] = {}
        self._recorded: dict[int, set[str]] = defaultdict(set)

    def take(self, entry: dict[str, Any], raw: bytes) -> None:
        """Take in an entry."""
        if entry["kind"] == "event":
            if entry.get("parts"):
                self._erased[entry["index"]] = _paths(entry, raw)
            return
        for index, path in recorded_erasures(entry["type"], raw):
            self._recorded[index].add(path)

    def check(self, report: Report, *, is_whole: bool) -> None:
        """Report erasures without a record: in a complete log a finding, in a part of one unknown."""
        unexplained = {
            index: paths for index, erased in self._erased.items() if (paths := self._unrecorded(index, erased))
        }
        if not unexplained:
            return
        report.counts[UNEXPLAINED] = len(unexplained)
        if is_whole:
            for index, paths in unexplained.items():
                report.find("erasure", index, f"{paths} is marked as erased, but no entry of the log records that")
            return
        for index, paths in [*unexplained.items()][:_MOST_NAMED]:
            report.not_known.append(
                f"whether the log or somebody else erased {paths} of entry {index}: no entry here records it"
            )
        if (more := len(unexplained) - _MOST_NAMED) > 0:
            report.not_known.append(f"the same for {so_many(more, 'more entry')}")

    def _unrecorded(self, index: int, erased: list[str]) -> str:
        recorded = self._recorded.get(index, set())
        return ", ".join(path for path in erased if path not in recorded and not (recorded and path == _SIGNATURE))


def recorded_erasures(event_type: str, raw: bytes) -> Iterator[tuple[int, str]]:
    """The erasures that a log entry records: the index of each erased facet's event, and the facet's path."""
    if may_contain(raw, ERASED) and isinstance(edits := as_today(event_type, raw), EditEntry):
        for edit in edits.edits:
            if edit.target[0] == "entry" and edit.what.startswith(ERASED) and edit.target[1].isdecimal():
                yield int(edit.target[1]), edit.what.removeprefix(ERASED)


def _paths(entry: dict[str, Any], raw: bytes) -> list[str]:
    """The paths of facets marked as erased; indexes that are no facet's are skipped."""
    try:
        spans = facet_spans(raw)
    except MalformedJsonError:
        spans = ()
    numbers = sorted(int(number) for number in entry["parts"])
    return [
        ".".join(spans[number].path) if number < len(spans) else f"facet {number}"
        for number in numbers
        if 0 <= 2 * number < len(entry["facets"])
    ]
