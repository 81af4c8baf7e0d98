"""Parts of the lab around Kafka for tests, started by the same command as users' labs."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from headwater.lab.lab import Lab
from tests.support.ports import free_ports


@contextmanager
def running_kafka(home: Path, *parts: str) -> Iterator[Lab]:
    """These parts on unused ports, `broker` among them; stopped at the end."""
    lab = Lab("kafka", home, dict(zip(parts, free_ports(len(parts)), strict=True)))
    try:
        lab.up(parts, lambda _: None)
        yield lab
    finally:
        lab.down(lambda _: None)
