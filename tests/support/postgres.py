"""A PostgreSQL cluster for tests, from Debian's package, and databases in it."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from urllib.parse import quote, urlencode

import psycopg
import pytest

from tests.support.ports import free_port

USER = "shop"
PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
"""The folders of the server's programs in Debian's packages, the newest last."""
_numbers = count()


class Cluster:
    """A running server that trusts local users."""

    def __init__(self, folder: Path, port: int, user: str | None, settings: tuple[str, ...] = ()) -> None:
        self.folder = folder
        self._settings = settings
        self.port = port
        self._user = user
        self._programs = PROGRAMS[-1]

    def make(self) -> None:
        self._call("initdb", "-U", USER, "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync")

    def start(self) -> None:
        # fsync matters only if the machine fails, which no test simulates.
        settings = " ".join(f"-c {each}" for each in ("fsync=off", "shared_buffers=32MB", *self._settings))
        options = f"-h 127.0.0.1 -p {self.port} -k {self.folder} {settings}"
        self._call("pg_ctl", "-l", self.folder / "log", "-w", "-o", options, "start")

    def stop(self, mode: str = "immediate") -> None:
        """Stop the server; `immediate` is like a crash."""
        self._call("pg_ctl", "-m", mode, "-w", "stop")

    def url(self, database: str, schema: str = "public") -> str:
        """The URL of a database over the cluster's socket."""
        where = {"host": str(self.folder), "port": self.port, "options": f"-c search_path={schema}"}
        return f"postgresql://{USER}@/{database}?{urlencode(where, quote_via=quote)}"

    def new_database(self) -> str:
        """The URL of an empty database: a schema in one that all tests share, which is created faster."""
        schema = f"test_{next(_numbers)}"
        with closing(psycopg.connect(self.url("postgres"), autocommit=True)) as db:
            db.execute(f"CREATE SCHEMA {schema}")
        return self.url("postgres", schema)

    def _call(self, program: str, *arguments: str | Path) -> None:
        command = [str(self._programs / program), "-D", str(self.folder / "data"), *map(str, arguments)]
        # Not a pipe: the server would inherit it and keep it open.
        subprocess.run(command, user=self._user, check=True, stdout=subprocess.DEVNULL, cwd="/", timeout=60)


@contextmanager
def running_cluster(*settings: str) -> Iterator[Cluster]:
    """A cluster in a temporary folder, with further settings, such as `wal_level=logical`."""
    if not PROGRAMS:
        pytest.skip("no PostgreSQL in /usr/lib/postgresql: run scripts/install-test-packages postgresql")
    folder = Path(tempfile.mkdtemp(prefix="headwater-pg-", dir="/tmp"))
    try:
        cluster = Cluster(folder, free_port(), _server_user(folder), settings)
        cluster.make()
        cluster.start()
        try:
            yield cluster
        finally:
            cluster.stop()
    finally:
        shutil.rmtree(folder)


def _server_user(folder: Path) -> str | None:
    """The user to run the server as: it refuses root, and Debian's package creates a user for it."""
    if os.geteuid() != 0:
        return None
    users = {each.pw_name for each in pwd.getpwall()}
    user = "postgres" if "postgres" in users else "nobody"
    shutil.chown(folder, user)
    return user
