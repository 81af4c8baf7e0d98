"""Derives a dataset's name from a data source's address, so that every producer uses the same name.

Addresses contain secrets: user names, passwords, tokens, signed queries. Only what the rules below extract by an exact
grammar gets into a name; anything else is refused, without quoting it.

The official client has classes for some of these names, but importing one imports the whole client, which small
programs cannot afford (`slim`).

Source: OpenLineage naming conventions, https://openlineage.io/docs/spec/naming
"""

import posixpath
import re
from collections.abc import Iterable
from typing import Final, NamedTuple
from urllib.parse import unquote

from headwater.errors import InvalidNameError
from headwater.model import credentials
from headwater.model.names import DatasetId

DEFAULT_KAFKA_PORT: Final = 9092

HOST: Final = r"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)"
"""A host name, an IPv4 address or an IPv6 address in brackets, as a regular expression."""

S3_SCHEMES: Final = frozenset({"s3", "s3a", "s3n"})
"""Includes Hadoop's schemes for S3, which all mean the same store."""

_URL = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]+):(?://(?P<authority>[^/?#]*))?(?P<path>[^?#]*)(?P<more>.*)", re.DOTALL
)
_HOST_AND_PORT = re.compile(rf"(?P<host>{HOST})(?::(?P<port>\d{{1,5}}))?")
_BUCKET = re.compile(r"[A-Za-z0-9._-]+")
_AZURE_CONTAINER = re.compile(rf"(?P<container>[A-Za-z0-9$-]+)@(?P<account>{HOST})")
_LOGIN = re.compile(r"/*[^/]*:[^/]*@")
_NEXT_ADDRESS = re.compile(r"\s*,\s*(?=[A-Za-z][A-Za-z0-9+.-]*://)")
_KAFKA_LISTENER = re.compile(r"[A-Za-z_]+://")


class _Location(NamedTuple):
    scheme: str
    authority: str
    path: str


def file_dataset(location: str) -> DatasetId:
    """Name the file or folder at an absolute path or a URL; a table's location is named alike.

    A trailing slash, a query and credentials make no difference. In a `file:` URL, `?` and `#` are part of the path:
    Hadoop does not escape them. `s3a` and `s3n` are `s3`. What has ways of its own to hold a password (`jdbc:…`,
    `driver:user:password@host`) is no location.

    >>> file_dataset("s3a://lake/raw/flights/")
    DatasetId(namespace='s3://lake', name='raw/flights')
    >>> file_dataset("file:///data/flights.csv")
    DatasetId(namespace='file', name='/data/flights.csv')

    Raises:
        InvalidNameError: the path is relative, or the URL's host or bucket cannot be read.
    """
    found = _URL.match(location)
    named = DatasetId("file", _absolute(location)) if found is None else _at_url(found)
    return DatasetId(*map(_plain, named))


def path_dataset(path: str) -> DatasetId:
    """Name the file or folder at a path of Hadoop's or Flink's; like a URL, but nothing in it is escaped.

    >>> path_dataset("file:/data/hour=10%3A00"), file_dataset("file:/data/hour=10%3A00")
    (DatasetId(namespace='file', name='/data/hour=10%3A00'), DatasetId(namespace='file', name='/data/hour=10:00'))

    Raises:
        InvalidNameError: as `file_dataset`.
    """
    return file_dataset(path.replace("%", "%25") if path.startswith("file:") else path)


def warehouse_table(warehouse: str, table: str) -> DatasetId:
    """The second name (symlink) of a table which a catalog keeps under `warehouse`.

    >>> warehouse_table("file:///data/lake", "raw.flights")
    DatasetId(namespace='file:/data/lake', name='raw.flights')

    Raises:
        InvalidNameError: as `file_dataset`, or the table's name is empty.
    """
    if not table:
        raise InvalidNameError("table: expected a name, found nothing")
    namespace, path = file_dataset(warehouse)
    if path == "/":
        return DatasetId(namespace, table)
    return DatasetId(f"{namespace}:{path}" if namespace == "file" else f"{namespace}/{path.lstrip('/')}", table)


