"""A client of schema registries with Confluent's API: subjects, their schemas and the fields of these."""

import logging
import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple
from urllib.parse import quote

import httpx

from headwater.capture.fields import Field, TopicSchema
from headwater.capture.languages import avro, json_schema, protobuf
from headwater.errors import NotFoundError, UnavailableError
from headwater.http_client import opened_client
from headwater.model.tls import is_not_trusted, not_trusted

log = logging.getLogger(__name__)

_TIMEOUT_S: Final = 3.0
_FRESH_S: Final = 30.0
_OF_ALL: Final = frozenset({401, 407, 429, 502, 503, 504})
"""A registry, or a proxy before it, that answers with one of these does so for all requests."""
_ADVICE: Final[Mapping[int, str]] = {401: ": its URL may contain a user and a password, http://user:password@host:port"}
_SOMETHING_ELSE: Final = "the schema registry answers in an unknown form"
_MOST_REFERENCED: Final = 100
"""The most schemas that a schema may refer to, so that circular references end."""


class Language(NamedTuple):
    """The functions of a schema language."""

    fields: Callable[[str, Mapping[str, str]], tuple[Field, ...]]
    breaks: Callable[[str, str], bool]
    """Whether a reader of a field's old type cannot read the new one."""


LANGUAGES: Final[Mapping[str, Language]] = {
    "AVRO": Language(avro.fields, avro.breaks),
    "JSON": Language(json_schema.fields, json_schema.breaks),
    "PROTOBUF": Language(protobuf.fields, protobuf.breaks),
}


class NotProvidedError(UnavailableError):
    """The registry answers but does not provide this: we lack the permission, or it cannot read its own schema.

    `is_retriable` is False if it will not provide it later either.
    """

    is_retriable = False


class _SilentError(UnavailableError):
    """There was no answer at all, perhaps only after a timeout."""


