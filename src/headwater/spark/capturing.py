"""`capture`, which a program calls; settings come from the call, Spark's configuration and the environment."""

import logging
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

from pyspark.sql import SparkSession

from headwater.capture.spark.application import CaptureContext
from headwater.capture.spark.capture import Capture, NotCaptured
from headwater.emission import new_run_id, opened_emitter
from headwater.errors import HeadwaterError, SetupError
from headwater.model.names import JobId
from headwater.observe.run_reporter import EventOutput, RunOfJob

log = logging.getLogger(__name__)

_starting = threading.Lock()
_captures: dict[str, Capture] = {}
"""Captures by Spark application id."""

_PARENT: Final = ("parentRunId", "parentJobNamespace", "parentJobName")


def capture(
    spark: SparkSession,
    *,
    namespace: str | None = None,
    job: str | None = None,
    endpoint: str | None = None,
    file: str | Path | None = None,
    token_env: str | None = None,
) -> Capture | NotCaptured:
    """Report what the program reads and writes through this session, from now to its end.

    Defaults come from Spark's configuration: `spark.headwater.namespace`, `.job`, `.endpoint`, `.file` and `.tokenEnv`.
    A further call with another session of the program captures that one too.

    Args:
        spark: a session of this process's own Spark, not of Spark Connect.
        namespace: the jobs' namespace; by default `default`.
        job: the program's name; by default Spark's `spark.app.name`.
        endpoint: where events are posted; a service on this machine if neither an endpoint nor a file is given.
        file: a file to append events to.
        token_env: the environment variable that holds the endpoint's bearer token.

    Returns:
        The capture, which ends with the program. As a context manager it ends with the block, and reports the block's
        exception. If a program cannot be captured (over Spark Connect, or if the key cannot be read), nothing is
        raised: the program goes on, and the log says why.
    """
    try:
        return _captured(spark, _Settings(namespace, job, endpoint, None if file is None else str(file), token_env))
    except HeadwaterError as refusal:
        log.warning("the program is not captured: %s", refusal)
    except Exception as fault:
        log.warning("the program is not captured: %s", type(fault).__name__)
    return NotCaptured()


class _Settings(NamedTuple):
    namespace: str | None
    job: str | None
    endpoint: str | None
    file: str | None
    token_env: str | None


def _captured(spark: SparkSession, given: _Settings) -> Capture:
    if not hasattr(spark, "_jsparkSession"):
        raise SetupError("Spark Connect runs elsewhere: call headwater.spark.capture where Spark's driver is")
    with _starting:
        application = spark.sparkContext.applicationId
        known = _captures.get(application)
        if known is not None:
            known.add(spark)
            return known
        settings = _with_configured(given, spark)
        emitter = opened_emitter(settings.endpoint, settings.file, settings.token_env)
        context = CaptureContext(
            namespace=settings.namespace or "default",
            job=settings.job or spark.sparkContext.appName,
            new_run_id=new_run_id,
            out=EventOutput(lambda: datetime.now(UTC), emitter.put),
            parent=_parent(spark),
        )

        def ended() -> None:
            _captures.pop(application, None)
            emitter.close()

        _captures[application] = Capture(spark, context, ended)
        return _captures[application]


def _with_configured(given: _Settings, spark: SparkSession) -> _Settings:
    conf = spark.sparkContext.getConf()
    keys = ("namespace", "job", "endpoint", "file", "tokenEnv")
    return _Settings(*(said or conf.get(f"spark.headwater.{key}") for key, said in zip(keys, given, strict=True)))


def _parent(spark: SparkSession) -> RunOfJob | None:
    """The run that started the program, from the settings that orchestrators make for openlineage-spark."""
    conf = spark.sparkContext.getConf()
    run, namespace, name = (conf.get(f"spark.openlineage.{key}") for key in _PARENT)
    return RunOfJob(run, JobId(namespace, name)) if run and namespace and name else None
