"""The endpoints that a pipeline uses, and whether a region allows them.

An endpoint is anything beyond this machine that a pipeline exchanges data or lineage with: a URL of any scheme, a
database, a broker, a bucket. Every value in the pipeline's file is examined, so a new kind of input needs no change
here. Not examined: the code of a `python` processor.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Final, NamedTuple
from urllib.parse import unquote, urlsplit
from urllib.request import proxy_bypass_environment  # type: ignore[attr-defined]  # typeshed leaves it out

from headwater.agent.databases import redirect_reason, redirecting_options, redirecting_properties
from headwater.agent.sql_addresses import UndeterminedAddressError, sql_addresses
from headwater.errors import InvalidInputError, InvalidNameError
from headwater.model.naming import S3_SCHEMES
from headwater.model.naming_jdbc import jdbc_dataset
from headwater.pipeline.checking.grammar import INPUT, OUTPUT, PROCESSOR, Slot
from headwater.pipeline.spec import (
    CatalogSpec,
    FilterProcessor,
    GenerateInput,
    KafkaInput,
    KafkaOutput,
    LineageSpec,
    MappingProcessor,
    PipelineSpec,
    SqlInput,
    SqlOutput,
    SqlProcessor,
)

_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_QUOTED_IN_SQL: Final = re.compile(r"`([A-Za-z][A-Za-z0-9+.-]*://[^`]*)`")
_NAMES_A_HOST: Final = re.compile(r"(^|[._-])(endpoint|bootstrap\.servers|servers|host|hosts|url|uri)$", re.IGNORECASE)
_HOST: Final = re.compile(r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]+)?")
_LOCAL: Final = re.compile(r"$|[/.]|file:|sqlite:|jdbc:", re.IGNORECASE)
"""The beginning of a value that names no host, or whose host `endpoint` finds."""
_PORTS: Final = {"http": 80, "https": 443}
_LOCAL_SCHEMES: Final = frozenset({"file", "sqlite"})
_ANY: Final = ""
_PUT_TOGETHER: Final = frozenset({"inputs", "processors", "outputs", "lineage", "source", "name", "namespace"})
_SPARK_SQL: Final = {
    FilterProcessor: "condition",
    GenerateInput: "columns",
    MappingProcessor: "columns",
    SqlProcessor: "query",
}
"""The field with one SQL text, or several by column."""
_OF_AWS: Final = {
    "s3": ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"),
    "glue": ("AWS_ENDPOINT_URL_GLUE", "AWS_ENDPOINT_URL"),
}
"""By scheme: the environment variables with the real endpoint; the first that is set counts."""
_TO_DRIVER: Final = "jdbc."
"""The prefix of an Iceberg catalog's options that are passed to the JDBC driver."""
_CATALOG: Final = "spark.sql.catalog."
_SPARKS_CATALOG: Final = ".JDBCTableCatalog"
_ALL_PROXY: Final = ("all_proxy", "ALL_PROXY")
_PROXIES: Final = {
    "http": ("http_proxy", "HTTP_PROXY", *_ALL_PROXY),
    "https": ("https_proxy", "HTTPS_PROXY", *_ALL_PROXY),
}
"""By scheme: the environment variables with the proxy; the first that is set counts."""
_NO_REGION: Final = "default"


class Endpoint(NamedTuple):
    """A network location beyond this machine.

    Attributes:
        scheme: in lower case; empty if only host and port are known.
        authority: host and port, a bucket, or a region; in lower case.
        path: with a leading slash, or empty for everything there.
    """

    scheme: str
    authority: str
    path: str = ""

    def __str__(self) -> str:
        """As a URL."""
        return f"{self.scheme or '*'}://{self.authority}{self.path}"


class NamedEndpoint(NamedTuple):
    """An endpoint and its place in the pipeline's file; `why` it cannot be determined, if so."""

    path: str
    endpoint: Endpoint
    why: str | None = None


def endpoint(text: str) -> Endpoint | None:
    """The endpoint of a URL; None for a local path or file.

    >>> endpoint("https://Lineage.example/api/v1")
    Endpoint(scheme='https', authority='lineage.example:443', path='/api/v1')
    >>> endpoint("jdbc:postgresql://db.example/shop?ssl=true")
    Endpoint(scheme='postgres', authority='db.example:5432', path='')
    >>> endpoint("/data/orders.csv")

    Raises:
        InvalidInputError: the URL's host cannot be read, or it is a JDBC URL that may connect elsewhere.
    """
    if _is_jdbc(text):
        return _database(text)
    if not _URL.match(text):
        return None
    if text.partition(":")[0].lower() not in _PORTS:  # to Hadoop's file systems these belong to a name
        text = text.replace("?", "%3F").replace("#", "%23")
    try:
        parts = urlsplit(text)
        port = parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        raise InvalidInputError("expected a URL with a host") from None
    if parts.scheme in _LOCAL_SCHEMES:
        return None
    if not parts.hostname:
        raise InvalidInputError("expected a URL with a host")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    authority = f"{host}:{port}" if port else parts.netloc.rpartition("@")[2].lower()
    scheme = "s3" if parts.scheme in S3_SCHEMES else parts.scheme
    return Endpoint(scheme, authority, unquote(parts.path).rstrip("/"))


