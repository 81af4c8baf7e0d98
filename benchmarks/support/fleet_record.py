"""The expected content of the fleet's log, and of its nodes' chains. See `fleet.py`."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final, NamedTuple

import httpx

from headwater.signing.keyfile import load_or_create
from headwater.store.numbers import run_id_of_key

TAKEN_AWAY: Final = 3


class Played(NamedTuple):
    """A fleet when all is quiet again."""

    homes: Sequence[Path]
    service: Path
    url: str
    acknowledged: set[str]
    """Digests of events whose sender knows that they are stored."""
    robbed: Path | None


class Troubles(NamedTuple):
    """How many of each a node's record tells."""

    missing: int
    dropped: int
    forks: int
    broken: int


def take_away(node: Path) -> None:
    """Take some of the newest events out of a node's spool, but not the last."""
    for spool in (node / "spool").glob("http-*/**/events.db"):
        with closing(sqlite3.connect(spool)) as database, database:
            newest = "SELECT count(*) FROM event WHERE instr(body, ?)"
            if database.execute(newest, (_ledger(node)[-1].encode(),)).fetchone()[0]:
                some = "SELECT seq FROM event ORDER BY seq DESC LIMIT ? OFFSET 1"
                database.execute(f"DELETE FROM event WHERE seq IN ({some})", (TAKEN_AWAY,))  # noqa: S608
                return
    raise LookupError(f"{node}: the newest event is in no spool")


def judged(played: Played) -> Iterator[str]:
    """What is wrong; prints how many events there are, and how many are gone."""
    with closing(sqlite3.connect(f"file:{played.service}/headwater.db?mode=ro", uri=True)) as database:
        digests = [bytes(row[0]).hex() for row in database.execute("SELECT digest FROM log")]
        runs = {run_id_of_key(row[0]) for row in database.execute("SELECT run_id FROM run")}
    if lost := played.acknowledged - set(digests):
        yield f"{len(lost)} acknowledged events are not in the log"
    if len(digests) != len(set(digests)):
        yield "events stand twice in the log"
    told, gone = _told(played.url), {home: len(set(_ledger(home)) - runs) for home in played.homes}
    for home in played.homes:
        yield from _of_node(home, gone[home], told[load_or_create(home).node_id], is_robbed=home == played.robbed)
    ledgers = sum(len(_ledger(home)) for home in played.homes)
    print(f"{len(digests):,} events in the log, {len(played.acknowledged):,} of them acknowledged to nodes")
    missing, dropped = (sum(each[at] for each in told.values()) for at in (0, 1))
    print(f"of {ledgers:,} runs of {len(played.homes)} nodes {sum(gone.values())} are gone, and told: ", end="")
    print(f"{missing} events missing from their records, {dropped} dropped")


def _of_node(home: Path, gone: int, told: Troubles, *, is_robbed: bool) -> Iterator[str]:
    if gone > told.missing + told.dropped:
        yield f"{home.name}: {gone} events are gone, and its record tells of {told}"
    if is_robbed and told.missing < TAKEN_AWAY:
        yield f"{home.name}: {TAKEN_AWAY} events were taken away, and its record tells of {told}"
    if told.forks or told.broken:
        yield f"{home.name}: {told}"


def _ledger(home: Path) -> list[str]:
    """The runs that the node had signed."""
    return (home / "ledger").read_text().split()


def _told(url: str) -> dict[str, Troubles]:
    """By node."""
    found: list[dict[str, Any]] = []
    while True:
        page = httpx.get(f"{url}/api/v1/nodes", params={"limit": 100, "offset": len(found)}, timeout=60).json()
        found += page["nodes"]
        if len(found) >= page["totalCount"]:
            return {node["nodeId"]: Troubles(*(node["troubles"][each] for each in Troubles._fields)) for node in found}
