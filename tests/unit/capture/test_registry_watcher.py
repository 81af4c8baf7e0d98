"""The watcher of a schema registry. The registry answers as Confluent's does: paths, statuses, error codes.

Source: https://docs.confluent.io/platform/current/schema-registry/develop/api.html
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from headwater.capture.outlet import Outlet
from headwater.capture.registry import RegistryWatcher
from headwater.capture.schemas import Registry
from headwater.errors import SetupError, UnavailableError

NOT_READ = httpx.Response(422, json={"error_code": 42201, "message": "Either the input schema or one is invalid"})
FORBIDDEN = httpx.Response(403, json={"error_code": 40301, "message": "User is denied operation Read"})


def avro(*fields: str) -> str:
    return json.dumps({"type": "record", "name": "r", "fields": [{"name": each, "type": "int"} for each in fields]})


class Subjects:
    """A registry; `instead` replaces the responses of paths with these beginnings."""

    def __init__(self, **versions: dict[int, str]) -> None:
        self.versions = {f"{topic}-value": numbered for topic, numbered in versions.items()}
        self.instead: dict[str, httpx.Response] = {}
        self.references: dict[str, list[dict[str, Any]]] = {}
        self.requests: list[str] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path
        self.requests.append(path)
        for beginning, response in self.instead.items():
            if path.startswith(beginning):
                return response
        match path.split("/")[1:]:
            case ["subjects"]:
                return httpx.Response(200, json=[*self.versions])
            case ["subjects", subject, "versions"] if subject in self.versions:
                return httpx.Response(200, json=[*self.versions[subject]])
            case ["subjects", subject, "versions", number] if int(number) in self.versions.get(subject, {}):
                version = {"subject": subject, "version": int(number), "id": 1}
                version["references"] = self.references.get(subject, [])
                return httpx.Response(200, json={**version, "schema": self.versions[subject][int(number)]})
            case ["config", _]:
                return httpx.Response(200, json={"compatibilityLevel": "BACKWARD"})
            case ["compatibility", *_]:
                return httpx.Response(200, json={"is_compatible": True})
        return httpx.Response(404, json={"error_code": 40401, "message": "Subject not found."})


class Watched:
    """A registry and its watcher, with a clock that is set by hand."""

    def __init__(self, folder: Path, subjects: Subjects) -> None:
        self.subjects = subjects
        self.now_s = 1000.0
        self.reported: list[tuple[str, int]] = []
        self.facets: list[dict[str, Any]] = []
        self.is_delivered = True
        self._folder = folder
        self._watcher = self._new_watcher()

    def _new_watcher(self) -> RegistryWatcher:
        registry = Registry("http://registry:8081", httpx.MockTransport(self.subjects))
        outlet = Outlet(self._take, lambda: self.is_delivered)
        return RegistryWatcher(registry, "k:9092", self._folder / "state.json", outlet, lambda: self.now_s)

    def _take(self, event: bytes) -> None:
        self.facets.append(json.loads(event)["dataset"]["facets"])

    def restart(self) -> None:
        self._watcher = self._new_watcher()

    def poll(self) -> list[tuple[str, int]]:
        """Poll once: the reported subjects and versions; in case of a fault they are in `reported`."""
        self.reported.clear()
        self._watcher.poll(lambda version: self.reported.append((version.subject, version.version)))
        return [*self.reported]

    def fault(self) -> str:
        with pytest.raises(UnavailableError) as refusal:
            self.poll()
        return str(refusal.value)


@pytest.fixture
def watch(tmp_path: Path) -> Callable[[Subjects], Watched]:
    return lambda subjects: Watched(tmp_path, subjects)


@pytest.mark.parametrize("refusal", [NOT_READ, FORBIDDEN, httpx.Response(404), httpx.Response(200, json=[])])
@pytest.mark.parametrize("path", ["/compatibility", "/config"])
def test_a_version_is_reported_without_the_details_that_the_registry_refuses(
    watch: Callable[[Subjects], Watched], path: str, refusal: httpx.Response
) -> None:
    watched = watch(Subjects(a={1: avro("x"), 2: avro("x", "y")}, b={1: avro("x")}))
    watched.subjects.instead[path] = refusal

    reported = watched.poll()

    assert reported == [("a-value", 1), ("a-value", 2), ("b-value", 1)]
    facet = watched.facets[1]["headwater_subject"]
    assert facet["schemaType"] == "AVRO"  # which the registry leaves out
    assert ("fitsRule" in facet, "compatibility" in facet) == (path == "/config", path == "/compatibility")
    assert watched.poll() == []


@pytest.mark.parametrize("refusal", [FORBIDDEN, httpx.Response(500), httpx.Response(200, json={}), NOT_READ])
def test_a_subject_that_cannot_be_read_hides_no_other_and_is_named(
    watch: Callable[[Subjects], Watched], refusal: httpx.Response
) -> None:
    watched = watch(Subjects(a={1: avro("x")}, b={1: avro("x")}))
    watched.subjects.instead["/subjects/a-value"] = refusal

    fault = watched.fault()

    assert fault.startswith("a-value: the schema registry answers")
    assert watched.reported == [("b-value", 1)]
    watched.subjects.instead.clear()
    assert watched.poll() == [("a-value", 1)]


def test_a_subject_that_references_a_missing_schema_is_named(watch: Callable[[Subjects], Watched]) -> None:
    watched = watch(Subjects(a={1: avro("x")}, b={1: avro("x")}))
    watched.subjects.references["a-value"] = [{"name": "common", "subject": "common", "version": 1}]

    fault = watched.fault()

    assert fault == "a-value: the schema registry lacks a schema that this one references"
    assert watched.reported == [("b-value", 1)]


def test_subjects_of_keys_records_and_other_contexts_are_of_no_topic(watch: Callable[[Subjects], Watched]) -> None:
    watched = watch(Subjects(a={1: avro("x")}))
    others = ("a-key", "com.example.Order", ":.far:b-value", "-value")
    watched.subjects.versions |= {other: {1: avro("y")} for other in others}

    watched.poll()

    assert watched.reported == [("a-value", 1)]


def test_versions_whose_events_were_not_delivered_are_reported_again_after_a_restart(
    watch: Callable[[Subjects], Watched],
) -> None:
    watched = watch(Subjects(a={1: avro("x")}))
    watched.is_delivered = False
    watched.poll()

    watched.restart()

    assert watched.poll() == [("a-value", 1)]


def test_a_version_waits_while_the_registry_fails_to_check_compatibility(
    watch: Callable[[Subjects], Watched],
) -> None:
    watched = watch(Subjects(a={1: avro("x"), 2: avro("x", "y")}, b={1: avro("x")}))
    watched.subjects.instead["/compatibility"] = httpx.Response(500)

    assert watched.fault() == "a-value: the schema registry answers 500"
    assert watched.reported == [("a-value", 1), ("b-value", 1)]
    watched.subjects.instead.clear()
    assert watched.poll() == [("a-value", 2)]


@pytest.mark.parametrize("status", [401, 429, 503])
def test_an_unavailable_registry_is_called_for_only_one_subject_a_poll(
    watch: Callable[[Subjects], Watched], status: int
) -> None:
    watched = watch(Subjects(a={1: avro("x")}, b={1: avro("x")}))
    watched.subjects.instead["/subjects/"] = httpx.Response(status)

    assert f"the schema registry answers {status}" in watched.fault()
    assert watched.subjects.requests == ["/subjects", "/subjects/a-value/versions"]


def test_an_untrusted_certificate_is_reported_with_a_remedy() -> None:
    def respond(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate")

    with pytest.raises(UnavailableError, match=r"certificate of the schema registry .*self-signed.* SSL_CERT_FILE"):
        Registry("https://registry", httpx.MockTransport(respond)).subjects()


def test_a_server_that_is_not_a_registry_is_reported(watch: Callable[[Subjects], Watched]) -> None:
    watched = watch(Subjects())
    watched.subjects.instead["/subjects"] = httpx.Response(200, json={"jobs": []})

    assert "not from a schema registry" in watched.fault()


def test_a_subject_that_was_deleted_and_registered_again_is_reported_from_its_first_version(
    watch: Callable[[Subjects], Watched],
) -> None:
    watched = watch(Subjects(a={1: avro("x"), 2: avro("x", "y"), 3: avro("y")}))
    watched.poll()

    watched.subjects.versions["a-value"] = {1: avro("other")}
    registered_again = watched.poll()
    watched.subjects.versions["a-value"] = {1: avro("other"), 2: avro("other", "z")}
    next_version = watched.poll()

    assert (registered_again, next_version) == ([("a-value", 1)], [("a-value", 2)])
    assert [field["name"] for field in watched.facets[3]["schema"]["fields"]] == ["other"]
    assert watched.facets[3]["headwater_subject"]["changes"] == []
    assert watched.facets[4]["headwater_subject"]["changes"][0]["field"] == "z"


def test_a_version_whose_schema_changed_is_noticed_within_a_minute_and_by_a_restarted_watcher(
    watch: Callable[[Subjects], Watched],
) -> None:
    watched = watch(Subjects(a={1: avro("x")}))
    watched.poll()

    watched.subjects.versions["a-value"] = {1: avro("other")}
    early = watched.poll()
    watched.now_s += 60
    late = watched.poll()
    watched.subjects.versions["a-value"] = {1: avro("third")}
    watched.restart()
    after_restart = watched.poll()

    assert (early, late, after_restart) == ([], [("a-value", 1)], [("a-value", 1)])


def test_a_subject_whose_newest_version_was_deleted_is_not_reported_again(
    watch: Callable[[Subjects], Watched],
) -> None:
    watched = watch(Subjects(a={1: avro("x"), 2: avro("x", "y")}))
    watched.poll()

    del watched.subjects.versions["a-value"][2]
    after_deletion = watched.poll()
    watched.subjects.versions["a-value"][3] = avro("x", "z")
    after = watched.poll()

    assert (after_deletion, after) == ([], [("a-value", 3)])


def test_an_older_state_without_schemas_is_still_used(watch: Callable[[Subjects], Watched], tmp_path: Path) -> None:
    (tmp_path / "state.json").write_text(json.dumps({"format": 1, "told": {"a-value": 1}}))
    watched = watch(Subjects(a={1: avro("x")}))

    first = watched.poll()
    watched.subjects.versions["a-value"] = {1: avro("other")}
    watched.restart()

    assert (first, watched.poll()) == ([], [("a-value", 1)])


def test_an_unusable_proxy_is_reported_by_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://ann:hush@127.0.0.1:9")

    with pytest.raises(SetupError, match=r"^ALL_PROXY holds no valid proxy address"):
        Registry("http://registry:8081")
