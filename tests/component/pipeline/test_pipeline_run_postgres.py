"""A database as input and output, against a real PostgreSQL."""

import os
import pwd
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from pipeline_bench import Bench

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def postgres() -> Iterator[int]:
    """The port of a cluster of its own, which trusts local users."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not programs:
        pytest.skip("no PostgreSQL in /usr/lib/postgresql: run scripts/install-test-packages postgresql")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    folder = Path("/tmp") / f"headwater-postgres-{port}"  # noqa: S108  (its user must reach it, and a socket's path be short)
    folder.mkdir(mode=0o700)
    user = _user_that_may_run_it(folder)
    try:
        _call(user, programs[-1] / "initdb", "-D", folder / "data", "-U", "shop", "-A", "trust", "--no-sync")
        options = f"-h 127.0.0.1 -p {port} -k {folder} -c fsync=off"
        _call(user, programs[-1] / "pg_ctl", "-D", folder / "data", "-l", folder / "log", "-w", "-o", options, "start")
        try:
            yield port
        finally:
            _call(user, programs[-1] / "pg_ctl", "-D", folder / "data", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder)


def _user_that_may_run_it(folder: Path) -> str | None:
    """PostgreSQL refuses to run as root; Debian's package brings a user for it."""
    if os.geteuid() != 0:
        return None
    shutil.chown(folder, pwd.getpwnam("postgres").pw_name)
    return "postgres"


def _call(user: str | None, *command: str | Path) -> None:
    subprocess.run(
        [str(part) for part in command], user=user, check=True, stdout=subprocess.DEVNULL, cwd="/", timeout=60
    )


def test_a_table_is_read_and_another_made_appended_to_and_overwritten(
    bench: Bench, postgres: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"jdbc:postgresql://127.0.0.1:{postgres}/postgres"
    monkeypatch.setenv("SHOP_USER", "shop")
    with psycopg.connect(host="127.0.0.1", port=postgres, user="shop", dbname="postgres") as db:
        db.execute("CREATE TABLE orders (id int, price numeric(10, 2))")
        db.execute("INSERT INTO orders SELECT n, n * 1.5 FROM generate_series(1, 6) n")
        db.commit()
        text = f"""
            input: {{sql: {{url: "{url}", table: orders, user_env: SHOP_USER}}}}
            pipeline: {{processors: [filter: id > 2]}}
            output: {{sql: {{url: "{url}", table: dear, mode: MODE, user_env: SHOP_USER}}}}
        """

        ran = [bench.run(text.replace("MODE", mode)) for mode in ("append", "append", "overwrite")]

        assert [one.result.error for one in ran] == [None] * 3
        found = db.execute("SELECT count(*), sum(price) FROM dear").fetchone()
        assert found is not None
        assert (found[0], float(found[1])) == (4, 27.0)
    assert [one.counters()[1] for one in ran] == [4, 4, 4]
    namespace = f"postgres://127.0.0.1:{postgres}"
    assert [(one["namespace"], one["name"]) for one in ran[0].last["inputs"]] == [(namespace, "postgres.public.orders")]
    assert [(one["namespace"], one["name"]) for one in ran[0].last["outputs"]] == [(namespace, "postgres.public.dear")]
    columns = ran[0].last["outputs"][0]["facets"]["columnLineage"]["fields"]
    assert [source["name"] for source in columns["price"]["inputFields"]] == ["postgres.public.orders"]
