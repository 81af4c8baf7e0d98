"""A client of a Flink cluster's REST API."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeVar

import httpx

from headwater.capture.flink.jobs import Details, JobAnswers, Listed, details, listed, wanted_metrics
from headwater.errors import NotFoundError, SetupError, UnavailableError
from headwater.http_client import opened_client
from headwater.model.credentials import without_credentials
from headwater.model.tls import is_not_trusted, not_trusted

JOB_NAMESPACE: Final = "flink-jobs"
"""The default namespace of jobs in openlineage-flink."""

_TIMEOUT_S: Final = 2.0
"""Short: a dead cluster must be reported within 10 s, after several tries."""
_REFUSED: Final = frozenset({401, 403, 407})

AskedT = TypeVar("AskedT")
ReadT = TypeVar("ReadT")


class About(NamedTuple):
    """A cluster's version and configuration."""

    version: str
    job_namespace: str | None
    """The jobs' namespace from its configuration of the OpenLineage listener; None if we may not see that."""

    def namespace(self, chosen: str | None, before: str | None = None) -> str:
        """The jobs' namespace: the user's choice, else the cluster's configuration, else the one known `before`.

        Raises:
            SetupError: it is unknown.
        """
        namespace = chosen or self.job_namespace or before
        if namespace is None:
            raise SetupError(
                "the cluster refuses access to its configuration (/jobmanager/config), which may set the namespace of "
                f"its jobs: set --namespace ({JOB_NAMESPACE}, if openlineage.job.namespace is not set)"
            )
        return namespace


class FlinkCluster:
    """A client of a cluster; with several URLs (JobManagers of one cluster) it uses the one that answers.

    All methods raise UnavailableError if none answers, or the answer is not one of Flink's REST API.

    Raises:
        SetupError: the trusted certificates cannot be read, or a proxy cannot be used.
    """

    def __init__(self, urls: Sequence[str], network: httpx.BaseTransport | None = None) -> None:
        self._urls = [url.rstrip("/") for url in urls]
        self._client = opened_client(timeout=_TIMEOUT_S, transport=network, follow_redirects=True)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    @property
    def url(self) -> str:
        """The URL that answered last, without credentials."""
        return without_credentials(self._urls[0])

    def about(self) -> About:
        """Its version, and the namespace of its jobs."""
        try:
            settings = self._get("/jobmanager/config")
        except (NotFoundError, _RefusedError):  # a proxy may block it, since it can hold secrets
            settings = None
        return self._read(_about, (self._there("/config"), settings))

    def jobs(self) -> tuple[Listed, ...]:
        """All jobs that it lists, ended ones included, in the order of their starts."""
        return self._read(listed, self._there("/jobs/overview"))

    def details(self, job_id: str) -> Details | None:
        """A job's details; None if the cluster no longer knows the job."""
        try:
            return self._read(self._details, f"/jobs/{job_id}")
        except NotFoundError:
            return None

    def _details(self, path: str) -> Details:
        job = self._get(path)
        read = JobAnswers(
            job,
            self._checkpoints(path),
            self._get(f"{path}/exceptions"),
            self._get(f"{path}/metrics", get="numRestarts"),
            {vertex["id"]: self._operators(f"{path}/vertices/{vertex['id']}") for vertex in job["vertices"]},
        )
        return details(read)

    def _checkpoints(self, path: str) -> Mapping[str, Any]:
        try:
            found: Mapping[str, Any] = self._get(f"{path}/checkpoints")
        except NotFoundError:  # a batch job
            return {}
        return found

    def _operators(self, path: str) -> Sequence[Mapping[str, Any]]:
        ids = wanted_metrics(each["id"] for each in self._get(f"{path}/subtasks/metrics"))
        if not ids:
            return ()
        found: Sequence[Mapping[str, Any]] = self._get(f"{path}/subtasks/metrics", get=",".join(ids), agg="sum,max")
        return found

    def _read(self, read: Callable[[AskedT], ReadT], asked: AskedT) -> ReadT:
        try:
            return read(asked)
        except (KeyError, TypeError, ValueError, AttributeError) as strange:
            raise self._strange() from strange

    def _there(self, path: str) -> Any:  # noqa: ANN401  JSON
        """The answer of a route that every cluster has."""
        try:
            return self._get(path)
        except NotFoundError as strange:
            raise self._strange() from strange

    def _strange(self) -> UnavailableError:
        return UnavailableError(f"{self.url} does not answer like Flink's REST API; is the address right?")

    def _get(self, path: str, **query: str) -> Any:  # noqa: ANN401  JSON
        faults = []
        for url in [*self._urls]:
            try:
                answer = self._client.get(f"{url}{path}", params=query)
            except httpx.HTTPError as fault:
                faults.append(_worded(without_credentials(url), fault))
                continue
            if answer.status_code >= 500:  # no leader yet, for example
                faults.append(f"{without_credentials(url)}: status {answer.status_code}")
                continue
            self._urls.remove(url)
            self._urls.insert(0, url)
            return self._content(answer)
        raise UnavailableError("; ".join(faults))

    def _content(self, answer: httpx.Response) -> Any:  # noqa: ANN401  JSON
        if answer.status_code == httpx.codes.NOT_FOUND:
            raise NotFoundError(f"{self.url} has no {answer.url.path}")
        if answer.status_code in _REFUSED:
            raise _RefusedError(
                f"{self.url} refuses access to {answer.url.path} (status {answer.status_code}); "
                "--url may contain a user and a password"
            )
        try:
            answer.raise_for_status()
            return answer.json()
        except (httpx.HTTPStatusError, ValueError) as strange:
            raise self._strange() from strange


class _RefusedError(UnavailableError):
    """We lack the permission to see that."""


def _about(answers: tuple[Mapping[str, Any], Sequence[Mapping[str, Any]] | None]) -> About:
    config, settings = answers
    if settings is None:
        return About(config["flink-version"], None)
    namespaces = [each["value"] for each in settings if each["key"] == "openlineage.job.namespace"]
    return About(config["flink-version"], next(filter(None, namespaces), JOB_NAMESPACE))


def _worded(url: str, fault: httpx.HTTPError) -> str:
    if is_not_trusted(fault):
        return not_trusted(url, fault)
    if isinstance(fault, httpx.TimeoutException):
        return f"{url}: no answer within {_TIMEOUT_S:g} s"
    return f"{url}: {'cannot connect' if isinstance(fault, httpx.ConnectError) else 'the connection was lost'}"
