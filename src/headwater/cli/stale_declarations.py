"""Jobs that earlier pushes declared for the dashboards of a file, and that the file no longer has."""

from collections.abc import Iterator
from typing import NamedTuple

from headwater.capture.dashboards.events import INTEGRATION
from headwater.capture.dashboards.spec import TABLES, Dashboards
from headwater.cli.service_client import ServiceClient, in_path
from headwater.errors import NotFoundError
from headwater.model.names import DatasetId, JobId
from headwater.model.sql_lineage import dashboard_of


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
    asked = {"nodeId": dashboard.node_id, "way": "upstream", "type": "JOB"}
    try:
        found = client.get_whole("/neighbours", asked, "neighbours")["neighbours"]
    except NotFoundError:  # it was never declared
        return
    yield from (JobId(each["namespace"], each["name"]) for each in found)


def _is_declared(client: ServiceClient, job: JobId) -> bool:
    try:
        known = client.get(f"/namespaces/{in_path(job.namespace)}/jobs/{in_path(job.name)}")
    except NotFoundError:  # it was deleted in between
        return False
    return bool(known["facets"].get("jobType", {}).get("integration") == INTEGRATION)
