"""Every kind of step, tested by the rows that it returns."""

from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from headwater.cli.verify import Judged, judge_of_records, judged_lines, read_keys
from headwater.signing.jwks import write_jwks
from headwater.signing.keyfile import load_or_create
from tests.component.pipeline.pipeline_bench import Bench, FinishedRun

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("orders")]


def processed(bench: Bench, steps: str) -> tuple[FinishedRun, list[tuple[Any, ...]]]:
    run = bench.run(f"""
        input: $ORDERS
        pipeline:
          processors:
            {steps}
        output: {{iceberg: {{table: lake.out.rows}}}}
    """)
    return run, bench.rows("lake.out.rows") if run.result.state == "COMPLETE" else []


def test_sql_reads_the_previous_step_as_input_and_named_steps_by_name(bench: Bench) -> None:
    _, rows = processed(
        bench,
        """\
            - {name: dear, filter: price > 5}
            - sql: SELECT supplier, count(*) AS n FROM input GROUP BY supplier
            - sql: SELECT i.supplier, i.n, max(d.price) AS top FROM input i JOIN dear d USING (supplier) GROUP BY 1, 2
        """.lstrip(),
    )

    assert rows == [("acme", 2, 20.0), ("brix", 1, 5.25)]


def test_a_mapping_returns_only_the_mapped_columns(bench: Bench) -> None:
    _, rows = processed(bench, "- mapping: {columns: {id: order_id, cents: CAST(price * 100 AS INT)}}")

    assert rows == [(1, 1050), (2, 2000), (3, 525), (4, None), (5, 100)]


def test_a_mapping_with_keep_replaces_columns_in_place_and_appends_new_ones(bench: Bench) -> None:
    run, rows = processed(
        bench, "- mapping: {keep: true, drop: [day], columns: {dear: price > 5, Supplier: upper(supplier)}}"
    )

    names = [column["name"] for column in run.output("/rows")["facets"]["schema"]["fields"]]
    assert names == ["order_id", "Supplier", "price", "dear"]
    assert rows[0] == (1, "ACME", 10.5, True)


def test_dropping_an_unknown_column_fails_the_run(bench: Bench) -> None:
    run = bench.run("""
        input: $ORDERS
        pipeline: {processors: [mapping: {columns: {}, keep: true, drop: [SUPPLIER, nope]}]}
        output: {stdout: }
    """)

    assert run.result.state == "FAIL"
    assert "drop: no column nope; the columns are order_id, supplier, price, day" in (run.result.error or "")


def test_filter_keeps_rows_for_which_the_condition_is_true_not_null(bench: Bench) -> None:
    _, rows = processed(bench, "- filter: price < 100")

    assert [row[0] for row in rows] == [1, 2, 3, 5]


@pytest.mark.parametrize(("keep", "expected"), [("first", [1, 4]), ("last", [2, 3])])
def test_dedupe_keeps_the_first_or_last_row_in_order_with_null_lowest(
    bench: Bench, keep: str, expected: list[int]
) -> None:
    steps = f"- filter: order_id <> 5\n            - dedupe: {{keys: [supplier], order_by: [price], keep: {keep}}}"
    _, rows = processed(bench, steps)

    assert [row[0] for row in rows] == expected


def test_dedupe_without_an_order_keeps_one_row_per_key(bench: Bench) -> None:
    _, rows = processed(bench, "- dedupe: {keys: [supplier]}\n            - mapping: {columns: {s: supplier}}")

    assert rows == [("acme",), ("brix",)]


def test_a_python_function_next_to_the_file_receives_the_frame_and_its_options(bench: Bench) -> None:
    bench.write("rates.py", "RATES = {'acme': 2}\n")
    bench.write(
        "prices.py",
        """\
        from pyspark.sql import functions as F

        import rates

        def converted(frame, column, default):
            rate = F.udf(lambda supplier: rates.RATES.get(supplier, default), "int")
            return frame.select("order_id", (F.col(column) * rate("supplier")).alias(column))
        """,
    )

    _, rows = processed(bench, "- python: {function: 'prices:converted', options: {column: price, default: 10}}")

    assert rows == [(1, 21.0), (2, 40.0), (3, 52.5), (4, None), (5, 2.0)]


