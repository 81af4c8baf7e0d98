"""Serves the built page, or a notice if it is not built; and the JSON Schemas of our own facets."""

from pathlib import Path
from typing import Final

from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

BUILT_PAGE: Final = Path(__file__).parent / "page"
SPECIFICATION: Final = Path(__file__).parents[1] / "spec"
"""The folder that `_schemaURL` of our own facets refers to."""
_SECURITY: Final = {
    "content-security-policy": (
        "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; worker-src 'self' blob:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}
_NOT_BUILT: Final = """\
Headwater's lineage service is running; its page is not built.

The page needs Node 20: run `make` in a checkout, then start the service again.
Everything that it would show is at /api/v1, described in /openapi.json.
"""


def page_app(folder: Path | None) -> ASGIApp:
    """Serve the page from a folder; without one, or without a page in it, say so at `/`."""
    if folder is None or not (folder / "index.html").is_file():
        return _not_built
    return _Page(directory=folder, html=True)


def specification_app() -> ASGIApp:
    """Serve the JSON Schemas of our own facets."""
    return StaticFiles(directory=SPECIFICATION)


class _Page(StaticFiles):
    """Files under `assets` have their content's hash in their names, so they never change."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        is_hashed = Path(path).parts[:1] == ("assets",)
        response.headers["cache-control"] = "public, max-age=31536000, immutable" if is_hashed else "no-cache"
        response.headers.update(_SECURITY)
        if "location" in response.headers:  # of a folder: relative, as a proxy may serve it under another host and path
            response.headers["location"] = f"{Path(path).name}/"
        return response

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "GET":
            raise HTTPException(404)
        await super().__call__(scope, receive, send)


async def _not_built(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["method"] != "GET" or scope["path"] != "/":
        raise HTTPException(404)
    await PlainTextResponse(_NOT_BUILT, headers=_SECURITY)(scope, receive, send)
