"""Watches a schema registry: every version of every subject as a dataset event, with the changes since the last one.

The subject `TOPIC-value` is the schema of the topic's values, and so of the dataset `kafka://host:port` / `TOPIC`.
Other subjects (of keys, of records by their own name, of another context of the registry, as `:.far:TOPIC-value`)
cannot be assigned to a dataset.
"""

import hashlib
import logging
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import orjson

from headwater.capture import state_file
from headwater.capture.fields import Field, TopicSchema, types
from headwater.capture.outlet import Outlet
from headwater.capture.schemas import LANGUAGES, NotProvidedError, Registry
from headwater.capture.topics import topic_dataset
from headwater.errors import NotFoundError, UnavailableError
from headwater.graph.drift import ColumnChange, column_changes
from headwater.model.slim import Facet, dataset_event, own_facet

log = logging.getLogger(__name__)

_OF_VALUES: Final = "-value"
_OF_TOPIC: Final = re.compile(rf"[A-Za-z0-9._-]+{_OF_VALUES}")
"""A subject of a topic's values: Kafka allows no other characters in a topic's name."""
_COMPARE_EVERY_S: Final = 60.0
"""How often reported versions are compared with the registry's, at one more request for each subject."""
_MOST_SHOWN: Final = 3

AnswerT = TypeVar("AnswerT")


class ReportedVersion(NamedTuple):
    """A version that was reported."""

    subject: str
    version: int
    is_breaking: bool


class RegistryWatcher:
    """Reports new versions; the `state` file holds those reported, so that none is reported twice or missed."""

    def __init__(
        self,
        registry: Registry,
        bootstrap: str,
        state: Path,
        outlet: Outlet,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._registry = registry
        self._bootstrap = bootstrap
        self._state = state
        self._outlet = outlet
        self._clock = clock
        known = state_file.load(state) or {}
        self._reported: dict[str, int] = known.get("told", {})
        self._digests: dict[str, dict[str, str]] = known.get("digests", {})
        """Digests of the reported versions, by subject and number: a number may be reused for another schema."""
        self._compare_at_s = clock()
        self._fault: str | None = None
        """The fault of the last poll."""

    def run(self, stop: threading.Event, every_s: float, on_report: Callable[[ReportedVersion], None]) -> None:
        """Poll until told to stop; `on_report` is called for each reported version."""
        while True:
            try:
                self.poll(on_report)
                self._fault = None
            except UnavailableError as fault:
                if self._fault != str(fault):
                    log.warning("some versions of subjects are not reported yet", extra={"fault": str(fault)})
                self._fault = str(fault)
            if stop.wait(every_s):
                return

    def poll(self, on_report: Callable[[ReportedVersion], None] = lambda version: None) -> list[ReportedVersion]:
        """Report every new version; `on_report` is called for each.

        Raises:
            UnavailableError: the registry does not answer, or not for some subjects; the reported versions stay so.
        """
        reported: list[ReportedVersion] = []
        failures: dict[str, str] = {}
        is_comparing = self._clock() >= self._compare_at_s
        try:
            for subject in self._registry.subjects():
                if _OF_TOPIC.fullmatch(subject):
                    try:
                        for each in self._new_versions(subject, is_comparing=is_comparing):
                            reported.append(each)
                            on_report(each)
                    except NotProvidedError as fault:
                        failures[subject] = str(fault)
        finally:
            if (reported or is_comparing) and self._outlet.settle():
                state_file.save(self._state, {"told": self._reported, "digests": self._digests})
        if is_comparing:
            self._compare_at_s = self._clock() + _COMPARE_EVERY_S
        if failures:
            raise UnavailableError(_summary(failures))
        return reported

    def _new_versions(self, subject: str, *, is_comparing: bool) -> Iterator[ReportedVersion]:
        try:
            versions = self._registry.versions(subject)
            if (is_comparing or versions[-1:] != [self._reported.get(subject)]) and self._is_reregistered(
                subject, versions
            ):
                del self._reported[subject], self._digests[subject]
            before = max((number for number in versions if number <= self._reported.get(subject, 0)), default=None)
            for number in versions:
                if number > self._reported.get(subject, 0):
                    yield self._report(subject, number, before)
                    self._reported[subject] = before = number
        except NotFoundError:  # it was deleted meanwhile
            return

    def _is_reregistered(self, subject: str, versions: Sequence[int]) -> bool:
        """Whether a subject was hard-deleted and registered again since it was reported, so that versions restart at 1.

        If only its newest versions were deleted, the remaining ones are unchanged.
        """
        reported = [number for number in versions if number <= self._reported.get(subject, 0)]
        if not reported:
            return False
        digest = _digest(self._registry.version(subject, reported[-1]))
        return self._digests.setdefault(subject, {}).setdefault(str(reported[-1]), digest) != digest

    def _report(self, subject: str, number: int, before: int | None) -> ReportedVersion:
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
            compatibility=_if_provided(lambda: self._registry.rule(subject)),
            fitsRule=None if before is None else _if_provided(lambda: self._registry.fits(subject, found, before)),
            isBreaking=is_breaking,
            changes=changed,
        )
        self._outlet.put(self._event(subject.removesuffix(_OF_VALUES), schema._replace(version=number), facet))
        self._digests.setdefault(subject, {})[str(number)] = _digest(found)
        return ReportedVersion(subject, number, is_breaking)

    def _event(self, topic: str, schema: TopicSchema, facet: Facet) -> bytes:
        dataset = topic_dataset(self._bootstrap, topic, schema)
        dataset.facets["headwater_subject"] = facet
        return dataset_event(datetime.now(UTC), dataset)


