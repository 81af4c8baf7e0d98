"""The name of a table behind a JDBC URL: default ports filled in, credentials and options left out.

Drivers write their URLs each in its own way, and passwords turn up nearly anywhere in them; see `naming` for the rule
that keeps them out of names.

Source: OpenLineage naming conventions, https://openlineage.io/docs/spec/naming
"""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from headwater.errors import InvalidNameError
from headwater.model.names import DatasetId
from headwater.model.naming import HOST, authority


class _Dialect(NamedTuple):
    """The naming of a kind of database and its tables."""

    scheme: str
    port: int
    default_schema: str | None = None
    fold: Callable[[str], str] = str
    """Folds the case of an unquoted name as the database does."""
    is_schema_optional: bool = False
    """Whether two dots stand for the default schema: `shop..orders`."""


_DIALECTS: Mapping[str, _Dialect] = {
    "postgresql": _Dialect("postgres", 5432, "public", str.lower),
    "mysql": _Dialect("mysql", 3306),
    "mariadb": _Dialect("mariadb", 3306),
    "sqlserver": _Dialect("mssql", 1433, "dbo", is_schema_optional=True),
    "redshift": _Dialect("redshift", 5439, "public", str.lower),
}
_ORACLE = _Dialect("oracle", 1521, fold=str.upper)

_WRAPPING = re.compile(rf"jdbc(?::[A-Za-z0-9_-]+|-secretsmanager):(?=(?:{'|'.join(_DIALECTS)}|oracle):)", re.IGNORECASE)
"""What a driver around another one writes before its URL: `jdbc:aws-wrapper:postgresql://…`, `jdbc:p6spy:mysql://…`."""

# Options begin at `?` or `;`, in DB2's form at `:key=`; but before an `@`, `:key=` may be a password.
_JDBC = re.compile(
    r"jdbc:(?P<kind>[A-Za-z0-9]+)[A-Za-z0-9+.-]*:"
    r"(?P<rest>(?:(?!:[A-Za-z]+=[^@]*$)[^?;])*)(?P<options>.*)",
    re.IGNORECASE | re.DOTALL,
)
_OPTION = re.compile(r"[?&;:](?P<key>[A-Za-z]+)=(?:\{(?P<braced>[^}]*)\}|(?P<value>[^&;]*))")
_DATABASE = re.compile(r"[^:=@,]+")
_INSTANCE = re.compile(r"[A-Za-z0-9_$#]*")
_IDENTIFIER = re.compile(r'"(?P<quoted>[^"]+)"|`(?P<ticked>[^`]+)`|\[(?P<braced>[^\]]+)\]|(?P<plain>[^."`\[\]()\s]+)')
_ORACLE_ADDRESS = re.compile(
    rf"(?:(?:[A-Za-z]+:)?//)?(?P<host>{HOST})(?::(?P<port>\d+))?(?:[:/](?P<service_name>[A-Za-z0-9_.$#-]+))?(?:[:/].*)?"
)
_TNS_FIELD = re.compile(rf"\(\s*(?P<key>HOST|PORT|SERVICE_NAME|SID)\s*=\s*(?P<value>{HOST})\s*\)", re.IGNORECASE)


def jdbc_dataset(url: str, table: str) -> DatasetId:
    """Name the table; where neither URL nor table name the schema, it is the database's default.

    Quotes are taken off, and a name without them is folded to the case the database gives it. A database that is a file
    is named by its path as it stands in the URL: make it absolute first. A driver around another one, such as AWS's,
    makes no difference.

    >>> jdbc_dataset("jdbc:postgresql://ann:secret@DB.example/shop?ssl=true", "Orders")
    DatasetId(namespace='postgres://db.example:5432', name='shop.public.orders')
    >>> jdbc_dataset("jdbc:sqlite:/data/shop.db", "orders")
    DatasetId(namespace='sqlite:/data/shop.db', name='orders')

    Raises:
        InvalidNameError: the URL's host or database cannot be read, or `table` is no identifier.
    """
    found = _JDBC.fullmatch(unwrapped(url))
    if found is None:
        raise InvalidNameError("url: expected jdbc:KIND:…")
    kind, rest = found["kind"].lower(), found["rest"]
    options = {
        each["key"].lower(): each["braced"] or each["value"] or "" for each in _OPTION.finditer(found["options"])
    }
    if kind == "oracle":
        return _in_oracle(rest, table)
    if dialect := _DIALECTS.get(kind):
        return _on_server(dialect, rest, options, table)
    return _elsewhere(kind, rest, options, table)


def unwrapped(url: str) -> str:
    """The JDBC URL of the database's own driver, if another driver wraps that one.

    >>> unwrapped("jdbc:p6spy:mysql://db/shop"), unwrapped("jdbc:mysql://db/shop")
    ('jdbc:mysql://db/shop', 'jdbc:mysql://db/shop')
    """
    return _WRAPPING.sub("jdbc:", url, count=1)


def quoted(*names: str) -> str:
    """The identifier that names as a database itself has them make together, of which nothing is folded.

    >>> quoted("sales", "Orders"), jdbc_dataset("jdbc:postgresql://db/shop", quoted("sales", "Orders")).name
    ('"sales"."Orders"', 'shop.sales.Orders')
    """
    return ".".join(f'"{name}"' for name in names)


