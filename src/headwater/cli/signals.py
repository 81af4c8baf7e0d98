"""SIGTERM, Ctrl-C and a terminal that closes, for the duration of a block."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def stop_signals_call(handler: Callable[[int, FrameType | None], object]) -> Iterator[None]:
    """In the block, SIGTERM, SIGINT and SIGHUP call the handler; for the main thread.

    A SIGHUP that is ignored, as under `nohup`, stays ignored.
    """
    numbers = [signal.SIGTERM, signal.SIGINT]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        numbers.append(signal.SIGHUP)
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, former in before.items():
            signal.signal(number, former)


class Terminated(KeyboardInterrupt):
    """SIGTERM came. As after Ctrl-C, psycopg cancels the query that it waits for."""

    status = 128 + signal.SIGTERM


@contextmanager
def sigterm_interrupts() -> Iterator[None]:
    """In the block, SIGTERM raises `Terminated`, as Ctrl-C raises `KeyboardInterrupt`; for the main thread."""

    def interrupt(*_: object) -> None:
        raise Terminated

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
