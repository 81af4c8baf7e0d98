"""Merging facts into their tables, within the transaction of whoever writes."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from headwater.graph.fold import fold
from headwater.model.facts import Content, Fact, RunOfJob
from headwater.store.bulk import Insert
from headwater.store.connection import Connection, Row
from headwater.store.numbers import GivenNumbers
from headwater.store.tables import TABLES

_NAMED_JOB: Final = Insert("named_job", 2, "ON CONFLICT (job, run) DO NOTHING")
FACT_TABLES: Final = frozenset({table.insert.table.split()[0] for table in TABLES} | {"named_job"})
"""Everything that is made from the log, and can be made again."""
_KNOWN_CONTENTS: Final = 200_000
"""How many digests of contents are remembered as stored, to skip the insert; 32 bytes each."""


class MergedFacts:
    """Adds facts to what the tables hold."""

    def __init__(self, writer: Connection) -> None:
        self._writer = writer
        self.numbers = GivenNumbers(writer)
        self._known_contents: set[bytes] = set()

    def forget(self) -> None:
        """Look everything up again: what was written since the last commit may have been rolled back."""
        self.numbers.forget()
        self._known_contents.clear()

    def add(self, told: Sequence[Fact]) -> None:
        """Merge facts into their tables."""
        self._merge(told)
        self._note_jobs(fact for fact in told if isinstance(fact, RunOfJob))

    def _merge(self, new_facts: Iterable[Fact]) -> None:
        unknown = (f for f in new_facts if not (isinstance(f, Content) and f.digest in self._known_contents))
        by_kind: dict[type[Fact], list[Fact]] = defaultdict(list)
        for fact in fold(unknown).values():
            by_kind[type(fact)].append(fact)
        rows = self._rows_of(by_kind)
        while self.numbers.meet_new():  # what is new in them has its numbers now
            rows = self._rows_of(by_kind)
        for table in TABLES:
            table.insert.run(self._writer, rows[table.kind])
        if len(self._known_contents) > _KNOWN_CONTENTS:
            self._known_contents.clear()
        self._known_contents.update(fact.digest for fact in by_kind[Content] if isinstance(fact, Content))

    def _note_jobs(self, told: Iterable[RunOfJob]) -> None:
        """Note which run named which job; a run may turn out to be another's, and its job facets stay the first's."""
        pairs = {(fact.job, fact.run_id) for fact in told}
        while True:
            rows = [(self.numbers.name(job), self.numbers.run(run_id)) for job, run_id in pairs]
            if not self.numbers.meet_new():  # a job that no merged fact names
                break
        _NAMED_JOB.run(self._writer, sorted(rows))

    def _rows_of(self, by_kind: Mapping[type[Fact], Sequence[Fact]]) -> dict[type[Fact], list[Row]]:
        return {table.kind: [table.row(fact, self.numbers) for fact in by_kind[table.kind]] for table in TABLES}
