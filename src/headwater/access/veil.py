"""An answer without the names that its reader may not know.

It is laid over the JSON that goes out, whatever route made it, so no route can forget it:

- What has a namespace beyond the reader's scopes keeps its kind, its times and its edges; its name becomes
  `redacted-…`, the same for the same thing. Numbers and words that our own format lists (`breaks`, `failed-run`) tell
  what kind of thing it is and not which, and stay; all else that is said of it is null, empty or `redacted`, whichever
  the format allows. Its name is also taken out of every other text of the answer.
- The name of a restricted column becomes `restricted-…` wherever it stands as a word, in either case: columns keep
  their names from table to table and in SQL, so one place that is forgotten would tell all. Names of datasets and jobs
  are no columns and stay.
"""

import hashlib
import hmac
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from headwater.errors import InvalidNameError
from headwater.model.names import AnyNode, ColumnId, is_uuid, without_column

Json = Any

REDACTED: Final = "redacted"
_NODE_IDS: Final = ("dataset:", "job:", "datasetField:")
_NAMES: Final = frozenset({"name", "simpleName", "physicalName", "dataset", "job", "qualifiedName"})
_KEPT: Final = frozenset(
    {
        *("type", "kind", "state", "status", "eventType", "direction"),
        *("createdAt", "updatedAt", "startedAt", "endedAt", "start", "end", "eventTime", "receivedAt", "at"),
        *("firstSeen", "lastSeen", "transitionedAt", "lastHeard", "staleSince"),
    }
)
"""Texts that are told of a thing without its name."""
_RUN_IDS: Final = frozenset({"id", "run", "runId", "producedByRunId"})
_EDGES: Final = frozenset({"inEdges", "outEdges"})
_ENDS: Final = ("origin", "destination")
_NODES: Final = frozenset({"id", "nodeId", *_ENDS})
_GOES_INTO: Final = "targetField"
"""Of a source, in our own format: a column of what it is told of, and hidden only with that."""
_SAID: Final = ("description", "reason", "subtype")
"""What is said of an edge, or of a place because of one: it may name columns at the hidden end."""
_CHANGED: Final = ("before", "after")
"""What is done on the way of an edge, where that came, went or changed."""
_SAID_OF_COLUMN: Final = ("transformationDescription", "transformationType")
"""What is said of all of a column's sources in one: it may name those that are hidden."""
_KINDS: Final = frozenset(
    {
        *("IDENTITY", "TRANSFORMATION", "AGGREGATION", "MASKED", "DIRECT", "INDIRECT"),
        *("JOIN", "GROUP_BY", "FILTER", "SORT", "WINDOW", "CONDITIONAL"),
    }
)
"""Words for what is done to a column, which tell no more of it; producers may have others.

Source: https://openlineage.io/spec/facets/1-2-0/ColumnLineageDatasetFacet.json
"""
_INNER: Final = frozenset({"id", "data", "job", "run", "datasetVersionId"})
"""Objects that say which thing it is; what else is within a hidden thing is not shown."""
_BY_COLUMN: Final = frozenset({"fields", "columnMetrics", "columns"})
"""Objects whose keys are columns."""
_TOLD: Final = frozenset({"facets", "inputFacets", "outputFacets", "args", "runArgs", "jobContext"})
"""What producers told, in objects with keys of their own."""
_OURS: Final = frozenset(
    {
        *("at", "column", "columns", "code", "data", "dataset", "datasets", "description", "events"),
        *("facet", "field", "fields", "graph", "id", "index", "inputs", "job", "jobs"),
        *("key", "kind", "location", "message", "name", "namespace", "outputs", "owner", "owners"),
        *("path", "query", "run", "runs", "source", "state", "status", "tags", "title"),
        *("type", "value", "version", "words"),
    }
)
"""Keys that are words of any format: they stand in what producers tell, too."""
_SHORTEST: Final = 3
"""Letters of a name beyond the scopes that is looked for in texts: shorter ones stand in everything."""


class Format(NamedTuple):
    """What answers are made of, outside of what producers told in keys of their own."""

    keys: frozenset[str] = frozenset()
    words: Mapping[str, frozenset[str]] = MappingProxyType({})
    """By key, the words that the format itself lists for it."""
    nullable: frozenset[str] = frozenset()
    """Keys that may be null wherever they stand."""


_NO_FORMAT: Final = Format()


