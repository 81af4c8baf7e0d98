"""API keys, and the caller's own permissions."""

from typing import Annotated

from fastapi import APIRouter, Path, Request, Response

from headwater.service.gate.sight import By, sight_of
from headwater.service.http.answers import answer
from headwater.service.http.paths import API
from headwater.service.request import bodies
from headwater.service.request.access import ServiceHere
from headwater.service.routes.parameters import NOT_FOUND, WRITTEN
from headwater.service.shapes import access as shapes
from headwater.service.writing import api_keys

router = APIRouter(prefix=f"{API}/access", route_class=bodies.StrictBody, strict_content_type=False, tags=["access"])


@router.get("/me", response_model=shapes.Me)
async def get_me(request: Request) -> Response:
    """The caller's identity, roles and scopes."""
    sight = sight_of(request)
    if sight is None:
        return answer(shapes.Me(name=None, roles=["admin"], scopes=["*"], knowsRestricted=True))
    grant = sight.caller.grant
    return answer(
        shapes.Me(
            name=sight.caller.name,
            roles=sorted(grant.roles),
            scopes=list(grant.scopes),
            knowsRestricted=sight.knows_restricted,
        )
    )


@router.get("/keys", response_model=shapes.ApiKeys)
async def get_keys(service: ServiceHere) -> Response:
    """All API keys, including revoked ones, without their secrets."""
    return answer(api_keys.listed(service.knowledge.graph.edits))


@router.post("/keys", status_code=201, response_model=shapes.NewApiKey, responses=WRITTEN)
async def post_key(service: ServiceHere, body: shapes.ApiKeyBody, by: By = None) -> Response:
    """Create an API key; only this answer contains its secret."""
    return answer(await api_keys.create(service, body, by), 201)


@router.delete("/keys/{key_id:encoded}", response_model=shapes.ApiKey, responses=NOT_FOUND | WRITTEN)
async def delete_key(
    service: ServiceHere,
    key_id: Annotated[str, Path(description="The key's id, or its name, percent-encoded.")],
    by: By = None,
) -> Response:
    """Revoke an API key, effective at once."""
    return answer(await api_keys.revoke(service, key_id, by))