def parts_of(table: str, fold: Callable[[str], str] = str, default_schema: str | None = None) -> list[str]:
    """The parts of a dotted name, each as `fold` has it where it is not in quotes.

    A schema left out between two dots, as in `shop..orders`, is the default one, if there is one.

    >>> parts_of('sales."Order items"')
    ['sales', 'Order items']

    Raises:
        InvalidNameError: `table` is no identifier.
    """
    parts: list[str] = []
    end = 0
    for found in _IDENTIFIER.finditer(table):
        between = table[end : found.start()]
        if between == ".." and parts and default_schema:
            parts.append(default_schema)
        elif between != ("." if parts else ""):
            break
        parts.append(fold(found["plain"]) if found["plain"] else found["quoted"] or found["ticked"] or found["braced"])
        end = found.end()
    if not parts or end != len(table):
        raise InvalidNameError("table: expected NAME, SCHEMA.NAME or DATABASE.SCHEMA.NAME")
    return parts


def _on_server(dialect: _Dialect, rest: str, options: Mapping[str, str], table: str) -> DatasetId:
    hosts, path = _hosts_and_path(rest)
    schema = _schema_searched(options, dialect.fold) or dialect.default_schema
    holders = _holders(options, path, schema)
    parts = parts_of(table, dialect.fold, schema if dialect.is_schema_optional else None)
    missing = max(0, len(holders) + 1 - len(parts))
    return DatasetId(f"{dialect.scheme}://{_server(hosts, options, dialect)}", ".".join([*holders[:missing], *parts]))


def _server(hosts: str, options: Mapping[str, str], dialect: _Dialect) -> str:
    """`host:port`, and `/instance` behind it where a SQL Server has several.

    SQL Server may put the instance behind a backslash between host and port, or all three into the options.
    """
    host, _, behind = hosts.partition("\\")
    instance, _, port = behind.partition(":")
    instance = options.get("instancename", instance)
    port = options.get("portnumber", port)
    host = host or options.get("servername", "localhost")
    if not _INSTANCE.fullmatch(instance):
        raise InvalidNameError("url: expected an instance name after the host")
    if not instance:
        return authority(f"{host}:{port}" if port else host, dialect.port)
    return f"{authority(f'{host}:{port}' if port else host)}/{instance}"


def _in_oracle(rest: str, table: str) -> DatasetId:
    _, at, address = rest.rpartition("@")
    fields = {field["key"].upper(): field["value"] for field in reversed(list(_TNS_FIELD.finditer(address)))}
    if at and (found := _ORACLE_ADDRESS.fullmatch(address)):
        fields = {key.upper(): value for key, value in found.groupdict().items() if value}
    if "HOST" not in fields:
        raise InvalidNameError("url: expected @host[:port][/service] in an Oracle URL")
    server = authority(f"{fields['HOST']}:{fields.get('PORT', _ORACLE.port)}")
    service = fields.get("SERVICE_NAME") or fields.get("SID")
    parts = parts_of(table, _ORACLE.fold)
    return DatasetId(f"{_ORACLE.scheme}://{server}", ".".join([service, *parts] if service else parts))


def _elsewhere(kind: str, rest: str, options: Mapping[str, str], table: str) -> DatasetId:
    """A database without rules of its own: a server if the URL has a host, else a local file.

    Its tables have a database and a schema, as with Snowflake, Trino and DB2, or fewer where neither URL nor table
    names them.
    """
    hosts, path = _hosts_and_path(rest)
    parts = parts_of(table)
    if hosts:
        holders = _holders(options, path, options.get("schema") or _schema_searched(options, str))
        return DatasetId(f"{kind}://{authority(hosts)}", ".".join([*holders[: max(0, 3 - len(parts))], *parts]))
    file = path.removeprefix("file:").rstrip("/")
    return DatasetId(f"{kind}:{file if file.startswith('/') else file.rpartition('@')[2]}", ".".join(parts))


def _holders(options: Mapping[str, str], path: str, schema: str | None) -> list[str]:
    """The database and the schema that a URL names, in its path or its options."""
    database = options.get("databasename") or options.get("database") or options.get("db")
    return [holder for holder in (database, *_databases(path), schema) if holder]


def _schema_searched(options: Mapping[str, str], fold: Callable[[str], str]) -> str:
    """The first schema in which the database looks for a table, but for that of the user."""
    schemas = (each.strip() for each in options.get("currentschema", "").split(","))
    first = next((each for each in schemas if each.strip('"') not in ("", "$user")), "")
    return ".".join(parts_of(first, fold)) if first else ""


def _hosts_and_path(rest: str) -> tuple[str, str]:
    """Split `sub://hosts/path`; without `//` all of it is path."""
    before, slashes, behind = rest.partition("//")
    if not slashes:
        return "", before
    hosts, slash, path = behind.partition("/")
    return hosts, slash + path


def _databases(path: str) -> list[str]:
    """The names between slashes: mostly one, with Trino a catalog and a schema."""
    names = [name for name in path.split("/") if name]
    if not all(map(_DATABASE.fullmatch, names)):
        raise InvalidNameError("url: expected a database name after the host")
    return names
