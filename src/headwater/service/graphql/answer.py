"""From a query's text to its JSON answer."""

import logging
from collections.abc import Mapping
from typing import Any, Final

from graphql import (
    ASTValidationRule,
    FieldNode,
    GraphQLAbstractType,
    GraphQLError,
    GraphQLObjectType,
    GraphQLResolveInfo,
    MaxIntrospectionDepthRule,
    ValidationRule,
    build_schema,
    execute_sync,
    parse,
    specified_rules,
    validate,
)

from headwater.errors import HeadwaterError, UnavailableError
from headwater.service.graphql.ask import TOO_MANY, Ask, Node
from headwater.service.graphql.links import resolve
from headwater.service.graphql.schema import SCHEMA
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.shapes import marquez as shapes

log = logging.getLogger(__name__)

MAX_TOKENS: Final = 2_000
"""Limit on a query's tokens: enough for people, and quick to parse."""
MAX_CHARS: Final = 100_000
"""Limit on a query's text: a string of 10 MB is one token, and took 12 s. Long values go into variables."""

_SCHEMA: Final = build_schema(SCHEMA)
WORDS: Final = frozenset(
    field for kind in _SCHEMA.type_map.values() if isinstance(kind, GraphQLObjectType) for field in kind.fields
).union({"__typename", "__schema", "__type", "errors", "message", "locations", "line", "path", "extensions"})
"""Every key of an answer, apart from aliases and the content of `Json` values."""
_RULES: Final = (*specified_rules, MaxIntrospectionDepthRule)
_WITHOUT_DETAIL: Final = (
    "the query does not fit the schema, or has aliases, which only readers who may see all columns can use"
)


class _NoAliases(ValidationRule):
    """A validation rule: no aliases."""

    def enter_field(self, node: FieldNode, *_: object) -> None:
        """Refuse a field with an alias."""
        if node.alias is not None:
            self.report_error(GraphQLError(_WITHOUT_DETAIL, node))


def answer_query(
    knowledge: Knowledge,
    query: str,
    variables: Mapping[str, Any] | None,
    operation: str | None,
    *,
    is_redacted: bool = False,
) -> shapes.GraphqlAnswer:
    """The answer to a query: data, errors, or both; raises if the store lacks something right now.

    With `is_redacted` it holds no word of the query's own. A redactor takes out the names that its reader may not know,
    and where it took out one that the reader had put there it would confirm a guess.
    """
    answer = _answer(knowledge, query, variables, operation, _RULES + (_NoAliases,) * is_redacted)
    if is_redacted and "errors" in answer:
        answer["errors"] = [{**fault, "message": _without_detail(fault)} for fault in answer["errors"]]
    return answer


def _without_detail(fault: Mapping[str, Any]) -> str:
    """An error message that repeats nothing of the query."""
    message: str = fault["message"]
    return message if message.startswith(TOO_MANY) else _WITHOUT_DETAIL


def _answer(
    knowledge: Knowledge,
    query: str,
    variables: Mapping[str, Any] | None,
    operation: str | None,
    rules: tuple[type[ASTValidationRule], ...],
) -> shapes.GraphqlAnswer:
    if len(query) > MAX_CHARS:
        return _refused([GraphQLError(f"the query is longer than {MAX_CHARS:,} characters: pass values as variables")])
    try:
        document = parse(query, max_tokens=MAX_TOKENS)
    except GraphQLError as fault:
        return _refused([fault])
    if faults := validate(_SCHEMA, document, rules, max_errors=10):
        return _refused(faults)
    result = execute_sync(
        _SCHEMA,
        document,
        context_value=Ask(knowledge),
        variable_values=dict(variables or {}),
        operation_name=operation or None,  # GraphiQL sends an empty one where there is none
        field_resolver=resolve,
        type_resolver=_type_of,
    )
    answer = shapes.GraphqlAnswer(data=result.data)
    for error in result.errors or ():
        if isinstance(error.original_error, UnavailableError):
            raise error.original_error
    if result.errors:
        answer["errors"] = [_error(fault) for fault in result.errors]
    return answer


def _refused(faults: list[GraphQLError]) -> shapes.GraphqlAnswer:
    return shapes.GraphqlAnswer(data=None, errors=[_error(fault) for fault in faults])


def _type_of(node: Node, _: GraphQLResolveInfo[Ask], __: GraphQLAbstractType) -> str:
    """The type of an entry of the lineage graph."""
    return "JobLineageEntry" if node.id.kind == "JOB" else "DatasetLineageEntry"


def _error(fault: GraphQLError) -> Mapping[str, Any]:
    """An error as it is answered; the text of an internal one is withheld."""
    cause = fault.original_error
    shown = dict(fault.formatted)
    if cause is not None and not isinstance(cause, GraphQLError | HeadwaterError):
        log.error("a GraphQL field failed", exc_info=cause, extra={"path": fault.path})
        shown["message"] = "internal error; see the service's log"
    return shown
