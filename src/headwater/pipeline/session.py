"""Spark sessions: one JVM per process, and in it one session per run.

A run's session has its own temporary views, configuration, catalogs and listeners, so that several pipelines can run in
one process, sequentially or concurrently, without affecting each other.
"""

import logging
import os
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from py4j.protocol import Py4JJavaError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.errors.exceptions.captured import CapturedException
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

import headwater.pipeline
from headwater.errors import SetupError
from headwater.pipeline.catalogs import catalogs_of, prepare_lake, spark_conf
from headwater.pipeline.java import require_java
from headwater.pipeline.printed import appended
from headwater.pipeline.s3 import bucket_settings
from headwater.pipeline.spec import PipelineSpec

log = logging.getLogger(__name__)

HERE: Final = Path(headwater.pipeline.__file__).parent

# These two print a failing row's value on standard error before the caller sees the exception.
_LOGGERS_THAT_PRINT_VALUES: Final = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")

_JVM_SETTINGS: Final = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
}

_SESSION_SETTINGS: Final = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    # With a filter pushed down, the scan of a text file returns fewer rows than it read; reading them is what costs.
    "spark.sql.csv.filterPushdown.enabled": "false",
    "spark.sql.json.filterPushdown.enabled": "false",
    "spark.sql.streaming.stopTimeout": "10s",
    # The newer Kafka source of Spark 4.1.1 fails when it repeats a micro-batch after a crash: it computes metrics from
    # offsets that it has not fetched yet, a NullPointerException in KafkaMicroBatchStream.metrics.
    "spark.sql.streaming.disabledV2MicroBatchReaders": "org.apache.spark.sql.kafka010.KafkaSourceProvider",
    "spark.hadoop.fs.s3.impl": "org.apache.hadoop.fs.s3a.S3AFileSystem",
}

# With little data on one machine each shuffle partition costs more than it saves; Spark's 200 are for a cluster.
_ON_ONE_MACHINE: Final = {
    "spark.sql.shuffle.partitions": "8",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}

RUN_ID_PROPERTY: Final = "headwater.run-id"
SNAPSHOT_PROPERTY: Final = "spark.sql.iceberg.snapshot-property"
"""The prefix of settings whose values Iceberg stores as properties of every snapshot written."""
"""The property of every Iceberg snapshot written by a run: it proves which run made a version."""

_UNACCEPTED: Final = "Spark does not accept the value of {}"
_starting = threading.Lock()


def open_session(
    home: Path, *, master: str = "local[*]", name: str = "headwater", options: Mapping[str, str] | None = None
) -> SparkSession:
    """Start Spark, or return the existing session.

    The JVM is in a process group of its own: a Ctrl-C or a `kill` of the group reaches only Python, which then stops
    Spark in order. The JVM's output goes to HEADWATER_HOME/log/spark.log, so that standard output stays ours.

    Raises:
        SetupError: Java or Spark's jars are missing, HEADWATER_HOME cannot be written, the JVM does not start, or Spark
            does not accept the value of an option.
    """
    with _starting:
        if SparkContext._active_spark_context is not None:
            return SparkSession.builder.getOrCreate()
        require_java()
        prepare_lake(home)
        if master.startswith("local"):
            # Spark's Python workers would otherwise use the first `python3` on PATH, which lacks our packages.
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        conf = _conf(home, master, name, options or {})
        if SparkContext._gateway is None:  # else an attempt to start Spark in this JVM has failed before
            _launch_jvm(conf, home)
        _check_sql_options(options or {})
    for logger in _LOGGERS_THAT_PRINT_VALUES:
        logging.getLogger(logger).disabled = True
    logging.getLogger("py4j").setLevel(logging.CRITICAL)
    try:
        return SparkSession.builder.config(conf=conf).getOrCreate()
    except Exception as fault:
        fault.add_note(f"Spark does not start with the master {master}")
        raise


