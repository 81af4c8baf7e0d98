"""Builds the app: wires store, graph, ingest, routes and middleware."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from fastapi import FastAPI
from starlette.routing import BaseRoute
from starlette.types import Lifespan

from headwater.graph.lineage import Graph
from headwater.model.producer import VERSION
from headwater.service.background import IdleWorker
from headwater.service.config import ServiceConfig
from headwater.service.feed.feed import Feed
from headwater.service.feed.news import noticing
from headwater.service.gate.own_machine import OwnMachine
from headwater.service.http import paths
from headwater.service.http.failures import handle_failures
from headwater.service.http.heads import AnswersHead
from headwater.service.ingest.intake import Intake
from headwater.service.ingest.learn_retries import LearnRetries
from headwater.service.ingest.reading import Trust
from headwater.service.ingest.recording import LocalRecorder
from headwater.service.ingest.remote_recorder import RemoteRecorder
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.log.proofs import Proofs
from headwater.service.log.retention import Retention
from headwater.service.metrics import Metrics
from headwater.service.pages import page_app, specification_app
from headwater.service.past.pasts import Pasts
from headwater.service.request.access import KeyStore, SaysAsOf, Service
from headwater.service.routes import (
    access,
    actions,
    datasets,
    diff,
    edits,
    events,
    evidence,
    graphql,
    health,
    intake,
    jobs,
    keys,
    lineage,
    log,
    namespaces,
    nodes,
    overview,
    questions,
    runs,
    search,
    sources,
    stats,
    tags,
    writes,
)
from headwater.service.specification import Described
from headwater.service.views.coverage import look_ahead
from headwater.service.views.lineage import render_ahead
from headwater.service.writing.keys import apply_key_directory, is_about_keys
from headwater.signing.note import NoteSigner
from headwater.store.entries import Stored
from headwater.store.store import Store

if TYPE_CHECKING:
    from headwater.access.entrance import Entrance
    from headwater.service.gate.gate import Gate
    from headwater.service.gate.guard import Guard

_QUIET_S: Final = 1.0
"""How long no event must have come before gaps are computed and answers rendered ahead of requests."""


def _routes() -> list[BaseRoute]:
    answered = (lineage, namespaces, datasets, runs, jobs, events, search, tags, sources, stats, overview)
    resources = (*answered, questions, evidence, diff, log, nodes, writes, edits, keys, access, actions)
    # Not included in another router, which would analyse the parameters and answers of each route again.
    return [route for resource in (*resources, graphql, health, intake) for route in resource.router.routes]


_ROUTES: Final = _routes()
"""The routes of every app; FastAPI analyses their parameters and answers once, which takes half a second."""


def create_app(
    store: Store,
    trusted_keys: Mapping[str, Ed25519PublicKey],
    config: ServiceConfig,
    *,
    log_key: NoteSigner,
    now_us: Callable[[], int],
) -> FastAPI:
    """Build the app over an open store.

    At start-up the graph is loaded from the store; at shutdown queued events are stored, and the log's head is saved.
    The caller closes the store. `log_key` signs the log's heads.
    """
    recorder = (RemoteRecorder if config.records_in_process else LocalRecorder)(
        store, Trust(trusted_keys, config.require_signed)
    )
    proofs = Proofs(recorder.store.tree, log_key, config.witnesses)
    service = _service(recorder, proofs, KeyStore(trusted_keys, config.tokens), config, now_us)
    gate = None if config.entrance is None else _gate(service, config.entrance, log_key)
    app = Described(
        title="Headwater",
        version=VERSION,
        summary="Lineage you can prove, from the source.",
        docs_url=None,  # its viewer would load from another host; ours comes with the page
        redoc_url=None,
        redirect_slashes=False,
        telemetry={"tracing": False, "metrics": False, "logs": False},  # paths contain names that not everybody may see
        routes=_ROUTES,
        lifespan=_lifespan(service, Retention(recorder.store, config.retain_raw_days, now_us), gate),
    )
    app.state.service = service
    app.add_middleware(paths.PathsAsSent)
    app.add_middleware(SaysAsOf)
    handle_failures(app)
    app.add_middleware(intake.IntakeMiddleware)  # added after those above, so that it runs before them
    if gate is not None:
        app.add_middleware(_guard(), gate=gate)
    elif config.hosts is not None:
        app.add_middleware(OwnMachine, hosts=config.hosts)
    app.add_middleware(AnswersHead)
    app.mount("/spec", specification_app())
    app.router.default = page_app(config.page)
    return app


def _service(
    recorder: RemoteRecorder | LocalRecorder,
    proofs: Proofs,
    key_store: KeyStore,
    config: ServiceConfig,
    now_us: Callable[[], int],
) -> Service:
    store = recorder.store
    graph = Graph(store.content)
    knowledge, feed = Knowledge(store, graph), Feed()
    metrics = Metrics(knowledge, lambda: recorder.pid)
    idle_workers = (
        IdleWorker(knowledge.read_ahead),
        IdleWorker(lambda: look_ahead(knowledge, store.another_reader), _QUIET_S),
        IdleWorker(lambda: render_ahead(knowledge), _QUIET_S),
    )
    pasts = Pasts(knowledge, store.another_reader, metrics, round(config.kept_mb * 1_000_000))

    def learn(stored: Stored) -> None:
        pasts.about_to_learn(stored.facts)
        news = noticing(graph, stored.facts) if feed.has_had_listeners else None
        touched = knowledge.learn(stored.facts)
        feed.publish(stored.log_index, touched, news and news())
        pasts.learned(stored.log_index, stored.facts, touched)
        if any(map(is_about_keys, stored.facts)):
            apply_key_directory(service)
        for listener in service.on_learned:
            listener(stored.facts, touched)
        for each in idle_workers:
            each.wake()

    def reset() -> None:
        knowledge.reset()
        pasts.reset()

    intake = Intake(recorder, LearnRetries(learn, reset), metrics, now_us)
    service = Service(
        knowledge=knowledge,
        pasts=pasts,
        intake=intake,
        proofs=proofs,
        feed=feed,
        metrics=metrics,
        idle_workers=idle_workers,
        body_limit=config.body_limit,
        now_us=now_us,
        key_store=key_store,
        new_id=lambda: str(uuid4()),
    )
    return service


def _gate(service: Service, entrance: "Entrance", log_key: NoteSigner) -> "Gate":
    from headwater.service.gate.gate import Gate  # here, not above: tokens and GraphQL's words take a third of a second

    return Gate(service, entrance, log_key)


def _guard() -> "type[Guard]":
    from headwater.service.gate.guard import Guard

    return Guard


def _lifespan(service: Service, retention: Retention, gate: "Gate | None") -> Lifespan[FastAPI]:
    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        recorder = service.intake.recorder
        try:
            recorder.open()
            service.knowledge.load()
            service.pasts.load()
            service.proofs.cosignatures.load()
            apply_key_directory(service)
            if gate is not None:
                gate.load()
                service.on_learned.append(gate.learned)
            recorder.start(service.intake)
        except BaseException:
            await recorder.stop()
            raise
        retention.start()
        for worker in service.idle_workers:
            worker.start()
        try:
            yield
        finally:
            await retention.stop()
            for worker in service.idle_workers:
                await worker.stop()
            service.feed.close()
            service.pasts.stop()
            service.proofs.cosignatures.save_head()
            await recorder.stop()

    return lifespan
