"""Reading Flink's responses. They are those of Flink 2.1.3, reduced to what is read and a little more."""

from collections.abc import Callable, Mapping
from typing import Any

import httpx
import pytest

from headwater.capture.flink.jobs import Checkpoint, Checkpoints, Failure, Listed, Vertex
from headwater.capture.flink.rest import About, FlinkCluster
from headwater.errors import SetupError, UnavailableError

JOB = "f536561adb4b8935c01aff0886e567dc"
SOURCE, SINK = "cbc357ccb763df2852fee8c4fc7d55f2", "90bea66de1c231edf33913ecd54406c1"
CHECKPOINT = {
    "id": 58,
    "status": "COMPLETED",
    "is_savepoint": False,
    "latest_ack_timestamp": 1795318479551,
    "state_size": 9065,
    "end_to_end_duration": 7,
    "checkpoint_type": "CHECKPOINT",
    "external_path": "file:/ckpt/chk-58",
}
SAVEPOINT = {**CHECKPOINT, "is_savepoint": True, "checkpoint_type": "SYNC_SAVEPOINT", "external_path": "file:/sp/sp-1"}
CHECKPOINTS: dict[str, Any] = {
    "counts": {"restored": 0, "total": 59, "in_progress": 1, "completed": 58, "failed": 0},
    "latest": {"completed": CHECKPOINT, "savepoint": None, "failed": None, "restored": None},
}
SUPPRESSED = "org.apache.flink.runtime.JobException: Recovery is suppressed by FixedDelayRestartBackoffTimeStrategy"
DIVISION = {"exceptionName": "java.lang.ArithmeticException", "stacktrace": "java.lang.ArithmeticException: / by zero"}
EXCEPTIONS = [
    {
        "stacktrace": SUPPRESSED,
        "timestamp": 1795318274925,
        "concurrentExceptions": [{**DIVISION, "timestamp": 1795318274903, "taskName": "Calc (2/2) - execution #1"}],
    },
    {**DIVISION, "timestamp": 1795318268755, "taskName": "Calc (2/2) - execution #0", "concurrentExceptions": []},
]


def vertex(number: str, name: str, read: int = 0, written: int = 0) -> dict[str, Any]:
    metrics = {"read-records": read, "write-records": written, "accumulated-backpressured-time": 0}
    return {"id": number, "name": name, "parallelism": 2, "status": "RUNNING", "metrics": metrics}


def job(*vertices: Mapping[str, Any], state: str = "RUNNING", kind: str = "STREAMING") -> dict[str, Any]:
    return {"jid": JOB, "state": state, "job-type": kind, "vertices": vertices}


CHAINED = (
    vertex(SOURCE, "Source: src[4] -> Calc[5]", written=300),
    vertex(SINK, "GroupAggregate[7] -> agg[8]: Writer", read=275),
)
METRICS = {
    SOURCE: {"Source__src[4].numRecordsOut": 400, "Source__src[4].numRecordsIn": 0, "Calc[5].numRecordsOut": 390},
    SINK: {"GroupAggregate[7].numRecordsIn": 400, "agg[8]__Writer.numRecordsIn": 380, "numRecordsIn": 400},
}


