"""The state of a watcher of Connect is read from its file as it was written."""

from pathlib import Path

import pytest

from headwater.capture import state_file
from headwater.capture.connect.connectors import Commit, Connector, Run, Task
from headwater.capture.connect.state import WatcherState, read
from headwater.capture.fields import Field, TopicSchema
from headwater.errors import SetupError

RUN = Run("0190b6c3-6f2e-7a3c-8a55-4d0f9d4f6f11", 1, 2, commits={"db.t": Commit("c", 3, "8", {"orders/0": 4})})
STATE = WatcherState(
    connectors=[
        Connector("sink", {"topics": "orders"}, state="RUNNING", tasks={0: Task("FAILED", "trace", "w:1")}, run=RUN),
        Connector("deleted while away"),
        Connector("lost", left_out={"bids": 4}, lost=RUN),
    ],
    offsets={"connect-status/0": 7},
    waiting={"connect-status/0": {3, 5}},
    schemas={"orders": TopicSchema((Field("buyer", "struct", (Field("id", "long"),)),), 3)},
    workers_seen_ms=5,
    group="workers",
)


def test_a_stored_state_is_read_as_it_was(tmp_path: Path) -> None:
    state_file.save_all_of(tmp_path / "state.json", STATE)

    assert state_file.load_as(tmp_path / "state.json", read) == STATE


def test_without_a_file_the_state_is_empty(tmp_path: Path) -> None:
    assert state_file.load_as(tmp_path / "state.json", read) == WatcherState()


@pytest.mark.parametrize(
    "content",
    [b"{", b"[]", b'{"format": 0}', b'{"format": 1, "connectors": [{"name": "a"}]}', b'{"format": 1, "offsets": []}'],
)
def test_a_file_with_other_content_is_refused_by_its_path(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "state.json"
    path.write_bytes(content)

    with pytest.raises(SetupError, match=r"state\.json: not a state file"):
        state_file.load_as(path, read)


def test_an_older_watchers_state_is_read() -> None:
    run = {"id": RUN.id, "started_ms": 1, "told_ms": 2, "had_tasks": True, "without_tasks_told": False, "commits": {}}
    task = {"state": "RUNNING", "trace": None, "worker": "w:1"}
    connector = {"name": "sink", "properties": {"topics": "orders"}, "wanted": "STARTED", "state": "RUNNING"}
    stored = {"connectors": [{**connector, "tasks": {"0": task}, "topics": {"orders": 3}, "run": run}]}

    state = read({**stored, "offsets": {}, "schemas": {}, "workers_seen_ms": 5})

    (sink,) = state.connectors
    assert (sink.tasks, sink.run) == ({0: Task("RUNNING", None, "w:1")}, Run(RUN.id, 1, 2, had_tasks=True))
    assert (sink.lost, sink.left_out, state.group) == (None, {}, None)