class Registry:
    """A client of a registry with Confluent's API.

    `url` may hold a user and a password; neither is ever shown. All methods but `schema_of` raise UnavailableError if
    the registry does not answer, NotProvidedError if it answers but does not provide this, and NotFoundError if it does
    not exist there.

    Raises:
        SetupError: the trusted certificates cannot be read, or a proxy cannot be used.
    """

    def __init__(
        self, url: str, network: httpx.BaseTransport | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._client = opened_client(base_url=url.rstrip("/") + "/", timeout=_TIMEOUT_S, transport=network)
        self._clock = clock
        self._fails = False
        self._known: dict[str, tuple[float, TopicSchema | None]] = {}
        self._asks_from = 0.0
        """Until then no schema is requested: the last request timed out, and the next one would probably too."""

    def subjects(self) -> list[str]:
        """All subjects, by name."""
        found = self._get("subjects")
        if not isinstance(found, list) or not all(isinstance(subject, str) for subject in found):
            raise UnavailableError("the answer is not from a schema registry with Confluent's API: is the URL right?")
        return sorted(found)

    def versions(self, subject: str) -> list[int]:
        """The versions of a subject, oldest first."""
        found = self._get(f"subjects/{_quoted(subject)}/versions")
        if not isinstance(found, list) or not all(isinstance(number, int) for number in found):
            raise NotProvidedError(_SOMETHING_ELSE)
        return sorted(found)

    def version(self, subject: str, version: int | Literal["latest"]) -> Mapping[str, Any]:
        """A version, or `latest`: `schema`, `schemaType`, `id`, `references`."""
        found = _members(self._get(f"subjects/{_quoted(subject)}/versions/{version}"))
        references = found.get("references") or []
        is_listed = isinstance(references, list) and all(map(_is_reference, references))
        if not isinstance(found.get("schema"), str) or not is_listed:
            raise NotProvidedError(_SOMETHING_ELSE)
        return found

    def read(self, version: Mapping[str, Any]) -> TopicSchema | None:
        """The fields of a version, including those of referenced schemas."""
        return read_subject(version, self._referenced(version))

    def _referenced(self, version: Mapping[str, Any]) -> dict[str, str]:
        texts: dict[str, str] = {}
        waiting = [*(version.get("references") or ())]
        while waiting and len(texts) < _MOST_REFERENCED:
            reference = waiting.pop(0)
            if reference["name"] not in texts:
                try:
                    found = self.version(reference["subject"], reference["version"])
                except NotFoundError:
                    raise NotProvidedError("the schema registry lacks a schema that this one references") from None
                texts[reference["name"]] = found["schema"]
                waiting += found.get("references") or ()
        return texts

    def rule(self, subject: str) -> str:
        """The subject's compatibility rule, for example BACKWARD."""
        found = _members(self._get(f"config/{_quoted(subject)}?defaultToGlobal=true"))
        return str(found.get("compatibilityLevel") or found.get("compatibility"))

    def fits(self, subject: str, schema: Mapping[str, Any], other: int) -> bool:
        """Whether a schema is compatible with a version of the subject, by its rule."""
        body = {"schema": schema["schema"], "schemaType": schema.get("schemaType") or "AVRO"}
        if schema.get("references"):
            body["references"] = schema["references"]
        path = f"compatibility/subjects/{_quoted(subject)}/versions/{other}"
        fits = _members(_answered(lambda: self._client.post(path, json=body))).get("is_compatible")
        if not isinstance(fits, bool):
            raise NotProvidedError(_SOMETHING_ELSE)
        return fits

    def _get(self, path: str) -> Any:  # noqa: ANN401  any JSON
        return _answered(lambda: self._client.get(path))

    def schema_of(self, topic: str) -> TopicSchema | None:
        """The newest schema of the topic's values, half a minute old at most.

        None if there is none, or if the registry has never answered. After a timeout no topic's schema is requested for
        as long, so that a watcher does not wait for each of its topics.
        """
        asked, known = self._known.get(topic, (-_FRESH_S, None))
        if self._clock() >= self._asks_from and self._clock() - asked >= _FRESH_S:
            known = self._asked(topic) or known
            # The topic whose request timed out goes last, in case only that one does.
            self._known[topic] = (max(self._clock(), self._asks_from), known)
        return known

    def _asked(self, topic: str) -> TopicSchema | None:
        try:
            found = self.read(self.version(f"{topic}-value", "latest"))
            self._fails = False
        except NotFoundError:
            return None
        except UnavailableError as fault:
            if not self._fails:
                log.warning("the schema registry does not answer", extra={"fault": str(fault)})
            self._fails = True
            if isinstance(fault, _SilentError):
                self._asks_from = self._clock() + _FRESH_S
            return None
        return found

    def close(self) -> None:
        """Close the connection."""
        self._client.close()


def _answered(ask: Callable[[], httpx.Response]) -> Any:  # noqa: ANN401  any JSON
    """The JSON of an answer.

    Raises:
        NotFoundError: there is no such subject or version.
        NotProvidedError: the registry does not provide this one.
        UnavailableError: the registry does not answer, or with something else.
    """
    try:
        answer = ask()
        if answer.status_code == httpx.codes.NOT_FOUND:
            raise NotFoundError("the schema registry has no such subject or version")
        if not answer.is_success:
            why = f"the schema registry answers {answer.status_code}{_ADVICE.get(answer.status_code, '')}"
            if answer.status_code in _OF_ALL:
                raise UnavailableError(why)
            raise NotProvidedError(why, is_retriable=answer.is_server_error)
        return answer.json()
    except (httpx.HTTPError, ValueError) as fault:
        if is_not_trusted(fault):
            raise UnavailableError(not_trusted("the schema registry", fault)) from None
        unavailable = _SilentError if isinstance(fault, httpx.TransportError) else UnavailableError
        raise unavailable(f"the schema registry does not answer: {type(fault).__name__}") from None


def _members(answer: object) -> Mapping[str, Any]:
    """The answer, if it is a JSON object.

    Raises:
        NotProvidedError: it is not.
    """
    if not isinstance(answer, dict):
        raise NotProvidedError(_SOMETHING_ELSE)
    return answer


def _is_reference(entry: object) -> bool:
    return isinstance(entry, dict) and all(
        isinstance(entry.get(member), kind) for member, kind in (("name", str), ("subject", str), ("version", int))
    )


def _quoted(subject: str) -> str:
    return quote(subject, safe="")


def read_subject(
    version: Mapping[str, Any], referenced: Mapping[str, str] = MappingProxyType({})
) -> TopicSchema | None:
    """The fields of a subject's version, as a registry returns it; None if the schema has none or cannot be parsed.

    `referenced` maps the names that it refers to, to the texts of these schemas.
    """
    language = LANGUAGES.get(version.get("schemaType") or "AVRO")
    try:
        fields = language.fields(version["schema"], referenced) if language else ()
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as fault:
        extra = {"subject": version.get("subject"), "version": version.get("version"), "fault": type(fault).__name__}
        log.warning("cannot parse a schema", extra=extra)
        return None
    return TopicSchema(fields, version.get("version")) if fields else None
