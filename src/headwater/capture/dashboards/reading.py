"""Parses a dashboards file strictly; reports all problems at once, each with its line and field."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

import yaml

from headwater.capture.dashboards.spec import TABLES, Dashboard, Dashboards, DirectTable, Owner, Query, unplaced
from headwater.capture.unread import why_unread
from headwater.errors import InvalidInputError
from headwater.model import sql_lineage
from headwater.model.credentials import without_secrets
from headwater.sql.label import DEFAULT_NAMESPACE, Label
from headwater.sql.reading import Parts, UnreadableSqlError, dialect_named

Part = TypeVar("Part")
_Feeding = tuple[str, str | None]
"""The names of a dashboard and of a query that feeds it; None for its tables without a query."""

_DIALECTS: Final[Mapping[str, str]] = {"trino": "trino", "presto": "presto", "duckdb": "duckdb", "hive": "hive"}
"""The SQL dialect by the engine's URL scheme; for other engines the file must state it."""


class Problem(Exception):
    """One problem, with its position."""

    def __init__(self, node: yaml.Node, field: str, message: str) -> None:
        self.line = node.start_mark.line + 1
        self.field = field
        super().__init__(f"{self.line}: {field}: {message}" if field else f"{self.line}: {message}")


def read_dashboards(file: Path) -> Dashboards:
    """Parse the file, with the query files that it names.

    Raises:
        InvalidInputError: a line for each problem, `FILE:LINE: FIELD: what is expected`.
    """
    try:
        root = yaml.compose(file.read_text(encoding="utf-8"), Loader=yaml.SafeLoader)
    except (OSError, UnicodeDecodeError) as fault:
        raise InvalidInputError(f"{file}: {why_unread(fault)}") from None
    except yaml.YAMLError as fault:
        mark = getattr(fault, "problem_mark", None)
        where = f":{mark.line + 1}" if mark is not None else ""
        raise InvalidInputError(f"{file}{where}: not YAML: {getattr(fault, 'problem', '')}") from None
    reader = _Reader(file.parent)
    found = None if root is None else reader.part(lambda: reader.dashboards(root))
    if found is None or reader.problems:
        problems = [f"{file}:{problem}" for problem in sorted(reader.problems, key=lambda each: each.line)]
        raise InvalidInputError("\n".join(problems) or f"{file}: empty; expected engine and dashboards")
    return found


class _Reader:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._defaults = ("", "")
        """The default catalog and schema of table names."""
        self._jobs: dict[str, tuple[_Feeding, str]] = {}
        """By job name: the query that it stands for, and its position."""
        self.problems: list[Problem] = []

    def part(self, read: Callable[[], Part]) -> Part | None:
        """The part, or None if it is invalid; the problem is recorded, and parsing goes on."""
        try:
            return read()
        except Problem as problem:
            self.problems.append(problem)
            return None

    def dashboards(self, root: yaml.Node) -> Dashboards:
        top = _Fields(root, "", ("engine", "dialect", "namespace", "catalog", "schema", "dashboards"))
        engine = top.address("engine")
        dialect = self.part(lambda: _dialect(top, engine)) or ""
        defaults = self.part(lambda: (top.text("catalog", ""), top.text("schema", "")))
        catalog, schema = self._defaults = defaults or ("", "")
        dashboards = tuple(self._parts(top, "dashboards", self._dashboard))
        self._no_name_twice(top, "dashboards", [each.name for each in dashboards])
        return Dashboards(
            engine=engine,
            dialect=dialect,
            namespace=top.text("namespace", DEFAULT_NAMESPACE),
            catalog=catalog,
            schema=schema,
            dashboards=dashboards,
        )

    def _parts(self, fields: "_Fields", name: str, read: Callable[[yaml.Node, str], Part]) -> Iterator[Part]:
        for at, node in enumerate(fields.items(name)):
            found = self.part(lambda node=node, at=at: read(node, f"{fields.path(name)}.{at}"))  # type: ignore[misc]
            if found is not None:
                yield found

    def _dashboard(self, node: yaml.Node, path: str) -> Dashboard:
        fields = _Fields(node, path, ("name", "title", "description", "url", "owners", "queries", "tables"))
        name = fields.text("name")
        if "tables" in fields.members:
            self._makes_job((name, None), fields.node("tables"), fields.path("tables"))
        dashboard = Dashboard(
            name=name,
            title=fields.text("title", "") or None,
            description=fields.text("description", "") or None,
            url=fields.address("url", "") or None,
            owners=tuple(self._parts(fields, "owners", _owner)),
            queries=tuple(self._parts(fields, "queries", partial(self._query, name))),
            tables=tuple(self._parts(fields, "tables", self._table)),
        )
        if not (fields.items("queries") or fields.items("tables")):
            raise Problem(node, path, "expected queries or tables: the data that the dashboard uses")
        names = [query.name for query in dashboard.queries]
        if len(names) > 1 and "" in names:
            raise Problem(node, f"{path}.queries", "expected a name for each query, as there are several")
        self._no_name_twice(fields, "queries", names)
        return dashboard

    def _query(self, dashboard: str, node: yaml.Node, path: str) -> Query:
        fields = _Fields(node, path, ("name", "sql", "file"))
        if ("sql" in fields.members) == ("file" in fields.members):
            raise Problem(node, path, "expected either sql or file")
        sql = fields.text("sql", "") or self._file(fields)
        where = fields.node("sql" if "sql" in fields.members else "file")
        name = fields.text("name", "")
        self._makes_job((dashboard, name), fields.node("name"), fields.path("name"))
        return Query(name, sql, where.start_mark.line + 1)

    def _makes_job(self, feeding: "_Feeding", node: yaml.Node, path: str) -> None:
        """Register the job's name: of two jobs with one name, the second's event would replace the first's."""
        dashboard, query = feeding
        job = sql_lineage.job_of(Label("", dashboard, TABLES if query is None else query)).name
        known, where = self._jobs.setdefault(job, (feeding, path))
        if known != feeding:
            fault = f"gives the job {job!r}, the same as {where}; expected another name"
            self.problems.append(Problem(node, path, fault))

    def _file(self, fields: "_Fields") -> str:
        try:
            return (self._folder / fields.text("file")).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as fault:
            raise Problem(fields.node("file"), fields.path("file"), why_unread(fault)) from None

    def _table(self, node: yaml.Node, path: str) -> DirectTable:
        if isinstance(node, yaml.ScalarNode):
            return DirectTable(self._placed(node, path))
        fields = _Fields(node, path, ("table", "columns"))
        columns = [_text(each, f"{fields.path('columns')}.{at}") for at, each in enumerate(fields.items("columns"))]
        fields.text("table")
        return DirectTable(self._placed(fields.node("table"), fields.path("table")), tuple(columns))

    def _placed(self, node: yaml.Node, path: str) -> Parts:
        table = tuple(_text(node, path).split("."))
        if fault := unplaced(table, *self._defaults):
            raise Problem(node, path, fault)
        return table

    def _no_name_twice(self, fields: "_Fields", name: str, names: Sequence[str]) -> None:
        for each in sorted({each for each in names if names.count(each) > 1}):
            self.problems.append(Problem(fields.node(name), fields.path(name), f"the name {each!r} is used twice"))


