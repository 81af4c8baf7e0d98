"""The current edits that people made over the API: tags, descriptions, deletions, splits."""

from bisect import insort
from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import takewhile
from operator import attrgetter
from typing import Final

from headwater.model.edits import APART, DELETED, tag_of
from headwater.model.facts import Deletion, Edit, Target
from headwater.model.names import DatasetId

_NODES: Final = frozenset({"job", "dataset", "field"})
_IN_LOG: Final = attrgetter("log_index", "is_deleted")


def node_of(target: Target) -> Target | None:
    """The job or dataset that a target is, or whose column it is; None for any other target."""
    return ("job" if target[0] == "job" else "dataset", *target[1:3]) if target[0] in _NODES else None


def _edit(fact: Deletion) -> Edit:
    """The edit by which something was deleted or restored."""
    return Edit(fact.target, DELETED, b"true" if fact.is_deleted else b"false", fact.log_index, fact.seen)


def _restoring(deletions: Sequence[Deletion], time_us: int) -> int | None:
    """The log index of the first one after that time, if what was deleted then depends on it."""
    at = next((at for at, each in enumerate(deletions) if each.seen.last_us > time_us), len(deletions))
    later = deletions[at:]
    was_deleted = at > 0 and deletions[at - 1].is_deleted
    is_in_doubt = was_deleted or any(each.seen.last_us <= time_us for each in later)
    return later[0].log_index if later and is_in_doubt else None


class Edits:
    """The edits in force, by target."""

    def __init__(self) -> None:
        self.deleted: set[Target] = set()
        self.splits: set[tuple[DatasetId, DatasetId]] = set()
        """Pairs of names that people split: not one dataset, whatever events report."""
        self._edits: dict[Target, dict[str, Edit]] = {}
        self._fields: dict[DatasetId, set[Target]] = {}
        self._deletions: dict[Target, list[Deletion]] = {}
        """In the order of the log."""

    def add(self, fact: Edit) -> None:
        """Add one edit; adding it again changes nothing."""
        about = self._edits.setdefault(fact.target, {})
        known = about.get(fact.what)
        now = about[fact.what] = fact if known is None else known.merge(fact)
        if now.target[0] == "field":
            self._fields.setdefault(DatasetId(*now.target[1:3]), set()).add(now.target)
        if now.what == APART and now.target[0] == "names":
            _, namespace, name, other_namespace, other_name = now.target
            names = DatasetId(namespace, name), DatasetId(other_namespace, other_name)
            (self.splits.add if now.value == b"true" else self.splits.discard)(names)
        if now.what == DELETED:
            (self.deleted.add if now.value == b"true" else self.deleted.discard)(now.target)

    def add_deletion(self, fact: Deletion) -> None:
        """Add a deletion or restoration; adding it again changes nothing."""
        known = self._deletions.setdefault(fact.target, [])
        if fact not in known:
            insort(known, fact, key=_IN_LOG)

    def __len__(self) -> int:
        """The number of targets ever edited."""
        return len(self._edits)

    def deletions_by(self, time_us: int) -> list[Edit]:
        """What was deleted or restored by then, if no entry after `restored_after` is of that time or earlier."""
        all_by_then = (
            [*takewhile(lambda each: each.seen.last_us <= time_us, deletions)] for deletions in self._deletions.values()
        )
        return [reduce(Edit.merge, map(_edit, by_then)) for by_then in all_by_then if by_then]

    def restored_after(self, time_us: int) -> int | None:
        """The log index of the first entry after that time that restored what was deleted then; None: there is none.

        Entries after it may have restored it sooner: those of that time or earlier.
        """
        restoring = (_restoring(deletions, time_us) for deletions in self._deletions.values())
        return min((log_index for log_index in restoring if log_index is not None), default=None)

    def nodes_edited_after(self, time_us: int) -> Iterator[Target]:
        """The jobs and datasets that were edited after then, themselves or their columns."""
        for target, about in self._edits.items():
            node = node_of(target)
            if node is not None and any(edit.seen.last_us > time_us for edit in about.values()):
                yield node

    def get(self, target: Target, what: str) -> Edit | None:
        """The edit in force, or None if there never was one."""
        return self._edits.get(target, {}).get(what)

    def tags(self, target: Target) -> list[str]:
        """The tags on the target, in the order in which they were added."""
        put = [edit for edit in self._edits.get(target, {}).values() if tag_of(edit.what) and edit.value == b"true"]
        return [tag_of(edit.what) or "" for edit in sorted(put, key=lambda edit: (edit.log_index, edit.what))]

    def tags_taken_off(self, target: Target) -> set[str]:
        """The tags that people removed from the target, added by people or producers."""
        edits = self._edits.get(target, {}).values()
        return {word for edit in edits if (word := tag_of(edit.what)) and edit.value == b"false"}

    def fields_of(self, name: DatasetId) -> set[Target]:
        """The edited columns of the dataset under this exact name."""
        return self._fields.get(name, set())

    def all_of(self, kind: str) -> list[Edit]:
        """All edits of targets of one kind."""
        return [edit for target in self.targets(kind) for edit in self._edits[target].values()]

    def targets(self, kind: str) -> list[Target]:
        """All edited targets of one kind."""
        return [target for target in self._edits if target[0] == kind]
