"""Redacts from an answer the names that its reader may not know.

It works on the outgoing JSON, whichever route produced it, so that no route can forget it:

- What has a namespace outside the reader's scopes keeps its kind, times and edges; its name becomes `redacted-…`, the
  same for the same thing. Numbers and words that our own format lists (`breaks`, `failed-run`) say what kind of thing
  it is but not which, and stay; everything else about it becomes null, empty or `redacted`, whichever the format
  allows. Its name is also removed from every other text in the answer.
- The name of a restricted column becomes `restricted-…` wherever it occurs as a word, in either case: columns keep
  their names from table to table and in SQL, so a single omission would reveal them. Names of datasets and jobs are no
  columns and stay.
"""

import hashlib
import hmac
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from headwater.errors import InvalidNameError
from headwater.model.names import AnyNode, ColumnId, DatasetId, JobId, is_uuid, without_column

Json = Any

REDACTED: Final = "redacted"
_NODE_IDS: Final = ("dataset:", "job:", "datasetField:")
_NAMES: Final = frozenset({"name", "simpleName", "physicalName", "dataset", "job", "qualifiedName"})
_CLEAR_TEXTS: Final = frozenset(
    {
        *("type", "kind", "state", "status", "eventType", "direction"),
        *("createdAt", "updatedAt", "startedAt", "endedAt", "start", "end", "eventTime", "receivedAt", "at"),
        *("firstSeen", "lastSeen", "transitionedAt", "lastHeard", "staleSince"),
    }
)
"""Texts that describe a thing without naming it."""
_RUN_IDS: Final = frozenset({"id", "run", "runId", "producedByRunId"})
_RUNS: Final = frozenset({"run", "runId", "runs", "reader", "writer", "producedByRunId"})
"""In our own format, ids of runs whose jobs are not beside them."""
_EDGES: Final = frozenset({"inEdges", "outEdges"})
_ENDS: Final = ("origin", "destination")
_NODES: Final = frozenset({"id", "nodeId", *_ENDS})
_GOES_INTO: Final = "targetField"
"""In our own format, a source's column of the described dataset: hidden only together with that."""
_EDGE_TEXTS: Final = ("description", "reason", "subtype")
"""Texts about an edge, or about a place because of one: they may name columns at the hidden end."""
_CHANGED: Final = ("before", "after")
"""The transformations of an edge that was added, removed or changed."""
_COLUMN_TEXTS: Final = ("transformationDescription", "transformationType")
"""Text about all of a column's sources together: it may name hidden ones."""
_PARENT_JOB: Final = ("parentJobName", "parentJobUuid")
"""The parent job of a job; the answer does not have its namespace."""
_KINDS: Final = frozenset(
    {
        *("IDENTITY", "TRANSFORMATION", "AGGREGATION", "MASKED", "DIRECT", "INDIRECT"),
        *("JOIN", "GROUP_BY", "FILTER", "SORT", "WINDOW", "CONDITIONAL"),
    }
)
"""Names of transformations, which reveal nothing else about a column; producers may use others.

Source: https://openlineage.io/spec/facets/1-2-0/ColumnLineageDatasetFacet.json
"""
_INNER: Final = frozenset({"id", "data", "job", "run", "datasetVersionId"})
"""Objects that identify a thing; everything else within a hidden thing is redacted."""
_BY_COLUMN: Final = frozenset({"fields", "columnMetrics", "columns"})
"""Objects whose keys are columns."""
_PRODUCERS_OBJECTS: Final = frozenset({"facets", "inputFacets", "outputFacets", "args", "runArgs", "jobContext"})
"""Objects from producers, with arbitrary keys."""
_OURS: Final = frozenset(
    {
        *("at", "column", "columns", "code", "data", "dataset", "datasets", "description", "events"),
        *("facet", "field", "fields", "graph", "id", "index", "inputs", "job", "jobs"),
        *("key", "kind", "location", "message", "name", "namespace", "outputs", "owner", "owners"),
        *("path", "query", "run", "runs", "source", "state", "status", "tags", "title"),
        *("type", "value", "version", "words"),
    }
)
"""Keys that are words of any format and also occur in producers' objects."""
_SHORTEST: Final = 3
"""The shortest hidden name that is searched for in texts: shorter ones occur everywhere."""


class Format(NamedTuple):
    """The vocabulary of our own answers, outside of producers' objects."""

    keys: frozenset[str] = frozenset()
    words: Mapping[str, frozenset[str]] = MappingProxyType({})
    """By key, the words that the format itself defines for it."""
    nullable: frozenset[str] = frozenset()
    """Keys that may be null anywhere."""


