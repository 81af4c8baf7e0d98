"""Wraps PyFlink's methods: each call is made unchanged, and reported if it submitted a job."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from pyflink.datastream import StreamExecutionEnvironment
from pyflink.table import StatementSet, Table, TableEnvironment, TableResult
from pyflink.util.java_utils import get_field

from .java import Java
from .report import Report
from .statement_writes import Write, parsed

Method = Callable[..., Any]


def listen(report: Report, *, wait: bool) -> None:
    """Report every job that the program submits from now on; unless `wait`, no call waits for a job's end."""
    hooks = _Hooks(report)
    _replace(TableEnvironment, "execute_sql", hooks.execute_sql)
    _replace(StatementSet, "add_insert_sql", hooks.add_to_set)
    _replace(StatementSet, "execute", hooks.execute_set)
    _replace(StatementSet, "attach_as_datastream", hooks.attach_set)
    _replace(Table, "execute_insert", hooks.execute_insert)
    _replace(StreamExecutionEnvironment, "execute", hooks.execute_stream)
    _replace(StreamExecutionEnvironment, "execute_async", hooks.execute_stream)
    if not wait:
        _replace(TableResult, "wait", _without_waiting)


def _replace(owner: type, name: str, hook: Callable[..., Any]) -> None:
    original: Method = getattr(owner, name)

    @functools.wraps(original)
    def hooked(self: Any, *arguments: Any, **named: Any) -> Any:  # noqa: ANN401  (whatever PyFlink's method takes)
        return hook(original, self, *arguments, **named)

    setattr(owner, name, hooked)


class _Hooks:
    """The replacements of PyFlink's methods."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._attached: list[tuple[Java, list[Write | str]]] = []
        self._texts: WeakKeyDictionary[StatementSet, list[str]] = WeakKeyDictionary()

    def execute_sql(self, original: Method, owner: TableEnvironment, stmt: str) -> TableResult:
        java = owner._j_tenv
        writes = self._report.writes_of(java, lambda: parsed(java, stmt))
        result = original(owner, stmt)
        self._report_job(java, result, writes, stmt)
        return result

    def add_to_set(self, original: Method, owner: StatementSet, stmt: str) -> StatementSet:
        self._texts.setdefault(owner, []).append(stmt)
        return original(owner, stmt)

    def execute_set(self, original: Method, owner: StatementSet) -> TableResult:
        environment = owner._t_env._j_tenv
        writes = self._writes_of_set(owner, environment)
        result = original(owner)
        self._report_job(environment, result, writes, ";\n".join(self._texts.pop(owner, [])))
        return result

    def attach_set(self, original: Method, owner: StatementSet) -> None:
        environment = owner._t_env._j_tenv
        self._attached.append((environment, self._writes_of_set(owner, environment)))
        original(owner)

    def execute_insert(self, original: Method, owner: Table, *arguments: Any, **named: Any) -> TableResult:  # noqa: ANN401
        environment = owner._t_env._j_tenv
        path = arguments[0] if arguments else named["table_path_or_descriptor"]
        target = path if isinstance(path, str) else path._j_table_descriptor
        writes = self._report.writes_of(environment, lambda: _private(owner._j_table.insertInto(target), "operation"))
        result = original(owner, *arguments, **named)
        self._report_job(environment, result, writes)
        return result

    def execute_stream(self, original: Method, owner: Any, *arguments: Any, **named: Any) -> Any:  # noqa: ANN401
        result = original(owner, *arguments, **named)
        attached, self._attached = self._attached, []
        writes = [one for _, those in attached for one in those]
        environment = attached[0][0] if attached else None
        self._report.job(environment, str(result.get_job_id()), [*writes, "DataStream"])
        return result

    def _writes_of_set(self, owner: StatementSet, environment: Java) -> list[Write | str]:
        found: list[Write | str] = []
        for operation in _private(owner._j_statement_set, "operations"):
            found += self._report.writes_of(environment, functools.partial(_itself, operation))
        return found

    def _report_job(
        self, environment: Java, result: TableResult, writes: list[Write | str], sql: str | None = None
    ) -> None:
        client = result.get_job_client()
        if client is not None:
            self._report.job(environment, str(client.get_job_id()), writes, sql)


def _itself(operation: Java) -> Java:
    return operation


def _private(owner: Java, name: str) -> Java:
    """The value of a private field of a Java object's class or a superclass, which has no getter."""
    kind = owner.getClass()
    while kind is not None:
        names = [one.getName() for one in kind.getDeclaredFields()]
        if name in names:
            return get_field(kind, name).get(owner)
        kind = kind.getSuperclass()
    raise AttributeError(name)


def _without_waiting(original: Method, owner: TableResult, *arguments: Any, **named: Any) -> None:  # noqa: ANN401
    if owner.get_job_client() is None:
        original(owner, *arguments, **named)
