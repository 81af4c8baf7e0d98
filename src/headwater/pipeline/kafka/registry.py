"""Versions of a subject, from a schema registry with Confluent's API.

Source: https://docs.confluent.io/platform/current/schema-registry/develop/api.html
"""

from dataclasses import dataclass
from typing import Any, Final

import httpx
import orjson

from headwater.errors import NotFoundError, UnavailableError
from headwater.http_client import opened_client
from headwater.pipeline.kafka.connection import registry_auth
from headwater.pipeline.spec import SchemaRegistry

NO_RULE: Final = "NONE"
_OWN_RULE: Final = "BACKWARD"
_PATIENCE_S: Final = 15.0
_MEDIA_TYPE: Final = "application/vnd.schemaregistry.v1+json"


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a subject.

    Attributes:
        schema_id: the id in records that were written with it.
        kind: AVRO or JSON.
    """

    subject: str
    number: int
    schema_id: int
    kind: str
    schema: str


class Registry:
    """A client of one schema registry.

    Raises:
        SetupError: the trusted certificates cannot be read, or a proxy cannot be used.
    """

    def __init__(self, spec: SchemaRegistry) -> None:
        self._spec = spec
        self._client = opened_client(base_url=spec.url.rstrip("/"), auth=registry_auth(spec), timeout=_PATIENCE_S)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def versions(self, subject: str) -> list[Version]:
        """Every version from `from_version` on, oldest first.

        Raises:
            NotFoundError: the subject, or the version to start from, does not exist.
            UnavailableError: the registry does not answer.
        """
        numbers = sorted(self._get(f"/subjects/{subject}/versions", f"subject {subject!r}"))
        first = self._spec.from_version or numbers[0]
        if first not in numbers:
            raise NotFoundError(f"{subject} has no version {first}; it has {', '.join(map(str, numbers))}")
        return [self._version(subject, number) for number in numbers if number >= first]

    def rule(self, subject: str) -> str:
        """The subject's compatibility rule, or the registry's; BACKWARD if there is none, so that streams can go on."""
        for path in (f"/config/{subject}", "/config"):
            level = self._config(path)
            if level not in (None, NO_RULE):
                return str(level)
        return _OWN_RULE

    def register(self, subject: str, schema: str) -> int:
        """Register an Avro schema, unless the subject has it already; returns its id.

        Raises:
            UnavailableError: the registry does not answer, or refuses the schema.
        """
        answer = self._ask("POST", f"/subjects/{subject}/versions", {"schema": schema})
        if answer.status_code == httpx.codes.CONFLICT:
            raise UnavailableError(f"{subject}: the registry refuses the schema as incompatible with its last version")
        return int(self._read(answer, subject)["id"])

    def _version(self, subject: str, number: int) -> Version:
        answer = self._get(f"/subjects/{subject}/versions/{number}", f"version {number} of {subject!r}")
        return Version(subject, number, int(answer["id"]), answer.get("schemaType") or "AVRO", answer["schema"])

    def _config(self, path: str) -> str | None:
        answer = self._ask("GET", path)
        config = answer.json() if answer.status_code == httpx.codes.OK else {}
        level = config.get("compatibilityLevel") or config.get("compatibility")
        return level if isinstance(level, str) else None

    def _get(self, path: str, what: str) -> Any:  # noqa: ANN401  (JSON)
        answer = self._ask("GET", path)
        if answer.status_code == httpx.codes.NOT_FOUND:
            raise NotFoundError(f"the schema registry at {self._spec.url} has no {what}")
        return self._read(answer, what)

    def _read(self, answer: httpx.Response, what: str) -> Any:  # noqa: ANN401  (JSON)
        if not answer.is_success:
            raise UnavailableError(f"the schema registry at {self._spec.url} answers {answer.status_code} for {what}")
        return answer.json()

    def _ask(self, method: str, path: str, body: dict[str, str] | None = None) -> httpx.Response:
        content = None if body is None else orjson.dumps(body)
        try:
            return self._client.request(method, path, content=content, headers={"Content-Type": _MEDIA_TYPE})
        except httpx.HTTPError as failed:
            reason = type(failed).__name__
            raise UnavailableError(f"the schema registry at {self._spec.url} does not answer ({reason})") from failed