def allowed_by(text: str) -> Endpoint:
    """The endpoint that an entry of `allowed_endpoints` allows, with everything below its path.

    Raises:
        InvalidInputError: the entry is not an endpoint, or holds credentials, which would be shown to everybody.
    """
    found = endpoint(text)
    if "@" in text.partition("://")[2].partition("/")[0]:
        raise InvalidInputError("expected a URL without credentials: endpoints are allowed for any user")
    if found is None:
        raise InvalidInputError(
            "expected a URL, such as https://lineage.example, s3://bucket/prefix, kafka://host:9092"
        )
    return found


def is_allowed(one: Endpoint, allowed: Iterable[Endpoint]) -> bool:
    """Whether an entry has the same scheme and authority, and the same path or one above it."""
    return any(
        one.scheme in (each.scheme, _ANY)
        and one.authority == each.authority
        and (one.path == each.path or one.path.startswith(f"{each.path}/"))
        and "/../" not in f"{one.path}/"
        and not (each.path and _has_folders_in_braces(one.path))
        for each in allowed
    )


def _has_folders_in_braces(path: str) -> bool:
    """Whether alternatives in braces, which Spark expands, contain a slash: they may be `../elsewhere`."""
    depth = 0
    for sign in re.sub(r"\\.", "", path):
        depth += (sign == "{") - (sign == "}")
        if depth > 0 and sign == "/":
            return True
    return False


def refusals(
    spec: PipelineSpec, allowed: Sequence[Endpoint], environment: Mapping[str, str] | None = None
) -> list[str]:
    """A message for each endpoint that is not allowed, with its place in the file; never a URL's query."""
    found = [*named(spec)]
    found += dict.fromkeys(meant for each in found for meant in _of_environment(each.endpoint, environment or {}))
    return [_refusal(each) for each in found if each.why or not is_allowed(each.endpoint, allowed)]


def named(spec: PipelineSpec) -> Iterator[NamedEndpoint]:
    """Every endpoint that a pipeline names, and the defaults where it names none."""
    for one in spec.inputs.values():
        yield from _walk(one.reads, f"{one.location.path}.{_key(INPUT, one.reads)}")
    for step in spec.processors:
        yield from _walk(step.does, f"{step.location.path}.{_key(PROCESSOR, step.does)}")
    for output in spec.outputs:
        yield from _walk(output.writes, f"{output.location.path}.{_key(OUTPUT, output.writes)}")
    yield from _lineage(spec.lineage)
    yield from _in_spark(spec.spark)
    for field in fields(spec):
        if field.name not in _PUT_TOGETHER:
            yield from _walk(getattr(spec, field.name), field.name)


def _refusal(one: NamedEndpoint) -> str:
    if one.why is not None:
        return f"{one.path}: {one.why}, and the agent's allowed_endpoints allow only endpoints that can be determined"
    return f"{one.path}: {one.endpoint} is not in the agent's allowed_endpoints"


def _lineage(lineage: LineageSpec) -> Iterator[NamedEndpoint]:
    if lineage.enabled and lineage.transport in ("http", "both"):
        yield from _walk(lineage.http, "lineage.http")


def _walk(value: object, path: str) -> Iterator[NamedEndpoint]:
    if isinstance(value, str):
        yield from _in_text(value, path)
    elif is_dataclass(value):
        yield from _implied(value, path)
        for field in fields(value):
            walk = _in_sql if field.name == _SPARK_SQL.get(type(value)) else _walk
            yield from walk(getattr(value, field.name), f"{path}.{field.name}")
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from _walk(each, f"{path}.{key}")
    elif isinstance(value, tuple | list):
        for index, each in enumerate(value):
            yield from _walk(each, f"{path}.{index}")


def _in_text(text: str, path: str) -> Iterator[NamedEndpoint]:
    parts = [text] if _is_jdbc(text) else text.split(",")  # in a JDBC URL a comma separates hosts
    if "{" in text:
        parts[0] = text  # between braces it separates the alternatives of one path
    for part in (*_QUOTED_IN_SQL.findall(text), *parts):
        try:
            found = endpoint(part.strip())
        except InvalidInputError as wrong:
            yield NamedEndpoint(path, Endpoint("unreadable", ""), str(wrong))
            continue
        if found is not None:
            yield NamedEndpoint(path, found)
        elif _NAMES_A_HOST.search(path) and not _LOCAL.match(part.strip()):
            yield _host_in(part.strip(), path)


