"""Failures are told with their class and place, and without a value of the data."""

import json
import logging
import sqlite3
from typing import Any

import pytest
from _pytest.capture import CaptureResult
from pipeline_bench import Bench, Ran

pytestmark = pytest.mark.spark

CARD = "4929-1234-5678-9012"


def error_of(ran: Ran) -> dict[str, Any]:
    assert ran.states == ["START", "FAIL"]
    assert ran.last["run"]["facets"]["headwater_run"]["errorCount"] == 1
    facet: dict[str, Any] = ran.last["run"]["facets"]["errorMessage"]
    assert ran.result.error == facet["message"]
    return facet


def assert_nothing_leaks(ran: Ran, captured: CaptureResult[str], caplog: pytest.LogCaptureFixture) -> None:
    assert CARD not in json.dumps(ran.events)
    assert CARD not in repr(ran.result)
    assert CARD not in captured.out + captured.err
    assert CARD not in caplog.text
    assert not any(CARD in repr(vars(record)) for record in caplog.records)


FAILING_STEPS = {
    "a failed cast": ("mapping: {columns: {n: CAST(card AS INT)}}", "CAST_INVALID_INPUT"),
    "an error that the query raises": (
        "mapping: {columns: {n: CAST(raise_error(card) AS INT)}}",
        "USER_RAISED_EXCEPTION",
    ),
    "a date that is none": ("mapping: {columns: {n: to_date(card)}}", "CAST_INVALID_INPUT"),
    "a function on the driver": ("python: {function: 'steps:on_driver'}", "ValueError in on_driver"),
    "a function on a worker": ("python: {function: 'steps:on_worker'}", "ValueError in a Python function"),
}


@pytest.mark.parametrize(("step", "told"), FAILING_STEPS.values(), ids=FAILING_STEPS.keys())
def test_a_failing_row_is_not_quoted_anywhere(
    bench: Bench,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    step: str,
    told: str,
) -> None:
    caplog.set_level(logging.DEBUG, logger="headwater")
    bench.write("cards.csv", f"card\n{CARD}\n")
    bench.write(
        "steps.py",
        """\
        from pyspark.sql import functions as F

        def on_driver(frame):
            raise ValueError(frame._jdf.first().getString(0))

        def on_worker(frame):
            def refuse(card):
                raise ValueError(f"bad card\\n{card}")
            return frame.select(F.udf(refuse, "int")("card").alias("n"))
        """,
    )

    ran = bench.run(f"""
        input: {{file: {{paths: [cards.csv], format: csv, options: {{header: 'true'}}}}}}
        pipeline: {{processors: [{step}]}}
        output: {{iceberg: {{table: lake.a.t}}}}
    """)

    assert told in error_of(ran)["message"]
    assert_nothing_leaks(ran, capfd.readouterr(), caplog)


def test_a_key_that_a_database_refuses_is_not_quoted(
    bench: Bench, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    bench.write("cards.csv", f"card\n{CARD}\n{CARD}\n")
    with sqlite3.connect(bench.folder / "shop.db") as db:
        db.execute("CREATE TABLE cards (card TEXT PRIMARY KEY)")
    db.close()

    ran = bench.run("""
        input: {file: {paths: [cards.csv], format: csv, options: {header: 'true'}}}
        output: {sql: {url: "jdbc:sqlite:$HERE/shop.db", table: cards}}
    """)

    assert "SQLiteException" in error_of(ran)["message"]
    assert_nothing_leaks(ran, capfd.readouterr(), caplog)


def test_a_failure_tells_where_in_the_file_what_and_the_frames_without_messages(bench: Bench) -> None:
    ran = bench.run("""
        input: {file: {paths: [absent.csv], format: csv}}
        output: {iceberg: {table: lake.a.t}}
    """)

    facet = error_of(ran)
    assert facet["message"].startswith("input (line 5): AnalysisException [PATH_NOT_FOUND] Path does not exist: file:")
    assert facet["programmingLanguage"] == "JAVA"
    assert facet["stackTrace"].splitlines()[0] == "org.apache.spark.sql.AnalysisException [PATH_NOT_FOUND]"
    assert any("\tat org.apache.spark.sql" in line for line in facet["stackTrace"].splitlines())


def test_a_query_over_an_unknown_column_names_it_and_the_known_ones(bench: Bench) -> None:
    ran = bench.run("""
        input: {generate: {rows: 1}}
        pipeline: {processors: [sql: SELECT nope FROM input]}
        output: {iceberg: {table: lake.a.t}}
    """)

    message = error_of(ran)["message"]
    assert message.startswith("pipeline.processors.0 (line 6): ")
    assert "`nope` cannot be resolved" in message
    assert "`id`" in message


def test_a_missing_password_is_told_by_the_name_of_its_variable(bench: Bench) -> None:
    ran = bench.run("""
        input: {sql: {url: "jdbc:sqlite:$HERE/shop.db", table: t, password_env: NO_SUCH_VARIABLE}}
        output: {iceberg: {table: lake.a.t}}
    """)

    assert "NO_SUCH_VARIABLE" in error_of(ran)["message"]


def test_options_that_a_function_does_not_take_are_told_by_their_names(bench: Bench) -> None:
    bench.write("steps.py", "def trim(frame, columns):\n    return frame\n")

    ran = bench.run("""
        input: {generate: {rows: 1}}
        pipeline: {processors: [python: {function: "steps:trim", options: {cols: [id]}}]}
        output: {iceberg: {table: lake.a.t}}
    """)

    assert "steps:trim: options do not match the function's parameters: " in error_of(ran)["message"]
    assert "columns" in error_of(ran)["message"]


@pytest.mark.parametrize(
    ("chosen", "told"),
    [
        ("as_of: 2001-01-01T00:00:00Z", "as_of: lake.a.t has no snapshot from before 2001-01-01 00:00:00+00:00"),
        ("snapshot_id: 7", "snapshot_id: lake.a.t has no snapshot 7"),
    ],
)
def test_a_snapshot_that_a_table_does_not_have_is_told_as_such(bench: Bench, chosen: str, told: str) -> None:
    bench.run("input: {generate: {rows: 1}}\noutput: {iceberg: {table: lake.a.t}}")

    ran = bench.run(f"""
        input: {{iceberg: {{table: lake.a.t, {chosen}}}}}
        output: {{iceberg: {{table: lake.a.u}}}}
    """)

    assert error_of(ran)["message"] == f"input (line 5): {told}"


def test_what_a_database_refuses_is_told_by_its_number(bench: Bench) -> None:
    with sqlite3.connect(bench.folder / "shop.db") as db:
        db.execute("CREATE TABLE there (id INT)")

    ran = bench.run("""
        input: {sql: {url: "jdbc:sqlite:$HERE/shop.db", table: not_there}}
        output: {iceberg: {table: lake.a.t}}
    """)

    assert error_of(ran)["message"].endswith("SQLiteException [error code 1]")


def test_what_was_done_before_the_failure_is_counted(bench: Bench) -> None:
    ran = bench.run("""
        inputs: {good: {generate: {rows: 3}}, bad: {generate: {rows: 3, columns: {n: "1 / (id - 1)"}}}}
        outputs: [{from: good, iceberg: {table: lake.a.good}}, {from: bad, iceberg: {table: lake.a.bad}}]
    """)

    assert "DIVIDE_BY_ZERO" in error_of(ran)["message"]
    assert ran.counters() == (3, 3)
    assert bench.rows("lake.a.good") == [(0,), (1,), (2,)]
