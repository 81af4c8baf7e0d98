"""Subjects, their schemas and the fields in them, from a registry that speaks Confluent's API."""

import json
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import quote

import httpx

from headwater.errors import NotFoundError, UnavailableError

log = logging.getLogger(__name__)

_TIMEOUT_S: Final = 3.0
_FRESH_S: Final = 30.0
_DEEPEST: Final = 16
"""Schemas may name themselves within themselves."""


class Field(NamedTuple):
    """A field of a record."""

    name: str
    type: str
    fields: tuple["Field", ...] = ()


class TopicSchema(NamedTuple):
    """The fields of a topic's values, and the version of the subject they are from, if they are from a registry."""

    fields: tuple[Field, ...]
    version: int | None = None


SchemaOf = Callable[[str], TopicSchema | None]
"""Gives the schema of a topic, as far as it is known."""


def types(fields: Iterable[Field], prefix: str = "") -> dict[str, str]:
    """The types of fields by dotted path, those of nested ones behind their parent's."""
    found: dict[str, str] = {}
    for field in fields:
        found[f"{prefix}{field.name}"] = field.type
        found |= types(field.fields, f"{prefix}{field.name}.")
    return found


class Registry:
    """A client of a registry that speaks Confluent's API.

    `url` may hold a user and a password; neither is shown anywhere. All but `schema_of` raise UnavailableError if the
    registry does not answer, and NotFoundError if it has no such thing.
    """

    def __init__(
        self, url: str, network: httpx.BaseTransport | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._client = httpx.Client(base_url=url.rstrip("/") + "/", timeout=_TIMEOUT_S, transport=network)
        self._clock = clock
        self._fails = False
        self._known: dict[str, tuple[float, TopicSchema | None]] = {}

    def subjects(self) -> list[str]:
        """All subjects, in the order of their names."""
        return sorted(self._get("subjects"))

    def versions(self, subject: str) -> list[int]:
        """The versions of a subject, oldest first."""
        return sorted(self._get(f"subjects/{_quoted(subject)}/versions"))

    def version(self, subject: str, version: int) -> Mapping[str, Any]:
        """A version: `schema`, `schemaType`, `id`."""
        found: Mapping[str, Any] = self._get(f"subjects/{_quoted(subject)}/versions/{version}")
        return found

    def rule(self, subject: str) -> str:
        """The rule by which versions of the subject must fit together, for example BACKWARD."""
        found = self._get(f"config/{_quoted(subject)}?defaultToGlobal=true")
        return str(found.get("compatibilityLevel") or found.get("compatibility"))

    def fits(self, subject: str, schema: Mapping[str, Any], other: int) -> bool:
        """Whether a schema fits to a version of the subject, by its rule."""
        body = {"schema": schema["schema"], "schemaType": schema.get("schemaType", "AVRO")}
        path = f"compatibility/subjects/{_quoted(subject)}/versions/{other}"
        return bool(_answered(lambda: self._client.post(path, json=body))["is_compatible"])

    def _get(self, path: str) -> Any:  # noqa: ANN401  any JSON
        return _answered(lambda: self._client.get(path))

    def schema_of(self, topic: str) -> TopicSchema | None:
        """The newest schema of the topic's values, half a minute old at most.

        None if there is none, or if the registry has never answered.
        """
        asked, known = self._known.get(topic, (-_FRESH_S, None))
        if self._clock() - asked >= _FRESH_S:
            known = self._asked(topic) or known
            self._known[topic] = (self._clock(), known)
        return known

    def _asked(self, topic: str) -> TopicSchema | None:
        try:
            found = read_subject(self._get(f"subjects/{_quoted(topic)}-value/versions/latest"))
            self._fails = False
        except NotFoundError:
            return None
        except (UnavailableError, ValueError, KeyError) as fault:
            if not self._fails:
                log.warning("the schema registry does not answer", extra={"fault": str(fault)})
            self._fails = True
            return None
        return found

    def close(self) -> None:
        """Close the connection."""
        self._client.close()


def _answered(ask: Callable[[], httpx.Response]) -> Any:  # noqa: ANN401  any JSON
    """The JSON of an answer.

    Raises:
        NotFoundError: there is no such subject or version.
        UnavailableError: the registry does not answer, or with something else.
    """
    try:
        answer = ask()
        if answer.status_code == httpx.codes.NOT_FOUND:
            raise NotFoundError("the schema registry has no such subject or version")
        if not answer.is_success:
            raise UnavailableError(f"the schema registry answers {answer.status_code}")
        return answer.json()
    except (httpx.HTTPError, ValueError) as fault:
        raise UnavailableError(f"the schema registry does not answer: {type(fault).__name__}") from None


def _quoted(subject: str) -> str:
    return quote(subject, safe="")


def read_subject(version: Mapping[str, Any]) -> TopicSchema | None:
    """The fields of a subject's version, as a registry gives it; None for a schema that has no fields."""
    kind = version.get("schemaType", "AVRO")
    schema = json.loads(version["schema"]) if kind in ("AVRO", "JSON") else None
    if not isinstance(schema, dict):
        return None
    fields = _avro_fields(schema, {}, 0) if kind == "AVRO" else _json_fields(schema, 0)
    return TopicSchema(fields, version.get("version")) if fields else None


def _avro_fields(schema: Mapping[str, Any], named: dict[str, Any], depth: int) -> tuple[Field, ...]:
    if schema.get("type") != "record" or depth > _DEEPEST:
        return ()
    named[schema.get("name", "")] = schema
    return tuple(_avro_field(field, named, depth) for field in schema.get("fields", ()))


def _avro_field(field: Mapping[str, Any], named: dict[str, Any], depth: int) -> Field:
    kind = field["type"]
    if isinstance(kind, list):  # a union: with null it is an optional field of the other type
        others = [each for each in kind if each != "null"]
        kind = others[0] if len(others) == 1 else "union"
    kind = named.get(kind, kind) if isinstance(kind, str) else kind
    if isinstance(kind, str):
        return Field(field["name"], kind)
    nested = _avro_fields(kind, named, depth + 1)
    return Field(field["name"], _avro_type(kind), nested)


def _avro_type(kind: Mapping[str, Any]) -> str:
    match kind.get("logicalType"), kind.get("type"):
        case "decimal", _:
            return f"decimal({kind.get('precision')},{kind.get('scale', 0)})"
        case str(logical), _:
            return logical
        case _, "array":
            items = kind.get("items")
            return f"array<{items if isinstance(items, str) else _avro_type(items or {})}>"
        case _, "map":
            values = kind.get("values")
            return f"map<string,{values if isinstance(values, str) else _avro_type(values or {})}>"
        case _, "record":
            return "struct"
        case _, other:
            return str(other)


def _json_fields(schema: Mapping[str, Any], depth: int) -> tuple[Field, ...]:
    properties = schema.get("properties")
    if not isinstance(properties, dict) or depth > _DEEPEST:
        return ()
    return tuple(
        Field(name, str(body.get("type", "object")), _json_fields(body, depth + 1))
        for name, body in properties.items()
        if isinstance(body, dict)
    )
