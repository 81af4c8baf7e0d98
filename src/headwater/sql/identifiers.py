"""Names that a statement gives as texts or by position, and sources that it does not name at all."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from sqlglot import exp

_WITH_IDENTIFIER_CLAUSES: Final = frozenset({"databricks", "snowflake", "spark"})
"""Sources: Databricks and Spark, "IDENTIFIER clause"; Snowflake, "Literals and variables as identifiers"."""

_WITH_ARRAYS_IN_FROM: Final = frozenset({"bigquery", "redshift"})
"""Dialects in which FROM may name an array of another table: `FROM orders AS o, o.items`."""
_FILE_FORMATS: Final = frozenset({"avro", "binaryfile", "csv", "delta", "json", "orc", "parquet", "text", "xml"})
"""What Spark takes for a format, not a schema, before the path of a file: ``parquet.`s3://lake/orders` ``."""
_ON_SPARK: Final = frozenset({"databricks", "hive", "spark", "spark2"})
_FILE: Final = re.compile(
    r".+\.(?:arrow|avro|csv|feather|geojson|json|jsonl|ndjson|parquet|tsv|txt|xlsx)(?:\.(?:gz|zst))?|\w+://.+",
    re.I | re.S,
)
"""A name that DuckDB takes for a file's, if it has no such table."""
_LOCATION: Final = re.compile(
    r"(?:(?:s3[an]?|gs)://[A-Za-z0-9._-]+|abfss?://[A-Za-z0-9$-]+@[A-Za-z0-9._-]+)/[^*?#%{}\[\]\\\s]+"
)
"""A file or folder that has this address wherever it is read: no pattern, and not relative to anything."""
_LINKING: Final = frozenset({"fabric", "tsql"})
"""Dialects in which a table's name of four parts, `far.shop.dbo.orders`, begins with a linked server."""
_LINK: Final = "@"
"""In Oracle, before the database link of a table in another database."""

_LOOKING_UP: Final = {
    "clickhouse": ("dictget", "dicthas", "dictisin", "joinget"),
    "oracle": ("getxml",),
    "postgres": ("dblink", "query_to_xml", "table_to_xml", "schema_to_xml", "database_to_xml", "cursor_to_xml"),
}
"""By dialect, the beginnings of the names of functions that return a value from a table that a text names.

Sources: ClickHouse, "Functions for working with dictionaries" and "joinGet"; PostgreSQL, "Mapping tables to XML" and
`dblink`; Oracle, `DBMS_XMLGEN`
"""

_OF_MODELS: Final = (
    *(exp.GenerateBool, exp.GenerateDouble, exp.GenerateEmbedding, exp.GenerateInt, exp.GenerateTable),
    *(exp.GenerateText, exp.MLForecast, exp.MLTranslate, exp.Predict),
)
"""BigQuery's functions of a model, which sqlglot reads as a table: `ML.PREDICT(MODEL trend, TABLE orders)`."""

_READING: Final = (exp.Anonymous, exp.DynamicIdentifier, exp.ReadCSV, exp.ReadParquet)
"""Of the functions that sqlglot knows those that read something; a function that it does not know may read anything."""
_LOOKED_UP: Final = "looked_up"
_GENERATORS: Final = frozenset(
    {
        *("generateseries", "numbers", "numbers_mt", "range", "sequence", "zeros", "zeros_mt"),
        *("generate_subscripts", "regexp_matches", "regexp_split_to_table", "string_to_table"),
        *("split_to_table", "string_split", "json_object_keys", "jsonb_object_keys"),
        *(f"{kind}_each{end}" for kind in ("json", "jsonb") for end in ("", "_text")),
        *(f"{kind}_array_elements{end}" for kind in ("json", "jsonb") for end in ("", "_text")),
        *(f"{kind}_{how}_recordset" for kind in ("json", "jsonb") for how in ("to", "populate")),
    }
)
"""Functions unknown to sqlglot that make rows of their arguments only."""


