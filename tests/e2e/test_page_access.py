"""The page of a service with access control: a wrong key, a good one, and what a reader may see."""

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import expect
from typer.testing import CliRunner

from headwater.cli.main import app
from tests.support.app import dataset, event
from tests.support.browser import Opened
from tests.support.service import Service, running

pytestmark = pytest.mark.browser


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    with running(tmp_path, "--access") as service:
        yield service


def test_a_reader_signs_in_and_sees_only_their_namespaces_live(
    service: Service, monkeypatch: pytest.MonkeyPatch, opened: Opened
) -> None:
    monkeypatch.setenv("HEADWATER_HOME", str(service.home))

    def key(name: str, *more: str) -> str:
        result = CliRunner().invoke(app, ["access", "key", "create", name, *more, "--url", service.url])
        return result.stdout.strip()

    reader = key("reader", "--role", "read", "--scope", "sales")
    sender = {"authorization": f"Bearer {key('sender', '--role', 'admin')}"}

    def send(job: str, **changes: object) -> None:
        body = json.dumps(event(job={"namespace": "sales", "name": job}, **changes))
        httpx.post(f"{service.url}/api/v1/lineage", content=body, headers=sender).raise_for_status()

    send("orders", inputs=[dataset("people", "vault")], outputs=[dataset("orders", "sales")])
    with opened(service.url) as page:
        for entered in ("hw_wrong", reader):
            page.get_by_label("API key or token").fill(entered)
            page.get_by_role("button", name="Sign in").click()
            if entered != reader:
                expect(page.get_by_role("alert")).to_contain_text("unknown, or has expired")
        nodes = page.get_by_test_id("node")
        expect(nodes).to_have_count(3)
        expect(page.get_by_role("status").filter(has_text="live")).to_be_visible(timeout=60_000)
        send("late", run={"runId": "0198f7d0-1111-7222-8333-444455556667"})
        expect(page.locator('[data-node-id="job:sales:late"]')).to_have_count(1)
        ids = {str(node.get_attribute("data-node-id")) for node in nodes.all()}
        shown = page.content()

    assert {"job:sales:orders", "dataset:sales:orders", "job:sales:late"} < ids
    assert len(ids) == 4
    assert "people" not in shown
    assert "vault" not in shown
