"""Merging facts into their tables, in steps, within the writer's transactions."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Final

from headwater.graph.fold import fold
from headwater.model.facts import Content, Edit, Fact, RunOfJob
from headwater.store.bulk import Insert
from headwater.store.connection import Connection, Row
from headwater.store.numbers import AssignedNumbers
from headwater.store.tables import TABLES, Table

_NAMED_JOB: Final = Insert("named_job", 2, "ON CONFLICT (job, run) DO NOTHING")
FACT_TABLES: Final = frozenset({table.insert.table for table in TABLES} | {"named_job"})
"""The tables derived from the log, which can be rebuilt from it."""
_KNOWN_CONTENTS: Final = 200_000
"""Digests of stored contents in the cache, which saves inserts; 32 bytes each."""
_IN_A_STEP: Final = 128
"""Rows written per step at most: about two milliseconds' work."""


class MergedFacts:
    """Merges facts into the tables."""

    def __init__(self, writer: Connection) -> None:
        self._writer = writer
        self.numbers = AssignedNumbers(writer)
        self._known_contents: set[bytes] = set()

    def forget(self) -> None:
        """Clear the caches: what was written since the last commit may have been rolled back."""
        self.numbers.forget()
        self._known_contents.clear()

    def add(self, facts: Iterable[Fact]) -> Iterator[None]:
        """Merge facts into their tables, some rows with each step.

        Each step may be committed: repeating it changes nothing, and a run's times are written before its other facts.
        Edits follow after the last step, to be committed with the number in `folded`: they must not be stored before.
        """
        by_kind: dict[type[Fact], list[Fact]] = defaultdict(list)
        for fact in facts:
            if not (isinstance(fact, Content) and fact.digest in self._known_contents):
                by_kind[type(fact)].append(fact)
        for table in TABLES:
            if table.kind is not Edit:
                yield from self._merge(table, by_kind[table.kind])
        self._know(fact.digest for fact in by_kind[Content] if isinstance(fact, Content))
        yield from self._note_jobs(fact for fact in by_kind[RunOfJob] if isinstance(fact, RunOfJob))
        for table in TABLES:
            if table.kind is Edit:
                list(self._merge(table, by_kind[Edit]))

    def _merge(self, table: Table[Any], facts: Sequence[Fact]) -> Iterator[None]:
        yield from self._insert(table.insert, self._rows(table, fold(facts).values()))

    def _rows(self, table: Table[Any], facts: Collection[Fact]) -> list[Row]:
        while True:
            rows = [table.row(fact, self.numbers) for fact in facts]
            if not self.numbers.assign_new():  # else new names and runs have their numbers now
                return rows

    def _insert(self, insert: Insert, rows: Sequence[Row]) -> Iterator[None]:
        for begin in range(0, len(rows), _IN_A_STEP):
            insert.run(self._writer, rows[begin : begin + _IN_A_STEP])
            yield

    def _know(self, contents: Iterable[bytes]) -> None:
        if len(self._known_contents) > _KNOWN_CONTENTS:
            self._known_contents.clear()
        self._known_contents.update(contents)

    def _note_jobs(self, facts: Iterable[RunOfJob]) -> Iterator[None]:
        """Note which run named which job; a run may move to another job, its job facets stay with the first."""
        pairs = {(fact.job, fact.run_id) for fact in facts}
        while True:
            rows = [(self.numbers.name(job), self.numbers.run(run_id)) for job, run_id in pairs]
            if not self.numbers.assign_new():  # a job that no merged fact names
                break
        yield from self._insert(_NAMED_JOB, sorted(rows))
