"""Request bodies for writes, as types: with Marquez's names, and no stricter than Marquez."""

import re
from collections.abc import Callable, Coroutine, Mapping, Sequence
from http import HTTPStatus
from typing import Annotated, Any, ClassVar, Final, Literal

from fastapi import Request, Response
from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError
from starlette.exceptions import HTTPException
from starlette.types import Message

from headwater.errors import InvalidEventError, InvalidInputError, MalformedJsonError
from headwater.model import strict_json
from headwater.model.addresses import is_url
from headwater.model.credentials import without_secrets_in
from headwater.model.declared import JobKind
from headwater.model.extract import content_of
from headwater.model.facets.lenient import as_text
from headwater.service.http.body import read_body
from headwater.service.http.query import KnownQuery
from headwater.service.request.access import service_of

_JSON: Final = re.compile(r"application/([\w.+-]+\+)?json", re.ASCII)
_SHOWN: Final = 80
Described = Annotated[str | None, Field(description="Free text.")]


def _url(text: str) -> str:
    """The text unchanged, even if empty; other text that is no URL would be missing from every answer."""
    if text and not is_url(text):
        raise PydanticCustomError("url", "expected an address such as https://example.org/code")
    return text


Url = Annotated[str, AfterValidator(_url)]


def _word(text: str) -> str:
    if not text or text.isspace():
        raise PydanticCustomError("blank", "must not be blank")
    return text


Word = Annotated[str, AfterValidator(_word)]
"""A name or word, taken as it is, as in Marquez; not blank."""


class PutBody(BaseModel):
    """Something to be put, without the passwords in its names and texts: the log would keep them for good."""

    @model_validator(mode="before")
    @classmethod
    def _without_secrets(cls, body: object) -> object:
        return without_secrets_in(body)


class NamespaceBody(PutBody):
    """A namespace."""

    ownerName: Annotated[Word, Field(description="The owner.")]
    description: Described = None


class SourceBody(PutBody):
    """Where datasets are kept: a database, a broker."""

    type: Annotated[Word, Field(description="For example POSTGRESQL, KAFKA.")]
    connectionUrl: Annotated[str, Field(description="Its address; a password in it is not stored.")]
    description: Described = None


class TagBody(PutBody):
    """What a tag means."""

    description: Described = None


class FieldBody(BaseModel):
    """A column."""

    name: Word
    type: str | None = None
    description: Described = None
    tags: Sequence[Word] | None = None


class DatasetBody(PutBody):
    """A dataset."""

    type: Literal["DB_TABLE", "STREAM"]
    physicalName: Annotated[Word, Field(description="Its name in its source.")]
    sourceName: Annotated[Word, Field(description="A known source, or `default`.")]
    fields: Sequence[FieldBody] | None = None
    tags: Sequence[Word] | None = None
    description: Described = None
    schemaLocation: Annotated[Url | None, Field(description="For a stream: the URL of its schema.")] = None
    runId: Annotated[str | None, Field(description="The run that wrote it.")] = None


class NameBody(BaseModel):
    """A dataset by its two parts."""

    namespace: str
    name: str


class PartingBody(PutBody):
    """Two names that are not one dataset."""

    name: NameBody
    other: NameBody


class JobBody(PutBody):
    """A job."""

    type: JobKind
    inputs: Annotated[Sequence[NameBody] | None, Field(description="Known datasets.")] = None
    outputs: Annotated[Sequence[NameBody] | None, Field(description="Known datasets.")] = None
    location: Annotated[Url | None, Field(description="The URL of its code.")] = None
    description: Described = None
    tags: Sequence[Word] | None = None
    runId: Annotated[str | None, Field(description="A run of the job that read and wrote exactly these.")] = None


def _without_nulls(arguments: object) -> object:
    """Without null values, which Marquez's Java client cannot read."""
    return {k: v for k, v in arguments.items() if v is not None} if isinstance(arguments, dict) else arguments


Argument = Annotated[str, BeforeValidator(as_text)]
"""Numbers and booleans are taken as text, as in Marquez."""


class RunBody(PutBody):
    """A run that has not started."""

    id: Annotated[str | None, Field(min_length=1, description="The run's id; generated if absent.")] = None
    nominalStartTime: AwareDatetime | None = None
    nominalEndTime: AwareDatetime | None = None
    args: Annotated[Mapping[str, Argument] | None, BeforeValidator(_without_nulls)] = None


class StrictBody(KnownQuery):
    """A route with a JSON body, read as events are: limited, optionally gzipped, unambiguous."""

    most: ClassVar[int | None] = None
    """Limit on the body in bytes; None: the service's limit."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Read the body first, then handle the request as usual."""
        handle = super().get_route_handler()

        async def strict(request: Request) -> Response:
            raw = await read_body(request, self.most or service_of(request).body_limit)
            if raw:
                _check_kind(request.headers.get("content-type", ""))
            raw = _one_reading(raw)

            async def replay() -> Message:
                return {"type": "http.request", "body": raw, "more_body": False}

            return await handle(Request(request.scope, replay))

        return strict


def _check_kind(sent: str) -> None:
    """Accept JSON, and bodies without a content type, which some of Marquez's clients send."""
    kind = sent.partition(";")[0].strip().lower()
    if kind and not _JSON.fullmatch(kind):
        fault = f"content-type: {kind[:_SHOWN]!r} is not supported; send application/json"
        raise HTTPException(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, fault)


def _one_reading(raw: bytes) -> bytes:
    """The JSON without ambiguities between parsers: duplicate keys and NaN are refused, lone surrogates replaced."""
    if not raw or raw.isspace():
        return b""
    try:
        return content_of(strict_json.parse(raw)).body
    except MalformedJsonError as fault:
        raise MalformedJsonError(str(fault).replace("event:", "body:", 1)) from None
    except InvalidEventError as fault:
        raise InvalidInputError(str(fault)) from None
