"""Old raw events are moved while a service runs, whatever came in between."""

import asyncio
from contextlib import closing
from pathlib import Path
from typing import Never

import pytest

from headwater.service.log.retention import Retention
from headwater.store.sqlite import SqliteStore

DAY_US = 86_400_000_000


class Odd(SqliteStore):
    """A store that fails in a way nobody thought of."""

    looked = 0

    @property
    def segments(self) -> Never:
        self.looked += 1
        raise ZeroDivisionError


def test_a_fault_that_nobody_thought_of_is_told_and_old_events_are_looked_for_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def used(store: Odd) -> None:
        retention = Retention(store, 1, lambda: 10 * DAY_US, every_s=0.01)
        retention.start()
        while store.looked < 3:  # noqa: ASYNC110  only a test waits for it
            await asyncio.sleep(0.01)
        await retention.stop()

    with closing(Odd(tmp_path / "headwater.db")) as store:
        asyncio.run(asyncio.wait_for(used(store), 10))

    assert "moving old raw events to segments failed" in {record.message for record in caplog.records}
