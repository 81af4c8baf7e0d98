"""Tables and queries of a database, over JDBC."""

from pyspark.sql import DataFrame, SparkSession

from headwater.pipeline.jdbc import connection_options
from headwater.pipeline.spec import SqlInput


def read_database(spark: SparkSession, reads: SqlInput) -> DataFrame:
    """The rows of the table or query.

    Raises:
        SetupError: an environment variable with the user or password is not set.
    """
    what = {"dbtable": reads.table} if reads.table is not None else {"query": reads.query}
    return spark.read.format("jdbc").options(**reads.options, **connection_options(reads), **what).load()
