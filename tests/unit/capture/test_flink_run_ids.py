"""Run ids of Flink jobs are those of the OpenLineage listener, openlineage-flink 1.53.0, as it was recorded."""

import json
from pathlib import Path

from headwater.capture.flink.run_ids import run_of_job


def test_a_jobs_run_has_the_listeners_id(shared: Path) -> None:
    recorded = [json.loads(line)["run"] for line in (shared / "observed" / "flink.jsonl").read_bytes().splitlines()]
    runs = {run["runId"]: run["facets"]["flink_job"]["jobId"] for run in recorded if "flink_job" in run["facets"]}

    computed = [run_of_job(job, int(run_id.replace("-", "")[:12], 16)) for run_id, job in runs.items()]

    assert len(runs) == 13
    assert computed == [*runs]


def test_a_start_at_a_full_second_is_written_without_a_fraction() -> None:
    # jshell> UUIDUtils.generateStaticUUID(Instant.ofEpochMilli(1795252510000L), "edff…b9ab".getBytes())
    assert run_of_job("edff2bd142af505b67ed5c6fa83db9ab", 1_795_252_510_000) == "01a1fd63-5d30-7d8c-b601-bdc8fa363d7e"
