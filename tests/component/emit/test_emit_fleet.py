"""A small fleet under every fault, by `benchmarks/fleet.py`, which measures a large one."""

import re
import subprocess
import sys
from pathlib import Path

FLEET = Path(__file__).parents[3] / "benchmarks" / "fleet.py"
SMALL = ["--nodes", "6", "--processes", "2", "--events", "210", "--heartbeat", "1", "--turns", "0"]
ROUND = ("clock jumped", "cut", "disk full", "events deleted", "nodes killed", "none", "service killed")


def test_a_fleet_under_every_fault_loses_and_duplicates_nothing_that_is_not_reported() -> None:
    result = subprocess.run([sys.executable, str(FLEET), *SMALL], capture_output=True, text=True, timeout=300)

    assert (result.returncode, "WRONG" in result.stdout) == (0, False), result.stdout + result.stderr[-2000:]
    assert ", ".join(f"1 x {fault}" for fault in ROUND) in result.stdout
    counts = re.findall(
        r"of (\d+) runs of 6 nodes, (\d+) are lost; their records report (\d+) events missing", result.stdout
    )
    runs, lost, missing = map(int, counts[0])
    assert runs > 200
    assert lost >= 3  # the deleted ones
    assert missing >= 3
