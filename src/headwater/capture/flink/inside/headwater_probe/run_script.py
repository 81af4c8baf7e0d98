"""Executes a file of SQL, statement by statement, and reports every job that it submits."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from pyflink.table import EnvironmentSettings, TableEnvironment

from .report import Report
from .script import Statement, setting, statements
from .statement_writes import parsed

_LINE = re.compile(r"\bline (\d+)")
_EXCEPTION = re.compile(r"^(?:Caused by|.*?): [\w.$]+(?:Exception|Error): (?P<message>.*)")
_STACK = re.compile(r"^\s+(?:at |\.\.\. \d+ more)")
_LONGEST = 600


class RefusedError(Exception):
    """A statement that Flink refuses; the message names the line of the file."""


def run_script(file: Path, report: Report, *, batch: bool, wait: bool) -> None:
    """Execute all statements, in an environment like that of Flink's own SQL client.

    Raises:
        RefusedError: a statement was refused; those before it were executed, those after it are not.
    """
    settings = EnvironmentSettings.in_batch_mode() if batch else EnvironmentSettings.in_streaming_mode()
    environment = TableEnvironment.create(settings)
    for statement in statements(file.read_text(encoding="utf-8")):
        try:
            _execute(environment, statement.text, report, wait=wait)
        except Exception as refused:
            raise RefusedError(_in_file(file, statement, str(refused))) from None


def _execute(environment: TableEnvironment, text: str, report: Report, *, wait: bool) -> None:
    wanted = setting(text)
    if wanted is not None:
        environment.get_config().set(*wanted)
        return
    java = environment._j_tenv
    operation = parsed(java, text)  # a statement that Flink cannot parse is refused before anything is executed
    writes = report.writes_of(java, lambda: operation)
    result = environment.execute_sql(text)
    client = result.get_job_client()
    if client is not None:
        report.job(java, str(client.get_job_id()), writes, text)
        if wait:
            result.wait()


def _in_file(file: Path, statement: Statement, message: str) -> str:
    """The messages of Flink's exception and its last cause, with line numbers of the file, not the statement."""
    messages = list(dict.fromkeys(_messages(message)))
    first = statement.line
    text = messages[0] if messages else message
    text = (text if not messages or messages[-1] in text else f"{text} {messages[-1]}")[:_LONGEST]
    text = text.replace("SQL validation failed. SQL validation failed.", "SQL validation failed.")
    text = _LINE.sub(lambda found: f"line {int(found[1]) + first - 1}", text)
    return f"{file}, line {first}: {text}"


def _messages(trace: str) -> Iterator[str]:
    """The first line of every exception in a Java stack trace."""
    for line in trace.splitlines():
        found = None if _STACK.match(line) else _EXCEPTION.match(line)
        if found:
            yield found["message"].strip()