def test_a_module_of_another_pipeline_with_the_same_name_is_not_used(bench: Bench, tmp_path: Path) -> None:
    for answer in (1, 2):
        bench.folder = tmp_path / str(answer)
        bench.write("orders.csv", "order_id\n7\n")
        bench.write("steps.py", f"def step(frame):\n    return frame.selectExpr('{answer} AS answer')\n")

        _, rows = processed(bench, "- python: {function: 'steps:step'}")

        assert rows == [(answer,)]


def test_a_python_function_that_returns_no_frame_fails_the_run_and_is_named(bench: Bench) -> None:
    bench.write("steps.py", "def step(frame):\n    return 'secret'\n")

    run, _ = processed(bench, "- python: {function: 'steps:step'}")

    assert run.states[-1] == "FAIL"
    assert "steps:step: expected it to return a DataFrame, found str" in (run.result.error or "")


def test_metadata_stamps_every_row_with_the_run_in_one_struct(bench: Bench) -> None:
    run, rows = processed(bench, "- metadata: {include: [core, pipeline, node]}")

    stamps = [row[-1] for row in rows]
    assert len(stamps) == 5
    assert {stamp["run_id"] for stamp in stamps} == {run.last["run"]["runId"]}
    stamp = stamps[0]
    started = datetime.fromisoformat(run.events[0]["eventTime"].replace("Z", "+00:00"))
    assert stamp["started_at"].astimezone(UTC) == started
    assert (stamp["job_namespace"], stamp["job_name"]) == ("test", "orders")
    assert stamp["pipeline_sha256"] == sha256((bench.folder / "pipeline.yaml").read_bytes()).hexdigest()
    assert (stamp["node_id"], stamp["schema_version"]) == ("edge-7", "1")
    assert run.output("/rows")["facets"]["schema"]["fields"][-1]["name"] == "lineage"


def test_metadata_can_be_flat_with_a_prefix_of_choice(bench: Bench) -> None:
    run, rows = processed(bench, "- metadata: {format: flat, prefix: hw_}")

    names = [column["name"] for column in run.output("/rows")["facets"]["schema"]["fields"]]
    assert names[4:] == ["hw_run_id", "hw_job_namespace", "hw_job_name", "hw_started_at"]
    assert {row[4] for row in rows} == {run.result.run_id}


def test_signed_records_are_verified_in_the_written_file_and_a_changed_one_is_found(bench: Bench) -> None:
    key = load_or_create(bench.home)
    keys = bench.write("node.jwks", write_jwks({key.key_id: key.public_key}))

    run = bench.run("""
        input: $ORDERS
        pipeline:
          processors:
            - mapping: {columns: {exact: "CAST(price AS DECIMAL(10,2))", "größer": price * 2, at: "now()"}, keep: true}
            - metadata: {include: [core]}
            - signature: {target: metadata, column: stamp}
            - signature: {target: body}
        output: {file: {path: out.json, format: json, single_file: true}}
    """)

    assert run.result.error is None
    written = bench.folder / "out.json"
    assert [record.verification.verdict for record in judged(written, keys, "signature")] == ["ok"] * 5
    assert [record.verification.key_id for record in judged(written, keys, "stamp")] == [key.key_id] * 5
    written.write_text(written.read_text().replace('"supplier":"brix"', '"supplier":"evil"', 1))
    assert [record.verification.verdict for record in judged(written, keys, "signature")].count("tampered") == 1
    assert [record.verification.verdict for record in judged(written, keys, "stamp")] == ["ok"] * 5
    sources = run.output("out.json")["facets"]["columnLineage"]["fields"]["signature"]["inputFields"]
    assert {source["field"] for source in sources} >= {"order_id", "supplier", "price", "day"}


def test_a_dot_in_a_columns_name_is_part_of_the_name(bench: Bench) -> None:
    steps = """- mapping: {columns: {a.b: order_id, c.d: price, "e`f": supplier}}
            - dedupe: {keys: ["e`f"], order_by: [c.d]}
            - dedupe: {keys: [a.b], order_by: [a.b]}
            - signature: {}"""

    run = bench.run(f"""
        input: $ORDERS
        pipeline:
          processors:
            {steps}
        output: {{iceberg: {{table: lake.a.dotted, mode: merge, 'on': [a.b]}}}}
    """)

    assert run.result.error is None
    assert [row[:3] for row in bench.rows("lake.a.dotted")] == [(4, None, "brix"), (5, 1.0, "acme")]


def judged(file: Path, keys: Path, column: str) -> list[Judged]:
    """The verdicts of `headwater verify --records` on the file."""
    return [*judged_lines([file], judge_of_records(column, read_keys(str(keys))), lambda _: None)]
