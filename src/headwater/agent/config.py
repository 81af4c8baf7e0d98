"""The agent's configuration file: control API, timeouts, Spark, and the allowed endpoints."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from headwater.agent.endpoints import Endpoint, allowed_by
from headwater.errors import InvalidInputError, SetupError
from headwater.pipeline.checking.document import Fields, Node, Scalar, read_document
from headwater.pipeline.checking.reading import INVALID, Reader
from headwater.pipeline.checking.variables import expand
from headwater.pipeline.terms import EnvName, Name, Port, PositiveInt, Seconds

LOOPBACK: Final = "127.0.0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpApi:
    """The control API over HTTP, on 127.0.0.1.

    Attributes:
        port: the port to listen on.
        token_env: the environment variable with the bearer token that callers must send.
    """

    port: Port
    token_env: EnvName


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentConfig:
    """The agent's configuration.

    Attributes:
        http: the HTTP API; None: only the Unix socket.
        drain_timeout: seconds that a shutdown waits for executions to end and their events to be delivered.
        idle_timeout: after so many seconds without an execution the worker ends, to free its memory.
        master: where Spark runs.
        spark: configuration of the one Spark that all pipelines share.
        max_executions: the most executions at once, streams included; others queue in order. None: no limit.
        keep_executions: how many executions of a job are kept, with their logs.
        allowed_endpoints: the only endpoints that pipelines may use; None: any.
    """

    http: HttpApi | None = None
    drain_timeout: Seconds = 30.0
    idle_timeout: Seconds = 300.0
    master: Name = "local[*]"
    spark: Mapping[str, str] = field(default_factory=dict)
    max_executions: PositiveInt | None = None
    keep_executions: PositiveInt = 200
    allowed_endpoints: tuple[Name, ...] | None = None

    @property
    def allowed(self) -> tuple[Endpoint, ...] | None:
        """The allowed endpoints, parsed."""
        return None if self.allowed_endpoints is None else tuple(map(allowed_by, self.allowed_endpoints))


def load_config(path: Path, environment: Mapping[str, str] | None = None) -> AgentConfig:
    """Read and validate the agent's file; `${NAME}` in it is replaced from the environment.

    Raises:
        SetupError: the file cannot be read.
        InvalidInputError: it is invalid; the message has a line for each problem, with its position and key.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as fault:
        raise SetupError(f"{path}: {fault.strerror}") from fault
    except UnicodeDecodeError as fault:
        raise SetupError(f"{path}: not UTF-8") from fault
    root, syntax_problems = read_document(text)
    root, of_variables = expand(root, os.environ if environment is None else environment, keep_unset=False)
    reader = Reader(path.absolute().parent)
    _refuse_empty_list(root, reader)
    is_empty = isinstance(root, Scalar) and root.value is None
    config = AgentConfig() if is_empty else reader.read(root, AgentConfig, ())
    problems = sorted({*syntax_problems, *of_variables, *reader.problems})
    if problems or config is INVALID:
        raise InvalidInputError("\n".join(problem.text(str(path)) for problem in problems))
    assert isinstance(config, AgentConfig)  # noqa: S101  what the reader was asked for
    _check_spark(path, config)
    _check_endpoints(path, config)
    return config


def _refuse_empty_list(root: Node, reader: Reader) -> None:
    """Refuse a list of endpoints whose entries are all commented out: it must not mean that any is allowed."""
    entries = root.nodes.get("allowed_endpoints") if isinstance(root, Fields) else None
    if isinstance(entries, Scalar) and entries.value is None:
        reader.expected("a list", entries, ("allowed_endpoints",), "; [] allows none, leaving the key out allows any")


def _check_spark(path: Path, config: AgentConfig) -> None:
    for key in config.spark:
        if not key.startswith("spark."):
            raise InvalidInputError(f"{path}: spark.{key}: expected a key that starts with 'spark.'")


def _check_endpoints(path: Path, config: AgentConfig) -> None:
    for index, entry in enumerate(config.allowed_endpoints or ()):
        try:
            allowed_by(entry)
        except InvalidInputError as wrong:
            raise InvalidInputError(f"{path}: allowed_endpoints.{index}: {wrong}") from None
