"""Makes everything executed in this process run on a session cluster, detached."""

from __future__ import annotations

from collections.abc import Mapping

from pyflink.java_gateway import get_gateway


def submit_to(host: str, port: int, settings: Mapping[str, str]) -> None:
    """Make any environment submit to the cluster from now on, as Flink's own `run --detached` does."""
    jvm = get_gateway().jvm
    flink = jvm.org.apache.flink
    configuration = flink.configuration.Configuration()
    wanted = {
        **settings,
        "execution.target": "remote",
        "execution.attached": "false",
        "rest.address": host,
        "rest.port": str(port),
    }
    for name, value in wanted.items():
        configuration.setString(name, value)
    loader = flink.core.execution.DefaultExecutorServiceLoader()
    classes = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    flink.client.program.StreamContextEnvironment.setAsContext(loader, configuration, classes, False, True)
