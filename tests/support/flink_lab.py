"""A session cluster for tests, started by the same command as users' clusters."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from headwater.errors import SetupError
from headwater.lab.lab import Lab
from tests.support.ports import free_ports


@contextmanager
def running_flink(home: Path) -> Iterator[Lab]:
    """A JobManager and a TaskManager with eight slots; `address("jobmanager")` is the URL of the REST API."""
    try:
        lab = _started(home)
    except SetupError:  # a port found free may be taken meanwhile
        lab = _started(home)
    try:
        yield lab
    finally:
        lab.down(lambda _: None)


def _started(home: Path) -> Lab:
    lab = Lab("flink", home, dict(zip(("jobmanager", "taskmanager"), free_ports(2), strict=True)))
    lab.up([], lambda _: None)
    return lab
