"""Schemas of topics as the transform saw them, and other records in its topic."""

from pathlib import Path

from headwater.capture import state_file
from headwater.capture.connect.evidence import Evidence
from headwater.capture.connect.state import WatcherState, read


def event_with(fields: str) -> bytes:
    """An event of the transform for a topic with these fields."""
    schema = f'{{"namespace":"kafka://k:9092","name":"orders","facets":{{"schema":{{"fields":{fields}}}}}}}'
    return f'{{"outputs":[{schema}]}}'.encode()


def test_a_schema_of_any_depth_can_be_stored(tmp_path: Path) -> None:
    fields = "[]"
    for _ in range(300):
        fields = f'[{{"name":"inner","type":"struct","fields":{fields}}}]'
    evidence = Evidence(lambda _: None, {})

    new = evidence.take(event_with(fields))

    assert new == {"orders"}
    state_file.save_all_of(tmp_path / "state.json", WatcherState(schemas=evidence.seen))
    assert state_file.load_as(tmp_path / "state.json", read).schemas == evidence.seen


def test_records_that_are_not_events_of_the_transform_are_ignored() -> None:
    evidence = Evidence(lambda _: None, {})

    for value in (None, b"", b"[]", b'{"outputs":null}', b'{"outputs":[{}]}', event_with("null"), event_with("[null]")):
        assert evidence.take(value) == set()
