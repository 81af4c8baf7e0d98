"""`--set key.path=value`."""

from pathlib import Path

import pytest

from headwater.errors import InvalidPipelineError
from headwater.pipeline.check import load_pipeline
from headwater.pipeline.spec import FileInput, IcebergOutput, LineageHttp, PipelineSpec

TEXT = """\
name: orders
namespace: production
input: {file: {paths: [a.csv, b.csv], format: csv}}
output: {iceberg: {table: lake.a.b}}
"""


def load(directory: Path, **settings: str) -> PipelineSpec:
    """Load the file with settings; a key's dots are written as two underscores."""
    return load_exactly(directory, {key.replace("__", "."): value for key, value in settings.items()})


def load_exactly(directory: Path, settings: dict[str, str]) -> PipelineSpec:
    path = directory / "orders.yaml"
    path.write_text(TEXT)
    return load_pipeline(path, settings, {"PORT": "5001"})


def test_a_setting_replaces_a_value(tmp_path: Path) -> None:
    assert load(tmp_path, name="returns").name == "returns"


def test_a_setting_adds_a_missing_value(tmp_path: Path) -> None:
    assert load(tmp_path, lineage__http__endpoint="http://h:${PORT}/x").lineage.http.endpoint == "http://h:5001/x"


def test_events_go_to_the_endpoint_of_the_environment_unless_the_file_has_its_own(tmp_path: Path) -> None:
    path = tmp_path / "orders.yaml"
    path.write_text(TEXT)
    environment = {"HEADWATER_ENDPOINT": "http://h:5001/api/v1/lineage"}

    silent = load_pipeline(path, {"lineage.http.timeout": "1s"}, environment)
    named = load_pipeline(path, {"lineage.http.endpoint": "http://own/x"}, environment)

    assert silent.lineage.http == LineageHttp(endpoint="http://h:5001/api/v1/lineage", timeout=1.0)
    assert named.lineage.http.endpoint == "http://own/x"


def test_an_endpoint_of_the_environment_that_is_no_address_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "orders.yaml"
    path.write_text(TEXT)

    with pytest.raises(InvalidPipelineError, match="HEADWATER_ENDPOINT: expected http://… or https://… without cred"):
        load_pipeline(path, environment={"HEADWATER_ENDPOINT": "localhost:5000"})


def test_a_settings_value_is_yaml(tmp_path: Path) -> None:
    spec = load(tmp_path, output__iceberg="{table: lake.a.b, mode: merge, on: [id]}", lineage__queue_size="7")

    assert spec.outputs[0].writes == IcebergOutput(table="lake.a.b", mode="merge", on=("id",))
    assert spec.lineage.queue_size == 7


@pytest.mark.parametrize(("index", "paths"), [("0", ["c.csv", "b.csv"]), ("2", ["a.csv", "b.csv", "c.csv"])])
def test_a_setting_replaces_or_adds_in_a_list(index: str, paths: list[str], tmp_path: Path) -> None:
    reads = load_exactly(tmp_path, {f"input.file.paths.{index}": "c.csv"}).inputs["input"].reads

    assert isinstance(reads, FileInput)
    assert list(reads.paths) == [str(tmp_path / path) for path in paths]


def test_a_key_with_dots_is_written_in_quotes(tmp_path: Path) -> None:
    assert load_exactly(tmp_path, {'spark."spark.ui.enabled"': "false"}).spark == {"spark.ui.enabled": "false"}


def test_later_settings_see_earlier_ones(tmp_path: Path) -> None:
    settings = {"output": "{stdout: {rows: 1}}", "output.stdout.rows": "2"}

    assert getattr(load_exactly(tmp_path, settings).outputs[0].writes, "rows", None) == 2


NO_DURATION = "expected a duration of at most 10000d with its unit (ms, s, m, h, d), such as 5s, found the number '5'"
NO_VARIABLE = "expected the name of an environment variable, found a value that is not shown"
NO_YAML = "not YAML: while parsing a flow node, expected the node content, but found '<stream end>'"


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("lineage.drain_timeout", "5", f"lineage.drain_timeout: {NO_DURATION}"),
        ("output.iceberg.mod", "append", "output.iceberg.mod: unknown key, did you mean 'mode'?"),
        ("input.file.paths.7", "c.csv", "expected a place in the list, from 0 to 2, found '7'"),
        ("name", "[", NO_YAML),
        ("a..b", "1", "expected a path such as output.iceberg.mode"),
        ("lineage.http.auth", "{type: bearer, token_env: hun-ter2}", f"lineage.http.auth.token_env: {NO_VARIABLE}"),
    ],
)
def test_an_invalid_setting_is_reported_by_its_key(key: str, value: str, problem: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidPipelineError) as refusal:
        load_exactly(tmp_path, {key: value})

    assert str(refusal.value) == f"--set {key}: {problem}"
