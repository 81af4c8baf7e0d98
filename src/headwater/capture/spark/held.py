"""Executions that may be parts of others.

CREATE TABLE AS and the like have another execution do the writing, which ends first and is told of first. Which of two
they are shows in when they ran, and in what they wrote.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from headwater.capture.spark.action import Action

_PATIENCE: Final = timedelta(seconds=5)
"""How long after its end an execution waits for the one around it; what comes later is told apart."""


class Held:
    """Ended actions that wait."""

    def __init__(self) -> None:
        self._waiting: list[Action] = []

    def add(self, action: Action) -> None:
        """Have an action wait."""
        self._waiting.append(action)

    def parts_of(self, action: Action) -> list[Action]:
        """Those that did the writing of an action; they wait no longer."""
        parts = [one for one in self._waiting if action.contains(one)]
        self._waiting = [one for one in self._waiting if one not in parts]
        return parts

    def ripe(self, now: datetime) -> Iterator[Action]:
        """Those that have waited long enough; they wait no longer."""
        ripe = [one for one in self._waiting if one.ended_at is None or now - one.ended_at >= _PATIENCE]
        self._waiting = [one for one in self._waiting if one not in ripe]
        yield from ripe

    def all(self) -> list[Action]:
        """All that wait; then none does."""
        waiting, self._waiting = self._waiting, []
        return waiting
