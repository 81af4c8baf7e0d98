"""From a query's text to the JSON that goes out."""

import logging
from collections.abc import Mapping
from typing import Any, Final

from graphql import (
    GraphQLAbstractType,
    GraphQLError,
    GraphQLResolveInfo,
    MaxIntrospectionDepthRule,
    build_schema,
    execute_sync,
    parse,
    specified_rules,
    validate,
)

from headwater.errors import HeadwaterError
from headwater.service import shapes
from headwater.service.graphql.ask import Ask, Node
from headwater.service.graphql.links import resolve
from headwater.service.graphql.schema import SCHEMA
from headwater.service.knowledge import Knowledge

log = logging.getLogger(__name__)

MAX_TOKENS: Final = 2_000
"""Words and signs of a query: deep and wide enough for people, and read in a moment."""

_SCHEMA: Final = build_schema(SCHEMA)
_RULES: Final = (*specified_rules, MaxIntrospectionDepthRule)


def answer_query(
    knowledge: Knowledge, query: str, variables: Mapping[str, Any] | None, operation: str | None
) -> shapes.GraphqlAnswer:
    """The answer to a query: data, or what is wrong with it, or both."""
    try:
        document = parse(query, max_tokens=MAX_TOKENS)
    except GraphQLError as fault:
        return _refused([fault])
    if faults := validate(_SCHEMA, document, _RULES, max_errors=10):
        return _refused(faults)
    result = execute_sync(
        _SCHEMA,
        document,
        context_value=Ask(knowledge),
        variable_values=dict(variables or {}),
        operation_name=operation,
        field_resolver=resolve,
        type_resolver=_type_of,
    )
    answer = shapes.GraphqlAnswer(data=result.data)
    if result.errors:
        answer["errors"] = [_shown(fault) for fault in result.errors]
    return answer


def _refused(faults: list[GraphQLError]) -> shapes.GraphqlAnswer:
    return shapes.GraphqlAnswer(data=None, errors=[_shown(fault) for fault in faults])


def _type_of(node: Node, _: GraphQLResolveInfo[Ask], __: GraphQLAbstractType) -> str:
    """Which of a lineage graph's two kinds of entries it is."""
    return "JobLineageEntry" if node.id.kind == "JOB" else "DatasetLineageEntry"


def _shown(fault: GraphQLError) -> Mapping[str, Any]:
    """An error as it goes out: what a fault of ours says stays here."""
    cause = fault.original_error
    shown = dict(fault.formatted)
    if cause is not None and not isinstance(cause, GraphQLError | HeadwaterError):
        log.error("a GraphQL field failed", exc_info=cause, extra={"path": fault.path})
        shown["message"] = "the service has a fault; its log says more"
    return shown
