"""Prometheus metrics, in a registry of its own for each service."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from headwater.errors import UnavailableError
from headwater.graph.counts import unplaced
from headwater.service.knowledge.knowledge import Knowledge

_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
_REPLAY_SECONDS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 25.0, 60.0, 120.0, 300.0)
_POSTS = (1, 2, 4, 8, 16, 32, 64, 128, 256)


class Metrics:
    """Counters of one service."""

    def __init__(self, knowledge: Knowledge, recorder_pid: Callable[[], int | None] = lambda: None) -> None:
        """`recorder_pid` returns the id of the process that stores events, if it is another one."""
        self._registry = CollectorRegistry()
        self.events = Counter(
            "headwater_events_total",
            "Events acknowledged, by outcome (stored, or known: the same bytes were stored before) and verdict.",
            ["outcome", "verdict"],
            registry=self._registry,
        )
        self._refused = Counter(
            "headwater_events_refused_total",
            "Events not acknowledged, by reason.",
            ["reason"],
            registry=self._registry,
        )
        self._refused_access = Counter(
            "headwater_access_refused_total",
            "Requests refused by access control: unauthenticated or forbidden.",
            ["why"],
            registry=self._registry,
        )
        self.ingest = Histogram(
            "headwater_ingest_seconds",
            "Time from the last byte of an event to its acknowledgement.",
            buckets=_SECONDS,
            registry=self._registry,
        )
        self.group = Histogram(
            "headwater_commit_group_events",
            "Events in one transaction.",
            buckets=_POSTS,
            registry=self._registry,
        )
        self._replays = Histogram(
            "headwater_replay_seconds",
            "Time to replay the log for a read of the past.",
            buckets=_REPLAY_SECONDS,
            registry=self._registry,
        )
        self._replayed = Counter(
            "headwater_replayed_events_total", "Events replayed for reads of the past.", registry=self._registry
        )
        self.pasts = Gauge("headwater_pasts_bytes", "Memory of the cached past states.", registry=self._registry)
        self._nodes = Gauge("headwater_nodes", "Nodes that sent signed events.", registry=self._registry)
        self._troubles = Gauge(
            "headwater_node_troubles",
            "Faults in the nodes' records (events missing, duplicated or inconsistent), by kind, as in `/nodes`.",
            ["kind"],
            registry=self._registry,
        )
        self._registry.register(_Sizes(knowledge))
        ProcessCollector(registry=self._registry)
        ProcessCollector(namespace="headwater_recorder", pid=lambda: recorder_pid() or "none", registry=self._registry)
        self.refused = 0
        """Events refused since the service started."""

    def refuse(self, reason: str) -> None:
        """Count a refused event."""
        self.refused += 1
        self._refused.labels(reason).inc()

    def refuse_access(self, why: str) -> None:
        """Count a request refused by access control, or an event that its sender may not post."""
        self._refused_access.labels(why).inc()

    def replayed(self, events: int, took_s: float) -> None:
        """Count a replay."""
        self._replays.observe(took_s)
        self._replayed.inc(events)

    def text(self, nodes: int, troubles: Mapping[str, int]) -> bytes:
        """All metrics in Prometheus's text format; `nodes` and `troubles` are the current values."""
        self._nodes.set(nodes)
        for kind, count in troubles.items():
            self._troubles.labels(kind).set(count)
        return generate_latest(self._registry)


class _Sizes(Collector):
    """Sizes of log and graph, computed at each scrape."""

    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge

    def collect(self) -> Iterator[GaugeMetricFamily]:
        graph = self._knowledge.graph
        with suppress(UnavailableError):  # left out while the database is away; the rest is in memory
            yield GaugeMetricFamily("headwater_log_events", "Events in the log.", self._knowledge.store.size())
        nodes = GaugeMetricFamily("headwater_graph_nodes", "Nodes of the graph, by kind.", labels=["kind"])
        nodes.add_metric(["job"], len(graph.jobs))
        nodes.add_metric(["run"], len(graph.runs))
        nodes.add_metric(["dataset"], len(graph.datasets))
        yield nodes
        in_quarantine = sum(1 for _ in unplaced(graph))
        yield GaugeMetricFamily(
            "headwater_quarantined", "Datasets without a full name, as in `/quarantine`.", in_quarantine
        )