def session_for(spec: PipelineSpec, base: SparkSession, home: Path, run_id: str) -> SparkSession:
    """A session for one run in the JVM of `base`, with the pipeline's catalogs and Spark configuration.

    Every Iceberg snapshot written in it has the property `RUN_ID_PROPERTY`.

    Raises:
        SetupError: an environment variable of a catalog or a bucket is not set, or Spark does not accept a value of an
            option.
    """
    prepare_lake(home)
    session = base.newSession()
    wanted = dict(_SESSION_SETTINGS)
    for name, catalog in catalogs_of(spec, home).items():
        wanted |= spark_conf(name, catalog)
    wanted |= bucket_settings(spec)
    wanted |= spec.spark
    wanted[f"{SNAPSHOT_PROPERTY}.{RUN_ID_PROPERTY}"] = run_id
    for key, value in wanted.items():
        try:
            _set(session, key, value)
        except CapturedException:
            raise SetupError(_UNACCEPTED.format(key)) from None
    return session


def _set(session: SparkSession, key: str, value: str) -> None:
    if key.startswith("spark.hadoop."):
        session.conf.set(key.removeprefix("spark.hadoop."), value)
    elif key.startswith("spark.sql.catalog.") or session.conf.isModifiable(key) or key.startswith("spark.sql.iceberg."):
        session.conf.set(key, value)
    elif session.sparkContext.getConf().get(key) != value:
        log.warning("cannot change a Spark option after Spark has started", extra={"option": key})


def _conf(home: Path, master: str, name: str, options: Mapping[str, str]) -> SparkConf:
    local = _ON_ONE_MACHINE if master.startswith("local") else {}
    wanted = {
        **_JVM_SETTINGS,
        **_SESSION_SETTINGS,
        **local,
        **_s3_from_environment(os.environ),
        "spark.master": master,
        "spark.app.name": name,
        "spark.driver.memory": _heap(),
        "spark.log.level": "OFF",
        "spark.driver.extraClassPath": os.pathsep.join(_jars()),
        "spark.sql.warehouse.dir": f"file://{home.absolute() / 'lake' / 'spark-warehouse'}",
        **options,
    }
    if not local:
        wanted["spark.jars"] = ",".join(filter(None, (wanted.get("spark.jars"), *_jars())))
    quiet = f"-Dlog4j2.configurationFile=file:{HERE / 'log4j2.properties'}"
    wanted["spark.driver.extraJavaOptions"] = f"{quiet} {wanted.get('spark.driver.extraJavaOptions', '')}".strip()
    return SparkConf(loadDefaults=False).setAll(list(wanted.items()))


def _jars() -> list[str]:
    jars = sorted(str(jar) for jar in (HERE / "jars").glob("*.jar"))
    if not jars:
        raise SetupError(f"Spark's Iceberg and JDBC jars are not in {HERE / 'jars'}: run `make setup`")
    return jars


def _heap() -> str:
    """The JVM's heap limit: a quarter of the machine's memory, from 1 to 4 GiB; allocated only as needed."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return f"{min(max(memory // 4, 1 << 30), 4 << 30) >> 20}m"


def _s3_from_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """S3A settings from the usual AWS variables; credentials are not among them, since S3A reads them itself."""
    found: dict[str, str] = {}
    if endpoint := environ.get("AWS_ENDPOINT_URL_S3") or environ.get("AWS_ENDPOINT_URL"):
        found |= {"spark.hadoop.fs.s3a.endpoint": endpoint, "spark.hadoop.fs.s3a.path.style.access": "true"}
    if region := environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION"):
        found["spark.hadoop.fs.s3a.endpoint.region"] = region
    return found


def _launch_jvm(conf: SparkConf, home: Path) -> None:
    printed = home / "log" / "spark.log"
    try:
        with appended(printed) as out:
            gateway = launch_gateway(conf, {"stdout": out, "stderr": out, "start_new_session": True})
    except OSError as unwritable:
        raise SetupError(f"cannot write {printed} ({unwritable.strerror}): is the disk full?") from unwritable
    except PySparkRuntimeError as failed:
        raise SetupError(f"Spark's JVM did not start; see {printed}") from failed
    SparkContext._ensure_initialized(gateway=gateway)


def _check_sql_options(options: Mapping[str, str]) -> None:
    """Refuse a value that Spark cannot parse: with one in a session, PySpark handles exceptions by raising others."""
    checked = SparkContext._jvm.org.apache.spark.sql.internal.SQLConf()
    for key, value in options.items():
        if key.startswith("spark.sql."):
            try:
                checked.setConfString(key, value)
            except (Py4JJavaError, CapturedException):
                raise SetupError(_UNACCEPTED.format(key)) from None
