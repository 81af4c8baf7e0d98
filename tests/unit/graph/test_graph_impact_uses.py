"""What later runs report of a use, whatever is added to the graph meanwhile, by reading few of a job's runs."""

import json
from collections.abc import Generator, Mapping, Sequence
from functools import partial
from typing import Any

import pytest

from headwater.graph.impact.change import Change
from headwater.graph.impact.effects import Proposal, verdicts, ways
from headwater.graph.impact.places import Place
from headwater.graph.impact.reach import Flow, reach
from headwater.graph.impact.run_groups import AT_ONCE, RunGroups
from headwater.graph.lineage import Graph
from headwater.graph.mending import End
from headwater.graph.records import Run
from headwater.model.facts import Content
from headwater.model.names import ColumnId, DatasetId, JobId
from tests.support.app import Body, dataset, event
from tests.support.flights import columns, source
from tests.support.steps import outcome
from tests.unit.graph.test_graph_order import facts_of

IN = DatasetId("lake", "t0")
JOB = JobId("etl", "make")


class _Counting(Graph):
    """Counts how often the state of a run was read."""

    states_read = 0

    def end_of(self, run: Run) -> End | None:
        self.states_read += 1
        return super().end_of(run)


def graph_of(log: Sequence[Body]) -> _Counting:
    bodies: dict[bytes, bytes] = {}
    graph = _Counting(partial(_content, bodies))
    _add(graph, bodies, log)
    return graph


def _content(bodies: Mapping[bytes, bytes], digest: bytes) -> Mapping[str, Any]:
    content: Mapping[str, Any] = json.loads(bodies[digest])
    return content


def _add(graph: Graph, bodies: dict[bytes, bytes], log: Sequence[Body]) -> None:
    for fact in facts_of(json.dumps(body).encode() for body in log):
        if isinstance(fact, Content):
            bodies[fact.digest] = fact.body
        graph.add(fact)


def event_of(
    run: int, kind: str, minute: int, inputs: Sequence[str], outputs: Sequence[Body], job: str = "make"
) -> Body:
    return event(
        eventType=kind,
        eventTime=f"2026-05-{minute // 1440 + 1:02d}T{minute // 60 % 24:02d}:{minute % 60:02d}:00Z",
        run={"runId": f"0198f7d0-0000-7000-8000-{run:012d}"},
        job={"namespace": "etl", "name": job},
        inputs=[*map(dataset, inputs)],
        outputs=[*outputs],
    )


def derived_from(name: str, source_name: str, column: str = "x") -> Body:
    return dataset(name, columnLineage=columns([], x=[source(source_name, column, "DIRECT", "IDENTITY")]))


def declared(body: Body, minute: int) -> Body:
    """A dataset event with this body."""
    complete = event_of(0, "COMPLETE", minute, [], [])
    members = {member: complete[member] for member in ("eventTime", "producer", "schemaURL")}
    return {**members, "dataset": body}


def flow_of(graph: Graph, runs: RunGroups | None = None) -> Flow:
    return Flow(graph, lambda _: ["x"], lambda _, __: True, lambda _: False, runs)


def drop(node: DatasetId | ColumnId) -> Proposal:
    place = Place("column", *node) if isinstance(node, ColumnId) else Place("dataset", node)
    return Proposal(Change("drop"), place, "int")


@pytest.mark.parametrize("node", [IN, ColumnId(IN, "x")])
def test_a_declaration_that_is_replaced_between_steps_counts_as_it_was(
    node: DatasetId | ColumnId,
) -> None:
    runs = [event_of(n, "COMPLETE", 1, [f"t{n}"], [dataset(f"t{n + 1}")], f"job{n}") for n in range(3)]
    before = [declared(derived_from(f"t{n + 1}", f"t{n}"), 2) for n in range(3)]
    after = [declared(derived_from(f"t{n + 1}", f"t{n}", "y"), 3) for n in range(3)]

    answers = []
    for turn in range(6):
        bodies: dict[bytes, bytes] = {}
        graph = Graph(partial(_content, bodies))
        _add(graph, bodies, [*runs, *before])
        steps = _answered(graph, node)
        for _ in range(turn):
            next(steps)
        _add(graph, bodies, after)
        answers.append(outcome(steps))

    starved = {
        f"{kind}:lake:t{n}{column}" for n in (2, 3) for kind, column in (("dataset", ""), ("datasetField", ":x"))
    }
    expected = dict.fromkeys(["datasetField:lake:t1:x", "dataset:lake:t1", "job:etl:job0"], "breaks")
    expected |= dict.fromkeys([*starved, "job:etl:job1", "job:etl:job2"], "starved")
    assert answers[4:] == [expected, expected]  # four datasets were walked by then


