"""Equivalent spellings of names: schemes, default ports, leading and trailing slashes, the case of hosts.

Only what the systems themselves treat as equal; nothing is guessed from similar names.
"""

import re
from functools import lru_cache
from typing import Final

from headwater.model.names import DatasetId
from headwater.model.naming import S3_SCHEMES, first_address

_URI: Final = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]*)://(?P<rest>.*)", re.IGNORECASE)
_PORT: Final = re.compile(r":(?P<port>\d+|none)$")
"""`none` is Python's, which OpenLineage's integration for Airflow wrote into names."""
_FILE_URL: Final = re.compile(r"file:(?!//[^/])/*|file://localhost(?:/+|\Z)")
"""The start of a file's URL on this host, with any number of slashes but two: another host follows these (RFC 8089)."""
_DBFS: Final = re.compile(r"dbfs(:/*)?")
_DBFS_URL: Final = re.compile(r"dbfs:(?:/|/{3,})(?!/)")
"""The start of a file's URL in a workspace's own DBFS; after two slashes comes the workspace instead."""
_GLUE: Final = re.compile(r"(?:arn:)?(?P<account>aws[a-z-]*:glue:[^:/]+:[^:/]+)")
_GLUE_TABLE: Final = re.compile(r"table/(?P<database>[^/.]+)/(?P<table>[^/.]+)")

_SCHEMES: Final = {
    **dict.fromkeys(S3_SCHEMES, "s3"),
    "gcs": "gs",
    "postgresql": "postgres",
    "sqlserver": "mssql",
    "wasbs": "wasb",
    "abfss": "abfs",
}
"""Hadoop's schemes for one store, with and without TLS; Python's for Google's; the two that PostgreSQL's own library
accepts; SQL Server's in its JDBC driver, which OpenLineage's Java client keeps, and in the naming rules."""
_PORTS: Final = {
    "postgres": "5432",
    "mysql": "3306",
    "mssql": "1433",
    "oracle": "1521",
    "redshift": "5439",
    "cassandra": "9042",
    "mongodb": "27017",
    "hive": "10000",
    "hdfs": "8020",
    "snowflake": "443",
}
"""The default port of each system's client."""
_ON_HOSTS: Final = _PORTS.keys() | {
    *("awsathena", "azurecosmos", "azurekusto", "crate", "db2", "file", "http", "https", "kafka"),
    *("oceanbase", "teradata", "thrift", "trino"),
}
"""Schemes whose namespace is a host: its case does not matter, nor does the user."""
_IN_ACCOUNTS: Final = frozenset({"abfs", "wasb"})
"""Schemes with a container before the host, `container@account.dfs.core.windows.net`, instead of a user."""
_SNOWFLAKE_HOST: Final = ".snowflakecomputing.com"
"""Follows the account in its address, which OpenLineage's agent for Spark reports."""
_IN_FOLDERS: Final = frozenset({"s3", "gs", "hdfs", "abfs", "wasb", "file", "dbfs"})
_ROOTED: Final = _IN_FOLDERS - {"file"}
"""Schemes whose paths all start at the root, so that the first slash is optional: the naming rules once had it in
object names and now omit it, and OpenLineage's agent for Spark does both, in one event."""


@lru_cache(maxsize=100_000)
def normal(name: DatasetId) -> DatasetId:
    """The form that all spellings of the name have in common; for comparing, not for showing.

    >>> normal(DatasetId("s3a://lake/", "/raw/orders/"))
    DatasetId(namespace='s3://lake', name='raw/orders')
    >>> normal(DatasetId("postgresql://db:5432", "shop.public.orders"))
    DatasetId(namespace='postgres://db', name='shop.public.orders')
    """
    namespace, scheme = _normal_namespace(name.namespace)
    if scheme == "glue":
        return DatasetId(namespace, _GLUE_TABLE.sub(r"\g<database>.\g<table>", name.name))
    within = name.name
    if scheme in _IN_FOLDERS:
        within = within.rstrip("/")
        within = within.removeprefix("/") if scheme in _ROOTED else within
    return DatasetId(namespace, within or name.name)


@lru_cache(maxsize=10_000)
def normal_namespace(namespace: str) -> str:
    """The form that all spellings of the namespace have in common; for comparing, not for showing.

    >>> normal_namespace("S3A://lake/"), normal_namespace("production")
    ('s3://lake', 'production')
    """
    return _normal_namespace(namespace)[0]


def _normal_namespace(namespace: str) -> tuple[str, str]:
    """The namespace in that form, and its scheme, which is empty where it has none that is known."""
    if namespace == "file" or _FILE_URL.fullmatch(namespace):
        return "file", "file"
    if _DBFS.fullmatch(namespace):
        return "dbfs", "dbfs"
    if (glue := _GLUE.fullmatch(namespace)) is not None:
        return f"arn:{glue['account']}", "glue"
    uri = _URI.fullmatch(namespace)
    if uri is None:
        return namespace, ""
    scheme = uri["scheme"].lower()
    scheme = _SCHEMES.get(scheme, scheme)
    rest = uri["rest"].rstrip("/")
    authority, slash, path = rest.partition("/")
    before, at, host = authority.rpartition("@")
    if scheme in _ON_HOSTS:
        authority = _normal_host(scheme, host.lower())
    elif scheme in _IN_ACCOUNTS:
        authority = f"{before}{at}{host.lower()}" if at else authority
    return f"{scheme}://{authority}{slash}{path}", scheme


def _normal_host(scheme: str, host: str) -> str:
    if scheme in _PORTS:
        host = _PORT.sub(lambda found: "" if found["port"] in ("none", _PORTS[scheme]) else found[0], host)
    return host.removesuffix(_SNOWFLAKE_HOST) if scheme == "snowflake" else host


def normal_uri(uri: str) -> str:
    """The form that all spellings of a catalog's or warehouse's address have in common.

    >>> normal_uri("s3a://lake/"), normal_uri("file:///data/lake"), normal_uri("thrift://Metastore:9083")
    ('s3://lake', 'file:/data/lake', 'thrift://metastore:9083')
    >>> normal_uri("thrift://m1:9083,thrift://m2:9083")
    'thrift://m1:9083'
    """
    for scheme, beginning in (("file", _FILE_URL), ("dbfs", _DBFS_URL)):
        if (found := beginning.match(uri)) is not None:
            return f"{scheme}:/{uri[found.end() :].rstrip('/')}"
    return normal(DatasetId(first_address(uri), "/")).namespace


def normal_place(name: DatasetId) -> str:
    """The address of what lies at a path, in the form of `normal_uri`.

    >>> normal_place(DatasetId("s3a://lake/", "/raw/orders")), normal_place(DatasetId("file", "/data/orders"))
    ('s3://lake/raw/orders', 'file:/data/orders')
    """
    namespace, path = normal(name)
    return f"{namespace}{':/' if namespace in ('file', 'dbfs') else '/'}{path.lstrip('/')}"
