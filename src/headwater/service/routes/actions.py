"""The audit trail: who did what, when."""

from fastapi import APIRouter, Response

from headwater.service.gate.sight import By
from headwater.service.http.answers import answer
from headwater.service.http.paths import API
from headwater.service.request import bodies
from headwater.service.request.access import Known, ServiceHere
from headwater.service.routes.parameters import WRITTEN, WRONG, Limit, Offset
from headwater.service.shapes import access as shapes
from headwater.service.writing import actions

router = APIRouter(prefix=f"{API}/actions", route_class=bodies.StrictBody, strict_content_type=False, tags=["access"])


@router.get("", response_model=shapes.Actions, responses=WRONG)
async def get_actions(knowledge: Known, limit: Limit = 100, offset: Offset = 0) -> Response:
    """The audit trail: what users wrote, deleted, granted, erased and exported, newest first."""
    return answer(actions.actions(knowledge.store, limit, offset))


@router.post("/exports", status_code=201, response_model=shapes.Action, responses=WRITTEN)
async def post_export(service: ServiceHere, body: shapes.ExportBody, by: By = None) -> Response:
    """Record that a part of the log was exported, as `headwater audit export` does."""
    return answer(await actions.note_export(service, body, by), 201)
