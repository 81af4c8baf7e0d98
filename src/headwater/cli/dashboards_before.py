"""What earlier pushes told a service of the dashboards in a file, and the file says no more."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from headwater.capture.dashboards.events import INTEGRATION
from headwater.capture.dashboards.spec import TABLES, Dashboards
from headwater.cli.service_client import ServiceClient, in_path
from headwater.errors import NotFoundError
from headwater.model.names import DatasetId, JobId
from headwater.model.sql_lineage import dashboard_of

_PAGE = 1000


class Gone(NamedTuple):
    """A job that an earlier push declared and the file has no more; `query` None: of tables without a query."""

    dashboard: str
    query: str | None
    job: JobId


def no_more_in(file: Dashboards, client: ServiceClient) -> Iterator[Gone]:
    """The jobs that are declared to feed a dashboard of the file, and that the file does not have.

    A job that is known by its runs alone is none of them: whoever asked that query may ask it again.
    """
    for dashboard in file.dashboards:
        kept = file.jobs(dashboard)
        for job in _feeding(client, dashboard_of(file.label(dashboard, ""))):
            if job.namespace == file.namespace and job not in kept and _is_declared(client, job):
                query = job.name.removeprefix(dashboard.name).removeprefix(".")
                yield Gone(dashboard.name, None if query == TABLES else query, job)


def _feeding(client: ServiceClient, dashboard: DatasetId) -> Iterator[JobId]:
    asked: dict[str, str | int] = {"nodeId": dashboard.node_id, "way": "upstream", "type": "JOB", "limit": _PAGE}
    found: list[dict[str, Any]] = []
    total = 1
    while len(found) < total:
        try:
            page = client.get("/neighbours", {**asked, "offset": len(found)})
        except NotFoundError:  # it was never told of
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
