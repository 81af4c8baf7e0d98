"""Calls every GET route, and validates each answer against the service's own OpenAPI document."""

from collections.abc import Collection, Iterator
from typing import Any, cast
from urllib.parse import quote, urlencode

import jsonschema_rs
from starlette.testclient import TestClient

from tests.support.app import Body, Response

_PROOFS = "/api/v1/log/proof/"
ENDLESS = "/api/v1/stream"
_API = "/api/v1"
_DATASET = f"{_API}/namespaces/{{namespace}}/datasets/{{name}}"
_JOB = f"{_API}/namespaces/{{namespace}}/jobs/{{name}}"
_DIFF = f"{_API}/diff"
_RUN = f"{_API}/jobs/runs/{{run_id}}"
_PAGE: dict[str, Any] = {}
_VALIDATORS: dict[str, jsonschema_rs.Validator] = {}
"""Caches: the same for every service, and slow to build."""
_REQUIRED: dict[str, object] = {
    "nodeId": "job:nobody:nothing",
    "type": "run",
    "q": "nothing",
    "runId": "none",
    "query": "{ jobs { name } }",
    "index": 0,
    "from": 1,
}
"""Values of required parameters."""
_OF_NEIGHBOURS = {"way": "upstream", "type": "JOB"}
"""The same, where they differ for this route."""
_STEPS = {".", ".."}
"""Names that cannot be in a path, in any encoding: clients resolve them as relative segments."""


def read_everything(client: TestClient, **of_each: object) -> dict[str, Body]:
    """Call every GET route for every entity; each must answer as documented.

    `of_each` are parameters of every read below `/api/v1`. Returns the answers by path and other parameters.
    """
    reader = _Reader(client, of_each)
    reader.read_all()
    assert reader.called == reader.documented - {ENDLESS}, "a route is not covered by these reads"
    return reader.answers


def without_members(answer: Any, left_out: Collection[str]) -> Any:  # noqa: ANN401  any JSON
    """The answer without members of these names, at any depth."""
    match answer:
        case dict():
            return {key: without_members(each, left_out) for key, each in answer.items() if key not in left_out}
        case list():
            return [without_members(each, left_out) for each in answer]
    return answer


def answer_schema(page: Body, template: str) -> jsonschema_rs.Validator:
    """The OpenAPI schema of the answer to a GET of the path."""
    if template not in _VALIDATORS:
        content = page["paths"][template]["get"]["responses"]["200"]["content"]["application/json"]
        _VALIDATORS[template] = jsonschema_rs.validator_for(
            {**content.get("schema", {}), "components": page["components"]}
        )
    return _VALIDATORS[template]


