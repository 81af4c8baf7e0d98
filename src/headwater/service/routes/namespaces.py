"""Namespaces."""

from fastapi import APIRouter, Response

from headwater.service.gate.sight import Sees
from headwater.service.http.answers import answer
from headwater.service.http.paths import API
from headwater.service.http.query import KnownQuery
from headwater.service.request.access import Grouped
from headwater.service.routes.parameters import NOT_FOUND, WRONG, Limit, NamespaceName, Offset
from headwater.service.shapes import marquez as shapes
from headwater.service.views.namespaces import namespace, namespaces

router = APIRouter(prefix=API, tags=["namespaces"], route_class=KnownQuery)


@router.get("/namespaces", response_model=shapes.Namespaces, responses=WRONG)
async def get_namespaces(knowledge: Grouped, sees: Sees = None, limit: Limit = 100, offset: Offset = 0) -> Response:
    """Namespaces of jobs and datasets, by name."""
    return answer(namespaces(knowledge, limit, offset, sees))


@router.get("/namespaces/{name:encoded}", response_model=shapes.Namespace, responses=NOT_FOUND | WRONG)
async def get_namespace(knowledge: Grouped, name: NamespaceName) -> Response:
    """One namespace."""
    return answer(namespace(knowledge, name))