@dataclass(frozen=True)
class Veil:
    """What one reader may not know."""

    covers: Callable[[str], bool] | None
    """Whether a namespace may be known; None: all may."""
    restricted: frozenset[str]
    """Names of columns."""
    node: Callable[[str], Iterable[AnyNode]]
    """What a node id may mean, of what is known; the likeliest first, and at least one."""
    secret: bytes = field(repr=False)
    """Without it nobody can check a guess at what a stand-in stands for."""
    format: Format = _NO_FORMAT

    def over(self, answer: Json) -> Json:
        """The answer as this reader may see it."""
        names = {name for namespace, name in self._hidden_in(answer) for name in (namespace, name)}
        return _Laid(self, _words(name for name in names if len(name) >= _SHORTEST), self.format).seen(answer)

    def is_clear(self, written: bytes) -> bool:
        """Whether an answer, as JSON, has nothing to hide and may go out as it is; False where it must be read.

        A backslash may write any letter otherwise.
        """
        if self.covers is not None or b"\\" in written:
            return False
        return self.columns is None or self.columns.search(written.decode()) is None

    def hides(self, node: AnyNode) -> bool:
        """Whether the reader may not know of it."""
        namespace = node.dataset.namespace if isinstance(node, ColumnId) else node.namespace
        return self.covers is not None and not self.covers(namespace)

    @cached_property
    def columns(self) -> re.Pattern[str] | None:
        """The restricted names as words."""
        return _words(self.restricted, re.IGNORECASE)

    def stand_in(self, what: str, *name: str) -> str:
        """What stands for a name: the same for the same."""
        text = "\0".join((what, *name)).encode(errors="surrogatepass")
        return f"{what}-{hmac.new(self.secret, text, hashlib.sha256).hexdigest()[:12]}"

    def column(self, name: str) -> str:
        """A column's name, or what stands for it."""
        return name if self.columns is None else self.columns.sub(self._for_word, name)

    def _for_word(self, found: re.Match[str]) -> str:
        return self.stand_in("restricted", found[0].casefold())

    def hidden(self, node_id: str) -> AnyNode | None:
        """What a node id means, if the reader may not know of it."""
        meant = self.meant(node_id)
        return meant[0] if any(self.hides(each) for each in meant) else None

    def meant(self, node_id: str) -> list[AnyNode]:
        """What a node id may mean; nothing for a text that is none."""
        try:
            return list(self.node(node_id))
        except InvalidNameError:
            return []

    def _hidden_in(self, value: Json) -> Iterator[tuple[str, str]]:
        if self.covers is None:
            return
        match value:
            case dict():
                if (named := _named(value)) and not self.covers(named[0]):
                    yield named
                for each in value.values():
                    yield from self._hidden_in(each)
            case list():
                for each in value:
                    yield from self._hidden_in(each)
            case str() if value.startswith(_NODE_IDS) and (node := self.hidden(value)) is not None:
                yield without_column(node)


