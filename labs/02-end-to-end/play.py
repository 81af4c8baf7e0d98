"""Play the whole way of an order: from the connector that makes it to the dashboard that counts it.

python labs/02-end-to-end/play.py           # ends with everything stopped
python labs/02-end-to-end/play.py --keep    # leaves it running; `headwater lab down` ends it
"""

import argparse
import json
import os
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
from pyiceberg.catalog import load_catalog
from pyiceberg.exceptions import NoSuchTableError

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "01-kafka-connect"))

from play import (  # noqa: E402  the first lab's, by the path above
    BROKER,
    CREDENTIALS,
    S3,
    SERVICE,
    ask_connect,
    configuration,
    headwater,
    make_buckets,
    say,
    started,
    until,
)

PROJECT = HERE.parents[1]
PROGRAM = PROJECT / "build" / "lab-suppliers-live" / "headwater-lab-suppliers-live-0.1.0.jar"
BUILT = ("connect-smt", "lab-connectors", "lab-suppliers-live", "signing-transport")
FLINK = "http://127.0.0.1:8091"
TRINO = "http://127.0.0.1:8080"
LAKE = {"endpoint": S3, "region": "us-east-1", "access-key-id": "lab", "secret-access-key": "lab"}
ORDERS = 3 * 400
"""As many as the source makes, in its three tasks."""


def main() -> None:
    """Play all steps, in their order."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--keep", action="store_true", help="leave everything running")
    keep = asked.parse_args().keep
    os.environ.update(CREDENTIALS)
    subprocess.run(["make", "-C", str(PROJECT), *(f"build/{part}.stamp" for part in BUILT)], check=True)  # noqa: S603, S607
    with ExitStack() as running:
        say("all parts of the lab, the lineage service and two watchers")
        headwater("lab", "up", "all")
        if not keep:
            running.callback(headwater, "lab", "down")
        running.enter_context(started("serve", keep=keep))
        running.enter_context(started("watch", "connect", "--bootstrap", BROKER, keep=keep))
        running.enter_context(started("watch", "flink", "--url", FLINK, keep=keep))
        make_buckets()
        let_flow()
        count()
        show()
        if keep:
            say("all goes on; look at http://127.0.0.1:5000, and end it with `headwater lab down` and Ctrl-C")


def let_flow() -> None:
    """From a connector into a topic, and on: into an archive, into another topic, into the lake."""
    say("a source that makes orders, and a sink that archives them")
    ask_connect("PUT", "/auction/config", configuration("auction", orders_per_second="50", orders_per_task="400"))
    time.sleep(5)  # the topics are there with the first records
    ask_connect("PUT", "/archive/config", configuration("archive"))
    say("Flink SQL: every order into the lake")
    headwater("flink", "run", str(HERE / "lake.sql"), "--url", FLINK)
    say("a DataStream program of Flink: what suppliers sell by the hour; its author declares its columns")
    submit((HERE / "suppliers-live.run.json").read_text())
    declare((HERE / "suppliers-live.columns.json").read_text())
    until(lambda: orders_in_the_lake() == ORDERS, "every order is in the lake")


def count() -> None:
    """What is done each night, and what somebody looks at in the morning."""
    say("the nightly batch: a plain PySpark program, which headwater-spark listens to")
    command = [str(Path(sys.executable).with_name("headwater-spark")), str(HERE / "supplier_stats.py")]
    subprocess.run(command, check=True)  # noqa: S603
    say("the dashboard asks Trino")
    for supplier, total in ask_trino((HERE / "revenue.sql").read_text()):
        print(f"   {supplier:8}{total:14,.2f}")
    say("which tables Trino's names stand for, and who owns the dashboard")
    trino = Path(os.environ.get("HEADWATER_HOME", Path.home() / ".headwater")) / "lab" / "trino" / "etc"
    headwater("watch", "trino", "--once", "--etc", str(trino))
    headwater("dashboards", "push", str(HERE / "dashboards.yaml"))


def show() -> None:
    """The whole way, back and forth."""
    say("where does the number on the dashboard come from?")
    headwater("trace", "revenue:by_supplier.total")
    say("and what depends on the price of an order?")
    headwater("impact", "orders:price")


def submit(run: str, flink: str = FLINK) -> str:
    """Upload the DataStream program and start it as the JSON text says; its job's id.

    Source: https://nightlies.apache.org/flink/flink-docs-release-2.1/docs/ops/rest_api/
    """
    with PROGRAM.open("rb") as jar:
        uploaded = httpx.post(f"{flink}/jars/upload", files={"jarfile": (PROGRAM.name, jar)}, timeout=60)
    uploaded.raise_for_status()
    name = Path(uploaded.json()["filename"]).name
    begun = httpx.post(f"{flink}/jars/{name}/run", json=json.loads(run), timeout=120)
    begun.raise_for_status()
    return str(begun.json()["jobid"])


def declare(event: str, service: str = SERVICE) -> None:
    """Tell the lineage service of an event, given as JSON text."""
    httpx.post(f"{service}/api/v1/lineage", json=json.loads(event), timeout=30).raise_for_status()


def orders_in_the_lake() -> int:
    """As the table's own metadata says: whatever is asked of Trino is told as a query that reads the table."""
    places = {f"{part}.{key}": value for part in ("glue", "s3") for key, value in LAKE.items()}
    try:
        return load_catalog("lake", type="glue", **places).load_table("default.orders").scan().count()
    except NoSuchTableError:
        return 0


def ask_trino(sql: str, url: str = TRINO) -> list[list[Any]]:
    """The rows that a statement answers with, once it has come to its end.

    Source: https://trino.io/docs/476/develop/client-protocol.html
    """
    page = httpx.post(f"{url}/v1/statement", content=sql, headers={"X-Trino-User": "lab"}, timeout=30).json()
    rows = [*page.get("data", [])]
    while (following := page.get("nextUri")) is not None:
        page = httpx.get(following, timeout=30).json()
        rows += page.get("data", [])
    if "error" in page:
        raise SystemExit(f"{sql}: {page['error']['message']}")
    return rows


def placed(file: str, **places: str) -> str:
    """A file of this lab with other addresses in it: `placed("lake.sql", broker="127.0.0.1:19092")`."""
    text = (HERE / file).read_text()
    for part, place in places.items():
        text = text.replace(_USUAL[part], place)
    return text


_USUAL = {
    "broker": BROKER,
    "registry": "http://127.0.0.1:8081/apis/ccompat/v7",
    "s3": S3,
    "service": SERVICE.replace("127.0.0.1", "localhost"),
    "trino": TRINO.replace("http", "trino"),
}


if __name__ == "__main__":
    main()
