"""Reads of the log itself; in another thread if there is another reader."""

from asyncio import to_thread
from collections.abc import Collection
from contextlib import closing
from typing import NamedTuple

import orjson

from headwater.errors import NotFoundError
from headwater.service.background import collect_in_slices
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.shapes import log as shapes
from headwater.service.views.runs import event_shape
from headwater.store.log_reader import VerdictsRead
from headwater.store.reader import AnotherReader, Reader
from headwater.store.temporary import TemporaryStore
from headwater.store.until import ReaderUntil


def log_entry(knowledge: Knowledge, index: int) -> shapes.LogEntry:
    """The entry at that log index.

    Raises:
        NotFoundError: the log has not so many.
    """
    logged = knowledge.store.at([index]).get(index)
    if logged is None:
        raise NotFoundError(f"The log has no entry {index}.")
    return shapes.LogEntry(**event_shape(logged), event=orjson.Fragment(logged.raw))


async def count_of_namespace(knowledge: Knowledge, namespace: str, another_reader: AnotherReader) -> int:
    """The number of run events of a namespace's jobs.

    For now, only what came since the last call is read; of a past the number is cached.
    """
    match knowledge.store:
        case ReaderUntil() as then:
            return await _count_then(then, namespace, another_reader)
        case TemporaryStore() as replayed:
            return replayed.count_of_namespace(namespace)
    if knowledge.verdicts.read < knowledge.store.size():
        await read_log(knowledge, another_reader)
    await collect_in_slices(knowledge.verdicts.place())
    return sum(events for key, events in knowledge.verdicts.counts() if key.namespace == namespace)


async def _count_then(then: ReaderUntil, namespace: str, another_reader: AnotherReader) -> int:
    counts = then.events_of_namespaces
    if namespace not in counts:
        counts[namespace] = await to_thread(_count_apart, then.another_log(another_reader, namespace), namespace)
    return counts[namespace]


def _count_apart(another_reader: AnotherReader, namespace: str) -> int:
    with closing(another_reader()) as reader:
        return reader.count_of_namespace(namespace)


async def read_log(knowledge: Knowledge, another_reader: AnotherReader | None) -> None:
    """Read which runs have a START event, and signature verdicts."""
    gaps, verdicts, is_current = knowledge.gaps, knowledge.verdicts, False
    while not is_current:  # else another request was faster
        wants_starts = gaps.begin()
        if another_reader is None:
            log = _read(knowledge.store, verdicts.read, wants_starts=wants_starts)
        else:
            log = await to_thread(_read_apart, another_reader, verdicts.read, wants_starts=wants_starts)
        gaps.set_started(log.started)
        is_current = verdicts.take(log.verdicts)


class _Log(NamedTuple):
    """What was read from the log."""

    started: Collection[str]
    verdicts: VerdictsRead


def _read(reader: Reader, begin: int, *, wants_starts: bool) -> _Log:
    return _Log([*reader.runs_with_event_type("START")] if wants_starts else (), reader.verdicts(begin))


def _read_apart(another_reader: AnotherReader, begin: int, *, wants_starts: bool) -> _Log:
    with closing(another_reader()) as reader:
        return _read(reader, begin, wants_starts=wants_starts)
