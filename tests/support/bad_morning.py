"""A scenario: a topic's field changes its type, a statistic fails next morning, and a node's record has a hole."""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from headwater.signing.chain import Link
from headwater.signing.jwks import write_jwks
from headwater.signing.keyfile import key_path
from headwater.signing.keys import NodeKey
from headwater.signing.sign import sign_in_chain
from tests.support.app import Body, dataset, event, facet

CENTRE = NodeKey.from_seed("centre", bytes(32))
EDGE = NodeKey.from_seed("edge-7", bytes(range(32)))
KAFKA = "kafka://broker:9092"
DAY = datetime(2026, 5, 22, tzinfo=UTC)


def trust(home: Path) -> None:
    """Make the service of this home trust the scenario's nodes."""
    keys = key_path(home).parent
    keys.mkdir(parents=True, exist_ok=True)
    public = {key.key_id: key.public_key for key in (CENTRE, EDGE)}
    (keys / "story.jwks").write_text(write_jwks(public))


def events() -> Iterator[bytes]:
    """The events, in order of arrival."""
    centre, edge = _Record(CENTRE, 1), _Record(EDGE, 2)
    yield _topic(1, 6, price="int")
    for day in range(2):
        yield from centre.run("lake-load", day, 7, [_topic_read()], [_orders()])
        yield from centre.run("supplier-stats", day, 8, [_orders()], [_stats(day)])
    yield _topic(2, 35, price="string")
    yield from centre.run("lake-load", 2, 7, [_topic_read()], [_orders()])
    yield from centre.run("supplier-stats", 2, 8, [_orders()], [_stats(2)], error="cannot cast price to DECIMAL(10,2)")
    yield _dashboard()
    sent = [raw for day in range(3) for raw in edge.run("meter-readings", day, 3, [], [dataset("readings", "lake")])]
    yield from (raw for number, raw in enumerate(sent) if number not in (1, 2))  # two are lost in transit
    yield from edge.forked(4)


class _Record:
    """A node's record: a chain of signed events."""

    def __init__(self, key: NodeKey, number: int) -> None:
        self._key = key
        self._epoch = f"018f0000-0000-7000-8000-00000000000{number}"
        self._hashes: list[str] = []

    def run(
        self, job: str, day: int, hour: int, inputs: list[Body], outputs: list[Body], error: str | None = None
    ) -> Iterator[bytes]:
        run_id = str(UUID(int=hash_of(job, day)))
        begin = DAY + timedelta(days=day, hours=hour)
        facets = {} if error is None else {"errorMessage": facet(message=error, programmingLanguage="PYTHON")}
        for state, time, run_facets in (
            ("START", begin, {}),
            ("COMPLETE" if error is None else "FAIL", begin + timedelta(minutes=4), facets),
        ):
            run = {"runId": run_id, "facets": dict(run_facets)}
            job_id = {"namespace": "shop", "name": job}
            body = event(eventType=state, eventTime=_at(time), run=run, job=job_id, inputs=inputs, outputs=outputs)
            yield self._signed(body, len(self._hashes))

    def forked(self, sequence: int) -> Iterator[bytes]:
        """Another event with a sequence number that is already used."""
        run = {"runId": str(UUID(int=7)), "facets": {}}
        body = event(
            eventTime=_at(DAY + timedelta(days=2)), run=run, job={"namespace": "shop", "name": "meter-readings"}
        )
        yield self._signed(body, sequence)

    def _signed(self, body: Mapping[str, Any], sequence: int) -> bytes:
        previous = self._hashes[sequence - 1] if sequence else None
        signed = sign_in_chain(
            json.dumps(body).encode(), self._key, Link(self._key.node_id, self._epoch, sequence, previous)
        )
        assert signed is not None
        self._hashes[sequence : sequence + 1] = [signed.payload_hash]
        return signed.raw


def hash_of(job: str, day: int) -> int:
    """A stable number for a run."""
    return int.from_bytes(f"{job[:12]}{day}".encode())


def _topic(version: int, hour: int, **types: str) -> bytes:
    fields = facet(fields=[{"name": name, "type": kind} for name, kind in {"supplier": "string", **types}.items()])
    subject = facet(subject="orders-value", version=version, compatibility="NONE", fitsRule=version == 1 or None)
    body = {
        "eventTime": _at(DAY + timedelta(hours=hour)),
        "producer": "https://example.org/producer",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/DatasetEvent",
        "dataset": dataset("orders", KAFKA, schema=fields, headwater_subject=subject),
    }
    return json.dumps(body).encode()


def _topic_read() -> Body:
    return dataset("orders", KAFKA)


def _orders() -> Body:
    sources = {"supplier": [_from(KAFKA, "orders", "supplier")], "price": [_from(KAFKA, "orders", "price")]}
    return dataset("sales.orders", "lake", schema=_fields("supplier", "price"), columnLineage=_columns(sources))


def _stats(day: int) -> Body:
    sources = {
        "supplier": [_from("lake", "sales.orders", "supplier")],
        "total": [_from("lake", "sales.orders", "price", "AGGREGATION")],
    }
    facets = {"schema": _fields("supplier", "total"), "columnLineage": _columns(sources)}
    return {**dataset("sales.stats", "lake", **facets), "outputFacets": {"outputStatistics": facet(rowCount=40 - day)}}


def _dashboard() -> bytes:
    sources = {"total": [_from("lake", "sales.stats", "total")]}
    owners = facet(owners=[{"name": "team:finance", "type": "OWNER"}])
    kind = facet(datasetType="DASHBOARD")
    dashboard = dataset("revenue", "dashboards", columnLineage=_columns(sources), ownership=owners, datasetType=kind)
    body = {
        "eventTime": _at(DAY + timedelta(hours=9)),
        "producer": "https://example.org/producer",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/JobEvent",
        "job": {"namespace": "dashboards", "name": "revenue.by_supplier"},
        "inputs": [dataset("sales.stats", "lake")],
        "outputs": [dashboard],
    }
    return json.dumps(body).encode()


def _fields(*names: str) -> Body:
    return facet(fields=[{"name": name, "type": "string" if name == "supplier" else "decimal(10,2)"} for name in names])


def _columns(sources: Mapping[str, list[Body]]) -> Body:
    return facet(fields={column: {"inputFields": inputs} for column, inputs in sources.items()})


def _from(namespace: str, name: str, column: str, subtype: str = "IDENTITY") -> Body:
    how = [{"type": "DIRECT", "subtype": subtype, "description": "", "masking": False}]
    return {"namespace": namespace, "name": name, "field": column, "transformations": how}


def _at(time: datetime) -> str:
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")
