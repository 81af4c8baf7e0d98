"""Connections to the servers that a pipeline reads from or writes to."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from headwater.pipeline.terms import EnvName, HttpUrl, Name, PositiveInt, Seconds


@dataclass(frozen=True, kw_only=True)  # no slots: Python allows one base class with them
class S3Access:
    """The access to a bucket, if it differs from the usual AWS environment variables.

    Attributes:
        endpoint: the endpoint of an S3 other than Amazon's, addressed with the bucket in the path.
        access_key_env: the environment variable with the id of the access key.
        secret_key_env: the environment variable with its secret.
        session_token_env: the environment variable with the session token, if any.
    """

    endpoint: HttpUrl | None = None
    region: Name | None = None
    access_key_env: EnvName | None = None
    secret_key_env: EnvName | None = None
    session_token_env: EnvName | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpAuth:
    """The authentication at an API: `bearer` and `header` take a token, `basic` user and password.

    Attributes:
        header: for `header`, the name of the header with the token.
        token_env: the environment variable with the token.
    """

    type: Literal["bearer", "basic", "header"]
    header: Name | None = None
    token_env: EnvName | None = None
    user_env: EnvName | None = None
    password_env: EnvName | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Paging:
    """The paging of an API.

    Attributes:
        by: `page` counts pages, `offset` records; `cursor` is a value of the answer; `link` the `Link` with rel=next.
        parameter: the query parameter for the page's number, the offset or the cursor; by default the value of `by`.
        first: the first page's number.
        size: records of a full page; a smaller one is the last.
        size_parameter: the query parameter for `size`.
        next: the path of the cursor in the answer, such as `meta.next`; the last page has none.
    """

    by: Literal["page", "offset", "cursor", "link"]
    parameter: Name | None = None
    first: int = 1
    size: PositiveInt | None = None
    size_parameter: Name | None = None
    next: Name | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpCall:
    """The settings of calls to an API.

    Attributes:
        timeout: for connecting, sending and each wait for an answer.
        retries: how often a call is retried after a temporary failure: no answer, 408, 425, 429 or 5xx.
    """

    url: HttpUrl
    headers: Mapping[str, str] = field(default_factory=dict)
    auth: HttpAuth | None = None
    timeout: Seconds = 30.0
    retries: int = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaSecurity:
    """The security of a broker's connection, if it is not plain text.

    Attributes:
        mechanism: the SASL mechanism for user and password.
        user_env: the environment variable with the user.
        password_env: the environment variable with the password.
    """

    protocol: Literal["SSL", "SASL_SSL", "SASL_PLAINTEXT"]
    mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] = "PLAIN"
    user_env: EnvName | None = None
    password_env: EnvName | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaRegistry:
    """A schema registry with Confluent's API.

    Attributes:
        subject: the subject of the topic's values; None: TOPIC-value.
        from_version: the first version that is read; None: all versions of the subject.
    """

    url: HttpUrl
    subject: Name | None = None
    from_version: PositiveInt | None = None
    user_env: EnvName | None = None
    password_env: EnvName | None = None
