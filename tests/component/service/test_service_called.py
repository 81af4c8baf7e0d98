"""Which dataset a typed name means, however many other names contain it."""

import json
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from headwater.cli.main import app
from tests.support.app import Body, dataset, event, facet, get, post, schema
from tests.support.service import Service, running

UNREPORTED = {"namespace": "lake", "name": "raw.untold"}
"""A dataset that is known only as the source of another."""
OTHERS = [dataset(f"dept.orders_{number:04d}", "aaa") for number in range(1_200)]
TOPIC, ARCHIVE = dataset("orders", "kafka://prod:9092", schema=schema("a")), dataset("archive.orders", "zz")
MADE = dataset("made", columnLineage=facet(fields={"b": {"inputFields": [{**UNREPORTED, "field": "a"}]}}))
COMMANDS = [["trace"], ["impact", "--change", "rename:b"], ["root-cause"], ["diff", "log:0", "--dataset"]]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running(tmp_path_factory.mktemp("home")) as service:
        written = [*OTHERS, TOPIC, ARCHIVE, dataset("z.zz.lonely", "zz"), dataset("lonely_too", "zz")]
        twins = [dataset("twin", "here"), dataset("twin", "there"), dataset("old.twin", "zz")]
        many = [dataset(f"x{number}.shared", "zz") for number in range(1_200)]
        service.post_events([event(eventType="COMPLETE", outputs=[*written, *twins, *many, MADE])])
        yield service


def ids(client: TestClient, query: str) -> list[str]:
    return [hit["nodeId"] for hit in get(client, f"/api/v1/search?{query}")["results"]]


def test_a_search_by_name_prefers_whole_names_to_endings(client: TestClient) -> None:
    post(client, event(inputs=[ARCHIVE, dataset("a/orders"), dataset("x_orders"), dataset("Orders")], outputs=[TOPIC]))

    assert ids(client, "q=orders&match=name") == ["dataset:kafka://prod:9092:orders"]
    assert ids(client, "q=kafka://prod:9092:orders&match=NAME") == ["dataset:kafka://prod:9092:orders"]
    assert ids(client, "q=dataset:zz:archive.orders&match=NAME") == ["dataset:zz:archive.orders"]
    assert ids(client, "q=orders&match=NAME&namespace=zz") == ["dataset:zz:archive.orders"]
    assert ids(client, "q=load&match=NAME&filter=JOB") == ["job:etl:load"]
    assert ids(client, "q=load&match=NAME&filter=DATASET") == []
    assert ids(client, "q=rders&match=NAME") == []
    assert len(ids(client, "q=orders&match=PART")) == 5
    assert client.get("/api/v1/search?q=orders&match=exact").status_code == 400


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_whole_name_is_resolved_however_many_names_contain_it(service: Service, command: list[str]) -> None:
    result = CliRunner().invoke(app, [*command, "orders", "--url", service.url, "--json"])

    assert result.exception is None or result.exit_code == 1, result.exception
    answer = json.loads(result.stdout)
    assert _start_of(answer) == "dataset:kafka://prod:9092:orders", result.stdout[:500]


def _start_of(answer: Body) -> str:
    if "changes" in answer:
        (came,) = (change["nodeId"] for change in answer["changes"] if change["kind"] == "dataset")
        return str(came)
    return str(answer.get("start") or answer["nodeId"])


def test_a_column_of_a_dataset_named_so_is_found_too(service: Service) -> None:
    result = CliRunner().invoke(app, ["trace", "orders:a", "--url", service.url, "--json"])

    assert json.loads(result.stdout)["start"] == "datasetField:kafka://prod:9092:orders:a"


def test_the_end_of_a_name_is_resolved_however_many_names_contain_it(service: Service) -> None:
    result = CliRunner().invoke(app, ["root-cause", "lonely", "--url", service.url])

    assert result.stdout.splitlines()[0].startswith("z.zz.lonely  written by run ")  # its full name


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("twin", "'twin' is ambiguous: dataset:here:twin, dataset:there:twin; name one of these"),
        ("shared", "'shared' is ambiguous: dataset:zz:x0.shared, dataset:zz:x1.shared, dataset:zz:x10.shared, "
                   "dataset:zz:x100.shared, dataset:zz:x1000.shared and 1,195 more; name one of these"),
    ],
)  # fmt: skip
def test_an_ambiguous_name_is_refused_with_some_of_its_meanings(service: Service, name: str, message: str) -> None:
    result = CliRunner().invoke(app, ["trace", name, "--url", service.url])

    assert str(result.exception) == message


@pytest.mark.parametrize("name", ["untold", "raw.untold", "lake:raw.untold", "dataset:lake:raw.untold"])
def test_a_dataset_known_only_as_a_source_is_found(service: Service, name: str) -> None:
    result = CliRunner().invoke(app, ["impact", f"{name}:a", "--url", service.url, "--json"], catch_exceptions=False)

    answer = json.loads(result.stdout)
    assert answer["nodeId"] == "datasetField:lake:raw.untold:a"
    assert [each["id"] for each in answer["reached"]] == ["datasetField:lake:made:b", "dataset:lake:made"]


def test_a_dataset_known_only_as_a_source_is_not_listed_nor_found_before_it_was_reported(client: TestClient) -> None:
    post(client, event(eventType="COMPLETE", outputs=[MADE]))

    assert ids(client, "q=untold&match=NAME") == ["dataset:lake:raw.untold"]
    assert ids(client, "q=untold") == []
    assert ids(client, "q=untold&match=NAME&asOf=2026-05-22T14:00:00Z") == []