def _answered(graph: Graph, node: DatasetId | ColumnId) -> Generator[None, None, dict[str, str]]:
    """The effects of a drop, computed in steps, with everything that an answer reads of each step."""
    reached = yield from reach(flow_of(graph), [node])
    by_place = yield from verdicts(reached, drop(node))
    for step in ways(reached).values():
        assert step.reported.last_us is not None
    for verdict in by_place.values():
        assert verdict.words(str)
    return {place.node_id: verdict.effect for place, verdict in by_place.items()}


def _many_runs(count: int, outputs: int, uses_last: int, skips: int) -> list[Body]:
    """Runs that read at START, except one, and write many datasets at COMPLETE; the first derive these from `x`."""
    log = []
    for run in range(count):
        log.append(event_of(run, "START", 2 * run, ["t0"] if run != skips else [], []))
        written = [derived_from(f"o{n}", "t0", "x" if run < uses_last else "y") for n in range(outputs)]
        log.append(event_of(run, "COMPLETE", 2 * run + 1, [], written))
    return log


def _effects(graph: Graph, runs: RunGroups, node: DatasetId | ColumnId) -> set[tuple[str, str]]:
    reached = outcome(reach(flow_of(graph, runs), [node]))
    return {(each.effect, each.words(str)) for each in outcome(verdicts(reached, drop(node))).values()}


def _newest_first(graph: Graph, job: JobId) -> list[str]:
    return sorted(graph.jobs[job].runs, reverse=True)


def test_for_a_use_that_the_newest_run_reported_few_runs_are_read() -> None:
    graph = graph_of(_many_runs(count=300, outputs=5, uses_last=300, skips=7))
    graph.states_read = 0

    effects = _effects(graph, RunGroups(graph, lambda job: _newest_first(graph, job)), IN)

    assert {effect for effect, _ in effects} == {"breaks"}
    assert graph.states_read < 30


def test_runs_are_read_once_for_all_their_outputs_and_only_new_runs_are_read_later() -> None:
    log = _many_runs(count=300, outputs=5, uses_last=11, skips=7)
    bodies: dict[bytes, bytes] = {}
    graph = _Counting(lambda digest: json.loads(bodies[digest]))
    _add(graph, bodies, log)
    runs = RunGroups(graph, lambda job: _newest_first(graph, job))
    graph.states_read = 0
    first, first_states_read = _effects(graph, runs, ColumnId(IN, "x")), graph.states_read

    graph.states_read = 0
    newer = _many_runs(count=302, outputs=5, uses_last=11, skips=7)[len(log) :]
    _add(graph, bodies, newer)
    before: dict[str, None] = dict.fromkeys(body["run"]["runId"] for body in newer)
    runs.change(before)
    again = _effects(graph, runs, ColumnId(IN, "x"))

    assert {words.rpartition(": ")[2] for _, words in first} == {"289 runs since do not use it"}
    assert {words.rpartition(": ")[2] for _, words in again} == {"291 runs since do not use it"}
    assert first_states_read < 300 + 60
    assert graph.states_read < 60


def test_reading_the_runs_of_a_job_yields_after_a_number_of_runs() -> None:
    graph = graph_of(_many_runs(count=5 * AT_ONCE, outputs=1, uses_last=1, skips=7))

    assert sum(1 for _ in RunGroups(graph).of(JOB)) == 5