class Flink:
    """A server with responses by path; other paths are not found."""

    def __init__(self, **answers: object) -> None:
        self.answers = answers

    def __call__(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path.removeprefix(f"/jobs/{JOB}")
        if path.endswith("/subtasks/metrics"):
            return httpx.Response(200, json=self._metrics(path.split("/")[2], request.url.params.get("get")))
        content = {
            "": self.answers.get("job"),
            "/checkpoints": self.answers.get("checkpoints", CHECKPOINTS),
            "/exceptions": {"exceptionHistory": {"entries": self.answers.get("exceptions", []), "truncated": False}},
            "/metrics": self.answers.get("restarts", []),
        }.get(path, self.answers.get(path))
        return (
            httpx.Response(404, json={"errors": ["not found"]})
            if content is None
            else httpx.Response(200, json=content)
        )

    def _metrics(self, number: str, names: str | None) -> list[dict[str, Any]]:
        metrics: dict[str, dict[str, int]] = self.answers.get("counted", {})  # type: ignore[assignment]
        values = {**metrics.get(number, {}), **({"backPressuredTimeMsPerSecond": 250} if metrics else {})}
        if names is None:
            return [{"id": each} for each in values]
        return [{"id": each, "sum": float(values[each]), "max": float(values[each])} for each in names.split(",")]


def cluster(respond: Callable[[httpx.Request], httpx.Response], *urls: str) -> FlinkCluster:
    return FlinkCluster(urls or ["http://flink:8081"], httpx.MockTransport(respond))


def test_jobs_are_listed_by_start() -> None:
    responses = {
        "/jobs/overview": {
            "jobs": [
                {
                    "jid": JOB,
                    "name": "b",
                    "state": "RUNNING",
                    "start-time": 20,
                    "end-time": -1,
                    "last-modification": 25,
                },
                {
                    "jid": "0",
                    "name": "a",
                    "state": "FINISHED",
                    "start-time": 10,
                    "end-time": 15,
                    "last-modification": 15,
                },
            ]
        }
    }

    assert cluster(Flink(**responses)).jobs() == (
        Listed("0", "a", "FINISHED", 10, 15, 15),
        Listed(JOB, "b", "RUNNING", 20, None, 25),
    )


def test_records_are_counted_at_sources_and_sinks_not_between_tasks() -> None:
    details = cluster(
        Flink(job=job(*CHAINED), counted=METRICS, restarts=[{"id": "numRestarts", "value": "2"}])
    ).details(JOB)

    assert details is not None
    assert (details.figures.records_in, details.figures.records_out, details.figures.restarts) == (400, 380, 2)
    assert details.figures.vertices[0] == Vertex("Source: src[4] -> Calc[5]", 2, "RUNNING", 250)
    assert details.figures.checkpoints == Checkpoints(
        58, 0, 1, 0, Checkpoint(58, 1795318479551, 7, 9065, "file:/ckpt/chk-58"), None
    )
    assert (details.is_stream, details.failure, details.savepoint) == (True, None, None)


def test_an_ended_jobs_records_are_counted_between_tasks_only_if_they_equal_the_sources() -> None:
    unchained_vertices = (vertex(SOURCE, "Source: src[9]", written=300), vertex(SINK, "hole[10]: Writer", read=300))

    chained = cluster(Flink(job=job(*CHAINED, state="FINISHED"))).details(JOB)
    unchained = cluster(Flink(job=job(*unchained_vertices, state="FINISHED"))).details(JOB)

    assert chained is not None
    assert unchained is not None
    assert (chained.figures.records_in, chained.figures.records_out) == (None, None)
    assert (unchained.figures.records_in, unchained.figures.records_out) == (300, 300)


def test_figures_that_flink_no_longer_reports_keep_their_last_value() -> None:
    before = cluster(Flink(job=job(*CHAINED), counted=METRICS, restarts=[{"id": "numRestarts", "value": "2"}])).details(
        JOB
    )
    over = cluster(Flink(job=job(*CHAINED, state="CANCELED"))).details(JOB)
    assert before is not None
    assert over is not None

    figures = over.figures.or_else(before.figures)

    assert (figures.records_in, figures.records_out, figures.restarts) == (400, 380, 2)


def test_the_newest_failure_is_reported_with_its_task() -> None:
    before = [{"id": "numRestarts", "value": "0"}]
    flink = Flink(job=job(*CHAINED, state="FAILED"), exceptions=EXCEPTIONS, restarts=before)

    details = cluster(flink).details(JOB)

    assert details is not None
    assert details.failure == Failure(SUPPRESSED, 1795318274925, "Calc (2/2) - execution #1")
    assert details.figures.restarts == 1


def test_only_the_savepoint_of_a_stop_is_reported_not_an_intermediate_one() -> None:
    def stopped_by(savepoint: Mapping[str, Any]) -> str | None:
        checkpoints = {**CHECKPOINTS, "latest": {**CHECKPOINTS["latest"], "savepoint": savepoint}}
        details = cluster(Flink(job=job(state="FINISHED"), checkpoints=checkpoints)).details(JOB)
        assert details is not None
        return details.savepoint

    assert stopped_by(SAVEPOINT) == "file:/sp/sp-1"
    assert stopped_by({**SAVEPOINT, "checkpoint_type": "SAVEPOINT"}) is None


def test_a_batch_job_has_no_checkpoints() -> None:
    def respond(request: httpx.Request) -> httpx.Response:
        is_checkpoints = request.url.path.endswith("/checkpoints")
        return httpx.Response(404) if is_checkpoints else Flink(job=job(kind="BATCH"))(request)

    details = cluster(respond).details(JOB)

    assert details is not None
    assert (details.is_stream, details.figures.checkpoints) == (False, None)


def test_the_path_a_job_was_restored_from_is_reported_and_whether_it_is_a_savepoint() -> None:
    restored = {"id": 57, "restore_timestamp": 1795318270000, "is_savepoint": True, "external_path": "file:/sp/sp-0"}
    checkpoints = {**CHECKPOINTS, "latest": {**CHECKPOINTS["latest"], "restored": restored}}

    details = cluster(Flink(job=job(*CHAINED), checkpoints=checkpoints)).details(JOB)

    assert details is not None
    assert details.figures.checkpoints is not None
    restored_checkpoints = details.figures.checkpoints
    assert (restored_checkpoints.restored_from, restored_checkpoints.is_from_savepoint) == ("file:/sp/sp-0", True)


@pytest.mark.parametrize(("kind", "is_stream"), [("STREAMING", True), ("BATCH", False)])
def test_before_flink_1_20_whether_a_job_is_a_batch_is_read_from_its_plan(kind: str, is_stream: bool) -> None:
    response = {"jid": JOB, "state": "RUNNING", "vertices": CHAINED, "plan": {"jid": JOB, "type": kind, "nodes": []}}

    details = cluster(Flink(job=response, counted=METRICS)).details(JOB)

    assert details is not None
    assert (details.is_stream, details.figures.records_in) == (is_stream, 400)


@pytest.mark.parametrize("path", ["", "/checkpoints", "/exceptions", "/metrics", f"/vertices/{SINK}/subtasks/metrics"])
@pytest.mark.parametrize("body", [{"errors": ["x"]}, ["x"], [None], "x"], ids=str)
def test_a_response_about_a_job_that_is_not_flinks_is_reported(path: str, body: object) -> None:
    flink = Flink(job=job(*CHAINED), counted=METRICS)

    def respond(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json=body) if request.url.path == f"/jobs/{JOB}{path}" else flink(request)

    with pytest.raises(UnavailableError, match="does not answer like Flink's REST API"):
        cluster(respond).details(JOB)


def test_a_job_that_is_not_found_has_no_details() -> None:
    assert cluster(Flink()).details(JOB) is None


def test_the_namespace_of_jobs_is_the_listeners() -> None:
    config = {"/config": {"flink-version": "2.1.3"}, "/jobmanager/config": [{"key": "rest.port", "value": "8081"}]}
    with_namespace = [*config["/jobmanager/config"], {"key": "openlineage.job.namespace", "value": "shop"}]

    assert cluster(Flink(**config)).about() == About("2.1.3", "flink-jobs")
    assert cluster(Flink(**{**config, "/jobmanager/config": with_namespace})).about() == About("2.1.3", "shop")


@pytest.mark.parametrize("status", [401, 403, 404])
def test_with_a_hidden_configuration_the_caller_must_give_the_namespace(status: int) -> None:
    def respond(request: httpx.Request) -> httpx.Response:
        is_hidden = request.url.path == "/jobmanager/config"
        return httpx.Response(status) if is_hidden else httpx.Response(200, json={"flink-version": "2.1.3"})

    about = cluster(respond).about()

    assert about == About("2.1.3", None)
    assert about.namespace("shop") == "shop"
    assert about.namespace(None, before="shop") == "shop"
    with pytest.raises(SetupError, match=r"/jobmanager/config.* set --namespace \(flink-jobs, if"):
        about.namespace(None)


def test_a_refused_access_is_reported() -> None:
    with pytest.raises(
        UnavailableError, match=r"http://flink:8081 refuses access to /jobs/overview .*status 403.*password"
    ):
        cluster(lambda _: httpx.Response(403, text="forbidden")).jobs()


def test_the_jobmanager_that_responded_is_called_first_afterwards() -> None:
    hosts = []

    def respond(request: httpx.Request) -> httpx.Response:
        hosts.append(request.url.host)
        if request.url.host == "one":
            raise httpx.ConnectError("refused", request=request)
        return httpx.Response(200, json={"jobs": []})

    flink = cluster(respond, "http://one:8081", "http://user:secret@two:8081")
    flink.jobs()
    flink.jobs()

    assert hosts == ["one", "two", "two"]
    assert flink.url == "http://two:8081"


def test_an_unreachable_jobmanager_is_named_with_the_reason_and_without_passwords() -> None:
    def respond(request: httpx.Request) -> httpx.Response:
        if request.url.host == "one":
            raise httpx.ReadTimeout("", request=request)
        return httpx.Response(503)

    with pytest.raises(UnavailableError) as error:
        cluster(respond, "http://user:secret@one:8081", "http://two:8081").jobs()

    assert str(error.value) == "http://one:8081: no answer within 2 s; http://two:8081: status 503"


def test_an_untrusted_certificate_is_reported_with_a_remedy() -> None:
    def respond(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate")

    with pytest.raises(UnavailableError, match=r"the certificate of https://one .*self-signed.* set SSL_CERT_FILE"):
        cluster(respond, "https://user:secret@one").jobs()


@pytest.mark.parametrize(
    "response", [httpx.Response(404), httpx.Response(200, text="hello"), httpx.Response(200, json={})]
)
def test_a_server_that_is_not_flink_is_reported(response: httpx.Response) -> None:
    with pytest.raises(UnavailableError, match="does not answer like Flink's REST API"):
        cluster(lambda _: response).jobs()


def test_an_unusable_proxy_is_reported_by_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://ann:hush@127.0.0.1:9")

    with pytest.raises(SetupError, match=r"^ALL_PROXY holds no valid proxy address"):
        FlinkCluster(["http://flink:8081"])
