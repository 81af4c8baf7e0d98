"""Which snapshot an execution made, where the program committed several while it ran."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

import pytest

from headwater.capture.spark.action import Action, learn_plan
from headwater.capture.spark.figures import Figures
from headwater.observe.guard import Guard
from headwater.observe.spark.executions import Executions, Moved
from headwater.observe.spark.jvm import Java
from headwater.observe.spark.snapshots import write_id
from tests.component.capture_spark.captured import Program, newest_version, summaries_of

pytestmark = pytest.mark.spark

_LONG: Final = timedelta(seconds=60)


@pytest.fixture
def executions(program: Program) -> Iterator[Executions]:
    listener = Executions(program.spark)
    yield listener
    listener.close()


def test_each_execution_made_the_snapshot_that_has_its_files(program: Program, executions: Executions) -> None:
    """Times and sizes do not tell them apart: all overlap, and two wrote the same number of bytes. In any order."""
    program.spark.sql("ALTER TABLE lake.sales.orders SET TBLPROPERTIES ('commit.manifest.min-count-to-merge'='2')")
    for command in (
        "INSERT INTO lake.sales.orders VALUES (4, 2.5, 'acme')",
        "INSERT INTO lake.sales.orders VALUES (5, 2.5, 'acme')",
        "INSERT INTO lake.sales.orders SELECT * FROM lake.sales.orders WHERE id > 99",
        "DELETE FROM lake.sales.orders WHERE id = 2",
    ):
        program.spark.sql(command)
    writes = [execution for _, execution in executions.take() if write_id(execution.executedPlan())]

    figures = Figures(program.spark)
    snapshots = {number: _snapshot_of(figures, writes[number]) for number in (1, 3, 0, 2)}

    _, *versions = summaries_of(program, "lake.sales.orders")
    assert [snapshots[number].version for number in range(4)] == versions
    assert [snapshots[number].moved.rows for number in range(4)] == [1, 1, 0, None]


def test_a_branch_of_a_table_has_versions_of_its_own(program: Program) -> None:
    program.spark.sql("ALTER TABLE lake.sales.orders CREATE BRANCH audit")
    program.spark.sql("INSERT INTO lake.sales.orders.branch_audit VALUES (4, 2.5, 'acme')")
    program.spark.sql("CREATE TABLE lake.sales.a AS SELECT id FROM lake.sales.orders.branch_audit")
    program.spark.sql("CREATE TABLE lake.sales.b AS SELECT id FROM lake.sales.orders VERSION AS OF 'audit'")
    program.spark.sql("CREATE TABLE lake.sales.c AS SELECT id FROM lake.sales.orders")

    runs = program.end()

    main, audit = (newest_version(program, "lake.sales.orders", branch) for branch in ("main", "audit"))
    (written,) = runs["shop.lake.sales.orders"].last["outputs"]
    assert written["facets"]["version"]["datasetVersion"] == audit != main
    reads = [runs[f"shop.lake.sales.{table}"].last["inputs"][0]["facets"] for table in "abc"]
    assert [read["version"]["datasetVersion"] for read in reads] == [audit, audit, main]


def test_metrics_of_another_commit_are_not_taken_for_its_own(program: Program, executions: Executions) -> None:
    """Iceberg reports a commit to all that have the table open: here the second is reported to the first, too."""
    program.spark.sql("INSERT INTO lake.sales.orders VALUES (4, 2.5, 'acme')")
    program.spark.sql("INSERT INTO lake.sales.orders SELECT id, price, 'cello' FROM lake.sales.orders")
    first, second = [execution for _, execution in executions.take() if write_id(execution.executedPlan())]
    reported, other = (execution.executedPlan().metrics() for execution in (first, second))
    for name in ("addedRecords", "addedFileSizeInBytes", "addedDataFiles"):
        reported.apply(name).set(other.apply(name).value())

    figures = Figures(program.spark)
    snapshots = [_snapshot_of(figures, first), _snapshot_of(figures, second)]

    _, *versions = summaries_of(program, "lake.sales.orders")
    assert [(snapshot.version, snapshot.moved.rows) for snapshot in snapshots] == list(
        zip(versions, [1, 4], strict=True)
    )


class _Snapshot(NamedTuple):
    version: str
    moved: Moved


def _snapshot_of(figures: Figures, execution: Java) -> _Snapshot:
    """The snapshot that is found for an execution that may have run at any time until now."""
    now = datetime.now(UTC)
    action = Action(called="command", number=0, kind="", started_at=now - _LONG, ended_at=now)
    learn_plan(action, execution, Guard())
    figures.learn(action, execution)
    (output,) = action.outputs()
    version: Any = output.facets["version"]
    return _Snapshot(version.datasetVersion, action.moved[0])
