"""Whether the service works, for those who run it."""

from fastapi import APIRouter, Response

from headwater.service.http.answers import answer
from headwater.service.request.access import ServiceHere
from headwater.service.shapes import overview as shapes_overview
from headwater.service.views.nodes import counted

router = APIRouter(tags=["operation"])


@router.get("/healthz", response_model=shapes_overview.Health, responses={503: {"model": shapes_overview.Health}})
async def get_health(service: ServiceHere) -> Response:
    """Health check: `ok`, or 503 while events cannot be stored, and for half a minute after one could not be."""
    fault = service.intake.fault
    return answer(shapes_overview.Health(status=fault or "ok"), 200 if fault is None else 503)


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def get_metrics(service: ServiceHere) -> Response:
    """Metrics in Prometheus's text format."""
    nodes, _, troubles = await counted(service.knowledge, service.now_us())
    return Response(
        service.metrics.text(nodes, dict[str, int](**troubles)), media_type="text/plain; version=0.0.4; charset=utf-8"
    )
