"""What submitting asks of a session cluster."""

import time
from typing import Any, Final

import httpx

from headwater.capture.flink.told import Submitted
from headwater.errors import UnavailableError
from headwater.model.credentials import without_credentials

_TIMEOUT_S: Final = 10.0
_KNOWN_WITHIN_S: Final = 30.0
_LOOK_AGAIN_S: Final = 0.2


class Session:
    """A session cluster, asked over its REST API.

    Args:
        url: of the API, such as `http://localhost:8081`.
    """

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")
        self._client = httpx.Client(timeout=_TIMEOUT_S)

    @property
    def address(self) -> tuple[str, int]:
        """Host and port, as Flink's client wants them."""
        url = httpx.URL(self._url)
        return url.host, url.port or (443 if url.scheme == "https" else 80)

    def close(self) -> None:
        """Let go of connections."""
        self._client.close()

    def version(self) -> str:
        """Flink's version.

        Raises:
            UnavailableError: no cluster answers there.
        """
        return str(self._get("/overview")["flink-version"])

    def submitted(self, job_id: str) -> Submitted:
        """What the cluster says of a job that was just submitted.

        Raises:
            UnavailableError: the cluster does not answer, or does not know the job.
        """
        job = self._job(job_id)
        return Submitted(
            job_id=job_id,
            name=str(job["name"]),
            started_ms=int(job["start-time"]),
            is_batch=str(job.get("job-type", "STREAMING")) == "BATCH",
            version=self.version(),
        )

    def _job(self, job_id: str) -> dict[str, Any]:
        """The job; right after it was submitted the cluster may not have it yet."""
        until = time.monotonic() + _KNOWN_WITHIN_S
        while True:
            try:
                return self._get(f"/jobs/{job_id}")
            except UnavailableError:
                if time.monotonic() > until:
                    raise
                time.sleep(_LOOK_AGAIN_S)

    def _get(self, path: str) -> dict[str, Any]:
        try:
            answer = self._client.get(f"{self._url}{path}")
            answer.raise_for_status()
            found: dict[str, Any] = answer.json()
        except (httpx.HTTPError, ValueError) as fault:
            said = f"status {fault.response.status_code}" if isinstance(fault, httpx.HTTPStatusError) else "no answer"
            raise UnavailableError(
                f"no Flink session cluster at {without_credentials(self._url)} ({said}): is it up, and is --url right?"
            ) from fault
        return found