def name_identifiers(tree: exp.Expr, dialect: str) -> None:
    """Rewrite `IDENTIFIER('sales.orders')` and Snowflake's `TABLE('sales.orders')` to `sales.orders`.

    What names a column otherwise (a variable, an expression, Snowflake's `$1`) becomes a column without a name, and a
    table that is not the database's own (behind a link, `orders@far` or `far.shop.dbo.orders`, a file, `'orders.csv'`,
    or temporary, `#orders`) one without a name; but a file with a full address is named by that (see `location_of`). A
    function that looks up a value in a table (`dictGet('shop.d', …)`) gets a column without a name, too. An array in
    FROM becomes UNNEST, and a model is no table.

    Raises:
        SqlglotError: a text is not a name.
    """
    _unname_other_tables(tree, dialect)
    _unname_looked_up(tree, dialect)
    _unname_models(tree)
    if dialect in _WITH_ARRAYS_IN_FROM:
        _unnest_outer_arrays(tree)
    if dialect in _WITH_IDENTIFIER_CLAUSES:
        _name_identifier_clauses(tree, dialect)


def location_of(table: Sequence[str], dialect: str) -> str | None:
    """The address of the file or folder that a statement reads under this name; None if it is a table."""
    is_read = dialect == "duckdb" or dialect in _ON_SPARK
    return table[0] if is_read and len(table) == 1 and _LOCATION.fullmatch(table[0]) else None


def _unname_other_tables(tree: exp.Expr, dialect: str) -> None:
    for table in tree.find_all(exp.Table):
        is_file = _is_file(table, dialect)
        is_elsewhere = any(_is_elsewhere(part, dialect) for part in table.parts)
        is_linked = dialect in _LINKING and isinstance(table.this, exp.Dot)
        if is_file and _LOCATION.fullmatch(table.name):
            address = exp.to_identifier(table.name, quoted=True)
            address.meta["case_sensitive"] = True
            table.set("this", address)
        elif is_file or is_elsewhere or is_linked:
            table.set("this", exp.Var(this=table.name))
        else:
            continue
        table.set("db", None)
        table.set("catalog", None)


def _is_file(table: exp.Table, dialect: str) -> bool:
    if dialect in _ON_SPARK:
        return len(table.parts) == 2 and table.db.lower() in _FILE_FORMATS and "/" in table.name
    return dialect == "duckdb" and len(table.parts) == 1 and _FILE.fullmatch(table.name) is not None


def _is_elsewhere(part: exp.Expr, dialect: str) -> bool:
    """Whether it names Oracle's database link, or a temporary table of SQL Server."""
    is_linked = dialect == "oracle" and _LINK in part.name and not part.args.get("quoted")
    return is_linked or any(part.args.get(kind) for kind in ("temporary", "global_"))


def _unname_looked_up(tree: exp.Expr, dialect: str) -> None:
    beginnings = _LOOKING_UP.get(dialect, ())
    for call in [*tree.find_all(exp.Anonymous)]:
        if call.name.lower().startswith(beginnings) and not isinstance(call.parent, exp.Table):
            named = (each for each in call.expressions[:1] if not isinstance(each, exp.Column | exp.Literal))
            call.set("expressions", [exp.Column(this=exp.Var(this=_LOOKED_UP)), *named, *call.expressions[1:]])
    if dialect == "clickhouse":
        for table in tree.find_all(exp.Table):  # `dictionary('shop.prices')`, which sqlglot reads as a table's columns
            if table.name == "dictionary" and table.alias_column_names and not table.alias:
                table.set("this", exp.Var(this=_LOOKED_UP))
                table.set("alias", None)


def _unname_models(tree: exp.Expr) -> None:
    """In FROM; in SELECT, what sqlglot reads as a model is a column, as in `AI.GENERATE_BOOL(prompt)`."""
    for call in tree.find_all(*_OF_MODELS):
        if isinstance(model := call.this, exp.Table):
            is_in_from = isinstance(call.parent, exp.Table)
            call.set("this", exp.Var(this=model.name) if is_in_from else model.to_column())


