"""Which columns are restricted: those with the tag RESTRICTED, put over the API or told in a `tags` facet."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from headwater.model.facts import Edit, Fact
from headwater.model.names import DatasetId
from headwater.service.knowledge.knowledge import Knowledge

TAG: Final = "restricted"
"""In either case; over the API, tags of columns are in capital letters."""
_FACET: Final = "tags"


class Restricted:
    """The names of restricted columns, as of now: a read of the past shows no more than one of today."""

    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge
        self._told: dict[bytes, frozenset[str]] = {}
        """By facet. What a producer once told counts until the service starts anew: rather too much is hidden."""
        self.names: frozenset[str] = frozenset()

    def load(self) -> None:
        """Look at everything that is known."""
        self._read(self._knowledge.graph.datasets)
        self._look()

    def learned(self, facts: Sequence[Fact], datasets: Iterable[DatasetId]) -> None:
        """Take in what an event or an edit told, after the graph did."""
        before = len(self._told)
        self._read(datasets)
        is_edit = any(isinstance(fact, Edit) and fact.target[0] == "field" for fact in facts)
        if is_edit or before != len(self._told):
            self._look()

    def _read(self, datasets: Iterable[DatasetId]) -> None:
        for name in datasets:
            digest = self._knowledge.graph.digest_of(name, _FACET)
            if digest is not None and digest not in self._told:
                self._told[digest] = frozenset(_in_facet(self._knowledge.store.content(digest)))

    def _look(self) -> None:
        edits = self._knowledge.graph.edits
        said = {
            target[3] for target in edits.targets("field") if any(tag.casefold() == TAG for tag in edits.tags(target))
        }
        self.names = frozenset(said.union(*self._told.values()))


def _in_facet(facet: Mapping[str, Any]) -> Iterator[str]:
    """The columns that a `tags` facet restricts.

    Source: https://openlineage.io/spec/facets/1-0-0/TagsDatasetFacet.json
    """
    tags = facet.get("tags")
    for tag in tags if isinstance(tags, list) else ():
        match tag:
            case {"key": str(key), "field": str(column)} if column and key.casefold() == TAG:
                if str(tag.get("value", "true")).casefold() != "false":
                    yield column