_NO_FORMAT: Final = Format()


def _no_job(_name: str, _uuid: str) -> None:
    """Stands for a lookup where no job is known."""


def _nothing(*_: str) -> tuple[()]:
    """Stands for a lookup where no run is known, and every dataset has one name."""
    return ()


@dataclass(frozen=True)
class Redactor:
    """Redacts answers for one reader."""

    covers: Callable[[str], bool] | None
    """Whether a namespace is visible; None: all are."""
    restricted: frozenset[str]
    """Names of columns."""
    node: Callable[[str], Iterable[AnyNode]]
    """The possible meanings of a node id among what is known; the likeliest first, and at least one."""
    secret: bytes = field(repr=False)
    """Keys the stand-ins, so that nobody can test a guess."""
    format: Format = _NO_FORMAT
    job: Callable[[str, str], JobId | None] = _no_job
    """The known job with this name and UUID."""
    owner_of_run: Callable[[str], Iterable[str]] = _nothing
    """The namespace of a run's job, if known."""
    other_names: Callable[[str, str], Iterable[DatasetId]] = _nothing
    """The other names of the dataset with this namespace and name: texts about it may contain them."""
    nodes_of_run: Callable[[str], Iterable[JobId | DatasetId]] = _nothing
    """The job of a run, and what it read and wrote: the text of a finding may name those of its runs."""

    def over(self, answer: Json) -> Json:
        """The answer as this reader may see it."""
        names = {name for names in self._hidden_in(answer) for name in names}
        return _AnswerRedactor(self, _words(name for name in names if len(name) >= _SHORTEST), self.format).seen(answer)

    def is_clear(self, written: bytes) -> bool:
        """Whether an answer, as JSON text, certainly has nothing to hide; False: it must be parsed.

        A backslash may escape any letter.
        """
        if self.covers is not None or b"\\" in written:
            return False
        return self.columns is None or self.columns.search(written.decode()) is None

    def hides(self, node: AnyNode) -> bool:
        """Whether the node is hidden from the reader."""
        namespace = node.dataset.namespace if isinstance(node, ColumnId) else node.namespace
        return self.covers is not None and not self.covers(namespace)

    @cached_property
    def columns(self) -> re.Pattern[str] | None:
        """A pattern that matches the restricted names as words."""
        return _words(self.restricted, re.IGNORECASE)

    def stand_in(self, what: str, *name: str) -> str:
        """The stand-in for a name, always the same."""
        text = "\0".join((what, *name)).encode(errors="surrogatepass")
        return f"{what}-{hmac.new(self.secret, text, hashlib.sha256).hexdigest()[:12]}"

    def run(self, run_id: str) -> str:
        """The id of a hidden job's run, or its stand-in if it may be a name."""
        return run_id if is_uuid(run_id) else self.stand_in(REDACTED, run_id)

    def hides_run(self, run_id: str) -> bool:
        """Whether a run's id is hidden: its job is, and the id may be a name."""
        return self.covers is not None and not is_uuid(run_id) and not all(map(self.covers, self.owner_of_run(run_id)))

    def column(self, name: str) -> str:
        """A column's name, or its stand-in."""
        return name if self.columns is None else self.columns.sub(self._for_word, name)

    def _for_word(self, found: re.Match[str]) -> str:
        return self.stand_in("restricted", found[0].casefold())

    def hidden(self, node_id: str) -> AnyNode | None:
        """The node that an id means, if it is hidden from the reader."""
        meant = self.meant(node_id)
        return meant[0] if any(self.hides(each) for each in meant) else None

    def meant(self, node_id: str) -> list[AnyNode]:
        """The possible meanings of a node id; empty for a text that is none."""
        try:
            return list(self.node(node_id))
        except InvalidNameError:
            return []

    def hidden_parent_job(self, value: Mapping[str, Json]) -> tuple[str, str] | None:
        """The parent job of the job in an answer, if the reader may not know of it."""
        match [value.get(key) for key in _PARENT_JOB]:
            case [str(name), str(uuid)] if self.covers is not None:
                job = self.job(name, uuid) or JobId("", name)
                return None if self.covers(job.namespace) else job
        return None

    def _hidden_in(self, value: Json) -> Iterator[Sequence[str]]:
        if self.covers is None:
            return
        match value:
            case dict():
                if named := _named(value):
                    yield from self._hidden_names(named, self.covers)
                if parent_job := self.hidden_parent_job(value):
                    yield parent_job
                yield from self._hidden_of_runs(value.get("runs"), self.covers)
                for key, each in value.items():
                    if key in _RUNS:
                        yield [*filter(self.hides_run, _texts(each))]
                    yield from self._hidden_in(each)
            case list():
                for each in value:
                    yield from self._hidden_in(each)
            case str() if value.startswith(_NODE_IDS) and (node := self.hidden(value)) is not None:
                yield without_column(node)

    def _hidden_of_runs(self, run_ids: Json, covers: Callable[[str], bool]) -> Iterator[tuple[str, str]]:
        for run_id in run_ids if isinstance(run_ids, list) else ():
            nodes = self.nodes_of_run(run_id) if isinstance(run_id, str) else ()
            yield from (node for node in nodes if not covers(node.namespace))

    def _hidden_names(self, named: tuple[str, str], covers: Callable[[str], bool]) -> Iterator[tuple[str, str]]:
        """The hidden ones among all names of a job or dataset; a name that is also the shown one need not be hidden."""
        namespace, name = named
        if not covers(namespace):
            yield named
        for other in self.other_names(namespace, name):
            if not covers(other.namespace):
                yield other.namespace, "" if other.name == name else other.name