@dataclass(frozen=True)
class _Laid:
    """A veil over one answer, whose hidden names are known by now."""

    veil: Veil
    hidden_words: re.Pattern[str] | None
    format: Format
    """That of the answer; an empty one of what producers told."""

    def seen(self, value: Json, parent: str = "") -> Json:
        match value:
            case dict():
                laid = replace(self, format=_NO_FORMAT) if parent in _TOLD else self
                return laid._object(value, parent)
            case list():
                return [self.seen(each, parent if parent in _TOLD else "") for each in value]
            case str():
                return self._text(value)
        return value

    def _object(self, value: Mapping[str, Json], parent: str) -> Json:
        if self.veil.covers is not None and (hidden := self._hidden_subject(value, self.veil.covers)) is not None:
            return self._blank(value, hidden)
        if self.veil.covers is not None:
            value = self._without_words_of_hidden(value, self.veil.covers)
        is_named = _named(value) is not None
        return {
            self._key(key, parent): each
            if is_named and isinstance(each, str) and (key == "namespace" or key in _NAMES)
            else self.seen(each, key)
            for key, each in value.items()
        }

    def _without_words_of_hidden(self, value: Mapping[str, Json], covers: Callable[[str], bool]) -> Mapping[str, Json]:
        """What is said within an object of another one that is hidden: of an edge, of a source, or as a summary."""
        if self._hangs_on_hidden(value):
            steps = {key: self._silent_steps(value[key]) for key in _CHANGED if isinstance(value.get(key), list)}
            return {**self._silent(value, (*_SAID, *_CHANGED)), **steps}
        match value:
            case {"inputFields": list(sources)} if any(_is_beyond(each, covers) for each in sources):
                outer = value.get("transformationDescription")
                silent = [self._source(each, outer) if isinstance(each, dict) else each for each in sources]
                return {**self._silent(value, _SAID_OF_COLUMN), "inputFields": silent}
            case {"summary": str(summary), "findings": [{"words": str(words)} as first, *_]}:
                if summary.startswith(words) and self._hidden_subject(first, covers) is not None:
                    return {**value, "summary": f"{REDACTED}{summary.removeprefix(words)}"}
        return value

    def _source(self, value: Mapping[str, Json], outer: Json) -> Mapping[str, Json]:
        """A source beside a hidden one: `outer` is said of both, and where nothing is said of the one, of each."""
        source = self._silent(value, _SAID_OF_COLUMN)
        match source:
            case {"transformations": list(steps)} if any(_says(outer, each) for each in steps):
                return {**source, "transformations": self._silent_steps(steps)}
        return source

    def _silent_steps(self, steps: list[Json]) -> list[Json]:
        return [self._silent(each, _SAID) if isinstance(each, dict) else each for each in steps]

    def _silent(self, value: Mapping[str, Json], keys: Iterable[str]) -> dict[str, Json]:
        """The object with none of these texts, but for words that are no producer's own."""
        said = {key for key in keys if isinstance(value.get(key), str) and value[key] not in _KINDS}
        return {**value, **{key: self._unsaid(key) for key in said}}

    def _hangs_on_hidden(self, value: Mapping[str, Json]) -> bool:
        """Whether an edge, or the last one on the path to a place, begins or ends at what is hidden."""
        path = value.get("path")
        edge = path[-1] if isinstance(path, list) and path and isinstance(path[-1], dict) else value
        return any(self._is_hidden_node(edge.get(end)) for end in _ENDS)

    def _is_hidden_node(self, value: Json) -> bool:
        return isinstance(value, str) and value.startswith(_NODE_IDS) and self.veil.hidden(value) is not None

    def _hidden_subject(self, value: Mapping[str, Json], covers: Callable[[str], bool]) -> tuple[str, str] | None:
        """What an object is about, if the reader may not know of it."""
        named = _named(value) or _subject(value)
        if named is not None:
            return None if covers(named[0]) else named
        for key in ("nodeId", "id"):
            text = value.get(key)
            if isinstance(text, str) and text.startswith(_NODE_IDS) and (node := self.veil.hidden(text)) is not None:
                return without_column(node)
        return None

    def _key(self, key: str, parent: str) -> str:
        if parent not in _BY_COLUMN and (key in self.format.keys or key in _OURS):
            return key
        return self._text(key)

    def _text(self, text: str) -> str:
        if text.startswith(_NODE_IDS) and (meant := self.veil.meant(text)):
            return self._node_id(text, meant)
        if self.hidden_words is not None:
            text = self.hidden_words.sub(REDACTED, text)
        return self.veil.column(text)

    def _node_id(self, text: str, meant: list[AnyNode]) -> str:
        kind = text.partition(":")[0]
        node = meant[0]
        if any(self.veil.hides(each) for each in meant):
            name = without_column(node)
            shown = f"{kind}:{REDACTED}:{self.veil.stand_in(REDACTED, *name)}"
            return (
                f"{shown}:{self.veil.stand_in(REDACTED, *name, node.column)}" if isinstance(node, ColumnId) else shown
            )
        if isinstance(node, ColumnId):
            return ColumnId(node.dataset, self.veil.column(node.column)).node_id
        return text

    def _blank(self, value: Mapping[str, Json], named: tuple[str, str]) -> Json:
        """Of what a hidden thing says, what does not tell which it is."""
        return {self._key(key, ""): self._left(key, each, named) for key, each in value.items()}

    def _left(self, key: str, value: Json, named: tuple[str, str]) -> Json:
        if key in _EDGES:
            return self.seen(value, key)
        if key == "namespace":
            return REDACTED
        match value:
            case str():
                return self._left_of_text(key, value, named)
            case int() | float() if not isinstance(value, bool) and key not in self.format.keys:
                return None
            case dict() if key in _INNER:
                return self._blank(value, _named(value) or named)
            case dict():
                return None if key in self.format.nullable else {}
            case list():
                return []
        return value

    def _left_of_text(self, key: str, text: str, named: tuple[str, str]) -> str | None:
        if key in _NAMES:
            return self.veil.stand_in(REDACTED, *named)
        if key == "field":
            return self.veil.stand_in(REDACTED, *named, text)
        if key in _NODES and text.startswith(_NODE_IDS):
            return self._text(text)
        if key in _RUN_IDS:
            return text if is_uuid(text) else self.veil.stand_in(REDACTED, text)
        is_of_another = key == _GOES_INTO and key in self.format.keys
        if is_of_another or key in _KEPT or text in self.format.words.get(key, ()):
            return self._text(text)
        return self._unsaid(key)

    def _unsaid(self, key: str) -> str | None:
        return None if key in self.format.nullable else REDACTED


def _named(value: Mapping[str, Json]) -> tuple[str, str] | None:
    """Which job or dataset an object is about."""
    namespace = value.get("namespace")
    name = next((value[key] for key in ("name", "dataset", "job") if isinstance(value.get(key), str)), None)
    return (namespace, name) if isinstance(namespace, str) and name is not None else None


def _says(words: Json, step: Json) -> bool:
    return isinstance(words, str) and isinstance(step, dict) and step.get("description") == words


def _is_beyond(value: Json, covers: Callable[[str], bool]) -> bool:
    """Whether it is about a job or dataset that may not be known."""
    named = _named(value) if isinstance(value, dict) else None
    return named is not None and not covers(named[0])


def _subject(value: Mapping[str, Json]) -> tuple[str, str] | None:
    """Which job a run or an event belongs to, or what a node of a graph or a read or write of a run is about."""
    for key in ("job", "id", "data", "datasetVersionId"):
        inner = value.get(key)
        if isinstance(inner, dict) and (named := _named(inner)):
            return named
    return None


def _words(names: Iterable[str], flags: int = 0) -> re.Pattern[str] | None:
    longest_first = sorted(set(names), key=lambda name: (-len(name), name))
    if not longest_first:
        return None
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)", flags)
