"""Spellings of one name that mean the same: schemes, default ports, slashes at the end.

Only what the systems themselves take for the same is here; nothing is guessed from names that look alike.
"""

import re
from functools import lru_cache
from typing import Final

from headwater.model.names import DatasetId

_URI: Final = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]*)://(?P<rest>.*)", re.IGNORECASE)
_PORT: Final = re.compile(r":(?P<port>\d+)(?=/|$)")
_FILE: Final = re.compile(r"file:/*")

_SCHEMES: Final = {
    "s3a": "s3",
    "s3n": "s3",
    "postgresql": "postgres",
    "sqlserver": "mssql",
    "wasbs": "wasb",
    "abfss": "abfs",
}
"""Hadoop's clients of one store, with and without TLS; the two schemes that PostgreSQL's own library takes; and SQL
Server as its JDBC driver calls it, which OpenLineage's Java client keeps, and as the naming rules do."""
_PORTS: Final = {
    "postgres": "5432",
    "mysql": "3306",
    "mssql": "1433",
    "oracle": "1521",
    "redshift": "5439",
    "cassandra": "9042",
    "mongodb": "27017",
    "hive": "10000",
}
"""The port that the client of each takes where none is given."""
_OF_FILES: Final = frozenset({"s3", "gs", "hdfs", "abfs", "wasb", "file", "dbfs"})


@lru_cache(maxsize=100_000)
def normal(name: DatasetId) -> DatasetId:
    """The form that all spellings of the name have in common; for comparing, not for showing.

    >>> normal(DatasetId("s3a://lake/", "raw/orders/"))
    DatasetId(namespace='s3://lake', name='raw/orders')
    >>> normal(DatasetId("postgresql://db:5432", "shop.public.orders"))
    DatasetId(namespace='postgres://db', name='shop.public.orders')
    """
    if _FILE.fullmatch(name.namespace):
        return DatasetId("file", name.name.rstrip("/") or name.name)
    uri = _URI.fullmatch(name.namespace)
    if uri is None:
        return DatasetId(name.namespace, name.name.rstrip("/") or name.name) if name.namespace == "file" else name
    scheme = uri["scheme"].lower()
    scheme = _SCHEMES.get(scheme, scheme)
    rest = uri["rest"].rstrip("/")
    if scheme in _PORTS:
        rest = _PORT.sub(lambda found: "" if found["port"] == _PORTS[scheme] else found[0], rest, count=1)
    name_part = name.name.rstrip("/") if scheme in _OF_FILES else name.name
    return DatasetId(f"{scheme}://{rest}", name_part or name.name)


def normal_uri(uri: str) -> str:
    """The form that all spellings of a catalog's or warehouse's address have in common.

    >>> normal_uri("s3a://lake/"), normal_uri("file:///data/lake"), normal_uri("thrift://metastore:9083")
    ('s3://lake', 'file:/data/lake', 'thrift://metastore:9083')
    """
    if (of_files := _FILE.match(uri)) is not None:
        return f"file:/{uri[of_files.end() :].rstrip('/')}"
    return normal(DatasetId(uri, "/")).namespace
