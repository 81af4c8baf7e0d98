"""Failures are reported with their class and place, and without a value of the data."""

import json
import logging
import sqlite3
from typing import Any

import pytest
from _pytest.capture import CaptureResult

from tests.component.pipeline.pipeline_bench import Bench, FinishedRun

pytestmark = pytest.mark.spark

CARD = "4929-1234-5678-9012"


def error_of(run: FinishedRun) -> dict[str, Any]:
    assert run.states == ["START", "FAIL"]
    assert run.last["run"]["facets"]["headwater_run"]["errorCount"] == 1
    facet: dict[str, Any] = run.last["run"]["facets"]["errorMessage"]
    assert run.result.error == facet["message"]
    return facet


def assert_nothing_leaks(run: FinishedRun, captured: CaptureResult[str], caplog: pytest.LogCaptureFixture) -> None:
    assert CARD not in json.dumps(run.events)
    assert CARD not in repr(run.result)
    assert CARD not in captured.out + captured.err
    assert CARD not in caplog.text
    assert not any(CARD in repr(vars(record)) for record in caplog.records)


FAILING_STEPS = {
    "a failed cast": ("mapping: {columns: {n: CAST(card AS INT)}}", "CAST_INVALID_INPUT"),
    "an error that the query raises": (
        "mapping: {columns: {n: CAST(raise_error(card) AS INT)}}",
        "USER_RAISED_EXCEPTION",
    ),
    "a value that is not a date": ("mapping: {columns: {n: to_date(card)}}", "CAST_INVALID_INPUT"),
    "a function on the driver": ("python: {function: 'steps:on_driver'}", "ValueError in on_driver"),
    "a function on a worker": ("python: {function: 'steps:on_worker'}", "ValueError in a Python function"),
}


@pytest.mark.parametrize(("step", "expected"), FAILING_STEPS.values(), ids=FAILING_STEPS.keys())
def test_a_failing_row_is_not_quoted_anywhere(
    bench: Bench,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    step: str,
    expected: str,
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

    run = bench.run(f"""
        input: {{file: {{paths: [cards.csv], format: csv, options: {{header: 'true'}}}}}}
        pipeline: {{processors: [{step}]}}
        output: {{iceberg: {{table: lake.a.t}}}}
    """)

    assert expected in error_of(run)["message"]
    assert_nothing_leaks(run, capfd.readouterr(), caplog)


def test_a_key_that_a_database_refuses_is_not_quoted(
    bench: Bench, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    bench.write("cards.csv", f"card\n{CARD}\n{CARD}\n")
    with sqlite3.connect(bench.folder / "shop.db") as db:
        db.execute("CREATE TABLE cards (card TEXT PRIMARY KEY)")
    db.close()

    run = bench.run("""
        input: {file: {paths: [cards.csv], format: csv, options: {header: 'true'}}}
        output: {sql: {url: "jdbc:sqlite:$HERE/shop.db", table: cards}}
    """)

    assert "SQLiteException" in error_of(run)["message"]
    assert_nothing_leaks(run, capfd.readouterr(), caplog)


def test_a_failure_reports_its_place_in_the_file_its_class_and_its_frames_without_messages(bench: Bench) -> None:
    run = bench.run("""
        input: {file: {paths: [absent.csv], format: csv}}
        output: {iceberg: {table: lake.a.t}}
    """)

    facet = error_of(run)
    assert facet["message"].startswith("input (line 5): AnalysisException [PATH_NOT_FOUND] Path does not exist: file:")
    assert facet["programmingLanguage"] == "JAVA"
    assert facet["stackTrace"].splitlines()[0] == "org.apache.spark.sql.AnalysisException [PATH_NOT_FOUND]"
    assert any("\tat org.apache.spark.sql" in line for line in facet["stackTrace"].splitlines())


def test_an_option_whose_value_spark_does_not_accept_is_named(bench: Bench) -> None:
    run = bench.run("""
        input: {generate: {rows: 1}}
        output: {iceberg: {table: lake.a.t}}
        spark: {spark.sql.shuffle.partitions: many}
    """)

    assert error_of(run)["message"] == "Spark does not accept the value of spark.sql.shuffle.partitions"


def test_a_query_over_an_unknown_column_names_it_and_the_known_ones(bench: Bench) -> None:
    run = bench.run("""
        input: {generate: {rows: 1}}
        pipeline: {processors: [sql: SELECT nope FROM input]}
        output: {iceberg: {table: lake.a.t}}
    """)

    message = error_of(run)["message"]
    assert message.startswith("pipeline.processors.0 (line 6): ")
    assert "`nope` cannot be resolved" in message
    assert "`id`" in message


def test_a_missing_password_is_reported_by_the_name_of_its_variable(bench: Bench) -> None:
    run = bench.run("""
        input: {sql: {url: "jdbc:sqlite:$HERE/shop.db", table: t, password_env: NO_SUCH_VARIABLE}}
        output: {iceberg: {table: lake.a.t}}
    """)

    assert "NO_SUCH_VARIABLE" in error_of(run)["message"]


def test_options_that_do_not_match_a_functions_parameters_are_reported(bench: Bench) -> None:
    bench.write("steps.py", "def trim(frame, columns):\n    return frame\n")

    run = bench.run("""
        input: {generate: {rows: 1}}
        pipeline: {processors: [python: {function: "steps:trim", options: {cols: [id]}}]}
        output: {iceberg: {table: lake.a.t}}
    """)

    assert "steps:trim: options do not match the function's parameters: " in error_of(run)["message"]
    assert "columns" in error_of(run)["message"]


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("as_of: 2001-01-01T00:00:00Z", "as_of: lake.a.t has no snapshot from before 2001-01-01 00:00:00+00:00"),
        ("snapshot_id: 7", "snapshot_id: lake.a.t has no snapshot 7"),
    ],
)
def test_a_snapshot_that_does_not_exist_is_reported(bench: Bench, option: str, expected: str) -> None:
    bench.run("input: {generate: {rows: 1}}\noutput: {iceberg: {table: lake.a.t}}")

    run = bench.run(f"""
        input: {{iceberg: {{table: lake.a.t, {option}}}}}
        output: {{iceberg: {{table: lake.a.u}}}}
    """)

    assert error_of(run)["message"] == f"input (line 5): {expected}"


def test_an_error_of_a_database_is_reported_by_its_number(bench: Bench) -> None:
    with sqlite3.connect(bench.folder / "shop.db") as db:
        db.execute("CREATE TABLE there (id INT)")

    run = bench.run("""
        input: {sql: {url: "jdbc:sqlite:$HERE/shop.db", table: not_there}}
        output: {iceberg: {table: lake.a.t}}
    """)

    assert error_of(run)["message"].endswith("SQLiteException [error code 1]")


def test_rows_written_before_a_failure_are_counted(bench: Bench) -> None:
    run = bench.run("""
        inputs: {good: {generate: {rows: 3}}, bad: {generate: {rows: 3, columns: {n: "1 / (id - 1)"}}}}
        outputs: [{from: good, iceberg: {table: lake.a.good}}, {from: bad, iceberg: {table: lake.a.bad}}]
    """)

    assert "DIVIDE_BY_ZERO" in error_of(run)["message"]
    assert run.counters() == (3, 3)
    assert bench.rows("lake.a.good") == [(0,), (1,), (2,)]
