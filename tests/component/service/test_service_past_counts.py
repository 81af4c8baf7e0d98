"""Counts as of a time, partly taken over from the present, are those of the events until then alone."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.graph.lineage import Graph
from headwater.model.events import parse_event
from headwater.model.names import JobId
from headwater.service.background import result_in_slices
from headwater.service.http.as_of import AsOf
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.metrics import Metrics
from headwater.service.past.pasts import Pasts
from headwater.service.views.counts import summary
from headwater.store.entries import entry_of
from headwater.store.sqlite import SqliteStore
from tests.component.service.test_service_kept_answers import fresh, job_details, learn, overview
from tests.support.app import Body
from tests.support.logs import events, logs, of_many_runs
from tests.support.slow_overview import slow_overview

BEGIN_US = 1_779_459_780_000_000
"""2026-05-22T14:23:00Z: the first second of generated events."""


class KnowledgeWithPasts:
    """The present knowledge, and past states that are kept up to date with it."""

    def __init__(self, store: SqliteStore) -> None:
        self.store = store
        self.knowledge = Knowledge(store, Graph(store.content))
        self.knowledge.load()
        self.pasts = Pasts(self.knowledge, store.another_reader, Metrics(self.knowledge), 10**9)
        self.pasts.load()

    def learn(self, events: Sequence[bytes]) -> None:
        for raw in events:
            for stored in self.store.add([entry_of(parse_event(raw), "unsigned", None, 0)]):
                if stored.is_new:
                    self.pasts.about_to_learn(stored.facts)
                    touched = self.knowledge.learn(stored.facts)
                    self.pasts.learned(stored.log_index, stored.facts, touched)

    async def known(self, until_us: int) -> Knowledge:
        return (await self.pasts.past(AsOf(until_us))).knowledge


@contextmanager
def new_store() -> Iterator[SqliteStore]:
    with TemporaryDirectory() as folder, closing(SqliteStore(Path(folder) / "headwater.db")) as store:
        yield store


def overview_with_facets(knowledge: Knowledge) -> Body:
    """The overview, and the newest facets of each job and dataset."""
    graph = knowledge.graph
    datasets = {name: graph.digests_of(name) for name in graph.shown_datasets()}
    jobs = {job: graph.job_digests(job) for job in graph.jobs if knowledge.is_job(job)}
    one_by_one = (
        {name: {facet: graph.digest_of(name, facet) for facet in facets} for name, facets in datasets.items()},
        {job: {facet: graph.job_digest(job, facet) for facet in facets} for job, facets in jobs.items()},
    )
    assert one_by_one == (datasets, jobs)
    return {**overview(knowledge), "facets": [datasets, jobs]}


def expected_overview(log: Sequence[bytes]) -> Body:
    """The same of a service with only these events, counted by looking at each job and dataset."""
    with new_store() as store:
        knowledge = Knowledge(store, Graph(store.content))
        learn(store, knowledge, log)
        return {**slow_overview(knowledge), "facets": overview_with_facets(knowledge)["facets"]}


def events_until(until_us: int, log: Sequence[bytes]) -> list[bytes]:
    return [raw for raw in log if parse_event(raw).stamp.time_us <= until_us]


@given(logs | of_many_runs, logs | of_many_runs, st.integers(0, 59), st.booleans(), st.booleans())
@settings(deadline=None, max_examples=30)
def test_the_overview_as_of_a_time_is_that_of_the_events_until_then(
    log: list[bytes], later: list[bytes], second: int, is_restarted: bool, is_only_counted: bool
) -> None:
    async def compared() -> None:
        with new_store() as store:
            service = KnowledgeWithPasts(store)
            service.learn(log)
            service = KnowledgeWithPasts(store) if is_restarted else service  # which knows only merged facts
            for learned in range(len(later) + 1):
                overview(service.knowledge)
                past = await service.known(until_us)
                if is_only_counted and learned < len(later):  # and the times of jobs are read after more events
                    summary(past, {}, 0)
                elif learned in (0, len(later)):
                    answer = overview_with_facets(past)
                    assert answer == expected_overview(events_until(until_us, log + later[:learned]))
                service.learn(later[learned : learned + 1])
            service.pasts.stop()

    until_us = BEGIN_US + second * 1_000_000
    asyncio.run(compared())


_plain_events = st.builds(
    lambda job, run, second: _event(
        second, f"t{job}", run=f"run {run} of {job}", job=f"job {job}", by=("etl", "ops")[job % 2]
    ),
    st.integers(0, 5),
    st.integers(0, 3),
    st.integers(0, 59),
)
"""Of jobs that appear only in their runs."""
_either = st.lists(_plain_events, min_size=1, max_size=14) | st.lists(_plain_events | events, min_size=1, max_size=14)


@given(_either, _either, st.integers(0, 59), st.integers(1, 3), st.permutations([None, "etl", "ops"]))
@settings(deadline=None, max_examples=50)
def test_the_newest_jobs_as_of_a_time_are_those_of_the_events_until_then(
    log: list[bytes], later: list[bytes], second: int, most: int, namespaces: list[str | None]
) -> None:
    async def compared() -> None:
        with new_store() as store:
            service = KnowledgeWithPasts(store)
            service.learn(log)
            for learned in range(len(later) + 1):
                past = await service.known(until_us)
                for namespace in namespaces:
                    newest = await result_in_slices(past.job_tallies.newest(most, namespace))
                    answer = newest.page(most), len(newest)
                    if learned in (0, len(later)):
                        assert answer == expected_newest(events_until(until_us, log + later[:learned]), most, namespace)
                service.learn(later[learned : learned + 1])
            service.pasts.stop()

    until_us = BEGIN_US + second * 1_000_000
    asyncio.run(compared())


def expected_newest(log: Sequence[bytes], most: int, namespace: str | None = None) -> tuple[list[JobId], int]:
    """The same of a service with only these events, and the number of jobs."""
    with new_store() as store:
        knowledge = Knowledge(store, Graph(store.content))
        learn(store, knowledge, log)
        newest = knowledge.job_tallies.newest_first(namespace)
        return newest.page(most), len(newest)


@given(logs, logs, st.integers(0, 59))
@settings(deadline=None, max_examples=30)
def test_jobs_as_of_a_time_have_the_runs_of_the_events_until_then(
    log: list[bytes], later: list[bytes], second: int
) -> None:
    async def compared() -> None:
        with new_store() as store, new_store() as other:
            service = KnowledgeWithPasts(store)
            service.learn(log)
            for raw in (*later, None):
                job_details(service.knowledge)
                past = await service.known(until_us)
                answer = job_details(past)
                service.learn([] if raw is None else [raw])
            service.pasts.stop()
            learn(other, Knowledge(other, Graph(other.content)), events_until(until_us, log + later))
            assert answer == job_details(fresh(other))

    until_us = BEGIN_US + second * 1_000_000
    asyncio.run(compared())


def test_two_spellings_in_facets_count_as_one_dataset_once_its_name_is_used(tmp_path: Path) -> None:
    """The two sources of one column are the same from then on."""
    with closing(SqliteStore(tmp_path / "headwater.db")) as store:
        service = KnowledgeWithPasts(store)
        service.learn([_event(1, "mart", columns="s3://lake s/t1", more="s3a://lake s/t1/")])
        before = overview(service.knowledge)["counts"]

        service.learn([_event(2, "s/t1", namespace="s3://lake")])

        after, expected = overview(service.knowledge), slow_overview(fresh(store))
        assert before[-1] == 2
        assert after["counts"] == expected["counts"]
        assert after["counts"][-1] == 1


def test_a_job_to_which_a_run_moved_since_is_not_counted_as_of_then(tmp_path: Path) -> None:
    async def compared() -> None:
        service = KnowledgeWithPasts(store)
        service.learn(log)
        overview(service.knowledge)

        past = await service.known(BEGIN_US + 2_000_000)

        assert past.job_tallies.shown == 1
        assert overview_with_facets(past) == expected_overview(log[:1])
        service.pasts.stop()

    log = [_event(1, "", run="run 1"), _event(3, "", run="run 1")]
    with closing(SqliteStore(tmp_path / "headwater.db")) as store:
        asyncio.run(compared())


def test_what_a_run_wrote_counts_as_written_by_the_job_that_the_run_had_then(tmp_path: Path) -> None:
    async def compared() -> None:
        service = KnowledgeWithPasts(store)
        service.learn(log)

        past = await service.known(BEGIN_US + 1_000_000)

        assert overview_with_facets(past) == expected_overview(log[1:])
        service.pasts.stop()

    log = [
        _event(2, "", run="run 1", job="load"),
        _event(0, "", run="run 0", job="load"),
        _event(1, "t0", run="run 1", job="mart"),
    ]
    with closing(SqliteStore(tmp_path / "headwater.db")) as store:
        asyncio.run(compared())


def test_a_name_without_a_namespace_counts_as_the_dataset_that_claimed_it_then(tmp_path: Path) -> None:
    async def compared(name: str, log: Sequence[bytes]) -> None:
        with closing(SqliteStore(tmp_path / name)) as store:
            service = KnowledgeWithPasts(store)
            service.learn(log)
            overview(service.knowledge)

            past = await service.known(BEGIN_US + 1_000_000)

            assert overview_with_facets(past) == expected_overview(log[:2])
            service.pasts.stop()

    asyncio.run(compared("declared", [_event(0, ""), _claim(1, "t1"), _claim(2, "t0")]))
    claimed_since = _event(2, "nowhere", "", claimed_by="t0")
    asyncio.run(compared("used", [_claim(0, "t1"), _event(1, "t1"), claimed_since]))
    claimed_by_runs = [
        _event(second, "nowhere", "", claimed_by=name) for second, name in ((0, "t1"), (1, "t1"), (2, "t0"))
    ]
    asyncio.run(compared("reported", claimed_by_runs))


def test_a_past_state_counts_namespaces_by_the_runs_until_then(tmp_path: Path) -> None:
    async def compared() -> None:
        service = KnowledgeWithPasts(store)
        service.learn(log)
        overview(service.knowledge)
        past = await service.known(BEGIN_US + 4_000_000)
        summary(past, {}, 0)
        service.learn(later)

        past = await service.known(BEGIN_US + 4_000_000)

        assert overview_with_facets(past) == expected_overview([*log[:3], later[0]])
        service.pasts.stop()

    log = [_event(second, "t1", namespace) for second, namespace in ((1, "a"), (2, "b"), (3, "a"), (7, "a"), (8, "b"))]
    later = [_event(4, "t1", "b"), _event(9, "t1", "a", run="run 3")]
    with closing(SqliteStore(tmp_path / "headwater.db")) as store:
        asyncio.run(compared())


def _claim(second: int, name: str) -> bytes:
    """An event that declares the dataset without a namespace to be this one."""
    return (
        f'{{"eventTime": "2026-05-22T14:23:{second:02d}Z", "producer": "https://example.org",'
        f'"dataset": {{"namespace": "", "name": "nowhere", "facets": {{{_symlinks(name)}}}}}}}'
    ).encode()


def _symlinks(name: str) -> str:
    return f'"symlinks": {{"identifiers": [{{"namespace": "lake", "name": "{name}", "type": "TABLE"}}]}}'


def _event(
    second: int,
    output: str,
    namespace: str = "lake",
    columns: str = "",
    more: str = "",
    run: str = "",
    claimed_by: str = "",
    job: str = "",
    by: str = "etl",
) -> bytes:
    sources = ",".join(
        f'{{"namespace": "{each.split()[0]}", "name": "{each.split()[1]}", "field": "a"}}'
        for each in (columns, more)
        if each
    )
    facet = f'"columnLineage": {{"fields": {{"a": {{"inputFields": [{sources}]}}}}}}' if sources else ""
    facet = _symlinks(claimed_by) if claimed_by else facet
    outputs = f'{{"namespace": "{namespace}", "name": "{output}", "facets": {{{facet}}}}}' if output else ""
    return (
        f'{{"eventType": "COMPLETE", "eventTime": "2026-05-22T14:23:{second:02d}Z", "producer": "https://example.org",'
        f'"run": {{"runId": "{run or f"run {second}"}"}},'
        f'"job": {{"namespace": "{by}", "name": "{job or f"load {second}"}"}},'
        f'"outputs": [{outputs}]}}'
    ).encode()


def test_past_states_are_freed_when_the_service_stops() -> None:
    async def freed() -> list[bool]:
        with new_store() as store:
            service = KnowledgeWithPasts(store)
            service.learn([_event(1, "t1"), _event(2, "t2")])
            derived = await service.pasts.past(AsOf(BEGIN_US + 1_000_000))
            replayed = await service.pasts.past(AsOf(log_size=1))
            in_use = [bool(vars(past.knowledge)) for past in (derived, replayed)]
            service.pasts.stop()
            return [*in_use, *(not vars(past.knowledge) for past in (derived, replayed))]

    assert asyncio.run(freed()) == [True] * 4
