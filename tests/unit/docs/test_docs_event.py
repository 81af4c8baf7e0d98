"""The event that the README posts."""

from headwater.model.events import RunEvent, parse_event
from headwater.model.names import DatasetId
from tests.unit.docs.test_docs_links import ROOT


def test_the_readmes_event_has_the_readmes_job_and_datasets() -> None:
    event = parse_event((ROOT / "docs" / "event.json").read_bytes())

    assert isinstance(event, RunEvent)
    assert [dataset.id for dataset in event.outputs] == [DatasetId("shop", "daily_totals")]
    assert [dataset.id for dataset in event.inputs] == [DatasetId("shop", "orders")]
    assert "@docs/event.json" in (ROOT / "README.md").read_text()
