"""Run the whole path of an order: from the connector that creates it to the dashboard that counts it.

python labs/02-end-to-end/play_end_to_end.py           # stops everything at the end
python labs/02-end-to-end/play_end_to_end.py --keep    # leaves it running; `headwater lab down` ends it
"""

import argparse
import json
import os
import subprocess
import sys
import time
from contextlib import ExitStack
from datetime import UTC, datetime
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
JARS = ("connect-smt", "lab-connectors", "lab-suppliers-live", "signing-transport")
FLINK = "http://127.0.0.1:8091"
TRINO = "http://127.0.0.1:8080"
LAKE = {"endpoint": S3, "region": "us-east-1", "access-key-id": "lab", "secret-access-key": "lab"}
ORDERS = 3 * 400
"""The number of orders from the source's three tasks."""


def main() -> None:
    """Run all steps in order."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", action="store_true", help="leave everything running")
    keep = parser.parse_args().keep
    os.environ.update(CREDENTIALS)
    subprocess.run(["make", "-C", str(PROJECT), *(f"build/{part}.stamp" for part in JARS)], check=True)  # noqa: S603, S607
    with ExitStack() as running:
        say("all parts of the lab, the lineage service and two watchers")
        if not keep:
            running.callback(headwater, "lab", "down")
        headwater("lab", "up", "all")
        running.enter_context(started("serve", keep=keep))
        running.enter_context(started("watch", "connect", "--bootstrap", BROKER, keep=keep))
        running.enter_context(started("watch", "flink", "--url", FLINK, keep=keep))
        make_buckets()
        start_jobs()
        count()
        show()
        if keep:
            say("everything keeps running; see http://127.0.0.1:5000, and end it with `headwater lab down` and Ctrl-C")


def start_jobs() -> None:
    """Start the connectors and the Flink jobs: orders go to a topic, an archive, another topic and the lake."""
    say("a source that creates orders, and a sink that archives them")
    ask_connect("PUT", "/auction/config", configuration("auction", orders_per_second="50", orders_per_task="400"))
    time.sleep(5)  # the first records create the topics
    ask_connect("PUT", "/archive/config", configuration("archive"))
    say("Flink SQL: every order into the lake")
    headwater("flink", "run", str(HERE / "lake.sql"), "--url", FLINK)
    say("a Flink DataStream program: each supplier's turnover per hour; its author declares its columns")
    submit((HERE / "suppliers-live.run.json").read_text())
    declare((HERE / "suppliers-live.columns.json").read_text())
    until(lambda: orders_in_the_lake() == ORDERS, "every order is in the lake")


def count() -> None:
    """Run the nightly batch, and the dashboard's query."""
    say("the nightly batch: a plain PySpark program, started by headwater-spark")
    command = [str(Path(sys.executable).with_name("headwater-spark")), str(HERE / "supplier_stats.py")]
    subprocess.run(command, check=True)  # noqa: S603
    say("the dashboard queries Trino")
    for supplier, total in ask_trino((HERE / "revenue.sql").read_text()):
        print(f"   {supplier:8}{total:14,.2f}")
    say("the tables behind Trino's names, and the dashboard's owner")
    trino = Path(os.environ.get("HEADWATER_HOME", Path.home() / ".headwater")) / "lab" / "trino" / "etc"
    headwater("watch", "trino", "--once", "--etc", str(trino))
    headwater("dashboards", "push", str(HERE / "dashboards.yaml"))


def show() -> None:
    """Show the whole path, upstream and downstream."""
    say("where does the number on the dashboard come from?")
    headwater("trace", "revenue:by_supplier.total")
    say("and what depends on the price of an order?")
    headwater("impact", "orders:price")


def submit(run: str, flink: str = FLINK) -> str:
    """Upload the DataStream program and start it with these JSON settings; returns the job id.

    Source: https://nightlies.apache.org/flink/flink-docs-release-2.1/docs/ops/rest_api/
    """
    with PROGRAM.open("rb") as jar:
        uploaded = httpx.post(f"{flink}/jars/upload", files={"jarfile": (PROGRAM.name, jar)}, timeout=60)
    uploaded.raise_for_status()
    name = Path(uploaded.json()["filename"]).name
    started_job = httpx.post(f"{flink}/jars/{name}/run", json=json.loads(run), timeout=120)
    started_job.raise_for_status()
    return str(started_job.json()["jobid"])


def declare(event: str, service: str = SERVICE) -> None:
    """Post an event, as JSON text, to the lineage service, as one of now."""
    declared = {**json.loads(event), "eventTime": datetime.now(UTC).isoformat()}
    httpx.post(f"{service}/api/v1/lineage", json=declared, timeout=30).raise_for_status()


def orders_in_the_lake() -> int:
    """Counted in the Iceberg table, not through Trino, whose queries would be reported as reads of the table."""
    addresses = {f"{part}.{key}": value for part in ("glue", "s3") for key, value in LAKE.items()}
    try:
        return int(load_catalog("lake", type="glue", **addresses).load_table("default.orders").scan().count())
    except NoSuchTableError:
        return 0


def ask_trino(sql: str, url: str = TRINO) -> list[list[Any]]:
    """Run a statement to its end; returns its rows.

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


def with_addresses(file: str, **addresses: str) -> str:
    """A file of this lab with other addresses: `with_addresses("lake.sql", broker="127.0.0.1:19092")`."""
    text = (HERE / file).read_text()
    for part, address in addresses.items():
        text = text.replace(_DEFAULTS[part], address)
    return text


_DEFAULTS = {
    "broker": BROKER,
    "registry": "http://127.0.0.1:8081/apis/ccompat/v7",
    "s3": S3,
    "service": SERVICE.replace("127.0.0.1", "localhost"),
    "trino": TRINO.replace("http", "trino"),
}


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
