"""Valid pipeline files, and the problems that are reported of others."""

import re
from datetime import UTC, datetime
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from headwater.errors import InvalidPipelineError
from headwater.pipeline.check import load_pipeline
from headwater.pipeline.spec import (
    DedupeProcessor,
    FileInput,
    FilterProcessor,
    IcebergInput,
    IcebergOutput,
    LineageAuth,
    LineageFile,
    LineageHttp,
    LineageSpec,
    MetadataProcessor,
    PipelineSpec,
    SourceLocation,
    SqlInput,
    SqlProcessor,
    StdoutOutput,
    StreamSpec,
    Watermark,
)

# The example of the design, section 5, with a file instead of Kafka and without the quality step.
DESIGN = """\
name: orders-to-lake
namespace: production
schema_version: 1
input:
  file: {paths: [orders.csv], format: csv}
pipeline:
  processors:
    - sql: SELECT order_id, CAST(price AS DECIMAL(10,2)) AS price, supplier, bid_time FROM input
    - filter: price > 0
    - metadata: {include: [core, pipeline], target: body, format: nested, body_key: lineage}
output:
  iceberg: {table: lake.sales.orders, mode: append}      # lake: the embedded catalog
lineage:
  enabled: true
  transport: http            # http, file, or both
  queue_size: 1024
  drain_timeout: 5s
  http:
    {endpoint: http://localhost:5000/api/v1/lineage, timeout: 3s, auth: {type: bearer, token_env: OPENLINEAGE_TOKEN}}
  file: {path: events.jsonl, rotation_size_mb: 64}
"""

# Four lines that any file needs; a case's own lines start at line 5.
REQUIRED = """\
name: orders
namespace: production
input: {file: {paths: [orders.csv], format: csv}}
output: {stdout: {rows: 5}}
"""
STREAM = """\
name: orders
namespace: production
mode: stream
input: {file: {paths: [orders], format: text}}
"""


def load(directory: Path, text: str, overrides: dict[str, str] | None = None) -> PipelineSpec:
    """Load a file with this text, in an environment of one variable."""
    path = directory / "orders.yaml"
    path.write_text(text)
    return load_pipeline(path, overrides or {}, {"BUCKET": "s3://landing"})


def problems(directory: Path, text: str, overrides: dict[str, str] | None = None) -> list[str]:
    """The problems of a file with this text, without its directory."""
    with pytest.raises(InvalidPipelineError) as refusal:
        load(directory, text, overrides)
    return str(refusal.value).replace(f"{directory}/", "").splitlines()


def test_the_designs_example_gives_this_spec(tmp_path: Path) -> None:
    spec = load(tmp_path, DESIGN)

    assert (spec.name, spec.namespace, spec.schema_version, spec.mode) == ("orders-to-lake", "production", 1, "batch")
    assert spec.inputs["input"].reads == FileInput(paths=(str(tmp_path / "orders.csv"),), format="csv")
    assert [processor.does for processor in spec.processors] == [
        SqlProcessor(query="SELECT order_id, CAST(price AS DECIMAL(10,2)) AS price, supplier, bid_time FROM input"),
        FilterProcessor(condition="price > 0"),
        MetadataProcessor(include=("core", "pipeline"), target="body", format="nested", body_key="lineage"),
    ]
    assert [output.writes for output in spec.outputs] == [IcebergOutput(table="lake.sales.orders", mode="append")]
    assert spec.lineage == LineageSpec(
        enabled=True,
        transport="http",
        queue_size=1024,
        drain_timeout=5.0,
        http=LineageHttp(
            endpoint="http://localhost:5000/api/v1/lineage",
            timeout=3.0,
            auth=LineageAuth(type="bearer", token_env="OPENLINEAGE_TOKEN"),  # noqa: S106  (a variable's name)
        ),
        file=LineageFile(path=str(tmp_path / "events.jsonl"), rotation_size_mb=64),
    )


