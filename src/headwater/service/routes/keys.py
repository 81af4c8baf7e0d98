"""The key directory: which keys sign for which nodes, and until when."""

from fastapi import APIRouter, Response

from headwater.service.http.answers import answer
from headwater.service.http.paths import API
from headwater.service.request import bodies
from headwater.service.request.access import Known, ServiceHere
from headwater.service.routes.parameters import NOT_FOUND, WRITTEN
from headwater.service.shapes import keys as shapes_keys
from headwater.service.writing import keys


class StatementRoute(bodies.StrictBody):
    """A small body limit, as statements are short and anybody may post one."""

    most = 64 * 1024


router = APIRouter(prefix=f"{API}/keys", route_class=StatementRoute, strict_content_type=False, tags=["keys"])


@router.get("", response_model=shapes_keys.Keys)
async def get_keys(service: ServiceHere, knowledge: Known) -> Response:
    """All signing keys that are or were trusted."""
    return answer(keys.keys(knowledge.graph.edits, service.key_store.configured))


@router.get("/jwks", response_class=Response, responses={200: {"content": {"application/json": {}}}})
async def get_jwks(service: ServiceHere, knowledge: Known) -> Response:
    """The signing keys as a JSON Web Key Set, for `headwater verify --keys`; a revoked key has `revokedFrom`."""
    key_set = keys.jwks(knowledge.graph.edits, service.key_store.configured)
    return Response(key_set, 200, {"cache-control": "no-store"}, "application/json")


@router.post("", status_code=201, response_model=shapes_keys.Keys, responses=NOT_FOUND | WRITTEN)
async def post_statement(service: ServiceHere, body: shapes_keys.StatementBody) -> Response:
    """Enrol, replace or revoke a signing key, by a signed statement; in effect when this returns."""
    store = service.key_store
    await keys.change(service, store.configured, store.tokens, body)
    return answer(keys.keys(service.knowledge.graph.edits, store.configured), 201)
