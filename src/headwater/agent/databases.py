"""Whether a JDBC URL, with its driver's properties, connects only to the one server that it names: pure.

URL parameters and properties can make a driver use other hosts, proxies or connection classes, under names that differ
by driver. So this is an allowlist: a host, known harmless parameters, and nothing else.

Sources: the manuals of pgjdbc 42.7, Connector/J 9, MariaDB Connector/J 3, mssql-jdbc 12, Oracle JDBC 23, SQLite JDBC 3;
Spark 4.1 `JDBCOptions`, https://spark.apache.org/docs/4.1.1/sql-data-sources-jdbc.html
"""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

from headwater.model.naming import HOST

_NAME: Final = r"[^/?;&#:@,=()\\\s]*"
_HOST_AND_PORT: Final = rf"{HOST}(?:\\[A-Za-z0-9_$#-]*)?(?::\d{{1,5}})?"
_SERVER: Final = re.compile(
    rf"jdbc:(?P<kind>[a-z0-9]+):(?://(?P<host>{_HOST_AND_PORT})?(?:/{_NAME})*|(?!//)/?{_NAME}(?:/{_NAME})*)"
    r"(?P<options>(?:[?;]|:(?=[a-z]+=)).*)?",
    re.IGNORECASE | re.DOTALL,
)
_ORACLE: Final = re.compile(
    rf"jdbc:oracle:thin:/?@(?:(?:tcps?:)?//{HOST}(?::\d{{1,5}})?(?:[:/]{_NAME})?|{HOST}:\d{{1,5}}(?:[:/]{_NAME})?|{HOST}/{_NAME})"
    r"(?::(?:dedicated|shared|pooled))?",
    re.IGNORECASE,
)
_DESCRIPTOR: Final = re.compile(r"jdbc:oracle:thin:/?@(?P<text>\(.*\))", re.IGNORECASE | re.DOTALL)
_FIELD: Final = re.compile(r"\(\s*([A-Za-z_]+)\s*=")


def _words(text: str) -> frozenset[str]:
    """Names in lower case: some drivers ignore case, and each name is harmless in any case."""
    return frozenset(text.lower().split())


_FIELDS: Final = _words("""
    description address_list address protocol host port connect_data service_name sid server instance_name
    retry_count retry_delay connect_timeout transport_connect_timeout security ssl_server_dn_match
""")
_SQLITE: Final = "jdbc:sqlite:"
_FETCHED: Final = ":resource:"
"""After this prefix SQLite's driver takes a URL, and downloads the database from it."""

_COMMON: Final = _words("""
    ssl sslmode applicationname currentschema database db schema catalog warehouse role logintimeout
    connecttimeout sockettimeout querytimeout tcpkeepalive readonly
""")
_POSTGRES: Final = _words("""
    options tcpnodelay preparethreshold preparedstatementcachequeries preparedstatementcachesizemib
    defaultrowfetchsize readonlymode rewritebatchedinserts stringtype binarytransfer binarytransferenable
    binarytransferdisable targetservertype assumeminserverversion charset gssencmode sslnegotiation
    channelbinding autosave cleanupsavepoints escapesyntaxcallmode preferquerymode maxresultbuffer adaptivefetch
    adaptivefetchminimum adaptivefetchmaximum sendbuffersize receivebuffersize unknownlength
    logunclosedconnections disablecolumnsanitiser loadbalancehosts hostrecheckseconds allowencodingchanges
    quotereturningidentifiers hideunprivilegedobjects sslcert sslkey sslrootcert sslresponsetimeout
    cancelsignaltimeout groupstartupparameters
""")
_MYSQL: Final = _words("""
    usessl requiressl verifyservercertificate tlsversions enabledtlsprotocols allowpublickeyretrieval useunicode
    characterencoding connectioncollation servertimezone connectiontimezone forceconnectiontimezonetosession
    preserveinstants zerodatetimebehavior tinyint1isbit transformedbitisboolean yearisdatetype usecompression
    rewritebatchedstatements usebulkstmts useserverprepstmts cacheprepstmts prepstmtcachesize
    prepstmtcachesqllimit usecursorfetch defaultfetchsize cachedefaulttimezone maintaintimestats
    cacheserverconfiguration elidesetautocommits uselocalsessionstate nullcatalogmeanscurrent
    nulldatabasemeanscurrent databaseterm createdatabaseifnotexist jdbccomplianttruncation useaffectedrows
    allowmultiqueries permitmysqlscheme useinformationschema maxallowedpacket timezone
    useoldaliasmetadatabehavior
""")
_SQLSERVER: Final = _words("""
    databasename instancename portnumber encrypt trustservercertificate truststore truststoretype
    hostnameincertificate integratedsecurity authenticationscheme applicationintent locktimeout packetsize
    selectmethod responsebuffering sendstringparametersasunicode sendtimeasdatetime usebulkcopyforbatchinsert
    columnencryptionsetting xopenstates workstationid disablestatementpooling statementpoolingcachesize
    connectretrycount connectretryinterval
""")
_OF_KIND: Final = {"postgresql": _POSTGRES, "mysql": _MYSQL, "mariadb": _MYSQL, "sqlserver": _SQLSERVER}
_NAMED_APART: Final = "servername"
"""The property with the host, if SQL Server's URL has none."""
_SPARKS: Final = _words("""
    url driver dbtable query user password prepareQuery partitionColumn lowerBound upperBound numPartitions
    queryTimeout fetchsize batchsize isolationLevel sessionInitStatement truncate cascadeTruncate
    createTableOptions createTableColumnTypes customSchema pushDownPredicate pushDownAggregate pushDownLimit
    pushDownOffset pushDownTableSample pushDownJoin keytab principal refreshKrb5Config preferTimestampNTZ hint
""")
"""Spark's own JDBC options, except `connectionProvider`, a class; Spark passes all other options to the driver."""

