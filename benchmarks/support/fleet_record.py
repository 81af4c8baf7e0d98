"""The expected content of the fleet's log, and of its nodes' chains. See `fleet.py`."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final, NamedTuple

import httpx

from headwater.signing.keyfile import load_or_create
from headwater.store.numbers import run_id_of_key

DELETED: Final = 3


class Outcome(NamedTuple):
    """A fleet after the run, with all spools drained."""

    homes: Sequence[Path]
    service: Path
    url: str
    acknowledged: set[str]
    """Digests of the events acknowledged to their senders."""
    tampered: Path | None
    """The node whose spool lost events, if any."""


class Troubles(NamedTuple):
    """The number of problems of each kind that a node's record reports."""

    missing: int
    dropped: int
    forks: int
    broken: int


def delete_events(node: Path) -> None:
    """Delete some of the newest events in a node's spool, but not the last."""
    for spool in (node / "spool").glob("http-*/**/events.db"):
        with closing(sqlite3.connect(spool)) as database, database:
            newest = "SELECT count(*) FROM event WHERE instr(body, ?)"
            if database.execute(newest, (_ledger(node)[-1].encode(),)).fetchone()[0]:
                some = "SELECT seq FROM event ORDER BY seq DESC LIMIT ? OFFSET 1"
                database.execute(f"DELETE FROM event WHERE seq IN ({some})", (DELETED,))  # noqa: S608
                return
    raise LookupError(f"{node}: no spool holds the newest event")


def problems(outcome: Outcome) -> Iterator[str]:
    """The failed checks; prints the numbers of events stored and lost."""
    with closing(sqlite3.connect(f"file:{outcome.service}/headwater.db?mode=ro", uri=True)) as database:
        digests = [bytes(row[0]).hex() for row in database.execute("SELECT digest FROM log")]
        runs = {run_id_of_key(row[0]) for row in database.execute("SELECT run_id FROM run")}
    if lost := outcome.acknowledged - set(digests):
        yield f"{len(lost)} acknowledged events are not in the log"
    if len(digests) != len(set(digests)):
        yield "the log contains events twice"
    reported, lost_runs = _reported(outcome.url), {home: len(set(_ledger(home)) - runs) for home in outcome.homes}
    for home in outcome.homes:
        node_id = load_or_create(home).node_id
        yield from _of_node(home, lost_runs[home], reported[node_id], is_tampered=home == outcome.tampered)
    ledgers = sum(len(_ledger(home)) for home in outcome.homes)
    print(f"{len(digests):,} events in the log, {len(outcome.acknowledged):,} of them acknowledged to nodes")
    missing, dropped = (sum(each[at] for each in reported.values()) for at in (0, 1))
    print(f"of {ledgers:,} runs of {len(outcome.homes)} nodes, {sum(lost_runs.values())} are lost; ", end="")
    print(f"their records report {missing} events missing, {dropped} dropped")


def _of_node(home: Path, lost: int, reported: Troubles, *, is_tampered: bool) -> Iterator[str]:
    if lost > reported.missing + reported.dropped:
        yield f"{home.name}: {lost} events are lost, but its record reports {reported}"
    if is_tampered and reported.missing < DELETED:
        yield f"{home.name}: {DELETED} events were deleted, but its record reports {reported}"
    if reported.forks or reported.broken:
        yield f"{home.name}: its record reports {reported}"


def _ledger(home: Path) -> list[str]:
    """The ids of the runs that the node has signed and spooled."""
    return (home / "ledger").read_text().split()


def _reported(url: str) -> dict[str, Troubles]:
    """The problems that the service reports, by node id."""
    found: list[dict[str, Any]] = []
    while True:
        page = httpx.get(f"{url}/api/v1/nodes", params={"limit": 100, "offset": len(found)}, timeout=60).json()
        found += page["nodes"]
        if len(found) >= page["totalCount"]:
            return {node["nodeId"]: Troubles(*(node["troubles"][each] for each in Troubles._fields)) for node in found}
