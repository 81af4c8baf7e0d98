"""Database tables, over JDBC."""

from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame

from headwater.pipeline.jdbc import connection_options
from headwater.pipeline.spec import SqlOutput


def write_database(frame: DataFrame, writes: SqlOutput) -> None:
    """Append the rows, or replace all others; a missing table is created.

    Each partition is one transaction: after a failure, the completed partitions stay.

    Raises:
        SetupError: an environment variable with the user or password is not set.
    """
    options = {**writes.options, **connection_options(writes), "dbtable": writes.table}
    if writes.url.startswith("jdbc:sqlite:"):
        options.setdefault("numPartitions", "1")  # SQLite has one writer at a time
    _make_table(frame, options)
    frame.write.format("jdbc").mode(writes.mode).options(**options).save()


def _make_table(frame: DataFrame, options: dict[str, str]) -> None:
    """Create a missing table.

    Spark does that itself only if the driver reports the standard SQLSTATE for it, which SQLite's does not.
    """
    jvm = frame.sparkSession._jvm
    package = jvm.org.apache.spark.sql.execution.datasources.jdbc
    wanted = package.JdbcOptionsInWrite(jvm.PythonUtils.toScalaMap(options))
    dialect = jvm.org.apache.spark.sql.jdbc.JdbcDialects.get(wanted.url())
    connection = dialect.createConnectionFactory(wanted).apply(-1)
    try:
        if not _has_table(connection, dialect.getTableExistsQuery(wanted.table())):
            package.JdbcUtils.createTable(connection, wanted.table(), frame._jdf.schema(), False, wanted)
    finally:
        connection.close()


def _has_table(connection: Any, query: str) -> bool:  # noqa: ANN401  (a Java object)
    """Whether the table can be queried; if it fails for another reason than a missing table, creating it fails too."""
    statement = connection.createStatement()
    try:
        statement.executeQuery(query).close()
    except Py4JJavaError:
        return False
    finally:
        statement.close()
    return True
