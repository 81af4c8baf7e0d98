"""Executions that may be parts of others.

CREATE TABLE AS and similar commands run an inner execution that does the writing, which ends and is reported first. The
two are matched by their times and targets.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from headwater.capture.spark.action import Action

_PATIENCE: Final = timedelta(seconds=5)
"""How long an ended execution waits for an outer one; after that it is reported by itself."""


class PendingActions:
    """Ended actions that wait for an outer one."""

    def __init__(self) -> None:
        self._waiting: list[Action] = []

    def add(self, action: Action) -> None:
        """Add an ended action."""
        self._waiting.append(action)

    def parts_of(self, action: Action) -> list[Action]:
        """Remove and return the actions that did the writing of an action."""
        parts = [one for one in self._waiting if action.contains(one)]
        self._waiting = [one for one in self._waiting if one not in parts]
        return parts

    def ripe(self, now: datetime) -> Iterator[Action]:
        """Remove and return the actions that have waited long enough."""
        ripe = [one for one in self._waiting if one.ended_at is None or now - one.ended_at >= _PATIENCE]
        self._waiting = [one for one in self._waiting if one not in ripe]
        yield from ripe

    def all(self) -> list[Action]:
        """Remove and return all actions."""
        waiting, self._waiting = self._waiting, []
        return waiting