def _in_sql(sql: str | Mapping[str, str], path: str) -> Iterator[NamedEndpoint]:
    if not isinstance(sql, str):
        for column, expression in sql.items():
            yield from _in_sql(expression, f"{path}.{column}")
        return
    try:
        for each in sql_addresses(sql):
            if each.option or "://" in each.text:
                yield from _in_text(each.text, f"{path}.{each.option}" if each.option else path)
    except UndeterminedAddressError as why:
        yield NamedEndpoint(path, Endpoint("unreadable", ""), str(why))


def _host_in(text: str, path: str) -> NamedEndpoint:
    """The endpoint of a host without a scheme; software accepts a user before it, and a path after it."""
    authority = text.partition("/")[0].rpartition("@")[2].lower()
    if _HOST.fullmatch(authority):
        return NamedEndpoint(path, Endpoint(_ANY, authority))
    return NamedEndpoint(path, Endpoint("unreadable", ""), "expected a URL with a host")


def _implied(value: object, path: str) -> Iterator[NamedEndpoint]:
    if isinstance(value, KafkaInput | KafkaOutput):
        for index, address in enumerate(value.addresses):
            yield NamedEndpoint(f"{path}.addresses.{index}", Endpoint("kafka", address.lower()))
    if isinstance(value, SqlInput | SqlOutput):
        for name in redirecting_options(value.url, value.options):
            yield _may_connect_elsewhere(f"{path}.options.{name}")
    if isinstance(value, CatalogSpec) and value.type == "jdbc":
        of_driver = (name for name in value.options if name.startswith(_TO_DRIVER))
        for name in redirecting_properties(value.uri or "", (name.removeprefix(_TO_DRIVER) for name in of_driver)):
            yield _may_connect_elsewhere(f"{path}.options.{_TO_DRIVER}{name}")
    if isinstance(value, CatalogSpec) and value.type == "glue" and "glue.endpoint" not in value.options:
        yield NamedEndpoint(path, Endpoint("glue", value.options.get("client.region", _NO_REGION)))


def _in_spark(spark: Mapping[str, str]) -> Iterator[NamedEndpoint]:
    """JDBC driver properties of catalogs in Spark's configuration that may connect elsewhere."""
    for key, url in spark.items():
        catalog, dot, name = key.rpartition(".")
        if not (catalog.startswith(_CATALOG) and dot and name in ("uri", "url") and _is_jdbc(url)):
            continue
        options = [each.removeprefix(f"{catalog}.") for each in spark if each.startswith(f"{catalog}.")]
        if spark.get(catalog, "").endswith(_SPARKS_CATALOG):
            redirecting = redirecting_options(url, options)
        else:
            of_driver = (each.removeprefix(_TO_DRIVER) for each in options if each.startswith(_TO_DRIVER))
            redirecting = [f"{_TO_DRIVER}{each}" for each in redirecting_properties(url, of_driver)]
        yield from (_may_connect_elsewhere(f"spark.{catalog}.{each}") for each in redirecting)


def _may_connect_elsewhere(path: str) -> NamedEndpoint:
    return NamedEndpoint(path, Endpoint("unreadable", ""), "this property may connect the driver to another server")


def _of_environment(one: Endpoint, environment: Mapping[str, str]) -> Iterator[NamedEndpoint]:
    """The real endpoint, or the proxy before it, from environment variables."""
    if (variable := _first_set(_OF_AWS.get(one.scheme, ()), environment)) is not None:
        yield from _in_text(environment[variable], variable)
    if (variable := _first_set(_PROXIES.get(one.scheme, ()), environment)) is not None:
        context = _first_set(("no_proxy", "NO_PROXY"), environment)
        if context is None or not proxy_bypass_environment(one.authority, {"no": environment[context]}):
            proxy = environment[variable]
            yield from _in_text(proxy if "://" in proxy else f"http://{proxy}", variable)


def _first_set(variables: Iterable[str], environment: Mapping[str, str]) -> str | None:
    return next((name for name in variables if environment.get(name)), None)


def _is_jdbc(text: str) -> bool:
    return text.lstrip().lower().startswith("jdbc:")


def _database(url: str) -> Endpoint | None:
    if (why := redirect_reason(url)) is not None:
        raise InvalidInputError(why)
    try:
        namespace = jdbc_dataset(url, "schema.table").namespace
    except InvalidNameError:
        return Endpoint("jdbc", "unreadable")
    scheme, separator, authority = namespace.partition("://")
    if not separator:
        return None if scheme.partition(":")[0] in _LOCAL_SCHEMES else Endpoint("jdbc", namespace.lower())
    host, slash, instance = authority.lower().partition("/")
    return Endpoint(scheme, host, slash + instance)


def _key(slot: Slot, value: object) -> str:
    return next(key for key, kind in slot.kinds.items() if type(value) is kind)
