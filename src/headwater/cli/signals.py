"""SIGTERM, Ctrl-C and a terminal that closes, for the duration of a block."""

import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType

from headwater.observe.signals import stop_signals

Handler = Callable[[int, FrameType | None], object]


@contextmanager
def stop_signals_call(handler: Handler) -> Iterator[None]:
    """In the block, SIGTERM, SIGINT and SIGHUP call the handler; for the main thread.

    A SIGHUP that is ignored, as under `nohup`, stays ignored.
    """
    with _handled(stop_signals(), handler):
        yield


@contextmanager
def _handled(numbers: Iterable[signal.Signals], handler: Handler) -> Iterator[None]:
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

    with _handled((signal.SIGTERM,), interrupt):
        yield