def _if_provided(ask: Callable[[], AnswerT]) -> AnswerT | None:
    """An additional answer of the registry; None if it does not provide it: the version is reported without."""
    try:
        return ask()
    except NotFoundError:
        return None
    except NotProvidedError as fault:
        if fault.is_retriable:
            raise
        return None


def _digest(version: Mapping[str, Any]) -> str:
    """A digest of a version, 16 hex digits, to notice a reused version number."""
    content = [version.get("schemaType") or "AVRO", version["schema"], version.get("references") or []]
    return hashlib.sha256(orjson.dumps(content)).hexdigest()[:16]


def _summary(failures: Mapping[str, str]) -> str:
    """A message on the subjects that were not reported, naming the first ones and the reason."""
    shown = "; ".join(f"{subject}: {why}" for subject, why in [*failures.items()][:_MOST_SHOWN])
    more = f"; and {len(failures) - _MOST_SHOWN} more" if len(failures) > _MOST_SHOWN else ""
    return f"{shown}{more}"


def changes(before: tuple[Field, ...], after: tuple[Field, ...], language: str = "AVRO") -> list[dict[str, object]]:
    """The fields added, removed or changed in type, nested ones by dotted paths.

    >>> changes((Field("price", "int"), Field("note", "string")), (Field("price", "long"), Field("note", "boolean")))
    [{'field': 'price', 'change': 'retyped', 'from': 'int', 'to': 'long', 'isBreaking': False},
     {'field': 'note', 'change': 'retyped', 'from': 'string', 'to': 'boolean', 'isBreaking': True}]
    """
    return [_change_entry(change, language) for change in column_changes(types(before), types(after))]


def _change_entry(change: ColumnChange, language: str) -> dict[str, object]:
    ends = {"from": change.before, "to": change.after}
    is_breaking = change.is_breaking is not False
    if change.before is not None and change.after is not None and (known := LANGUAGES.get(language)):
        is_breaking = known.breaks(change.before, change.after)
    named = {"field": change.column, "change": change.change}
    return {**named, **{end: of for end, of in ends.items() if of is not None}, "isBreaking": is_breaking}