def kafka_dataset(bootstrap_servers: str | Iterable[str], topic: str) -> DatasetId:
    """Name a topic by the first of the bootstrap servers, as Spark's, Flink's and Debezium's agents do.

    Raises:
        InvalidNameError: there is no server or no topic, or the first server is no `host[:port]`.
    """
    servers = bootstrap_servers.split(",") if isinstance(bootstrap_servers, str) else list(bootstrap_servers)
    first = _KAFKA_LISTENER.sub("", servers[0].strip(), count=1) if servers else ""
    found = _HOST_AND_PORT.fullmatch(first)
    if found is None:
        raise InvalidNameError("bootstrap servers: expected host[:port] first")
    if not topic:
        raise InvalidNameError("topic: expected a name, found nothing")
    return DatasetId(f"kafka://{found['host'].lower()}:{found['port'] or DEFAULT_KAFKA_PORT}", topic)


def without_secrets(url: str) -> str:
    """A URL that may be shown: its user, password, query and fragment are gone, and nothing else changed.

    >>> without_secrets("https://me:secret@registry:8081/subjects?token=x")
    'https://registry:8081/subjects'

    Raises:
        InvalidNameError: this is no URL with a host, or has a password in its path.
    """
    found = _URL.match(url)
    if found is None:
        raise InvalidNameError("url: expected scheme://host/path")
    return _plain(f"{found['scheme']}://{authority(found['authority'] or '')}{found['path']}")


def first_address(addresses: str) -> str:
    """The first of several addresses between commas: that of a Hive metastore with others that stand in for it.

    So OpenLineage's agent for Spark names it, too.

    >>> first_address("thrift://m1:9083, thrift://m2:9083"), first_address("s3://lake/a,b")
    ('thrift://m1:9083', 's3://lake/a,b')
    """
    return _NEXT_ADDRESS.split(addresses, maxsplit=1)[0].strip()


def authority(text: str, default_port: int | None = None) -> str:
    """The hosts of an authority, `host:port` each and joined by commas, without the users before them.

    Raises:
        InvalidNameError: a host cannot be read; so a password with an unescaped slash is not taken for one.
    """
    return ",".join(_host_and_port(host.rpartition("@")[2], default_port) for host in text.split(","))


def _plain(text: str) -> str:
    if credentials.without_secrets(text) != text:
        raise InvalidNameError("location: must not contain a password")
    return text


def _host_and_port(text: str, default_port: int | None) -> str:
    found = _HOST_AND_PORT.fullmatch(text)
    if found is None:
        raise InvalidNameError("url: expected host[:port] after //")
    port = found["port"] or default_port
    return f"{found['host'].lower()}:{port}" if port else found["host"].lower()


def _at_url(found: re.Match[str]) -> DatasetId:
    at = _Location(found["scheme"].lower(), found["authority"] or "", found["path"])
    match at.scheme:
        case "file":
            return _file_url(at._replace(path=at.path + found["more"]))
        case scheme if scheme in S3_SCHEMES:
            return DatasetId(f"s3://{_bucket(at.authority)}", _object_key(at.path))
        case "gs":
            return DatasetId(f"gs://{_bucket(at.authority)}", _object_key(at.path))
        case "abfs" | "abfss" | "wasb" | "wasbs":
            return DatasetId(f"{at.scheme}://{_azure_container(at.authority)}", _object_key(at.path))
        case _:
            return _path_on_host(at)


def _file_url(at: _Location) -> DatasetId:
    path = _absolute(unquote(at.path))
    if at.authority in ("", "localhost"):
        return DatasetId("file", path)
    return DatasetId(f"file://{authority(at.authority)}", path)


def _path_on_host(at: _Location) -> DatasetId:
    path = at.path.rstrip("/") or "/"
    if not at.authority and (not at.path.startswith("/") or _LOGIN.match(at.path)):
        raise InvalidNameError("location: expected scheme://host/path or an absolute path")
    return DatasetId(f"{at.scheme}://{authority(at.authority)}" if at.authority else at.scheme, path)


def _absolute(path: str) -> str:
    if not path.startswith("/"):
        raise InvalidNameError("location: expected an absolute path or a URL")
    return "/" + posixpath.normpath(path).lstrip("/")


def _bucket(text: str) -> str:
    bucket = text.rpartition("@")[2]
    if not _BUCKET.fullmatch(bucket):
        raise InvalidNameError("location: expected a bucket after //")
    return bucket


def _azure_container(text: str) -> str:
    found = _AZURE_CONTAINER.fullmatch(text)
    if found is None:
        raise InvalidNameError("location: expected container@account after //")
    return f"{found['container']}@{found['account'].lower()}"


def _object_key(path: str) -> str:
    return path.strip("/") or "/"
