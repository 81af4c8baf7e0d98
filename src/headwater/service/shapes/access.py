"""The JSON of `/access`, as types."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import AwareDatetime, BaseModel, Field
from typing_extensions import TypedDict  # pydantic reads no other on Python 3.11


class ApiKeyBody(BaseModel):
    """An API key to be created."""

    name: Annotated[str, Field(max_length=200, description="What people call it, and the log.")]
    roles: Annotated[Sequence[str], Field(description="ingest, read, steward, admin.")]
    scopes: Annotated[Sequence[str], Field(description="Patterns of namespaces; `*` for all.")] = ()
    nodes: Annotated[Sequence[str] | None, Field(description="Patterns of nodes whose events it may bring.")] = None
    knowsRestricted: Annotated[bool, Field(description="Whether it may know restricted columns.")] = False
    until: Annotated[AwareDatetime | None, Field(description="When it ends.")] = None


class ApiKey(TypedDict):
    """An API key, without its secret."""

    id: str
    name: str
    roles: Sequence[str]
    scopes: Sequence[str]
    nodes: Sequence[str]
    knowsRestricted: bool
    until: str | None
    isRevoked: bool


class NewApiKey(ApiKey):
    """A newly created API key, with its secret, which is shown only this once."""

    secret: str


class ApiKeys(TypedDict):
    """All API keys, including revoked ones."""

    keys: Sequence[ApiKey]


class Me(TypedDict):
    """The caller, with roles and scopes; `name` is None without access control."""

    name: str | None
    roles: Sequence[str]
    scopes: Sequence[str]
    knowsRestricted: bool


class ExportBody(BaseModel):
    """A part of the log that is exported."""

    begin: Annotated[int, Field(ge=0, le=2**53, description="The first entry.")]
    end: Annotated[int, Field(ge=0, le=2**53, description="The entry behind the last.")]
    dataset: Annotated[Sequence[str] | None, Field(description="Namespace and name, if only what is about it.")] = None
    upstream: Annotated[bool, Field(description="Whether also what tells what the dataset is made from.")] = False


class Deed(TypedDict):
    """One thing that was done; `target` is its kind and its names."""

    what: str
    target: Sequence[str]


class Action(TypedDict):
    """An entry of the log that records an action; `by` is None if nobody was identified."""

    index: int
    at: str
    by: str | None
    did: Sequence[Deed]


class Actions(TypedDict):
    """A page of actions, newest first."""

    actions: Sequence[Action]
    totalCount: int