class _Reader:
    def __init__(self, client: TestClient, of_each: dict[str, object]) -> None:
        self._client = client
        self._of_each = of_each
        self.answers: dict[str, Body] = {}
        self._page = _PAGE or client.get("/openapi.json").json()
        _PAGE.update(self._page)
        self.documented = {path for path, methods in self._page["paths"].items() if "get" in methods}
        self.called: set[str] = set()

    def get(self, template: str, names: dict[str, str] | None = None, **query: object) -> Body:
        self.called.add(template)
        path = template.format_map({key: quote(name, safe="") for key, name in (names or {}).items()})
        of_each = self._of_each if path.startswith(_API) else {}
        response = self._client.get(f"{path}?{urlencode({**query, **of_each})}")
        assert response.status_code == 200, f"{path} {query}: {response.status_code} {response.text[:300]}"
        body = self._checked(template, response) if response.headers["content-type"] == "application/json" else {}
        self.answers[f"{path}?{urlencode(query)}"] = body
        return body

    def _checked(self, template: str, response: Response) -> Body:
        body: Body = response.json()
        answer_schema(self._page, template).validate(body)
        return body

    def read_all(self) -> None:
        for path in ("/healthz", "/metrics", f"{_API}/tags"):
            self.get(path)
        for path in ("summary", "quarantine", "events", "events/lineage", "edits", "silent-streams", "drift"):
            self.get(f"{_API}/{path}")
        for kind in ("lineage-events", "jobs", "datasets", "sources"):
            self.get(f"{_API}/stats/{kind}", period="WEEK", timezone="America/St_Johns")
        self.get("/api/v1-beta/graphql", query="{ datasets { name versions { version } } jobs { name } }")
        self._namespaces()
        for source in self.get(f"{_API}/sources", limit=1000)["sources"]:
            self._named(f"{_API}/sources/{{name}}", source["name"])
        self._jobs()
        self._datasets()
        if self._of_each:
            self.called.add(_DIFF)  # has two times of its own
        else:
            self.get(_DIFF, **cast("dict[str, Any]", {"from": "log:0"}))
        self._unknown()

    def _namespaces(self) -> None:
        for namespace in self.get(f"{_API}/namespaces", limit=1000)["namespaces"]:
            self.get(f"{_API}/namespaces/{{name}}", {"name": namespace["name"]})
            self.get(f"{_API}/events/{{namespace}}", {"namespace": namespace["name"]})

    def _named(self, template: str, name: str) -> None:
        if name not in _STEPS:
            self.get(template, {"name": name})

    def _jobs(self) -> None:
        for job in self.get(f"{_API}/jobs", limit=1000)["jobs"]:
            names = {"namespace": job["namespace"], "name": job["name"]}
            self.get(f"{_API}/namespaces/{{namespace}}/jobs", {"namespace": job["namespace"]})
            self.get(_JOB, names)
            for version in self.get(f"{_JOB}/versions", names)["versions"]:
                self.get(f"{_JOB}/versions/{{version}}", {**names, "version": version["version"]})
            self._node(f"job:{job['namespace']}:{job['name']}", job["name"])
            for run in self.get(f"{_JOB}/runs", names)["runs"]:
                self.get(_RUN, {"run_id": run["id"]})
                self.get(f"{_RUN}/events", {"run_id": run["id"]})
                self.get(f"{_API}/runlineage/upstream", runId=run["id"])
                for kind in ("run", "job"):
                    self.get(f"{_RUN}/facets", {"run_id": run["id"]}, type=kind)

    def _datasets(self) -> None:
        for namespace in self.get(f"{_API}/namespaces", limit=1000)["namespaces"]:
            listed = self.get(f"{_API}/namespaces/{{namespace}}/datasets", {"namespace": namespace["name"]}, limit=1000)
            for dataset in listed["datasets"]:
                for name in (dataset["id"], *dataset["symlinks"]):
                    self._dataset(name["namespace"], name["name"])
                self._node(f"dataset:{dataset['namespace']}:{dataset['name']}", dataset["name"])

    def _dataset(self, namespace: str, name: str) -> None:
        if _STEPS & {namespace, name}:
            return
        names = {"namespace": namespace, "name": name}
        dataset = self.get(_DATASET, names)
        assert dataset["id"] == names
        for version in self.get(f"{_DATASET}/versions", names)["versions"]:
            self.get(f"{_DATASET}/versions/{{version}}", {**names, "version": version["version"]})

    def _node(self, node_id: str, name: str) -> None:
        lineage = self.get(f"{_API}/lineage", nodeId=node_id)
        assert node_id in {node["id"] for node in lineage["graph"]}
        columns = self.get(f"{_API}/column-lineage", nodeId=node_id, withDownstream="true")
        for column in columns["graph"][:3]:
            self.get(f"{_API}/column-lineage", nodeId=column["id"])
        self._questions(node_id)
        answer = self.get(f"{_API}/search", q=name, limit=1000)
        assert node_id in {hit["nodeId"] for hit in answer["results"]}

    def _questions(self, node_id: str) -> None:
        self.get(f"{_API}/impact", nodeId=node_id)
        self.get(f"{_API}/root-cause", nodeId=node_id)
        self.get(f"{_API}/path", nodeId=node_id)
        for way in ("upstream", "downstream"):
            self.get(f"{_API}/neighbours", nodeId=node_id, way=way, type="JOB")
            self.get(f"{_API}/neighbours", nodeId=node_id, way=way, type="DATASET")
        if node_id.startswith("dataset:"):
            self.get(f"{_API}/impact", nodeId=node_id, change="drop")
            for question in ("identity", "quality", "flow"):
                self.get(f"{_API}/{question}", nodeId=node_id)
        else:
            self.get(f"{_API}/control-flow", nodeId=node_id)
            self.get(f"{_API}/containment", nodeId=node_id)

    def _unknown(self) -> None:
        """Routes that no event has led to so far."""
        unknown = {
            "namespace": "nobody",
            "name": "nothing",
            "run_id": "none",
            "version": "none",
            "tile": "none",
            "node_id": "none",
            "index": "0",
        }
        for template in self.documented - self.called - {ENDLESS}:
            path = template.format_map(unknown)
            parameters = self._page["paths"][template]["get"].get("parameters", ())
            accepted = {each["name"] for each in parameters if each["in"] == "query"}
            values = _REQUIRED | (_OF_NEIGHBOURS if template == f"{_API}/neighbours" else {})
            query = urlencode({name: value for name, value in values.items() if name in accepted})
            status = self._client.get(f"{path}?{query}").status_code
            is_proof = template.startswith(_PROOFS)  # an empty log has none
            assert status in (200, 404) or (is_proof and status == 400), f"{path}: {status}"
            self.called.add(template)


def documented_operations(client: TestClient) -> Iterator[tuple[str, str]]:
    """Every method and path of the OpenAPI document, with a value for each parameter."""
    names = dict.fromkeys(
        ("namespace", "name", "run_id", "version", "field", "tag", "tile", "node_id", "key_id"), "none"
    ) | {"mark": "start", "index": "0"}
    for path, methods in client.get("/openapi.json").json()["paths"].items():
        yield from ((method.upper(), path.format_map(names)) for method in methods)