def test_the_designs_example_with_quality_is_refused_as_not_available_yet(tmp_path: Path) -> None:
    text = DESIGN.replace("- filter: price > 0", "- quality: {on_failure: quarantine}")

    assert problems(tmp_path, text) == [
        "orders.yaml:9:7: pipeline.processors.1.quality: quality is not available yet;"
        " there are sql, mapping, filter, dedupe, python, metadata, signature",
    ]


def test_a_spec_has_its_file_and_the_lines_of_its_parts(tmp_path: Path) -> None:
    spec = load(tmp_path, DESIGN)

    assert spec.source == tmp_path / "orders.yaml"
    assert spec.source_sha256 == sha256(DESIGN.encode()).hexdigest()
    assert spec.inputs["input"].location == SourceLocation("input", 5)
    assert [each.location.line for each in spec.processors] == [8, 9, 10]
    assert spec.outputs[0].location == SourceLocation("output", 12)


def test_missing_keys_have_defaults(tmp_path: Path) -> None:
    spec = load(tmp_path, REQUIRED)

    assert (spec.schema_version, spec.mode, spec.owners, spec.processors) == (None, "batch", (), ())
    assert spec.lineage == LineageSpec(file=LineageFile(path=str(tmp_path / "events.jsonl")))
    assert spec.stream == StreamSpec()


def test_all_problems_are_reported_at_once_in_the_order_of_the_file(tmp_path: Path) -> None:
    text = """\
name: orders
nmespace: production
mode: streem
input: {file: {path: [orders.csv], format: cvs}}
pipeline:
  processors:
    - filtr: price > 0
    - dedupe: {keys: []}
output: {iceberg: {table: lke.sales.orders, mode: merge}}
lineage: {drain_timeout: 5, enabled: yes}
"""

    choices = "csv or json or parquet or text"
    assert problems(tmp_path, text) == [
        "orders.yaml:1:1: missing key 'namespace'",
        "orders.yaml:2:1: nmespace: unknown key, did you mean 'namespace'?",
        "orders.yaml:3:7: mode: expected batch or stream, found 'streem', did you mean 'stream'?",
        "orders.yaml:4:15: input.file: missing key 'paths'",
        "orders.yaml:4:16: input.file.path: unknown key, did you mean 'paths'?",
        f"orders.yaml:4:44: input.file.format: expected {choices}, found 'cvs', did you mean 'csv'?",
        "orders.yaml:7:7: pipeline.processors.0.filtr: unknown key, did you mean 'filter'?",
        "orders.yaml:8:22: pipeline.processors.1.dedupe.keys: expected at least one column",
        "orders.yaml:9:19: output.iceberg: missing key 'on': the columns that identify the row to update",
        "orders.yaml:9:27: output.iceberg.table: expected a table of catalog lake, found catalog 'lke',"
        " did you mean 'lake'?",
        "orders.yaml:10:26: lineage.drain_timeout: expected a duration of at most 10000d with its unit (ms, s, m, h,"
        " d), such as 5s, found the number '5'",
        "orders.yaml:10:38: lineage.enabled: expected true or false, found 'yes'",
    ]


WRONG = yaml.safe_load((Path(__file__).parent / "wrong_files.yaml").read_text())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(group["rest"] + case["file"], case["message"], id=f"{title}: {case['what']}")
        for title, group in WRONG.items()
        for case in group["cases"]
    ],
)
def test_one_problem_is_reported_in_one_line(text: str, message: str, tmp_path: Path) -> None:
    assert problems(tmp_path, text) == [f"orders.yaml:{message}"]


def test_two_outputs_on_stdout_are_refused(tmp_path: Path) -> None:
    messages = problems(tmp_path, REQUIRED.replace("output: {stdout: {rows: 5}}", "outputs: [stdout: , stdout: ]"))

    assert messages == [
        "orders.yaml:4:28: outputs.1.stdout: expected at most one stdout output: rows of two could not be told apart"
    ]


