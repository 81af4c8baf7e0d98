"""A small fleet and all that goes wrong with one: the program of `benchmarks/fleet.py`, which measures a large one."""

import re
import subprocess
import sys
from pathlib import Path

FLEET = Path(__file__).parents[3] / "benchmarks" / "fleet.py"
SMALL = ["--nodes", "6", "--processes", "2", "--events", "210", "--heartbeat", "1", "--turns", "0"]
ROUND = ("clock jumped", "cut", "disk full", "events taken away", "nodes killed", "none", "service killed")


def test_a_fleet_through_every_fault_loses_and_doubles_nothing_that_is_not_told() -> None:
    told = subprocess.run([sys.executable, str(FLEET), *SMALL], capture_output=True, text=True, timeout=300)

    assert (told.returncode, "WRONG" in told.stdout) == (0, False), told.stdout + told.stderr[-2000:]
    assert ", ".join(f"1 x {fault}" for fault in ROUND) in told.stdout
    found = re.findall(r"of (\d+) runs of 6 nodes (\d+) are gone, and told: (\d+) events missing", told.stdout)
    runs, gone, missing = map(int, found[0])
    assert runs > 200
    assert gone >= 3  # those that were taken away
    assert missing >= 3
