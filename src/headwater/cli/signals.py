"""SIGTERM and Ctrl-C for the duration of a block."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def stop_signals_call(handler: Callable[[int, FrameType | None], object]) -> Iterator[None]:
    """In the block, SIGTERM and SIGINT call the handler; for the main thread."""
    before = {number: signal.signal(number, handler) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, former in before.items():
            signal.signal(number, former)
