"""Names and facets of inputs and outputs, as far as the pipeline file gives them."""

import re
from typing import Final

from headwater.model.naming import file_dataset, path_dataset
from headwater.model.naming_jdbc import jdbc_dataset
from headwater.observe.described import Described, files, source_facet, table_of
from headwater.observe.queries import is_of_database, read_query
from headwater.pipeline.spec import FileInput, FileOutput, HttpCall, InputKind, OutputKind, SqlInput, SqlOutput

_GLOB: Final = re.compile(r"[*?\[{]")


def files_read(reads: FileInput) -> list[Described]:
    """One dataset per path; for a glob, the directory that contains all its matches."""
    names = dict.fromkeys(path_dataset(_without_glob(path)) for path in reads.paths)
    return [files(name, reads.format) for name in names]


def files_written(writes: FileOutput) -> Described:
    """The directory, or the one file."""
    return files(path_dataset(writes.path), writes.format)


def database_tables(database: SqlInput | SqlOutput) -> list[Described]:
    """The table, or each table that a query names; none for a table that is not of this database."""
    if isinstance(database, SqlInput) and database.table is None:
        tables = read_query(database.query or "", database.url).tables
    else:
        tables = () if goes_beyond(database) else (database.table or "",)
    return [table_of(jdbc_dataset(database.url, table)) for table in tables]


def goes_beyond(database: InputKind | OutputKind) -> bool:
    """Whether a query may read more than the tables of its database that it names, or a table is not one of them."""
    match database:
        case SqlInput(table=str(table), url=url) | SqlOutput(table=table, url=url):
            return not is_of_database(table, url)
        case SqlInput(query=query, url=url):
            return not read_query(query or "", url).names_all_sources
    return False


def api(call: HttpCall) -> Described:
    """The resource of an API: its URL without the query."""
    name = file_dataset(call.url)
    return Described(name, {"dataSource": source_facet(name)})


def has_columns_of_its_table(reads: SqlInput) -> bool:
    """Whether each column of the frame is the column of that name in the only table that is read.

    True for a table, and for a query that only selects columns and rows of one.
    """
    return reads.table is not None or read_query(reads.query or "", reads.url).only_picks


def _without_glob(path: str) -> str:
    """The part of a path before its first glob, cut at a slash: `/data/2013-*/x.csv` becomes `/data`."""
    found = _GLOB.search(path)
    return path if found is None else path[: path.rindex("/", 0, found.start())] or "/"
