"""Nightly batch: each supplier's turnover on the newest day, per hour. A plain PySpark program.

headwater-spark labs/02-end-to-end/supplier_stats.py
"""

import os
from pathlib import Path

from pyspark.sql import SparkSession

import headwater

S3 = os.environ.get("LAB_S3", "http://127.0.0.1:9000")
LAKE = {
    "": "org.apache.iceberg.spark.SparkCatalog",
    ".catalog-impl": "org.apache.iceberg.aws.glue.GlueCatalog",
    ".warehouse": "s3://lake/warehouse",
    ".io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
    ".glue.endpoint": S3,
    ".s3.endpoint": S3,
    ".s3.path-style-access": "true",
    ".client.region": "us-east-1",
    ".http-client.type": "urlconnection",
}

# Iceberg's jars from Headwater's own pipelines; a cluster has them already.
JARS = (Path(headwater.__file__).parent / "pipeline" / "jars").glob("*.jar")

builder = SparkSession.builder.appName("nightly").master("local[1]").config("spark.ui.enabled", "false")
builder = builder.config("spark.sql.shuffle.partitions", "1").config("spark.driver.host", "127.0.0.1")
builder = builder.config("spark.jars", ",".join(map(str, JARS)))
builder = builder.config("spark.sql.sources.partitionOverwriteMode", "dynamic")
for key, value in LAKE.items():
    builder = builder.config(f"spark.sql.catalog.lake{key}", value)
spark = builder.getOrCreate()

if not spark.catalog.tableExists("lake.default.supplier_stats"):
    spark.sql(
        "CREATE TABLE lake.default.supplier_stats"
        " (supplier STRING, day DATE, hour INT, orders BIGINT, total_price DOUBLE) USING iceberg PARTITIONED BY (day)"
    )
spark.sql(
    """
    INSERT OVERWRITE lake.default.supplier_stats
    SELECT supplier, CAST(ordered_at AS DATE), HOUR(ordered_at), COUNT(*), SUM(price * quantity)
    FROM lake.default.orders
    WHERE CAST(ordered_at AS DATE) = (SELECT MAX(CAST(ordered_at AS DATE)) FROM lake.default.orders)
    GROUP BY 1, 2, 3
    """
)
spark.stop()
