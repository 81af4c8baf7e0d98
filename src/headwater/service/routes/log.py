"""The log as others check it: its head, its tiles, proofs.

The paths under `/log` are those of https://c2sp.org/tlog-tiles, so other people's tools read this log.
"""

from typing import Annotated, Final

from fastapi import APIRouter, Path, Query, Request, Response

from headwater.model.numbers import Whole
from headwater.service.http.answers import answer
from headwater.service.http.body import read_body
from headwater.service.http.paths import API
from headwater.service.http.query import KnownQuery
from headwater.service.log.cosignatures import NOTE_LIMIT
from headwater.service.request.access import ServiceHere
from headwater.service.routes.parameters import NOT_FOUND, WRITTEN, WRONG
from headwater.service.shapes import log as shapes_log
from headwater.service.views.log import log_entry

router = APIRouter(prefix=f"{API}/log", tags=["log"], route_class=KnownQuery)

_TEXT: Final = "text/plain; charset=utf-8"
_BYTES: Final = "application/octet-stream"
_NO_STORE: Final = {"cache-control": "no-store"}
_FOR_EVER: Final = {"cache-control": "public, max-age=31536000, immutable"}

TilePath = Annotated[str, Path(description="`0/x001/234`, `1/000.p/5`, `entries/000`.")]
Size = Annotated[Whole | None, Query(ge=1, le=2**53, description="A size of the log; by default the current one.")]
Index = Annotated[Whole, Query(ge=0, le=2**53, description="The entry's index in the log, from 0.")]
EntryIndex = Annotated[Whole, Path(ge=0, le=2**53, description="The entry's index in the log, from 0.")]
From = Annotated[Whole, Query(alias="from", ge=1, le=2**53, description="The earlier size of the log.")]
To = Annotated[
    Whole | None,
    Query(alias="to", ge=1, le=2**53, description="The later size of the log; by default the current one."),
]
Witnesses = Annotated[
    Whole, Query(ge=0, le=100, description="Return the newest checkpoint that so many witnesses have signed.")
]
_NOTE: Final = {"requestBody": {"required": True, "content": {"text/plain": {"schema": {"type": "string"}}}}}


@router.get("/checkpoint", response_class=Response, responses={200: {"content": {"text/plain": {}}}, **NOT_FOUND})
async def get_checkpoint(service: ServiceHere, witnesses: Witnesses = 0) -> Response:
    """The checkpoint of the log, signed by it and by witnesses; in the format of https://c2sp.org/tlog-checkpoint.

    The header `Headwater-Witnessed-Size` says how long the log was in the newest head that a witness signed, 0 if none.
    """
    head = service.proofs.checkpoint(witnesses)
    witnessed = {"Headwater-Witnessed-Size": str(service.proofs.cosignatures.witnessed_size)}
    return Response(head, 200, _NO_STORE | witnessed, _TEXT)


@router.post(
    "/cosignatures",
    response_class=Response,
    responses={200: {"content": {"text/plain": {}}}, **WRITTEN},
    openapi_extra=_NOTE,
)
async def post_cosignatures(service: ServiceHere, request: Request) -> Response:
    """Store the co-signatures of enrolled witnesses on a checkpoint of this log (https://c2sp.org/tlog-cosignature)."""
    note = await read_body(request, NOTE_LIMIT)
    return Response(service.proofs.cosignatures.take(note), 200, _NO_STORE, _TEXT)


@router.get("/key", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
async def get_log_key(service: ServiceHere) -> Response:
    """The key that signs checkpoints, as a line NAME+HASH+KEY; in the format of https://c2sp.org/signed-note."""
    return Response(f"{service.proofs.log_key}\n", 200, _NO_STORE, _TEXT)


@router.get("/tile/{tile:path}", response_class=Response, responses={200: {"content": {_BYTES: {}}}, **NOT_FOUND})
async def get_tile(service: ServiceHere, tile: TilePath) -> Response:
    """A tile of hashes, `LEVEL/N`, or of leaves, `entries/N`; `.p/WIDTH` is a partial tile."""
    return Response(service.proofs.tile(tile), 200, _FOR_EVER, _BYTES)


@router.get("/entries/{index}", response_model=shapes_log.LogEntry, responses=NOT_FOUND | WRONG)
async def get_entry(service: ServiceHere, index: EntryIndex) -> Response:
    """An entry of the log: when it came, its signature verdict, its digest, and the event as it came."""
    return answer(log_entry(service.knowledge, index))


@router.get("/proof/inclusion", response_model=shapes_log.InclusionProof, responses=WRONG)
async def get_inclusion_proof(service: ServiceHere, index: Index, size: Size = None) -> Response:
    """An inclusion proof: that an entry is in the log at its index."""
    return answer(service.proofs.inclusion(index, size))


@router.get("/proof/consistency", response_model=shapes_log.ConsistencyProof, responses=WRONG)
async def get_consistency_proof(service: ServiceHere, old: From, new: To = None) -> Response:
    """A consistency proof: that the log only grew between two sizes."""
    return answer(service.proofs.consistency(old, new))