def _unnest_outer_arrays(tree: exp.Expr) -> None:
    """In subqueries, about tables of the queries around them: `FROM o.items`. In one FROM, sqlglot has done it."""
    for table in [*tree.find_all(exp.Table)]:
        select = table.parent_select
        outer: set[str] = set()
        while select is not None and (select := select.parent_select) is not None:
            relations = (select.args.get("from_"), *(select.args.get("joins") or ()))
            outer |= {relation.alias_or_name.lower() for relation in relations if relation is not None}
        if len(table.parts) > 1 and table.parts[0].name.lower() in outer:
            array = exp.Unnest(expressions=[table.to_column().unalias()])
            table.replace(exp.alias_(array, None, table=[table.alias_or_name], copy=False))


def _name_identifier_clauses(tree: exp.Expr, dialect: str) -> None:
    for rows in [*tree.find_all(exp.TableFromRows)]:
        if isinstance(rows.this, exp.Literal):
            rows.replace(exp.Table(**exp.to_table(rows.this.name, dialect=dialect).args | _but_this(rows)))
    for table in [*tree.find_all(exp.Table)]:
        if (name := _literal_name(table.this) or _literal_name(table.parent)) is not None:
            named = exp.to_table(name, dialect=dialect)
            for part in ("this", "db", "catalog"):
                table.set(part, named.args.get(part))
            if isinstance(table.parent, exp.Schema):
                table.parent.replace(table)
    for clause in [*tree.find_all(exp.DynamicIdentifier, exp.Anonymous, exp.Parameter)]:
        if _names_column(clause, dialect):
            name = _literal_name(clause)
            clause.replace(exp.Column(this=clause.copy()) if name is None else exp.to_column(name, dialect=dialect))


def has_unnamed_sources(tree: exp.Expr) -> bool:
    """Whether a statement may read something without naming it: by a function, a variable, a staged file.

    A function of another source's column is taken to compute its rows from that.
    """
    if any(isinstance(column.this, exp.Var) and column.name == _LOOKED_UP for column in tree.find_all(exp.Column)):
        return True
    named = {relation.alias_or_name for relation in tree.find_all(exp.Table, exp.Subquery, exp.CTE)}
    return any(
        _may_read(relation)
        for relation in _unnamed_relations(tree)
        if not any(column.table in named for column in relation.find_all(exp.Column) if column.table)
    )


def _unnamed_relations(tree: exp.Expr) -> Iterator[exp.Expr]:
    yield from (rows.this for rows in tree.find_all(exp.TableFromRows))
    for table in tree.find_all(exp.Table):
        if not isinstance(table.parent, exp.UserDefinedFunction):
            yield from (part for part in table.parts if not isinstance(part, exp.Identifier))


def _may_read(relation: exp.Expr) -> bool:
    if isinstance(relation, exp.Anonymous):
        name = relation.name.lower()
        if name == "table" and len(relation.expressions) == 1:  # Trino's `TABLE(sequence(1, 3))`
            return _may_read(relation.expressions[0])
        return name not in _GENERATORS
    return isinstance(relation, _READING) or not isinstance(relation, exp.Func | exp.Query)


def _names_column(clause: exp.Expr, dialect: str) -> bool:
    """Whether it stands for a column; not for a table, a function or the value of a variable."""
    if isinstance(clause.parent, exp.Aliases | exp.Column | exp.DynamicIdentifier | exp.Table):
        return False
    match clause:
        case exp.Parameter():
            return dialect == "snowflake" and isinstance(clause.this, exp.Literal)
        case exp.DynamicIdentifier():
            return not clause.expressions
    return _is_identifier(clause.name)


def _literal_name(clause: exp.Expr | None) -> str | None:
    """The text in `IDENTIFIER('…')`, which sqlglot reads after INTO and CREATE TABLE as a table with its columns."""
    match clause:
        case exp.DynamicIdentifier(this=exp.Literal() as name):
            return name.name
        case exp.Anonymous(this=str(function), expressions=[exp.Literal() as name]) if _is_identifier(function):
            return name.name
        case exp.Schema(this=exp.Table(name=function), expressions=[exp.Literal() as name]) if _is_identifier(function):
            return name.name
    return None


def _is_identifier(function: str) -> bool:
    return function.lower() == "identifier"


def _but_this(node: exp.Expr) -> dict[str, object]:
    return {name: value for name, value in node.args.items() if name != "this"}