def _dialect(top: "_Fields", engine: str) -> str:
    dialect = top.text("dialect", _DIALECTS.get(engine.partition("://")[0], ""))
    if not dialect:
        raise Problem(top.node("engine"), "dialect", "expected the SQL dialect of this engine, for example trino")
    try:
        dialect_named(dialect)
    except UnreadableSqlError as fault:
        raise Problem(top.node("dialect"), "dialect", str(fault)) from None
    return dialect


def _owner(node: yaml.Node, path: str) -> Owner:
    if isinstance(node, yaml.ScalarNode):
        return Owner(_text(node, path))
    fields = _Fields(node, path, ("name", "type"))
    return Owner(fields.text("name"), fields.text("type", "") or None)


class _Fields:
    """The members of a mapping; unknown and duplicate keys are problems."""

    def __init__(self, node: yaml.Node, path: str, known: Sequence[str]) -> None:
        if not isinstance(node, yaml.MappingNode):
            raise Problem(node, path, f"expected a mapping with {', '.join(known)}")
        self._node, self._path = node, path
        self.members: dict[str, yaml.Node] = {}
        for key, value in node.value:
            name = key.value if isinstance(key, yaml.ScalarNode) else ""
            if name not in known:
                raise Problem(key, self.path(name), f"unknown key; expected one of {', '.join(known)}")
            if name in self.members:
                raise Problem(key, self.path(name), "duplicate key")
            self.members[name] = value

    def path(self, name: str) -> str:
        return f"{self._path}.{name}".lstrip(".")

    def node(self, name: str) -> yaml.Node:
        return self.members.get(name, self._node)

    def text(self, name: str, default: str | None = None) -> str:
        """A non-empty text; required if there is no default."""
        if name not in self.members:
            if default is None:
                raise Problem(self._node, self.path(name), "missing; expected text")
            return default
        return _text(self.members[name], self.path(name))

    def address(self, name: str, default: str | None = None) -> str:
        """A text without a password."""
        text = self.text(name, default)
        if without_secrets(text) != text:
            raise Problem(self.node(name), self.path(name), "must not contain a password")
        return text

    def items(self, name: str) -> Sequence[yaml.Node]:
        """The items of a list; empty if it is missing."""
        node = self.members.get(name)
        if node is None:
            return ()
        if not isinstance(node, yaml.SequenceNode):
            raise Problem(node, self.path(name), "expected a list")
        items: Sequence[yaml.Node] = node.value
        return items


def _text(node: yaml.Node, path: str) -> str:
    if not isinstance(node, yaml.ScalarNode) or node.tag == "tag:yaml.org,2002:null" or not node.value.strip():
        raise Problem(node, path, "expected text")
    return str(node.value)
