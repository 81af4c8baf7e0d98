"""What later runs say of a use, whatever the graph is told meanwhile, by a look at few of a job's runs."""

import json
from collections.abc import Generator, Mapping, Sequence
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
    """Counts how often the state of a run was looked at."""

    looked_at = 0

    def end_of(self, run: Run) -> End | None:
        self.looked_at += 1
        return super().end_of(run)


def graph_of(log: Sequence[Body]) -> _Counting:
    bodies: dict[bytes, bytes] = {}

    def content(digest: bytes) -> Mapping[str, Any]:
        read: Mapping[str, Any] = json.loads(bodies[digest])
        return read

    graph = _Counting(content)
    _tell(graph, bodies, log)
    return graph


def _tell(graph: Graph, bodies: dict[bytes, bytes], log: Sequence[Body]) -> None:
    for fact in facts_of(json.dumps(body).encode() for body in log):
        if isinstance(fact, Content):
            bodies[fact.digest] = fact.body
        graph.add(fact)


def told(run: int, kind: str, minute: int, inputs: Sequence[str], outputs: Sequence[Body], job: str = "make") -> Body:
    return event(
        eventType=kind,
        eventTime=f"2026-05-{minute // 1440 + 1:02d}T{minute // 60 % 24:02d}:{minute % 60:02d}:00Z",
        run={"runId": f"0198f7d0-0000-7000-8000-{run:012d}"},
        job={"namespace": "etl", "name": job},
        inputs=[*map(dataset, inputs)],
        outputs=[*outputs],
    )


def made_of(name: str, of: str, column: str = "x") -> Body:
    return dataset(name, columnLineage=columns([], x=[source(of, column, "DIRECT", "IDENTITY")]))


def declared(body: Body, minute: int) -> Body:
    """That a dataset is made so, told without a run."""
    whole = told(0, "COMPLETE", minute, [], [])
    kept = {member: whole[member] for member in ("eventTime", "producer", "schemaURL")}
    return {**kept, "dataset": body}


def flow_of(graph: Graph, runs: RunGroups | None = None) -> Flow:
    return Flow(graph, lambda _: ["x"], lambda _, __: True, lambda _: False, runs)


def drop(of: DatasetId | ColumnId) -> Proposal:
    place = Place("column", *of) if isinstance(of, ColumnId) else Place("dataset", of)
    return Proposal(Change("drop"), place, "int")


@pytest.mark.parametrize("node", [IN, ColumnId(IN, "x")])
def test_a_declaration_that_is_replaced_while_others_have_their_turn_counts_as_it_was(
    node: DatasetId | ColumnId,
) -> None:
    runs = [told(n, "COMPLETE", 1, [f"t{n}"], [dataset(f"t{n + 1}")], f"job{n}") for n in range(3)]
    before = [declared(made_of(f"t{n + 1}", f"t{n}"), 2) for n in range(3)]
    after = [declared(made_of(f"t{n + 1}", f"t{n}", "y"), 3) for n in range(3)]

    answers = []
    for turn in range(6):
        bodies: dict[bytes, bytes] = {}
        graph = Graph(lambda digest, bodies=bodies: json.loads(bodies[digest]))
        _tell(graph, bodies, [*runs, *before])
        steps = _answered(graph, node)
        for _ in range(turn):
            next(steps)
        _tell(graph, bodies, after)
        answers.append(outcome(steps))

    starved = {
        f"{kind}:lake:t{n}{column}" for n in (2, 3) for kind, column in (("dataset", ""), ("datasetField", ":x"))
    }
    expected = dict.fromkeys(["datasetField:lake:t1:x", "dataset:lake:t1", "job:etl:job0"], "breaks")
    expected |= dict.fromkeys([*starved, "job:etl:job1", "job:etl:job2"], "starved")
    assert answers[4:] == [expected, expected]  # four datasets were walked by then


def _answered(graph: Graph, node: DatasetId | ColumnId) -> Generator[None, None, dict[str, str]]:
    """The effects of a drop, as a question is answered, with all that an answer reads of each step."""
    found = yield from reach(flow_of(graph), [node])
    judged = yield from verdicts(found, drop(node))
    for step in ways(found).values():
        assert step.reported.last_us is not None
    for verdict in judged.values():
        assert verdict.words(str)
    return {place.node_id: verdict.effect for place, verdict in judged.items()}


def _many_runs(count: int, outputs: int, uses_last: int, skips: int) -> list[Body]:
    """Runs that read at their start, but for one, and make many datasets at their end; the first made these of `x`."""
    log = []
    for run in range(count):
        log.append(told(run, "START", 2 * run, ["t0"] if run != skips else [], []))
        made = [made_of(f"o{n}", "t0", "x" if run < uses_last else "y") for n in range(outputs)]
        log.append(told(run, "COMPLETE", 2 * run + 1, [], made))
    return log


def _effects(graph: Graph, runs: RunGroups, node: DatasetId | ColumnId) -> set[tuple[str, str]]:
    found = outcome(reach(flow_of(graph, runs), [node]))
    return {(each.effect, each.words(str)) for each in outcome(verdicts(found, drop(node))).values()}


def _newest_first(graph: Graph, job: JobId) -> list[str]:
    return sorted(graph.jobs[job].runs, reverse=True)


def test_of_a_use_that_the_newest_run_told_few_runs_are_looked_at() -> None:
    graph = graph_of(_many_runs(count=300, outputs=5, uses_last=300, skips=7))
    graph.looked_at = 0

    effects = _effects(graph, RunGroups(graph, lambda job: _newest_first(graph, job)), IN)

    assert {effect for effect, _ in effects} == {"breaks"}
    assert graph.looked_at < 30


def test_runs_are_looked_at_once_for_all_that_they_make_and_again_once_more_is_heard_of_them() -> None:
    log = _many_runs(count=300, outputs=5, uses_last=11, skips=7)
    bodies: dict[bytes, bytes] = {}
    graph = _Counting(lambda digest: json.loads(bodies[digest]))
    _tell(graph, bodies, log)
    runs = RunGroups(graph, lambda job: _newest_first(graph, job))
    graph.looked_at = 0
    first, first_looked_at = _effects(graph, runs, ColumnId(IN, "x")), graph.looked_at

    graph.looked_at = 0
    newer = _many_runs(count=302, outputs=5, uses_last=11, skips=7)[len(log) :]
    _tell(graph, bodies, newer)
    before: dict[str, None] = dict.fromkeys(body["run"]["runId"] for body in newer)
    runs.change(before)
    again = _effects(graph, runs, ColumnId(IN, "x"))

    assert {words.rpartition(": ")[2] for _, words in first} == {"289 runs since do not use it"}
    assert {words.rpartition(": ")[2] for _, words in again} == {"291 runs since do not use it"}
    assert first_looked_at < 300 + 60
    assert graph.looked_at < 60


def test_others_have_their_turn_between_some_runs_of_a_job() -> None:
    graph = graph_of(_many_runs(count=5 * AT_ONCE, outputs=1, uses_last=1, skips=7))

    assert sum(1 for _ in RunGroups(graph).of(JOB)) == 5