def test_a_complete_stream_loads(tmp_path: Path) -> None:
    spec = load(
        tmp_path,
        STREAM
        + """\
stream: {checkpoint: state, interval: 200ms}
pipeline:
  processors:
    - dedupe: {keys: [value], watermark: {column: read_at, delay: 1.5h}}
output: {iceberg: {table: lake.a.b, mode: merge, on: [value]}}
""",
    )

    assert spec.stream == StreamSpec(checkpoint=str(tmp_path / "state"), interval=0.2)
    watermark = Watermark(column="read_at", delay=5400.0)
    assert spec.processors[0].does == DedupeProcessor(keys=("value",), watermark=watermark)


def test_on_is_a_key_and_yes_is_text(tmp_path: Path) -> None:
    text = REQUIRED.replace("{stdout: {rows: 5}}", "{iceberg: {table: lake.a.b, mode: merge, on: [yes]}}")

    assert load(tmp_path, text).outputs[0].writes == IcebergOutput(table="lake.a.b", mode="merge", on=("yes",))


def test_a_part_with_one_required_text_can_be_that_text(tmp_path: Path) -> None:
    text = "name: a\nnamespace: b\ninput: {iceberg: lake.raw.planes}\noutput: {stdout: }\n"

    spec = load(tmp_path, text)

    assert spec.inputs["input"].reads == IcebergInput(table="lake.raw.planes")
    assert spec.outputs[0].writes == StdoutOutput(rows=20)


def test_options_are_read_as_they_are_written(tmp_path: Path) -> None:
    options = "{header: True, sep: ';', maxColumns: 007, ratio: 1.50, quote: ''}"

    spec = load(tmp_path, REQUIRED.replace("format: csv", f"format: csv, options: {options}"))

    reads = spec.inputs["input"].reads
    assert isinstance(reads, FileInput)
    assert reads.options == {"header": "true", "sep": ";", "maxColumns": "007", "ratio": "1.50", "quote": ""}


def test_an_unknown_transform_of_iceberg_is_refused(tmp_path: Path) -> None:
    entry = "iceberg: {table: lake.a.b, partition_by: [daz(ts), 'bucket(8, id)', day, Days(ts)]}"

    messages = problems(tmp_path, REQUIRED.replace("stdout: {rows: 5}", entry))

    (message,) = messages
    assert message.startswith(
        "orders.yaml:4:52: output.iceberg.partition_by.0: expected a column, or bucket, truncate, "
    )
    assert message.endswith(" of one, found daz, did you mean 'day'?")


def test_a_time_keeps_its_zone(tmp_path: Path) -> None:
    entry = "input: {iceberg: {table: lake.a.b, as_of: 2026-01-31T12:00:00Z}}"

    reads = load(tmp_path, re.sub("input: .*", entry, REQUIRED)).inputs["input"].reads

    assert reads == IcebergInput(table="lake.a.b", as_of=datetime(2026, 1, 31, 12, tzinfo=UTC))


@pytest.mark.parametrize(
    ("written", "located"),
    [
        ("orders.csv", "{directory}/orders.csv"),
        ("../*.csv", "{parent}/*.csv"),
        ("/data/orders.csv", "/data/orders.csv"),
        ("s3://landing/orders.csv", "s3://landing/orders.csv"),
        ("file:/data/orders.csv", "file:/data/orders.csv"),
        ("${BUCKET}/orders.csv", "s3://landing/orders.csv"),
        ("${MISSING:-orders}.csv", "{directory}/orders.csv"),
        ("$${BUCKET}.csv", "{directory}/${{BUCKET}}.csv"),
        ("$${1}-$${", "{directory}/${{1}}-${{"),
        ("hdfs://name:8020/me@home", "hdfs://name:8020/me@home"),
        ("abfss://box@account.dfs.core.windows.net/x", "abfss://box@account.dfs.core.windows.net/x"),
    ],
)
def test_paths_are_relative_to_the_file_and_uris_are_unchanged(written: str, located: str, tmp_path: Path) -> None:
    reads = load(tmp_path, REQUIRED.replace("[orders.csv]", f'["{written}"]')).inputs["input"].reads

    assert isinstance(reads, FileInput)
    assert reads.paths == (located.format(directory=tmp_path, parent=tmp_path.parent),)


