"""Jobs that earlier pushes declared for the dashboards of a file, and that the file no longer has."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from headwater.capture.dashboards.events import INTEGRATION
from headwater.capture.dashboards.spec import TABLES, Dashboards
from headwater.cli.service_client import ServiceClient, in_path
from headwater.errors import NotFoundError
from headwater.model.names import DatasetId, JobId
from headwater.model.sql_lineage import dashboard_of

_PAGE = 1000


class StaleDeclaration(NamedTuple):
    """A declared job that the file no longer has; `query` is None for the tables without a query."""

    dashboard: str
    query: str | None
    job: JobId


def stale_declarations(file: Dashboards, client: ServiceClient) -> Iterator[StaleDeclaration]:
    """The jobs declared to feed a dashboard of the file that the file does not have.

    Jobs known only by their runs are not among them: such a query may be run again.
    """
    for dashboard in file.dashboards:
        declared = file.jobs(dashboard)
        for job in _feeding(client, dashboard_of(file.label(dashboard, ""))):
            if job.namespace == file.namespace and job not in declared and _is_declared(client, job):
                query = job.name.removeprefix(dashboard.name).removeprefix(".")
                yield StaleDeclaration(dashboard.name, None if query == TABLES else query, job)


def _feeding(client: ServiceClient, dashboard: DatasetId) -> Iterator[JobId]:
    asked: dict[str, str | int] = {"nodeId": dashboard.node_id, "way": "upstream", "type": "JOB", "limit": _PAGE}
    found: list[dict[str, Any]] = []
    total = 1
    while len(found) < total:
        try:
            page = client.get("/neighbours", {**asked, "offset": len(found)})
        except NotFoundError:  # it was never declared
            return
        found += page["neighbours"]
        total = page["totalCount"] if page["neighbours"] else 0
    yield from (JobId(each["namespace"], each["name"]) for each in found)


def _is_declared(client: ServiceClient, job: JobId) -> bool:
    try:
        known = client.get(f"/namespaces/{in_path(job.namespace)}/jobs/{in_path(job.name)}")
    except NotFoundError:  # it was deleted in between
        return False
    return bool(known["facets"].get("jobType", {}).get("integration") == INTEGRATION)
