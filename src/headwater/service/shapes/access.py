"""The JSON of `/access`, as types."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import AwareDatetime, BaseModel, Field
from typing_extensions import TypedDict  # pydantic reads no other on Python 3.11


class ApiKeyBody(BaseModel):
    """A key to be made."""

    name: Annotated[str, Field(max_length=200, description="What people call it, and the log.")]
    roles: Annotated[Sequence[str], Field(description="ingest, read, steward, admin.")]
    scopes: Annotated[Sequence[str], Field(description="Patterns of namespaces; `*` for all.")] = ()
    nodes: Annotated[Sequence[str] | None, Field(description="Patterns of nodes whose events it may bring.")] = None
    knowsRestricted: Annotated[bool, Field(description="Whether it may know restricted columns.")] = False
    until: Annotated[AwareDatetime | None, Field(description="When it ends.")] = None


class ApiKey(TypedDict):
    """A key, without its secret."""

    id: str
    name: str
    roles: Sequence[str]
    scopes: Sequence[str]
    nodes: Sequence[str]
    knowsRestricted: bool
    until: str | None
    isRevoked: bool


class NewApiKey(ApiKey):
    """A key that was just made: its secret is told this once."""

    secret: str


class ApiKeys(TypedDict):
    """Every key there ever was."""

    keys: Sequence[ApiKey]


class Me(TypedDict):
    """Who asks, and what they were given; `name` is None where everybody may ask."""

    name: str | None
    roles: Sequence[str]
    scopes: Sequence[str]
    knowsRestricted: bool


class ExportBody(BaseModel):
    """A part of the log that is exported."""

    begin: Annotated[int, Field(ge=0, le=2**53, description="The first entry.")]
    end: Annotated[int, Field(ge=0, le=2**53, description="The entry behind the last.")]
    dataset: Annotated[Sequence[str] | None, Field(description="Namespace and name, if only what is about it.")] = None


class Deed(TypedDict):
    """One thing that was done; `target` is its kind and its names."""

    what: str
    target: Sequence[str]


class Action(TypedDict):
    """An entry of the log by which somebody did something; `by` is None where nobody was asked who they are."""

    index: int
    at: str
    by: str | None
    did: Sequence[Deed]


class Actions(TypedDict):
    """A page of actions, the newest first."""

    actions: Sequence[Action]
    totalCount: int
