"""Schemas of topics as the transform saw them, and what else may stand in its topic."""

from pathlib import Path

from headwater.capture import state_file
from headwater.capture.connect.evidence import Evidence
from headwater.capture.connect.state import WatcherState, read


def told(fields: str) -> bytes:
    """An event of the transform, of a topic with these fields."""
    schema = f'{{"namespace":"kafka://k:9092","name":"orders","facets":{{"schema":{{"fields":{fields}}}}}}}'
    return f'{{"outputs":[{schema}]}}'.encode()


def test_a_schema_of_any_depth_can_be_kept(tmp_path: Path) -> None:
    fields = "[]"
    for _ in range(300):
        fields = f'[{{"name":"inner","type":"struct","fields":{fields}}}]'
    evidence = Evidence(lambda _: None, {})

    new = evidence.take(told(fields))

    assert new == {"orders"}
    state_file.save_all_of(tmp_path / "state.json", WatcherState(schemas=evidence.seen))
    assert state_file.load_as(tmp_path / "state.json", read).schemas == evidence.seen


def test_what_is_no_event_of_the_transform_tells_nothing() -> None:
    evidence = Evidence(lambda _: None, {})

    for value in (None, b"", b"[]", b'{"outputs":null}', b'{"outputs":[{}]}', told("null"), told("[null]")):
        assert evidence.take(value) == set()
