"""The submitter's questions to a session cluster."""

import time
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from headwater.capture.flink.rest import About, FlinkCluster
from headwater.capture.flink.start_event import Submitted
from headwater.errors import InvalidInputError, UnavailableError

_LOOK_AGAIN_S: Final = 0.2


class Session(NamedTuple):
    """A session cluster: its client and its properties."""

    cluster: FlinkCluster
    host: str
    port: int
    about: About
    patience_s: float = 30.0
    """How long the cluster may take to list a submitted job."""

    @classmethod
    def at(cls, url: str, cluster: FlinkCluster) -> "Session":
        """The cluster behind the URL of its REST API.

        Raises:
            InvalidInputError: the URL has no host.
            UnavailableError: no cluster answers there.
        """
        parts = urlsplit(url)
        if parts.hostname is None:
            raise InvalidInputError("--url: expected http://host:port")
        try:
            about = cluster.about()
        except UnavailableError as fault:
            raise UnavailableError(f"no Flink session cluster: {fault}; is it up, and is --url right?") from fault
        return cls(cluster, parts.hostname, parts.port or (443 if parts.scheme == "https" else 80), about)

    def submitted(self, job_id: str) -> Submitted:
        """The cluster's data of a job that was just submitted.

        Raises:
            UnavailableError: within `patience_s` the cluster does not answer, or does not list the job.
        """
        until = time.monotonic() + self.patience_s
        while True:
            found = self._found(job_id)
            if found is not None:
                return found
            if time.monotonic() > until:
                raise UnavailableError(f"{self.cluster.url} does not list the job {job_id}, or does not answer")
            time.sleep(_LOOK_AGAIN_S)

    def _found(self, job_id: str) -> Submitted | None:
        """The job; None if it is not listed yet, or a busy cluster does not answer in time."""
        try:
            job = next((one for one in self.cluster.jobs() if one.id == job_id), None)
            details = None if job is None else self.cluster.details(job_id)
        except UnavailableError:
            return None
        if job is None or details is None:
            return None
        return Submitted(job_id, job.name, job.started_ms, not details.is_stream, self.about.version)
