"""The last lines of the demo's output."""

from pathlib import Path

from headwater.cli.demo.words import tally, ways_on
from headwater.cli.lineage_walk import Target
from headwater.model.names import DatasetId

URL = "http://127.0.0.1:5003"
FOLDER = Path("/home/ann's/.headwater/demo")
TARGET = Target(DatasetId("file", "/home/ann's/lake/t"), "c")
EXPORT = "headwater audit export --dataset file '/home/ann'\"'\"'s/lake/t' --upstream -o mart.zip"


def test_while_the_page_is_served_its_address_is_shown() -> None:
    page, *others = ways_on(URL, FOLDER, "lake.t:c", TARGET, is_served=True)

    assert page == f"the page        {URL}"
    assert f"its audit       {EXPORT} --url {URL}" in others
    assert others[-1] == f"from the shell  headwater trace lake.t:c --url {URL}"


def test_after_the_service_has_ended_the_command_to_start_it_again_is_shown() -> None:
    page, *others = ways_on(URL, FOLDER, "lake.t:c", TARGET, is_served=False)

    home = "'/home/ann'\"'\"'s/.headwater'"
    assert page == f"the page        HEADWATER_HOME={home} headwater serve --port 5003, then {URL}"
    assert f"its audit       {EXPORT}" in others
    assert others[-1] == f"from the shell  headwater trace lake.t:c --url {URL}, while it is served"


def test_the_counts_are_shown_in_words() -> None:
    events = {"stored": 1_006, "verified": 1_000, "unsigned": 1, "unknownKey": 2, "tampered": 3, "refused": 0}
    counts = {"jobs": 1, "runs": 2_000, "datasets": 2, "columns": 3_000, "edges": 1, "columnEdges": 1_500}

    text = tally({**counts, "events": events})

    assert text == (
        "1 job, 2,000 runs, 2 datasets, 3,000 columns, 1 edge between jobs and datasets, 1,500 between columns; "
        "of 1,006 events 1,000 verified, 6 not; 0 refused"
    )
