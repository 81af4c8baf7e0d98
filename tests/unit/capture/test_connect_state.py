"""What a watcher of Connect knows comes back from its file as it was."""

from pathlib import Path

import pytest

from headwater.capture import state_file
from headwater.capture.connect.connectors import Commit, Connector, Run, Task
from headwater.capture.connect.state import WatcherState, read
from headwater.capture.fields import Field, TopicSchema
from headwater.errors import SetupError

RUN = Run("0190b6c3-6f2e-7a3c-8a55-4d0f9d4f6f11", 1, 2, commits={"db.t": Commit("c", 3, "8", {"orders/0": 4})})
KNOWN = WatcherState(
    connectors=[
        Connector("sink", {"topics": "orders"}, state="RUNNING", tasks={0: Task("FAILED", "trace", "w:1")}, run=RUN),
        Connector("deleted while away"),
        Connector("lost", left_out={"bids": 4}, lost=RUN),
    ],
    offsets={"connect-status/0": 7},
    schemas={"orders": TopicSchema((Field("buyer", "struct", (Field("id", "long"),)),), 3)},
    workers_seen_ms=5,
    group="workers",
)


def test_what_was_kept_comes_back_as_it_was(tmp_path: Path) -> None:
    state_file.save_all_of(tmp_path / "state.json", KNOWN)

    assert state_file.load_as(tmp_path / "state.json", read) == KNOWN


def test_nothing_kept_is_nothing_known(tmp_path: Path) -> None:
    assert state_file.load_as(tmp_path / "state.json", read) == WatcherState()


@pytest.mark.parametrize(
    "said",
    [b"{", b"[]", b'{"format": 0}', b'{"format": 1, "connectors": [{"name": "a"}]}', b'{"format": 1, "offsets": []}'],
)
def test_a_file_that_something_else_wrote_is_told_by_its_path(tmp_path: Path, said: bytes) -> None:
    path = tmp_path / "state.json"
    path.write_bytes(said)

    with pytest.raises(SetupError, match=r"state\.json: not a state file"):
        state_file.load_as(path, read)


def test_what_an_older_watcher_kept_is_understood() -> None:
    run = {"id": RUN.id, "started_ms": 1, "told_ms": 2, "had_tasks": True, "without_tasks_told": False, "commits": {}}
    task = {"state": "RUNNING", "trace": None, "worker": "w:1"}
    connector = {"name": "sink", "properties": {"topics": "orders"}, "wanted": "STARTED", "state": "RUNNING"}
    said = {"connectors": [{**connector, "tasks": {"0": task}, "topics": {"orders": 3}, "run": run}]}

    known = read({**said, "offsets": {}, "schemas": {}, "workers_seen_ms": 5})

    (sink,) = known.connectors
    assert (sink.tasks, sink.run) == ({0: Task("RUNNING", None, "w:1")}, Run(RUN.id, 1, 2, had_tasks=True))
    assert (sink.lost, sink.left_out, known.group) == (None, {}, None)
