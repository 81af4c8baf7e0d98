"""Old raw events are moved while a service runs, even after unexpected errors."""

import asyncio
from contextlib import closing
from pathlib import Path
from typing import Never

import pytest

from headwater.service.log.retention import Retention
from headwater.store.sqlite import SqliteStore

DAY_US = 86_400_000_000


class FaultyStore(SqliteStore):
    """A store that fails with an unexpected error."""

    looked = 0

    @property
    def segments(self) -> Never:
        self.looked += 1
        raise ZeroDivisionError


def test_an_unexpected_error_is_logged_and_moving_old_events_is_retried(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def used(store: FaultyStore) -> None:
        retention = Retention(store, 1, lambda: 10 * DAY_US, every_s=0.01)
        retention.start()
        while store.looked < 3:  # noqa: ASYNC110  only a test waits for it
            await asyncio.sleep(0.01)
        await retention.stop()

    with closing(FaultyStore(tmp_path / "headwater.db")) as store:
        asyncio.run(asyncio.wait_for(used(store), 10))

    assert "moving old raw events to segments failed" in {record.message for record in caplog.records}
