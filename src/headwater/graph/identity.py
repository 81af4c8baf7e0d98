"""Which names are one dataset: connected components of the alias evidence."""

from collections.abc import Iterable

from headwater.model.names import DatasetId


class Identities:
    """Classes of names that mean one dataset; they merge whenever evidence arrives."""

    def __init__(self) -> None:
        self._parent: dict[DatasetId, DatasetId] = {}
        self._members: dict[DatasetId, set[DatasetId]] = {}

    def join(self, name: DatasetId, alias: DatasetId) -> None:
        """Note that the two names are one dataset."""
        one, other = self._root(name), self._root(alias)
        if one == other:
            return
        if len(self._members.setdefault(one, {one})) < len(self._members.setdefault(other, {other})):
            one, other = other, one
        self._parent[other] = one
        self._members[one] |= self._members.pop(other)

    def is_alone(self, name: DatasetId) -> bool:
        """Whether this is the dataset's only name."""
        return name not in self._parent and name not in self._members

    def members(self, name: DatasetId) -> Iterable[DatasetId]:
        """Every name of the dataset, this one included; no order."""
        return self._members.get(self._root(name), (name,))

    def _root(self, name: DatasetId) -> DatasetId:
        while (parent := self._parent.get(name)) is not None:
            name = parent
        return name
