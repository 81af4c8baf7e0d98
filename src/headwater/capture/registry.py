"""A schema registry, watched: every version of every subject as a dataset event, with what changed since the last.

The subject `TOPIC-value` is the schema of the topic's values, so of the dataset `kafka://host:port` / `TOPIC`; other
subjects (keys, records by their own name) are of no dataset that could be named.
"""

import logging
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

from headwater.capture import kept
from headwater.capture.fields import Field, TopicSchema, types
from headwater.capture.outlet import Outlet
from headwater.capture.schemas import LANGUAGES, Registry
from headwater.capture.topics import topic_dataset
from headwater.errors import NotFoundError, UnavailableError
from headwater.graph.drift import ColumnChange, column_changes
from headwater.model.slim import Facet, dataset_event, own_facet

log = logging.getLogger(__name__)

_OF_VALUES: Final = "-value"
_SETTLE_S: Final = 30.0


class Told(NamedTuple):
    """A version that was told."""

    subject: str
    version: int
    is_breaking: bool


class RegistryWatcher:
    """Tells versions as they come; what was told is kept in `state`, so that none is told twice or missed."""

    def __init__(self, registry: Registry, bootstrap: str, state: Path, outlet: Outlet) -> None:
        self._registry = registry
        self._bootstrap = bootstrap
        self._state = state
        self._outlet = outlet
        self._told: dict[str, int] = (kept.load(state) or {}).get("told", {})
        self._fails = False

    def run(self, stop: threading.Event, every_s: float, said: Callable[[Told], None]) -> None:
        """Look again and again until told to stop; `said` is called for each version that was told."""
        while True:
            try:
                for told in self.look():
                    said(told)
                self._fails = False
            except UnavailableError as fault:
                if not self._fails:
                    log.warning("the versions of subjects are told later", extra={"fault": str(fault)})
                self._fails = True
            if stop.wait(every_s):
                return

    def look(self) -> list[Told]:
        """Tell every version that was not told yet.

        Raises:
            UnavailableError: the registry does not answer; what was told before that stays told.
        """
        told: list[Told] = []
        try:
            for subject in self._registry.subjects():
                if subject.endswith(_OF_VALUES):
                    told += self._new_versions(subject)
        finally:
            if told and self._outlet.settle(_SETTLE_S):
                kept.save(self._state, {"told": self._told})
        return told

    def _new_versions(self, subject: str) -> Iterator[Told]:
        try:
            versions = self._registry.versions(subject)
            before = max((number for number in versions if number <= self._told.get(subject, 0)), default=None)
            for number in versions:
                if number > self._told.get(subject, 0):
                    yield self._tell(subject, number, before)
                    self._told[subject] = before = number
        except NotFoundError:  # it was deleted meanwhile
            return

    def _tell(self, subject: str, number: int, before: int | None) -> Told:
        found = self._registry.version(subject, number)
        old = self._registry.read(self._registry.version(subject, before)) if before is not None else None
        schema = self._registry.read(found) or TopicSchema(())
        language = found.get("schemaType") or "AVRO"
        changed = [] if old is None else changes(old.fields, schema.fields, language)
        is_breaking = any(change["isBreaking"] for change in changed)
        facet = own_facet(
            "headwater_subject",
            subject=subject,
            version=number,
            schemaId=found.get("id"),
            schemaType=language,
            compatibility=self._registry.rule(subject),
            fitsRule=None if before is None else self._registry.fits(subject, found, before),
            isBreaking=is_breaking,
            changes=changed,
        )
        self._outlet.put(self._event(subject.removesuffix(_OF_VALUES), schema._replace(version=number), facet))
        return Told(subject, number, is_breaking)

    def _event(self, topic: str, schema: TopicSchema, facet: Facet) -> bytes:
        dataset = topic_dataset(self._bootstrap, topic, schema)
        dataset.facets["headwater_subject"] = facet
        return dataset_event(datetime.now(UTC), dataset)


def changes(before: tuple[Field, ...], after: tuple[Field, ...], language: str = "AVRO") -> list[dict[str, object]]:
    """The fields that came, went or have another type, nested ones by dotted paths.

    >>> changes((Field("price", "int"), Field("note", "string")), (Field("price", "long"), Field("note", "boolean")))
    [{'field': 'price', 'change': 'retyped', 'from': 'int', 'to': 'long', 'isBreaking': False},
     {'field': 'note', 'change': 'retyped', 'from': 'string', 'to': 'boolean', 'isBreaking': True}]
    """
    return [_told(change, language) for change in column_changes(types(before), types(after))]


def _told(change: ColumnChange, language: str) -> dict[str, object]:
    ends = {"from": change.before, "to": change.after}
    is_breaking = change.is_breaking is not False
    if change.before is not None and change.after is not None and (known := LANGUAGES.get(language)):
        is_breaking = known.breaks(change.before, change.after)
    named = {"field": change.column, "change": change.change}
    return {**named, **{end: of for end, of in ends.items() if of is not None}, "isBreaking": is_breaking}
