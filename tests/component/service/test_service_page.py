"""The web page, built and not built."""

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
    (page / "docs").mkdir()
    (page / "docs" / "index.html").write_text("<!doctype html><title>Reference</title>")
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
    response = built.get(path)

    assert response.status_code == 200
    assert (response.headers["content-type"], response.headers["cache-control"]) == (content_type, caching)
    assert response.headers["x-content-type-options"] == "nosniff"
    assert "default-src 'self'" in response.headers["content-security-policy"]


def test_a_folder_is_reached_behind_a_proxy_that_serves_the_page_below_a_path(built: TestClient) -> None:
    response = built.get("/docs", headers={"host": "localhost"}, follow_redirects=False)

    assert (response.status_code, response.headers["location"]) == (307, "docs/")


def test_an_unchanged_file_is_not_sent_again(built: TestClient) -> None:
    etag = built.get("/").headers["etag"]

    assert built.get("/", headers={"if-none-match": etag}).status_code == 304


@pytest.mark.parametrize("path", ["/../secret.txt", "/%2e%2e/secret.txt", "/..%2fsecret.txt", "/assets/none.js"])
def test_nothing_outside_the_page_is_served(built: TestClient, path: str) -> None:
    response = built.get(path)

    assert (response.status_code, response.json()["code"]) == (404, 404)


def test_without_the_page_the_service_works_and_shows_how_to_build_it(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "headwater.db")) as store, serving(store, page=tmp_path) as client:
        response = client.get("/")
        health = client.get("/healthz")

    assert response.status_code == 200
    assert "its page is not built" in response.text
    assert "run `make`" in response.text
    assert health.status_code == 200


def test_the_schemas_of_our_facets_are_served_at_the_paths_of_their_urls(built: TestClient) -> None:
    response = built.get(urlsplit(CHAIN_SCHEMA).path)

    assert (response.status_code, response.headers["content-type"]) == (200, "application/json")
    assert response.json()["$id"] == CHAIN_SCHEMA
    assert built.get("/spec/facets/1-0-0/none.json").status_code == 404
    assert built.get("/spec/..%2f__init__.py").status_code == 404
