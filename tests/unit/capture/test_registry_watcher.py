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
from headwater.errors import UnavailableError

NOT_READ = httpx.Response(422, json={"error_code": 42201, "message": "Either the input schema or one is invalid"})
FORBIDDEN = httpx.Response(403, json={"error_code": 40301, "message": "User is denied operation Read"})


def avro(*fields: str) -> str:
    return json.dumps({"type": "record", "name": "r", "fields": [{"name": each, "type": "int"} for each in fields]})


class Subjects:
    """A registry; `instead` answers paths that begin so in another way."""

    def __init__(self, **versions: dict[int, str]) -> None:
        self.versions = {f"{topic}-value": found for topic, found in versions.items()}
        self.instead: dict[str, httpx.Response] = {}
        self.asked: list[str] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path
        self.asked.append(path)
        for beginning, answer in self.instead.items():
            if path.startswith(beginning):
                return answer
        match path.split("/")[1:]:
            case ["subjects"]:
                return httpx.Response(200, json=[*self.versions])
            case ["subjects", subject, "versions"] if subject in self.versions:
                return httpx.Response(200, json=[*self.versions[subject]])
            case ["subjects", subject, "versions", number] if int(number) in self.versions.get(subject, {}):
                found = {"subject": subject, "version": int(number), "id": 1}
                return httpx.Response(200, json={**found, "schema": self.versions[subject][int(number)]})
            case ["config", _]:
                return httpx.Response(200, json={"compatibilityLevel": "BACKWARD"})
            case ["compatibility", *_]:
                return httpx.Response(200, json={"is_compatible": True})
        return httpx.Response(404, json={"error_code": 40401, "message": "Subject not found."})


class Watched:
    """A registry and who watches it, with a clock that is set by hand."""

    def __init__(self, folder: Path, subjects: Subjects) -> None:
        self.subjects = subjects
        self.now_s = 1000.0
        self.said: list[tuple[str, int]] = []
        self.facets: list[dict[str, Any]] = []
        self._folder = folder
        self._watcher = self._begun()

    def _begun(self) -> RegistryWatcher:
        registry = Registry("http://registry:8081", httpx.MockTransport(self.subjects))
        outlet = Outlet(lambda event: self.facets.append(json.loads(event)["dataset"]["facets"]), lambda _: True)
        return RegistryWatcher(registry, "k:9092", self._folder / "state.json", outlet, lambda: self.now_s)

    def restart(self) -> None:
        self._watcher = self._begun()

    def look(self) -> list[tuple[str, int]]:
        """What it tells; also where the look ends with a fault, which is raised by `fault`."""
        self.said.clear()
        self._watcher.poll(lambda told: self.said.append((told.subject, told.version)))
        return [*self.said]

    def fault(self) -> str:
        with pytest.raises(UnavailableError) as refusal:
            self.look()
        return str(refusal.value)


@pytest.fixture
def watch(tmp_path: Path) -> Callable[[Subjects], Watched]:
    return lambda subjects: Watched(tmp_path, subjects)


@pytest.mark.parametrize("refusal", [NOT_READ, FORBIDDEN, httpx.Response(404), httpx.Response(200, json=[])])
@pytest.mark.parametrize("question", ["/compatibility", "/config"])
def test_a_version_is_told_without_what_the_registry_does_not_say_beside_it(
    watch: Callable[[Subjects], Watched], question: str, refusal: httpx.Response
) -> None:
    watched = watch(Subjects(a={1: avro("x"), 2: avro("x", "y")}, b={1: avro("x")}))
    watched.subjects.instead[question] = refusal

    told = watched.look()

    assert told == [("a-value", 1), ("a-value", 2), ("b-value", 1)]
    said = watched.facets[1]["headwater_subject"]
    assert ("fitsRule" in said, "compatibility" in said) == (question == "/config", question == "/compatibility")
    assert watched.look() == []


@pytest.mark.parametrize("refusal", [FORBIDDEN, httpx.Response(500), httpx.Response(200, json={}), NOT_READ])
def test_a_subject_that_cannot_be_read_hides_no_other_and_is_named(
    watch: Callable[[Subjects], Watched], refusal: httpx.Response
) -> None:
    watched = watch(Subjects(a={1: avro("x")}, b={1: avro("x")}))
    watched.subjects.instead["/subjects/a-value"] = refusal

    fault = watched.fault()

    assert fault.startswith("a-value: the schema registry answers")
    assert watched.said == [("b-value", 1)]
    watched.subjects.instead.clear()
    assert watched.look() == [("a-value", 1)]


