"""The page, where it is built and where it is not."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from starlette.testclient import TestClient

from headwater.signing.chain import CHAIN_SCHEMA
from headwater.store.sqlite import SqliteStore
from tests.support.app import serving


@pytest.fixture
def built(tmp_path: Path) -> Iterator[TestClient]:
    page = tmp_path / "page"
    (page / "assets").mkdir(parents=True)
    (page / "index.html").write_text("<!doctype html><title>Headwater</title>")
    (page / "icon.svg").write_text("<svg/>")
    (page / "assets" / "index-0a1b2c.js").write_text("1")
    (tmp_path / "secret.txt").write_text("secret")
    with closing(SqliteStore(tmp_path / "headwater.db")) as store, serving(store, page=page) as client:
        yield client


@pytest.mark.parametrize(
    ("path", "content_type", "caching"),
    [
        ("/", "text/html; charset=utf-8", "no-cache"),
        ("/icon.svg", "image/svg+xml", "no-cache"),
        ("/assets/index-0a1b2c.js", "text/javascript; charset=utf-8", "public, max-age=31536000, immutable"),
    ],
)
def test_the_built_page_is_served_with_its_headers(
    built: TestClient, path: str, content_type: str, caching: str
) -> None:
    answer = built.get(path)

    assert answer.status_code == 200
    assert (answer.headers["content-type"], answer.headers["cache-control"]) == (content_type, caching)
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "default-src 'self'" in answer.headers["content-security-policy"]


def test_a_file_that_did_not_change_is_not_sent_again(built: TestClient) -> None:
    etag = built.get("/").headers["etag"]

    assert built.get("/", headers={"if-none-match": etag}).status_code == 304


@pytest.mark.parametrize("path", ["/../secret.txt", "/%2e%2e/secret.txt", "/..%2fsecret.txt", "/assets/none.js"])
def test_nothing_beside_the_page_is_served(built: TestClient, path: str) -> None:
    answer = built.get(path)

    assert (answer.status_code, answer.json()["code"]) == (404, 404)


def test_without_the_page_the_service_works_and_says_what_is_missing(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "headwater.db")) as store, serving(store, page=tmp_path) as client:
        answer = client.get("/")
        health = client.get("/healthz")

    assert answer.status_code == 200
    assert "its page is not built" in answer.text
    assert "run `make`" in answer.text
    assert health.status_code == 200


def test_the_schemas_of_our_facets_are_where_the_paths_of_their_urls_say(built: TestClient) -> None:
    answer = built.get(urlsplit(CHAIN_SCHEMA).path)

    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    assert answer.json()["$id"] == CHAIN_SCHEMA
    assert built.get("/spec/facets/1-0-0/none.json").status_code == 404
    assert built.get("/spec/..%2f__init__.py").status_code == 404
