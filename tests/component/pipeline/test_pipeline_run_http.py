"""HTTP input and output, against a server of our own that fails as servers do."""

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.component.pipeline.pipeline_bench import Bench

ORDERS = [{"id": number, "supplier": "acme", "price": number / 2} for number in range(1, 6)]
TOKEN = "open-sesame"  # noqa: S105  of this test alone

pytestmark = pytest.mark.spark


@dataclass
class Shop:
    """An API that returns orders in pages of two, and accepts rows; first it answers the statuses in `failures`."""

    url: str = ""
    failures: list[int] = field(default_factory=list)
    body: bytes | None = None
    paths: list[str] = field(default_factory=list)
    bodies: list[Any] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)

    def answer(self, handler: BaseHTTPRequestHandler) -> tuple[int, object]:
        if handler.headers.get("Authorization") != f"Bearer {TOKEN}":
            return 401, {}
        if self.failures:
            return self.failures.pop(0), {}
        if handler.command == "POST":
            return 201, {}
        if self.body is not None:
            return 200, self.body
        query = parse_qs(urlsplit(handler.path).query)
        at = 2 * (int(query["page"][0]) - 1)
        return 200, {"data": ORDERS[at : at + 2]}


@pytest.fixture
def shop(monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    shop = Shop()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            shop.paths.append(self.path)
            self._reply()

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            shop.bodies.append(json.loads(body))
            shop.keys.append(self.headers["Idempotency-Key"])
            self._reply()

        def _reply(self) -> None:
            status, content = shop.answer(self)
            body = content if isinstance(content, bytes) else json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    monkeypatch.setenv("SHOP_TOKEN", TOKEN)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    shop.url = f"http://127.0.0.1:{server.server_address[1]}"
    yield shop
    server.shutdown()
    thread.join()
    server.server_close()


AUTH = "auth: {type: bearer, token_env: SHOP_TOKEN}"


def test_records_go_from_one_api_to_another_page_by_page_and_are_reported_as_datasets(bench: Bench, shop: Shop) -> None:
    shop.failures = [503]

    run = bench.run(f"""
        input:
          http: {{url: "{shop.url}/orders", records: data, schema: "id BIGINT, price DOUBLE", {AUTH},
                  params: {{day: "2013-01-01"}}, paging: {{by: page}}}}
        pipeline: {{processors: [filter: id > 1, mapping: {{columns: {{order_id: id, double_price: price * 2}}}}]}}
        outputs:
          - http: {{url: "{shop.url}/delays?key=x", batch_size: 3, {AUTH}}}
          - iceberg: lake.sales.orders
    """)

    assert run.result.error is None
    assert shop.paths[1:] == [f"/orders?day=2013-01-01&page={number}" for number in (1, 2, 3, 4)]
    sent = sorted((row for body in shop.bodies for row in body), key=lambda row: row["order_id"])
    assert sent == [{"order_id": number, "double_price": float(number)} for number in (2, 3, 4, 5)]
    assert all(len(body) <= 3 for body in shop.bodies)
    assert run.counters() == (5, 8)
    read, posted = run.input("/orders"), run.output("/delays")
    assert (read["namespace"], read["name"]) == (shop.url, "/orders")
    assert (posted["namespace"], posted["name"]) == (shop.url, "/delays")
    assert [field["name"] for field in read["facets"]["schema"]["fields"]] == ["id", "price"]
    columns = posted["facets"]["columnLineage"]["fields"]
    assert next((source["name"], source["field"]) for source in columns["order_id"]["inputFields"]) == ("/orders", "id")
    assert posted["outputFacets"]["outputStatistics"]["rowCount"] == 4
    assert not list((bench.home / "fetched").glob("*")), "fetched files were not removed"


def test_numbers_of_any_size_are_read_as_they_were_sent(bench: Bench, shop: Shop) -> None:
    integer, fraction = 123456789012345678901234567890, "0.1234567890123456789012"
    shop.body = f'{{"data": {{"rows": [\n  {{"id": {integer},\r\n   "part": {fraction}, "said": "a\\nb"}}]}}}}'.encode()

    run = bench.run(f"""
        input:
          http: {{url: "{shop.url}/n", records: data.rows, {AUTH},
                  schema: "id DECIMAL(38,0), part DECIMAL(38,22), said STRING"}}
        output: {{iceberg: lake.a.numbers}}
    """)

    assert run.result.error is None
    assert bench.rows("lake.a.numbers") == [(Decimal(integer), Decimal(fraction), "a\nb")]


def test_a_call_that_fails_temporarily_is_retried_with_the_same_key(bench: Bench, shop: Shop) -> None:
    shop.failures = [500, 429]

    run = bench.run(f"input: {{generate: {{rows: 2}}}}\noutput: {{http: {{url: '{shop.url}/rows', {AUTH}}}}}")

    assert run.result.error is None
    assert [len(body) for body in shop.bodies][:3] == [len(shop.bodies[0])] * 3
    assert len(set(shop.keys[:3])) == 1


def test_a_refused_request_fails_the_run_and_its_url_is_shown_without_the_key(bench: Bench, shop: Shop) -> None:
    shop.failures = [422]

    run = bench.run(
        f"input: {{generate: {{rows: 2}}}}\noutput: {{http: {{url: '{shop.url}/rows?key=hunter2', {AUTH}}}}}"
    )

    assert run.states[-1] == "FAIL"
    message = run.last["run"]["facets"]["errorMessage"]["message"]
    assert f"POST {shop.url}/rows: 422" in message
    assert "hunter2" not in json.dumps(run.events)