def test_a_version_waits_while_the_registry_fails_to_say_whether_it_fits(
    watch: Callable[[Subjects], Watched],
) -> None:
    watched = watch(Subjects(a={1: avro("x"), 2: avro("x", "y")}, b={1: avro("x")}))
    watched.subjects.instead["/compatibility"] = httpx.Response(500)

    assert watched.fault() == "a-value: the schema registry answers 500"
    assert watched.said == [("a-value", 1), ("b-value", 1)]
    watched.subjects.instead.clear()
    assert watched.look() == [("a-value", 2)]


@pytest.mark.parametrize("status", [401, 429, 503])
def test_a_registry_that_answers_nobody_is_asked_once_in_a_look(
    watch: Callable[[Subjects], Watched], status: int
) -> None:
    watched = watch(Subjects(a={1: avro("x")}, b={1: avro("x")}))
    watched.subjects.instead["/subjects/"] = httpx.Response(status)

    assert f"the schema registry answers {status}" in watched.fault()
    assert watched.subjects.asked == ["/subjects", "/subjects/a-value/versions"]


def test_a_certificate_that_is_not_trusted_is_told_with_what_to_do() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate")

    with pytest.raises(UnavailableError, match=r"certificate of the schema registry .*self-signed.* SSL_CERT_FILE"):
        Registry("https://registry", httpx.MockTransport(answer)).subjects()


def test_what_is_no_registry_is_told_as_such(watch: Callable[[Subjects], Watched]) -> None:
    watched = watch(Subjects())
    watched.subjects.instead["/subjects"] = httpx.Response(200, json={"jobs": []})

    assert "not from a schema registry" in watched.fault()


def test_a_subject_that_was_deleted_for_good_and_registered_anew_is_told_from_its_first_version(
    watch: Callable[[Subjects], Watched],
) -> None:
    watched = watch(Subjects(a={1: avro("x"), 2: avro("x", "y"), 3: avro("y")}))
    watched.look()

    watched.subjects.versions["a-value"] = {1: avro("other")}
    anew = watched.look()
    watched.subjects.versions["a-value"] = {1: avro("other"), 2: avro("other", "z")}
    then = watched.look()

    assert (anew, then) == ([("a-value", 1)], [("a-value", 2)])
    assert [field["name"] for field in watched.facets[3]["schema"]["fields"]] == ["other"]
    assert watched.facets[3]["headwater_subject"]["changes"] == []
    assert watched.facets[4]["headwater_subject"]["changes"][0]["field"] == "z"


def test_a_version_that_has_another_schema_by_now_is_noticed_within_a_minute_and_by_the_next_watcher(
    watch: Callable[[Subjects], Watched],
) -> None:
    watched = watch(Subjects(a={1: avro("x")}))
    watched.look()

    watched.subjects.versions["a-value"] = {1: avro("other")}
    early = watched.look()
    watched.now_s += 60
    late = watched.look()
    watched.subjects.versions["a-value"] = {1: avro("third")}
    watched.restart()
    by_the_next = watched.look()

    assert (early, late, by_the_next) == ([], [("a-value", 1)], [("a-value", 1)])


def test_a_subject_whose_newest_version_was_deleted_is_told_no_more_than_before(
    watch: Callable[[Subjects], Watched],
) -> None:
    watched = watch(Subjects(a={1: avro("x"), 2: avro("x", "y")}))
    watched.look()

    del watched.subjects.versions["a-value"][2]
    without = watched.look()
    watched.subjects.versions["a-value"][3] = avro("x", "z")
    after = watched.look()

    assert (without, after) == ([], [("a-value", 3)])


def test_what_was_kept_before_schemas_were_told_apart_still_counts(
    watch: Callable[[Subjects], Watched], tmp_path: Path
) -> None:
    (tmp_path / "state.json").write_text(json.dumps({"format": 1, "told": {"a-value": 1}}))
    watched = watch(Subjects(a={1: avro("x")}))

    first = watched.look()
    watched.subjects.versions["a-value"] = {1: avro("other")}
    watched.restart()

    assert (first, watched.look()) == ([], [("a-value", 1)])