_UNCLEAR: Final = "this URL does not show for certain which server, and only which, it connects to"


def redirect_reason(url: str) -> str | None:
    """Why the URL may connect to another server than the one it names; None if it cannot, or is a local file.

    >>> redirect_reason("jdbc:postgresql://db.example/shop?sslmode=require")
    >>> redirect_reason("jdbc:postgresql://db.example/shop?PGHOST=elsewhere.example")
    "its parameter 'PGHOST' may connect to another server"
    """
    if url.lower().startswith(_SQLITE):
        return _UNCLEAR if url[len(_SQLITE) :].lower().startswith(_FETCHED) else None
    if url.lower().startswith("jdbc:oracle:"):
        return None if _ORACLE.fullmatch(url) or _is_clear_descriptor(url) else _UNCLEAR
    found = _SERVER.fullmatch(url)
    if found is None:
        return _UNCLEAR
    pieces = [piece.partition("=") for piece in re.split(r"[?;&]", (found["options"] or "").removeprefix(":"))]
    if any("=" in value for _, _, value in pieces):
        return _UNCLEAR
    kind = found["kind"].lower()
    names = [name.strip() for name, equals, _ in pieces if equals]
    also = frozenset({_NAMED_APART}) if kind == "sqlserver" and not found["host"] else frozenset()
    known = _COMMON | _OF_KIND.get(kind, frozenset()) | also
    redirecting = next((name for name in names if name.lower() not in known), None)
    if redirecting is not None:
        return f"its parameter {redirecting[:40]!r} may connect to another server"
    return _UNCLEAR if any(count > 1 for count in Counter(map(str.lower, names)).values()) else None


def redirecting_properties(url: str, properties: Iterable[str]) -> list[str]:
    """The driver properties that may make it connect elsewhere; none with SQLite."""
    if url.lower().startswith(_SQLITE):
        return []
    kind = url.partition(":")[2].partition(":")[0].lower()
    known = _COMMON | _OF_KIND.get(kind, frozenset()) - {"portnumber", "instancename"}
    return [name for name in properties if name.lower() not in known]


def redirecting_options(url: str, options: Iterable[str]) -> list[str]:
    """As `redirecting_properties`, for Spark's JDBC options, of which Spark passes only some to the driver."""
    return redirecting_properties(url, (name for name in options if name.lower() not in _SPARKS))


def _is_clear_descriptor(url: str) -> bool:
    found = _DESCRIPTOR.fullmatch(url)
    if found is None:
        return False
    names = Counter(name.lower() for name in _FIELD.findall(found["text"]))
    is_whole = names.total() == found["text"].count("=") and names.keys() <= _FIELDS
    return is_whole and names["host"] == 1 and names["port"] <= 1
