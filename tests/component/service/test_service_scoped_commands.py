"""The commands that query a service, for a caller who may not see everything on the way."""

import json
import re
from collections.abc import Iterator

import httpx
import pytest
from typer.testing import CliRunner

from headwater.cli.main import app
from tests.support.app import dataset, event
from tests.support.flights import FAILED, OWNED, columns, schema
from tests.support.service import running

DAY = "2026-05-22T14:{:02d}:00Z"


def ran(job: str, number: int, **members: object) -> dict[str, object]:
    namespace, _, name = job.partition("/")
    facets = {"ownership": OWNED}
    return event(
        eventTime=DAY.format(number),
        run={"runId": f"0198f7d0-0000-7000-8000-{number:012d}"},
        job={"namespace": namespace, "name": name, "facets": facets},
        **members,
    )


def made_of(namespace: str, name: str, **fields: str) -> dict[str, object]:
    how = [{"type": "DIRECT", "subtype": "AGGREGATION", "description": "counted", "masking": False}]
    sources = {
        column: [{"namespace": namespace, "name": name, "field": source, "transformations": how}]
        for column, source in fields.items()
    }
    return columns([], **sources)


PAID = dataset("zz_paid", "zz_vault", schema=schema(zz_sum="int"), columnLineage=made_of("lake", "raw", zz_sum="cents"))
COSTS = dataset("costs", "lake", schema=schema(cost="int"), columnLineage=made_of("zz_vault", "zz_paid", cost="zz_sum"))
SECRET = dataset(
    "zz_out",
    "zz_vault",
    schema=schema(zz_all="int"),
    ownership=OWNED,
    dataQualityAssertions=FAILED,
    columnLineage=made_of("lake", "costs", zz_all="cost"),
)
EVENTS = [
    ran("etl/load", 1, eventType="COMPLETE", outputs=[dataset("raw", "lake", schema=schema(cents="int"))]),
    ran("zz_vault/zz_pay", 2, eventType="COMPLETE", inputs=[dataset("raw")], outputs=[PAID]),
    ran("etl/cost", 3, eventType="COMPLETE", inputs=[PAID], outputs=[COSTS]),
    ran("zz_vault/zz_add", 4, eventType="COMPLETE", inputs=[COSTS], outputs=[SECRET]),
    ran("zz_vault/zz_look", 5, eventType="COMPLETE", inputs=[dataset("raw", "lake"), dataset("costs", "lake")]),
    ran("zz_vault/zz_add", 6, eventType="FAIL", inputs=[COSTS], outputs=[SECRET]),
    ran("zz_vault/zz_pay", 7, eventType="FAIL", inputs=[dataset("raw")], outputs=[PAID]),
    ran(
        "zz_vault/zz_pay",
        8,
        eventType="COMPLETE",
        inputs=[dataset("raw", "lake", schema=schema(cents="long", euros="int"))],
        outputs=[PAID],
    ),
    ran("etl/load", 9, eventType="COMPLETE", outputs=[dataset("raw", "lake", schema=schema(cents="string"))]),
    ran("zz_vault/zz_pay", 10, eventType="FAIL", inputs=[dataset("raw")], outputs=[PAID]),
    ran("etl/cost", 11, eventType="COMPLETE", inputs=[PAID], outputs=[COSTS]),
]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A service with access control; the commands' caller has the scopes etl and lake."""
    home = tmp_path_factory.mktemp("home")
    with running(home, "--access") as service, pytest.MonkeyPatch.context() as environment:
        environment.setenv("HEADWATER_HOME", str(home))
        admin_key = key("admin", service.url, "--role", "admin")
        for each in EVENTS:
            headers = {"authorization": f"Bearer {admin_key}"}
            httpx.post(f"{service.url}/api/v1/lineage", json=each, headers=headers).raise_for_status()
        scoped = key("team", service.url, "--role", "read", "--scope", "etl", "--scope", "lake")
        environment.setenv("HEADWATER_TOKEN", scoped)
        yield service.url


def key(name: str, url: str, *grants: str) -> str:
    return output_of("access", "key", "create", name, *grants, "--url", url).strip()


def output_of(*arguments: str) -> str:
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == (1 if "drop" in arguments else 0), result.output  # here every drop breaks something
    return result.stdout


COMMANDS = [
    ("trace", "costs"),
    ("trace", "costs:cost"),
    ("impact", "raw"),
    ("impact", "raw", "--change", "drop"),
    ("impact", "raw:cents"),
    ("impact", "raw:cents", "--change", "drop"),
    ("impact", "raw:cents", "--change", "retype:string"),
    ("root-cause", "costs"),
    ("root-cause", "costs:cost"),
    ("diff", "log:0", "--namespace", "lake"),
    ("diff", "log:1", "log:9", "--dataset", "raw"),
    ("diff", "0198f7d0-0000-7000-8000-000000000003", "0198f7d0-0000-7000-8000-000000000011", "--runs"),
    ("drift", "raw"),
    ("drift", "--namespace", "lake"),
    ("coverage", "--namespace", "lake"),
]


@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_command_shows_what_its_caller_may_see_and_names_nothing_else(
    url: str, command: tuple[str, ...], form: tuple[str, ...]
) -> None:
    output = output_of(*command, *form, "--url", url)

    assert output
    assert "zz_" not in output


def test_impact_shows_the_effect_on_redacted_nodes(url: str) -> None:
    lines = output_of("impact", "raw", "--change", "drop", "--url", url).splitlines()

    assert [line for line in lines if "redacted-" in line and "breaks" in line]
    assert [line for line in lines if "redacted-" in line and "starved" in line]


def test_root_cause_scores_redacted_findings(url: str) -> None:
    lines = output_of("root-cause", "costs", "--url", url).splitlines()

    assert [line.split()[1:4] for line in lines if "failed-run" in line] == [["0.45", "failed-run", "redacted"]]


def test_impact_follows_a_column_through_redacted_nodes(url: str) -> None:
    tree = output_of("impact", "raw:cents", "--change", "drop", "--url", url).partition("\n\n")[0].splitlines()

    assert [re.sub("redacted-[0-9a-f]+", "?", line).strip("│├└─ ") for line in tree] == [
        "raw:cents",
        "?:?  breaks",
        "costs:cost  starved",
        "?:?  starved",
    ]


def test_trace_follows_a_column_through_redacted_nodes(url: str) -> None:
    tree = output_of("trace", "costs:cost", "--url", url).splitlines()

    assert [re.sub("redacted-[0-9a-f]+", "?", line).strip("│├└─ ") for line in tree] == [
        "costs:cost",
        "?:?",
        "raw:cents",
    ]


def test_each_edge_of_a_redacted_node_is_listed_once(url: str) -> None:
    walked = json.loads(output_of("impact", "raw:cents", "--json", "--url", url))

    assert [node["distance"] for node in walked["nodes"]] == [0, 1, 2, 3]
    assert len(walked["edges"]) == 3
