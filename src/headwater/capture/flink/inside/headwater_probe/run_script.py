"""Executes a file of SQL, statement by statement, and tells of every job that comes of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from pyflink.table import EnvironmentSettings, TableEnvironment

from .noted import parsed
from .report import Report
from .script import Statement, setting, statements

_LINE = re.compile(r"\bline (\d+)")
_EXCEPTION = re.compile(r"^(?:Caused by|.*?): [\w.$]+(?:Exception|Error): (?P<said>.*)")
_STACK = re.compile(r"^\s+(?:at |\.\.\. \d+ more)")
_LONGEST = 600


class RefusedError(Exception):
    """A statement that Flink does not take; the message names the line of the file."""


def run_script(file: Path, report: Report, *, batch: bool, wait: bool) -> None:
    """Execute all statements; an environment as Flink's own SQL client has it.

    Raises:
        RefusedError: what came before it was executed, what comes after it is not.
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
    operation = parsed(java, text)  # what Flink cannot read is refused here, before it is executed
    noted = report.noted(java, lambda: operation)
    result = environment.execute_sql(text)
    client = result.get_job_client()
    if client is not None:
        report.job(java, str(client.get_job_id()), noted, text)
        if wait:
            result.wait()


def _in_file(file: Path, statement: Statement, message: str) -> str:
    """What Flink and its last cause say, with the lines of the file in place of those of the statement."""
    said = list(dict.fromkeys(_said(message)))
    first = statement.line
    words = said[0] if said else message
    words = (words if not said or said[-1] in words else f"{words} {said[-1]}")[:_LONGEST]
    words = words.replace("SQL validation failed. SQL validation failed.", "SQL validation failed.")
    words = _LINE.sub(lambda found: f"line {int(found[1]) + first - 1}", words)
    return f"{file}, line {first}: {words}"


def _said(trace: str) -> Iterator[str]:
    """The first line of every exception in a Java stack trace."""
    for line in trace.splitlines():
        found = None if _STACK.match(line) else _EXCEPTION.match(line)
        if found:
            yield found["said"].strip()
