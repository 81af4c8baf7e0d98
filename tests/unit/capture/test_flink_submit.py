"""Submitting a job in a process that reports what it runs; here one that reports given lines."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from headwater.capture.flink.rest import FlinkCluster
from headwater.capture.flink.session import Session
from headwater.capture.flink.submit import Submission, SubmittedJob, submit
from headwater.errors import InvalidInputError, SetupError, UnavailableError

_JOB: dict[str, Any] = {"event": "job", "id": "6b6a1f0b6c2f4e0f8a1d5f0c2b3e4d5a", "writes": [], "gaps": [], "sql": None}


def _respond(request: httpx.Request) -> httpx.Response:
    """The responses of a cluster without jobs."""
    responses: dict[str, Any] = {
        "/config": {"flink-version": "2.1.3"},
        "/jobmanager/config": [],
        "/jobs/overview": {"jobs": []},
    }
    return httpx.Response(200, json=responses[request.url.path])


@pytest.fixture
def session() -> Session:
    url = "http://flink:8081"
    return Session.at(url, FlinkCluster([url], httpx.MockTransport(_respond)))._replace(patience_s=0)


def _submission(folder: Path, *lines: object, status: int = 0) -> Submission:
    """A submission whose Python is a shell script that writes these lines to the given descriptor."""
    python = folder / "python"
    output = "\n".join(f"echo '{json.dumps(line)}' >&$4" for line in lines)
    python.write_text(f"#!/bin/bash\n{output}\nexit {status}\n")
    python.chmod(0o755)
    return Submission(file=folder / "job.sql", arguments=(), python=python, batch=False, wait=False, namespace=None)


def _run(submission: Submission, session: Session) -> tuple[list[SubmittedJob], list[bytes]]:
    events: list[bytes] = []
    return list(submit(submission, session, events.append)), events


def test_a_job_that_the_cluster_does_not_list_is_a_gap_and_the_program_goes_on(
    tmp_path: Path, session: Session
) -> None:
    jobs, events = _run(_submission(tmp_path, _JOB, {**_JOB, "id": "f" * 32}), session)

    assert [job.job_id for job in jobs] == [_JOB["id"], "f" * 32]
    assert all("its lineage is not reported: http://flink:8081 does not list the job" in job.gaps[0] for job in jobs)
    assert events == []


def test_a_refused_statement_is_an_error_with_flinks_message(tmp_path: Path, session: Session) -> None:
    refused = {"event": "refused", "message": "job.sql, line 3: SQL parse failed."}

    with pytest.raises(InvalidInputError, match=r"^job\.sql, line 3: SQL parse failed\.$"):
        _run(_submission(tmp_path, refused, status=2), session)


def test_a_program_that_fails_is_an_error_with_its_status(tmp_path: Path, session: Session) -> None:
    with pytest.raises(InvalidInputError, match=r"job\.sql ended with status 7; see its output above"):
        _run(_submission(tmp_path, status=7), session)


def test_a_missing_python_is_named(tmp_path: Path, session: Session) -> None:
    missing = _submission(tmp_path)
    missing.python.unlink()

    with pytest.raises(
        SetupError, match=r"/python cannot be started: No such file .* --python or HEADWATER_FLINK_PYTHON"
    ):
        _run(missing, session)


def test_a_python_without_pyflink_is_refused_by_name(tmp_path: Path, session: Session) -> None:
    own = replace(_submission(tmp_path), python=Path(sys.executable))

    with pytest.raises(InvalidInputError, match=f"^{sys.executable} has no PyFlink; name one that has with --python$"):
        _run(own, session)


def test_a_url_without_a_host_or_a_cluster_is_refused_before_anything_is_run() -> None:
    unavailable = FlinkCluster(["http://flink:1"], httpx.MockTransport(lambda _: httpx.Response(503)))

    with pytest.raises(InvalidInputError, match="--url: expected http://host:port"):
        Session.at("flink", unavailable)
    with pytest.raises(UnavailableError, match=r"no Flink session cluster: http://flink:1: status 503; is it up"):
        Session.at("http://flink:1", unavailable)