@dataclass(frozen=True)
class _AnswerRedactor:
    """A redactor applied to one answer, after its hidden names were collected."""

    redactor: Redactor
    hidden_words: re.Pattern[str] | None
    format: Format
    """The answer's format; an empty one within producers' objects."""

    def seen(self, value: Json, parent: str = "") -> Json:
        match value:
            case dict():
                laid = replace(self, format=_NO_FORMAT) if parent in _PRODUCERS_OBJECTS else self
                return laid._object(value, parent)
            case list():
                return [self.seen(each, parent if parent in _PRODUCERS_OBJECTS else "") for each in value]
            case str():
                return self._text(value)
        return value

    def _object(self, value: Mapping[str, Json], parent: str) -> Json:
        if (
            self.redactor.covers is not None
            and (hidden := self._hidden_subject(value, self.redactor.covers)) is not None
        ):
            return self._blank(value, hidden)
        if self.redactor.covers is not None:
            value = self._without_words_of_hidden(value, self.redactor.covers)
        named = _named(value)
        return {
            self._key(key, parent): self._own_name(key, each, named)
            if named is not None and isinstance(each, str) and (key == "namespace" or key in _NAMES)
            else self.seen(self._runs(each) if key in _RUNS and key in self.format.keys else each, key)
            for key, each in value.items()
        }

    def _runs(self, value: Json) -> Json:
        """The value, in which hidden ids of runs have their stand-ins."""
        match value:
            case list():
                return [self._runs(each) for each in value]
            case str() if self.redactor.hides_run(value):
                return self.redactor.run(value)
        return value

    def _own_name(self, key: str, name: str, named: tuple[str, str]) -> str:
        """A name of what the reader may know, unchanged; its physical name may be one that they may not know."""
        is_another = key == "physicalName" and name not in named
        return self.hidden_words.sub(REDACTED, name) if is_another and self.hidden_words is not None else name

    def _without_words_of_hidden(self, value: Mapping[str, Json], covers: Callable[[str], bool]) -> Mapping[str, Json]:
        """Redact texts in an object that belongs to a hidden one: an edge, a source, a summary or a parent job."""
        if (parent_job := self.redactor.hidden_parent_job(value)) is not None:
            value = {
                **value,
                **dict(zip(_PARENT_JOB, (self.redactor.stand_in(REDACTED, *parent_job), None), strict=True)),
            }
        if self._hangs_on_hidden(value):
            steps = {key: self._silent_steps(value[key]) for key in _CHANGED if isinstance(value.get(key), list)}
            return {**self._silent(value, (*_EDGE_TEXTS, *_CHANGED)), **steps}
        match value:
            case {"inputFields": list(sources)} if any(_is_beyond(each, covers) for each in sources):
                outer = value.get("transformationDescription")
                silent = [self._source(each, outer) if isinstance(each, dict) else each for each in sources]
                return {**self._silent(value, _COLUMN_TEXTS), "inputFields": silent}
            case {"summary": str(summary), "findings": [{"words": str(words)} as first, *_]}:
                if summary.startswith(words) and self._hidden_subject(first, covers) is not None:
                    return {**value, "summary": f"{REDACTED}{summary.removeprefix(words)}"}
        return value

    def _source(self, value: Mapping[str, Json], outer: Json) -> Mapping[str, Json]:
        """A source next to a hidden one: `outer` describes both, or each if one has no description."""
        source = self._silent(value, _COLUMN_TEXTS)
        match source:
            case {"transformations": list(steps)} if any(_says(outer, each) for each in steps):
                return {**source, "transformations": self._silent_steps(steps)}
        return source

    def _silent_steps(self, steps: list[Json]) -> list[Json]:
        return [self._silent(each, _EDGE_TEXTS) if isinstance(each, dict) else each for each in steps]

    def _silent(self, value: Mapping[str, Json], keys: Iterable[str]) -> dict[str, Json]:
        """The object without these texts, except words that are not the producer's own."""
        texts = {key for key in keys if isinstance(value.get(key), str) and value[key] not in _KINDS}
        return {**value, **{key: self._redacted_text(key) for key in texts}}

    def _hangs_on_hidden(self, value: Mapping[str, Json]) -> bool:
        """Whether an edge, or the last edge on the path to a place, begins or ends at something hidden."""
        path = value.get("path")
        edge = path[-1] if isinstance(path, list) and path and isinstance(path[-1], dict) else value
        return any(self._is_hidden_node(edge.get(end)) for end in _ENDS)

    def _is_hidden_node(self, value: Json) -> bool:
        return isinstance(value, str) and value.startswith(_NODE_IDS) and self.redactor.hidden(value) is not None

    def _hidden_subject(self, value: Mapping[str, Json], covers: Callable[[str], bool]) -> tuple[str, str] | None:
        """The job or dataset that an object is about, if that is hidden from the reader."""
        named = _named(value) or _subject(value)
        if named is not None:
            return None if covers(named[0]) else named
        for key in ("nodeId", "id"):
            text = value.get(key)
            if (
                isinstance(text, str)
                and text.startswith(_NODE_IDS)
                and (node := self.redactor.hidden(text)) is not None
            ):
                return without_column(node)
        return None

    def _key(self, key: str, parent: str) -> str:
        if parent not in _BY_COLUMN and (key in self.format.keys or key in _OURS):
            return key
        return self._text(key)

    def _text(self, text: str) -> str:
        if text.startswith(_NODE_IDS) and (meant := self.redactor.meant(text)):
            return self._node_id(text, meant)
        if self.hidden_words is not None:
            text = self.hidden_words.sub(REDACTED, text)
        return self.redactor.column(text)

    def _node_id(self, text: str, meant: list[AnyNode]) -> str:
        kind = text.partition(":")[0]
        node = meant[0]
        if any(self.redactor.hides(each) for each in meant):
            name = without_column(node)
            shown = f"{kind}:{REDACTED}:{self.redactor.stand_in(REDACTED, *name)}"
            return (
                f"{shown}:{self.redactor.stand_in(REDACTED, *name, node.column)}"
                if isinstance(node, ColumnId)
                else shown
            )
        if isinstance(node, ColumnId):
            return ColumnId(node.dataset, self.redactor.column(node.column)).node_id
        return text

    def _blank(self, value: Mapping[str, Json], named: tuple[str, str]) -> Json:
        """The parts of a hidden thing that do not identify it."""
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
            return self.redactor.stand_in(REDACTED, *named)
        if key == "field":
            return self.redactor.stand_in(REDACTED, *named, text)
        if key in _NODES and text.startswith(_NODE_IDS):
            return self._text(text)
        if key in _RUN_IDS:
            return self.redactor.run(text)
        is_of_another = key == _GOES_INTO and key in self.format.keys
        if is_of_another or key in _CLEAR_TEXTS or text in self.format.words.get(key, ()):
            return self._text(text)
        return self._redacted_text(key)

    def _redacted_text(self, key: str) -> str | None:
        return None if key in self.format.nullable else REDACTED


def _named(value: Mapping[str, Json]) -> tuple[str, str] | None:
    """The job or dataset that an object is about."""
    namespace = value.get("namespace")
    name = next((value[key] for key in ("name", "dataset", "job") if isinstance(value.get(key), str)), None)
    return (namespace, name) if isinstance(namespace, str) and name is not None else None


def _texts(value: Json) -> Iterator[str]:
    """The value, or the items of a list, that are texts."""
    yield from (each for each in (value if isinstance(value, list) else [value]) if isinstance(each, str))


def _says(words: Json, step: Json) -> bool:
    return isinstance(words, str) and isinstance(step, dict) and step.get("description") == words


def _is_beyond(value: Json, covers: Callable[[str], bool]) -> bool:
    """Whether it is about a hidden job or dataset."""
    named = _named(value) if isinstance(value, dict) else None
    return named is not None and not covers(named[0])


def _subject(value: Mapping[str, Json]) -> tuple[str, str] | None:
    """The job of a run or event, or the subject of a graph node or of a run's input or output."""
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
