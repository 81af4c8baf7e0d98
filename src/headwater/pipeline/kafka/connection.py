"""Addresses and credentials for Spark, Kafka's own client and the registry."""

import os
from collections.abc import Mapping
from typing import Final

import httpx

from headwater.errors import SetupError
from headwater.pipeline.spec import KafkaInput, KafkaOutput, KafkaSecurity, SchemaRegistry

PREFIX: Final = "kafka."
"""The prefix of Spark options that are passed to Kafka's client."""

_LOGIN_MODULES: Final = {
    "PLAIN": "org.apache.kafka.common.security.plain.PlainLoginModule",
    "SCRAM-SHA-256": "org.apache.kafka.common.security.scram.ScramLoginModule",
    "SCRAM-SHA-512": "org.apache.kafka.common.security.scram.ScramLoginModule",
}


def client_properties(kafka: KafkaInput | KafkaOutput) -> dict[str, str]:
    """The properties with which Kafka's client connects to the broker.

    Raises:
        SetupError: an environment variable with the user or password is not set.
    """
    properties = {key.removeprefix(PREFIX): value for key, value in kafka.options.items() if key.startswith(PREFIX)}
    return {**properties, "bootstrap.servers": ",".join(kafka.addresses), **_security(kafka.security)}


def spark_options(kafka: KafkaInput | KafkaOutput) -> dict[str, str]:
    """The options of Spark's Kafka source or sink: those of the pipeline file, and for connecting to the broker.

    Raises:
        SetupError: as in `client_properties`.
    """
    reach = {f"{PREFIX}{key}": value for key, value in client_properties(kafka).items()}
    return {**kafka.options, **reach}


def registry_auth(registry: SchemaRegistry) -> httpx.BasicAuth | None:
    """User and password for the registry; None if none are configured.

    Raises:
        SetupError: an environment variable with the user or password is not set.
    """
    if registry.user_env is None or registry.password_env is None:
        return None
    what = "schema_registry"
    return httpx.BasicAuth(_secret(registry.user_env, what), _secret(registry.password_env, what))


def _security(security: KafkaSecurity | None) -> Mapping[str, str]:
    if security is None:
        return {}
    if security.user_env is None or security.password_env is None:
        return {"security.protocol": security.protocol}
    user, password = _secret(security.user_env, "security"), _secret(security.password_env, "security")
    login = _LOGIN_MODULES[security.mechanism]
    return {
        "security.protocol": security.protocol,
        "sasl.mechanism": security.mechanism,
        "sasl.jaas.config": f'{login} required username="{_escaped(user)}" password="{_escaped(password)}";',
    }


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _secret(variable: str, what: str) -> str:
    try:
        return os.environ[variable]
    except KeyError:
        raise SetupError(f"kafka: {what} needs the environment variable {variable}, which is not set") from None
