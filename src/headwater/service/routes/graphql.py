"""GraphQL, read only, where Marquez has it."""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field

from headwater.errors import InvalidEventError, InvalidInputError
from headwater.model import strict_json
from headwater.service.gate.sight import IsRedacted
from headwater.service.http.answers import answer
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.request.access import Known
from headwater.service.request.bodies import StrictBody
from headwater.service.routes.parameters import WRITTEN, WRONG
from headwater.service.shapes import marquez as shapes

router = APIRouter(prefix="/api/v1-beta", tags=["graphql"], route_class=StrictBody, strict_content_type=False)


class QueryBody(BaseModel):
    """A GraphQL query."""

    query: str
    variables: Mapping[str, Any] | None = None
    operationName: Annotated[str | None, Field(description="Which operation to run, if the query has several.")] = None


_BODY: dict[int | str, dict[str, Any]] = {status: WRITTEN[status] for status in (400, 413, 415, 422)}


@router.post("/graphql", response_model=shapes.GraphqlAnswer, responses=_BODY)
async def post_query(knowledge: Known, is_redacted: IsRedacted, body: QueryBody) -> Response:
    """Answer a GraphQL query; what is wrong with it stands in `errors`."""
    return _answer(knowledge, body, is_redacted=is_redacted)


@router.get("/graphql", response_model=shapes.GraphqlAnswer, responses=WRONG)
async def get_query(
    knowledge: Known,
    is_redacted: IsRedacted,
    query: Annotated[str, Query(description="A GraphQL query.")],
    variables: Annotated[str | None, Query(description="The values of the query's variables, a JSON object.")] = None,
    operation: Annotated[
        str | None, Query(alias="operationName", description="Which operation to run, if the query has several.")
    ] = None,
) -> Response:
    """Answer a GraphQL query; what is wrong with it stands in `errors`."""
    body = QueryBody(query=query, variables=_variables(variables), operationName=operation)
    return _answer(knowledge, body, is_redacted=is_redacted)


def _answer(knowledge: Knowledge, body: QueryBody, *, is_redacted: bool) -> Response:
    from headwater.service.graphql.answer import answer_query  # here, not above: it brings graphql-core, 0.3 s

    return answer(answer_query(knowledge, body.query, body.variables, body.operationName, is_redacted=is_redacted))


def _variables(text: str | None) -> Mapping[str, Any] | None:
    try:
        read = None if text is None else strict_json.parse(text.encode())
    except InvalidEventError:
        read = []
    if isinstance(read, Mapping | None):
        return read
    raise InvalidInputError("query param variables must be a JSON object")