@pytest.mark.parametrize(
    ("written", "located"),
    [
        ("jdbc:sqlite:shop.db", "jdbc:sqlite:{directory}/shop.db"),
        ("jdbc:sqlite:../shop.db?cache=shared", "jdbc:sqlite:{parent}/shop.db?cache=shared"),
        ("jdbc:sqlite:/data/shop.db", "jdbc:sqlite:/data/shop.db"),
        ("jdbc:sqlite::memory:", "jdbc:sqlite::memory:"),
        ("jdbc:postgresql://db/shop", "jdbc:postgresql://db/shop"),
    ],
)
def test_a_databases_file_is_relative_to_the_pipelines_file(written: str, located: str, tmp_path: Path) -> None:
    entry = f"input: {{sql: {{url: '{written}', table: orders}}}}"

    reads = load(tmp_path, re.sub("input: .*", entry, REQUIRED)).inputs["input"].reads

    assert isinstance(reads, SqlInput)
    assert reads.url == located.format(directory=tmp_path, parent=tmp_path.parent)


def test_a_variable_can_be_a_number(tmp_path: Path) -> None:
    assert load(tmp_path, REQUIRED + "schema_version: ${VERSION:-1}").schema_version == 1


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(InvalidPipelineError, match=r"missing\.yaml: No such file or directory$"):
        load_pipeline(tmp_path / "missing.yaml")


YAML = {
    "": "1:1: expected a mapping with name, namespace, input and output, found nothing",
    "- a\n": "1:1: expected a mapping with name, namespace, input and output, found a list",
    "input: [${IN}/a.csv]\n": "1:10: not YAML: while parsing a flow sequence, expected ',' or ']', but got '{';"
    " within [] and {}, put text with ${…} in quotes",
    "name: [a\nb: c\n": "2:2: not YAML: while parsing a flow sequence, expected ',' or ']', but got ':'",
    "name: a\n---\nname: b\n": "2:1: expected one document, found a second one",
    "name: *a\n": "1:7: name: expected an alias of an anchor defined before it",
    "name: &a [*a]\n": "1:11: name.0: expected an alias of an anchor defined before it",
    "? [a]\n: b\n": "1:3: expected a key that is a single value",
    "name: a\x07\n": "1:8: not YAML: character U+0007 is not allowed",
    'name: "\\ud800"\n': "1:7: name: expected text, found half of a surrogate pair",
}


@pytest.mark.parametrize(("text", "problem"), YAML.items(), ids=map(repr, YAML))
def test_invalid_yaml_is_the_only_problem(text: str, problem: str, tmp_path: Path) -> None:
    assert problems(tmp_path, text) == [f"orders.yaml:{problem}"]


def test_a_file_that_is_not_utf_8_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "orders.yaml"
    path.write_bytes(b"name: a\nowner: \xff\n")

    with pytest.raises(InvalidPipelineError, match=r":2:1: not UTF-8$"):
        load_pipeline(path)


TENFOLD = "".join(
    f"{key}: &{key} [{(f'*{below}, ' * 10) if below.strip() else '1'}]\n" for below, key in pairwise(" abcdef")
)


@pytest.mark.parametrize(
    "text", [pytest.param("[" * 100_000, id="deep"), pytest.param(TENFOLD, id="aliases of aliases")]
)
def test_a_file_that_expands_beyond_the_limits_is_refused(text: str, tmp_path: Path) -> None:
    (message,) = problems(tmp_path, text)

    assert message.endswith("expected at most 32 levels and 20,000 values")
