"""Logs of an execution and of the worker, and the requests that the pipeline makes."""

import subprocess
import sys
from pathlib import Path

RUN = "01a1fd5c-bf4f-7259-9205-000000000001"
PROGRAM = """
import logging, sys, threading
from pathlib import Path
import httpx
from headwater.agent.logs import log_to_standard_error, written_log

def work():
    logging.getLogger("headwater.pipeline").info("the pipeline runs")
    with httpx.Client(transport=httpx.MockTransport(lambda _: httpx.Response(200))) as api:
        api.get("http://api.test/orders", params={"key": "hunter2", "after": "4929-1234"})

log_to_standard_error()
with written_log(Path(sys.argv[1]), sys.argv[2]):
    thread = threading.Thread(target=work, name=f"work-{sys.argv[2]}")
    thread.start()
    thread.join()
"""


def test_no_log_has_the_query_of_an_api_that_a_pipeline_reads(tmp_path: Path) -> None:
    path = tmp_path / "execution.log"

    result = subprocess.run([sys.executable, "-c", PROGRAM, path, RUN], capture_output=True, text=True, timeout=60)

    for log in (result.stderr, path.read_text()):
        assert log.count("the pipeline runs") == 1
        assert "api.test" not in log
