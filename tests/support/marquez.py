"""Comparison of answers with recorded answers of Marquez.

In a recording `<ts>` stands for any time, `<ms>` for any number of milliseconds, and `<uuid:7>` for a UUID, the same
one at each occurrence.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from uuid import UUID

OURS = {
    "job",
    "signature",
    "counters",
    "symlinks",
    "datasetType",
    "mended",
    "gap",
    "tags",
    "root",
    "staleAfter",
    "totalCount",
    "firstSeen",
    "lastSeen",
    "runs",
    "transformations",
    "code",
    "message",
}
"""Members that we add to Marquez's answers."""

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
_UUID = re.compile(r"<uuid:\d+>")
_NOTHING = "00000000-0000-4000-8000-00000000ffff"
_BY_NAME = {"columnLineage", "jobs", "tags"}
"""Lists that Marquez returns in arbitrary order, or by its own clock."""


@dataclass
class Recording:
    """Compares answers, and remembers the UUID of each placeholder."""

    uuids: dict[str, str] = field(default_factory=dict)

    def differences(self, recorded: object, ours: object, path: str = "") -> Iterator[tuple[str, object, object]]:
        """The differences: path, recorded value, our value."""
        match recorded:
            case dict() if isinstance(ours, dict):
                yield from self._in_objects(recorded, ours, path)
            case list() if isinstance(ours, list) and len(ours) == len(recorded):
                last = path.rpartition(".")[2]
                pairs = zip(_sorted(recorded, last), _sorted(ours, last), strict=True)
                for index, (theirs, mine) in enumerate(pairs):
                    yield from self.differences(theirs, mine, f"{path}.{index}".lstrip("."))
            case _ if not self._same(recorded, ours):
                yield path, recorded, ours

    def with_our_uuids(self, text: str) -> str:
        """A recorded text with our UUIDs in place of placeholders; for unknown ones a UUID that does not exist."""
        return _UUID.sub(lambda match: self.uuids.get(match[0], _NOTHING), text)

    def _in_objects(
        self, recorded: Mapping[str, object], ours: Mapping[str, object], path: str
    ) -> Iterator[tuple[str, object, object]]:
        added = OURS if path.endswith("facets") else OURS | {"parent"}  # a facet is called `parent` too
        for key in sorted(recorded.keys() | (ours.keys() - added)):
            below = f"{path}.{key}".lstrip(".")
            if key in recorded and key in ours:
                yield from self.differences(recorded[key], ours[key], below)
            else:
                yield below, recorded.get(key, "(absent)"), ours.get(key, "(absent)")

    def _same(self, recorded: object, ours: object) -> bool:
        if recorded == "<ts>":
            return isinstance(ours, str) and _TIME.fullmatch(ours) is not None
        if recorded == "<ms>":
            return isinstance(ours, int) and ours >= 0
        if isinstance(recorded, str) and _UUID.fullmatch(recorded):
            return isinstance(ours, str) and str(UUID(ours)) == ours == self.uuids.setdefault(recorded, ours)
        if isinstance(recorded, str):
            recorded = self.with_our_uuids(recorded)
        return recorded == ours and type(recorded) is type(ours)


def _sorted(items: list[object], name: str) -> list[object]:
    return sorted(items, key=_name) if name in _BY_NAME else items


def _name(item: object) -> str:
    return str(item["name"]) if isinstance(item, dict) else ""
